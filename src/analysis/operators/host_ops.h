#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/nesting/nesting.h"
#include "analysis/operators/op_pass.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// One host operator with the time it took, on the host and on the device.
struct HostOp {
  store::SliceId slice = store::kNoSlice;
  store::SliceId parent = store::kNoSlice;  // the enclosing operator of its thread
  uint32_t detail = store::kNoId;           // row of store.host_ops; kNoId if it has none
  OpPass pass = OpPass::kUnknown;
  int64_t host_total_ns = 0;
  int64_t host_self_ns = 0;    // total without the operators directly inside
  int64_t device_self_ns = 0;  // of the kernels it launched itself
  int64_t device_total_ns = 0;
  int64_t device_self_aicore_ns = 0;  // of those, the tasks of type AI_CORE
  int64_t device_total_aicore_ns = 0;
};

struct HostOps {
  std::vector<HostOp> ops;    // by start, outer before inner, all threads together
  bool knows_aicore = false;  // whether the input says the task type of what they launched
};

// All host operators, ProfilerStep# among them where it is recorded as one. A call that replays a
// graph outside of all operators counts as one: nobody else has launched the kernels of the graph.
HostOps ComputeHostOps(const store::TraceStore& store);

// Each of them in that order, without keeping more than those of an outermost operator at a time.
void ForEachHostOp(const store::TraceStore& store, const std::function<void(const HostOp&)>& visit);

// Finds operators by place and time.
class HostOpFinder {
 public:
  explicit HostOpFinder(const store::TraceStore& store);  // the store must outlive the finder

  // The innermost operator of the track that starts exactly then, else the innermost one that runs
  // then.
  store::SliceId Find(store::TrackId track, int64_t ts_ns) const;

  const TrackIndex& index() const { return index_; }   // of operators only
  const Nesting& nesting() const { return nesting_; }  // among operators only

 private:
  const store::TraceStore& store_;
  TrackIndex index_;
  Nesting nesting_;
};

// The row of store.host_ops that describes a slice; kNoId if there is none. O(log n).
uint32_t FindHostOpDetail(const store::TraceStore& store, store::SliceId slice);

}  // namespace steplens::analysis
