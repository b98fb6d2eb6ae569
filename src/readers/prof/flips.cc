#include "readers/prof/flips.h"

#include <tuple>
#include <utility>

#include "format/prof/host_records.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

constexpr uint32_t kStreamDestroyed = 0xFFFF;
constexpr uint16_t kKindOfDevice = 0xF000;

struct HostFlip {
  uint64_t time;
  uint32_t task;
  uint32_t number;
};
using StreamKey = std::pair<uint16_t, uint32_t>;  // device and stream

// Tasks of one stream, by time.
void NumberStream(const std::vector<LaunchedTask*>& tasks, const std::vector<HostFlip>& flips) {
  size_t next = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    while (next < flips.size() && tasks[i]->time > flips[next].time) {
      const HostFlip& flip = flips[next++];
      if (flip.number == kStreamDestroyed) continue;
      // Tasks behind the flip whose records are older than that of the flip.
      for (size_t k = i; k > 0 && tasks[k - 1]->task < flip.task; --k)
        tasks[k - 1]->batch = static_cast<uint32_t>(next);
    }
    tasks[i]->batch = static_cast<uint32_t>(next);
  }
}

}  // namespace

void NumberHostTasks(std::vector<LaunchedTask>& tasks, bool keep_reported) {
  std::map<StreamKey, std::vector<HostFlip>> flips;
  size_t kept = 0;
  for (const LaunchedTask& task : tasks) {
    if (task.type == raw::kTaskFlip) {
      flips[{task.device, task.stream}].push_back({task.time, task.task, task.batch});
    } else if (task.type != raw::kTaskMaintenance && (task.device & kKindOfDevice) == 0) {
      tasks[kept++] = task;
    }
  }
  tasks.resize(kept);
  const auto before = [](const LaunchedTask& a, const LaunchedTask& b) { return a.time < b.time; };
  if (!std::is_sorted(tasks.begin(), tasks.end(), before))
    std::stable_sort(tasks.begin(), tasks.end(), before);
  if (keep_reported) return;
  std::map<StreamKey, std::vector<LaunchedTask*>> streams;
  for (LaunchedTask& task : tasks) {
    task.batch = 0;
    if (flips.contains({task.device, task.stream}))
      streams[{task.device, task.stream}].push_back(&task);
  }
  for (auto& [stream, list] : streams) {
    std::vector<HostFlip>& its_flips = flips[stream];
    std::stable_sort(its_flips.begin(), its_flips.end(),
                     [](const HostFlip& a, const HostFlip& b) { return a.time < b.time; });
    NumberStream(list, its_flips);
  }
}

}  // namespace steplens::readers::prof
