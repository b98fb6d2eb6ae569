#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/thread_pool.h"
#include "readers/chrome/event_batch.h"
#include "readers/chrome/flow_pairing.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Appends the batches of one trace, in file order, to a store.
class TraceAssembler {
 public:
  // `name` of the trace stands in the issues found.
  TraceAssembler(store::TraceStore& out, std::string name);
  ~TraceAssembler();

  void Append(const EventBatch& batch);

  // Makes room for `ratio` times the rows seen so far: memory that is touched once costs half of
  // memory that is copied as it grows.
  void Reserve(double ratio);

  // After the last batch: pairs flows and begin/end events, and fills kernels, comm_ops,
  // comm_tasks, steps, allocations and memory_samples from what was seen. `shift_ns` is added to
  // every time. Returns the flows that have no partner.
  LooseFlows Finish(int64_t shift_ns, ThreadPool& pool);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::readers
