#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// What ran: a kernel, an operator or a call.
struct TimelineTask {
  std::string name;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};

// Tasks in order of start, packed to travel: names once, times as differences.
class Timeline {
 public:
  void Add(const std::string& name, int64_t begin_ns, int64_t dur_ns);
  std::vector<TimelineTask> Unpack() const;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(names_, rows_);
  }

 private:
  struct Row {
    uint32_t name = 0;
    int64_t since_last_ns = 0;
    int64_t dur_ns = 0;
    template <typename Archive>
    void Fields(Archive& archive) {
      archive(name, since_last_ns, dur_ns);
    }
  };
  std::vector<std::string> names_;
  std::vector<Row> rows_;
  std::map<std::string, uint32_t> numbers_;  // while it is filled
  int64_t last_ns_ = 0;
};

// How much longer a task waited on the device than on the host before its launch.
struct LaunchedTask {
  int64_t begin_ns = 0;
  int64_t excess_ns = 0;  // (start - end of the call) - (start of the call - end of the operator)

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(begin_ns, excess_ns);
  }
};

// What a rank did before its communication operators.
struct RankTimeline {
  Timeline device;     // kernels, communication, copies
  Timeline operators;  // of PyTorch
  Timeline calls;      // of CANN or the GPU runtime: "node@launch"
  std::vector<LaunchedTask> launched;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(device, operators, calls, launched);
  }
};

// Collects it. Each list keeps at most kMostTasks entries: where there are more, those nearest
// before the communication operators, as many for each. In compat mode communication on the device
// is the extent of its tasks, as the reference has it, else the operator itself.
inline constexpr size_t kMostTasks = 65536;
RankTimeline CollectTimeline(const store::TraceStore& rank, bool compat);

}  // namespace steplens::analysis::cluster
