#pragma once

#include <cstddef>

#include "base/progress.h"
#include "base/thread_pool.h"

namespace steplens::readers {

// Which parts of a rank the caller will look at. Readers leave out the rest where that saves time;
// who the rank is, its metadata and its step table always come.
struct Wanted {
  bool timeline = true;       // trace, operators, kernels, tasks, markers, counters
  bool communication = true;  // communication.json, communication_matrix.json, CommAnalyzer*
  bool others = true;         // memory, statistics and the other csv files
  bool tensors = true;        // raw captures: the tensors of operators and modules
  bool args = true;           // raw captures: columns for args of slices, which they do not have
  bool IsAll() const { return timeline && communication && others && tensors && args; }
};

// What every reader is given. The result never depends on the number of threads or the chunk size.
struct ReadOptions {
  ThreadPool* pool = nullptr;    // required
  Progress* progress = nullptr;  // optional; told the bytes of input consumed
  size_t chunk_bytes = 1 << 20;  // size of the pieces a large trace is parsed in
  Wanted wanted{};
  bool use_event_shapes = true;  // off: every trace event goes the ordinary way; for comparison
};

}  // namespace steplens::readers
