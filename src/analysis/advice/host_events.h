#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// What the host did that rules about scheduling look at, by name: threads and processes of a small
// capture may have no names. Rows of slices, in order of begin.
struct HostEvents {
  std::vector<size_t> memory_calls;  // aclMallocMemInner, aclrtFree, aclrtFreePhysical
  std::vector<size_t> compilations;  // aclopCompileAndExecute
  std::vector<size_t> launches;      // Node@launch
  std::vector<size_t> syncs;         // aclrtSynchronizeStream and its kin
  std::vector<size_t> data_loads;    // enumerate(DataLoader)#...
  std::vector<size_t> sync_bns;      // SyncBatchNorm
  std::vector<size_t> collections;   // of Python's garbage
  std::vector<size_t> acl_calls;     // all of AscendCL
};

// O(slices).
HostEvents CollectHostEvents(const store::TraceStore& store);

}  // namespace steplens::analysis
