#include "readers/ascend_db/device_tasks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace steplens::readers {
namespace {

using store::kNone;
using store::kNoTrack;

void LinkByGlobalId(DeviceTasks& tasks) {
  std::vector<std::pair<int64_t, uint32_t>> order;
  order.reserve(tasks.rows.size());
  for (size_t row = 0; row < tasks.rows.size(); ++row) {
    if (tasks.rows[row].global_id != kNone) {
      order.emplace_back(tasks.rows[row].global_id, static_cast<uint32_t>(row));
    }
  }
  std::sort(order.begin(), order.end());
  tasks.next.assign(tasks.rows.size(), kNoRow);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].first == order[i - 1].first) {
      tasks.next[order[i - 1].second] = order[i].second;
    } else {
      tasks.by_global_id.Add(order[i].first, order[i].second);
    }
  }
  tasks.by_global_id.Build();
}

}  // namespace

Result<DeviceTasks> ReadTasks(DbContext& db) {
  DeviceTasks tasks;
  tasks.rows.reserve(db.file.EstimateRows("TASK"));
  std::map<std::pair<int64_t, int64_t>, store::TrackId> streams;
  SL_RETURN_IF_ERROR(
      ReadTable(db, "TASK",
                {"startNs", "endNs", "!deviceId", "!connectionId", "globalTaskId", "taskType",
                 "!contextId", "!streamId", "!taskId", "!modelId"},
                [&](Scan& row) {
                  const auto span = ReadTimeSpan(db, row, 0, 1);
                  if (!span) return false;
                  TaskRow task;
                  task.begin_ns = span->begin_ns;
                  task.dur_ns = span->dur_ns;
                  task.device = row.Int(2);
                  if (task.device == kNone) task.device = db.device;
                  task.connection = KnownConnection(row.Int(3));
                  task.global_id = row.Int(4);
                  task.type = db.String(row.Int(5));
                  task.context_id = row.Int(6);
                  if (task.context_id == kNoId32) task.context_id = kNone;
                  task.stream = row.Int(7);
                  task.task_id = row.Int(8);
                  task.model_id = row.Int(9);
                  store::TrackId& track =
                      streams.try_emplace({task.device, task.stream}, kNoTrack).first->second;
                  if (track == kNoTrack) track = db.tracks.Stream(task.device, task.stream);
                  task.track = track;
                  tasks.rows.push_back(task);
                  return true;
                }));
  LinkByGlobalId(tasks);
  return tasks;
}

}  // namespace steplens::readers
