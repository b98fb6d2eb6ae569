#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/time_range.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// The kernels of a rank whose times are usable and touch the range, for which wanted(row) holds.
std::vector<uint32_t> SelectKernels(const store::TraceStore& store, const TimeRange& range,
                                    const std::function<bool(size_t)>& wanted);

// Whether a kernel is a whole collective: by its core (Ascend) or its name (NCCL).
std::function<bool(size_t)> CollectiveTest(const store::TraceStore& store);

// Whether a kernel belongs to a step: as the capture says, else by when it began. Without a step
// all do. `store` must outlive it.
std::function<bool(size_t)> StepTest(const store::TraceStore& store, std::optional<int64_t> step);

struct KernelTableOptions {
  std::string name;
  int64_t origin_ns = 0;
  bool with_metrics = false;  // every PMU column
};

// One row a kernel, in the given order: Name, Type, Accelerator Core, Start Time(ms), Duration(us),
// Wait Time(us), Task ID, Stream ID, Block Num, Input/Output Shapes, Types, Formats, Start Time(ns)
// and kernel (its row in the store), then the metrics.
table::Table KernelTable(const store::TraceStore& store, const std::vector<uint32_t>& kernels,
                         const KernelTableOptions& options);

}  // namespace steplens::analysis
