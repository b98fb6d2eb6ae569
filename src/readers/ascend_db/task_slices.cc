#include "readers/ascend_db/task_slices.h"

#include <algorithm>
#include <tuple>

namespace steplens::readers {
namespace {

using store::kNone;

// Where sub-tasks run: (device, stream, task, start).
using SubTaskKey = std::tuple<int64_t, int64_t, int64_t, int64_t>;

std::vector<SubTaskKey> SubTasks(const DeviceTasks& tasks) {
  std::vector<SubTaskKey> keys;
  for (const TaskRow& task : tasks.rows) {
    if (task.context_id != kNone)
      keys.emplace_back(task.device, task.stream, task.task_id, task.begin_ns);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Task ids come again after 65536 tasks, so a sub-task must also start within the time of its task.
bool HasSubTasks(const TaskRow& task, const std::vector<SubTaskKey>& sub_tasks) {
  if (task.context_id != kNone) return false;
  const auto first =
      std::lower_bound(sub_tasks.begin(), sub_tasks.end(),
                       SubTaskKey(task.device, task.stream, task.task_id, task.begin_ns));
  return first != sub_tasks.end() &&
         *first <= SubTaskKey(task.device, task.stream, task.task_id, task.begin_ns + task.dur_ns);
}

}  // namespace

std::vector<LaunchTarget> AppendTaskSlices(DbContext& db, const DeviceTasks& tasks,
                                           const KernelInfos& infos, const HostSlices& host) {
  const std::vector<SubTaskKey> sub_tasks = SubTasks(tasks);
  std::vector<LaunchTarget> targets;
  db.out.slices.Reserve(db.out.slices.size() + tasks.rows.size());
  for (const TaskRow& task : tasks.rows) {
    if (HasSubTasks(task, sub_tasks)) continue;
    store::SliceTable::Row slice;
    slice.track = task.track;
    slice.begin_ns = task.begin_ns;
    slice.dur_ns = task.dur_ns;
    const uint32_t info = infos.by_task.Find(task.global_id);
    if (info != kNoRow) slice.name = infos.rows[info].name;
    const uint32_t marker = host.markers.Find(task.connection);
    if (slice.name == StringId::kEmpty && marker != kNoRow) slice.name = db.out.slices.name[marker];
    if (slice.name == StringId::kEmpty) slice.name = task.type;
    slice.category = task.type;
    slice.correlation = task.connection;
    db.out.slices.Append(slice);
    if (task.connection != kNone && !task.is_communication) {
      targets.push_back({task.connection, task.begin_ns, task.track});
    }
  }
  return targets;
}

}  // namespace steplens::readers
