#include "readers/prof/ascend_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace steplens::readers::prof {
namespace {

// Rows of the host that are of the device, by key.
std::vector<uint32_t> HostRows(const HostTasks& host, int64_t device_id) {
  std::vector<uint32_t> rows;
  rows.reserve(host.tasks.size());
  for (size_t i = 0; i < host.tasks.size(); ++i) {
    if (host.tasks[i].device == device_id) rows.push_back(static_cast<uint32_t>(i));
  }
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(host.tasks[a].key, a) < std::tie(host.tasks[b].key, b);
  });
  return rows;
}

}  // namespace

std::vector<AscendTask> JoinTasks(const std::vector<DeviceTask>& device, const HostTasks& host,
                                  int64_t device_id, const SideClock& clock, bool is_dynamic,
                                  store::IssueLog& issues) {
  const std::vector<uint32_t> rows = HostRows(host, device_id);
  std::vector<AscendTask> tasks;
  tasks.reserve(device.size());
  uint64_t ambiguous = 0;
  size_t at = 0;
  for (size_t first = 0; first < device.size();) {
    const TaskKey key = device[first].key;
    size_t last = first;
    while (last < device.size() && device[last].key == key) ++last;
    while (at < rows.size() && host.tasks[rows[at]].key < key) ++at;
    size_t host_last = at;
    while (host_last < rows.size() && host.tasks[rows[host_last]].key == key) ++host_last;
    uint32_t host_row = at < host_last ? rows[at] : kNoRow;
    if (host_last - at > 1) {
      ++ambiguous;
      host_row = kNoRow;
    }
    if (is_dynamic && last - first > 1) ++first;  // left over from before the profiler came
    for (; first < last; ++first) {
      AscendTask task;
      task.end_ns = clock.DeviceUtc(device[first].end);
      if (task.end_ns < clock.begin_ns) continue;
      task.begin_ns = clock.DeviceUtc(device[first].begin);
      task.begin = device[first].begin;
      task.end = device[first].end;
      task.key = key;
      task.host = host_row;
      task.type = device[first].type;
      task.is_sub_task = device[first].is_sub_task;
      tasks.push_back(task);
    }
    at = host_last;
  }
  if (ambiguous > 0) {
    issues.Add(store::IssueKind::kRecordDamaged,
               fmt::format("device {}: the host gave one id to several tasks", device_id),
               ambiguous);
  }
  std::sort(tasks.begin(), tasks.end(), [](const AscendTask& a, const AscendTask& b) {
    return std::tie(a.begin_ns, a.key, a.end_ns) < std::tie(b.begin_ns, b.key, b.end_ns);
  });
  return tasks;
}

}  // namespace steplens::readers::prof
