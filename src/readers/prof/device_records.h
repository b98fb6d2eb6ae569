#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "readers/prof/control_files.h"
#include "readers/prof/flips.h"
#include "readers/prof/prof_files.h"
#include "readers/prof/task_key.h"
#include "readers/read_options.h"
#include "store/issues.h"

// What a device recorded about its tasks. Times are values of its counter.
namespace steplens::readers::prof {

struct StreamTask {
  uint32_t stream = 0;
  uint32_t task = 0;
};
// Stream and task as the host calls them: with many streams the device swaps bits of the two.
StreamTask CorrectIds(uint16_t stream, uint16_t task, uint32_t sqe_type, bool has_wide_streams);

// One run of a task or a sub-task.
struct DeviceTask {
  TaskKey key = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t type = 0;  // of STARS, of sub-tasks, or of the hardware task scheduler
  bool is_sub_task = false;
};

// A mark on the timeline of a stream (ts_track).
struct StepMark {
  uint64_t time = 0;
  uint64_t index = 0;
  uint64_t model = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t tag = 0;
};

struct FrequencyPoint {
  uint64_t time = 0;
  uint32_t mhz = 0;
};

enum class Accelerator : uint8_t { kAic, kAiv, kMixAic, kMixAiv };

// Counters of one run of a task.
struct TaskPmu {
  uint64_t time = 0;  // its end; 910A: its place in the file
  uint64_t cycles = 0;
  std::array<uint64_t, kMaxCounters> counters = {};
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t context = 0;
  uint32_t batch = 0;
  Accelerator accelerator = Accelerator::kAic;
};

// Counters of several blocks of one run, added up.
struct BlockPmu {
  uint64_t time = 0;  // the last end
  uint64_t cycles = 0;
  std::array<uint64_t, kMaxCounters> counters = {};
  uint32_t blocks = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t context = 0;
  uint32_t batch = 0;
  Accelerator accelerator = Accelerator::kMixAic;
  bool is_vector_core = false;
};

struct DeviceRecords {
  std::vector<DeviceTask> tasks;  // by key, then by begin
  FlipsByStream flips;
  std::vector<StepMark> marks;  // in the order of the file
  std::vector<TaskPmu> pmu;
  std::vector<BlockPmu> block_pmu;
  std::vector<FrequencyPoint> frequencies;  // by time
};

// Which stream the host gave each task to, for chips whose records do not say it: by id.
class TaskStreams {
 public:
  static constexpr uint32_t kUnknown = 0xFFFF;

  void Add(uint32_t id, uint32_t stream) { streams_.emplace_back(id, stream); }
  void Sort() { std::sort(streams_.begin(), streams_.end()); }
  uint32_t Of(uint32_t id) const {
    const auto found = std::lower_bound(streams_.begin(), streams_.end(), std::pair(id, 0U));
    return found == streams_.end() || found->first != id ? kUnknown : found->second;
  }

 private:
  std::vector<std::pair<uint32_t, uint32_t>> streams_;
};

// How the device's ids are read.
struct IdRules {
  bool has_wide_streams = false;
  TaskStreams streams;  // chips 15 and 16 only
};

DeviceRecords ReadDeviceRecords(const Side& device, const Control& control, const IdRules& rules,
                                const ReadOptions& options, store::IssueLog& issues);

}  // namespace steplens::readers::prof
