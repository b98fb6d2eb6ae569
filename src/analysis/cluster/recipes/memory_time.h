#pragma once

#include <cstdint>
#include <map>

#include "analysis/cluster/recipes/host_calls.h"
#include "analysis/cluster/step_window.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// Copies to and from the device in one step.
struct MemoryTime {
  int64_t total_ns = 0;  // of all copies
  int64_t alone_ns = 0;  // while neither computation nor communication ran

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(total_ns, alone_ns);
  }
};

// By step; a copy belongs to the step its start lies in, and to none outside all of them. Of a GPU,
// the step is that of the breakdown: the device's time, not the host's.
std::map<int64_t, MemoryTime> MemoryTimes(const store::TraceStore& rank, const HostCalls& host);

// As the reference has it: work counts only if its launch is recorded inside the window, and the
// time of copies that overlap each other is lost.
std::map<int64_t, MemoryTime> MemoryTimesAsReference(const store::TraceStore& rank,
                                                     const HostCalls& host,
                                                     const StepWindow& window);

}  // namespace steplens::analysis::cluster
