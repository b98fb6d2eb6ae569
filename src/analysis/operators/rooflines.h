#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/operators/flops.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// A call of a host operator whose cost is known.
struct CostedOp {
  store::SliceId slice = store::kNoSlice;
  uint32_t detail = store::kNoId;  // row of store.host_ops
  int64_t device_ns = 0;           // of all kernels launched in it
  OpCost cost;
};

// The innermost operators that worked on the device and whose cost is known, by start: none of them
// is inside another, so no kernel counts twice (aten::addmm, not the aten::linear around it).
std::vector<CostedOp> CollectCostedOps(const store::TraceStore& store);

// Type of an operator's first tensor, "c10::BFloat16"; empty if it is not recorded.
std::string_view FirstTensorType(const store::TraceStore& store, uint32_t detail);

// All calls of an operator with inputs of the same shapes and types.
struct RooflineRow {
  std::string name;
  std::string shapes;
  std::string types;
  int64_t count = 0;
  int64_t device_ns = 0;
  double flops = 0;
  double bytes = 0;     // NaN where a type is not known
  std::string bound;    // compute or memory; empty unless the device's peaks are known
  double roofline = 0;  // share of what the device could reach at that many FLOPs per byte, or NaN

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, shapes, types, count, device_ns, flops, bytes, bound, roofline);
  }
};

// By device time descending.
std::vector<RooflineRow> CollectRooflines(const store::TraceStore& store);

// Columns: Rank, Name, Input Shapes, Input Types, Count, Device Time(us), FLOPs, Bytes, TFLOP/s,
// GB/s, FLOPs per Byte, Bound, Roofline(%).
table::Table RooflineTable(std::string table_name,
                           std::span<const std::pair<int64_t, RooflineRow>> rows_of_ranks);
table::Table OperatorRooflines(const store::Job& job);

}  // namespace steplens::analysis
