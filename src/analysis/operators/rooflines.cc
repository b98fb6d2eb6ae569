#include "analysis/operators/rooflines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/classify/text_memo.h"
#include "analysis/operators/device_peaks.h"
#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;
using table::CellType;

// Cost of calls; equal calls are worked out once.
class CostMemo {
 public:
  explicit CostMemo(const TraceStore& store) : store_(store) {}  // the store must outlive this

  std::optional<OpCost> Of(StringId name, uint32_t detail) {
    const store::HostOpTable& ops = store_.host_ops;
    const Key key{name, ops.input_shapes[detail], ops.input_types[detail],
                  ops.concrete_inputs[detail]};
    const auto [found, is_new] = costs_.try_emplace(key);
    if (is_new) {
      found->second =
          CostOfOperator(store_.Text(name),
                         ParseOpInputs(store_.Text(std::get<1>(key)), store_.Text(std::get<2>(key)),
                                       store_.Text(std::get<3>(key))));
    }
    return found->second;
  }

 private:
  using Key = std::tuple<StringId, StringId, StringId, StringId>;  // name, shapes, types, values
  const TraceStore& store_;
  std::map<Key, std::optional<OpCost>> costs_;
};

// All calls of an operator with the same inputs.
struct RooflineGroup {
  uint32_t detail = store::kNoId;  // of the first
  int64_t count = 0;
  int64_t device_ns = 0;
  OpCost cost{.flops = 0, .bytes = 0};

  void Add(const CostedOp& op) {
    if (count++ == 0) {
      detail = op.detail;
      cost.is_matrix = op.cost.is_matrix;
    }
    device_ns = AddNs(device_ns, op.device_ns);
    cost.flops += op.cost.flops;
    cost.bytes += op.cost.bytes;
  }
};

double SecondsOf(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

struct Roofline {
  std::string_view bound;  // empty if the peaks are not known
  double share = DevicePeaks::kNone;
};

Roofline RooflineOf(const std::optional<DevicePeaks>& peaks, std::string_view type,
                    const OpCost& cost, double flops_per_s) {
  if (!peaks) return {};
  const double compute = peaks->FlopsPerSecond(type, cost.is_matrix, flops_per_s);
  const double memory = cost.flops / cost.bytes * peaks->bytes_per_s;
  if (std::isnan(compute) || std::isnan(memory)) return {};
  return {compute <= memory ? "compute" : "memory", flops_per_s / std::min(compute, memory)};
}

}  // namespace

std::string_view FirstTensorType(const TraceStore& store, uint32_t detail) {
  const store::HostOpTable& ops = store.host_ops;
  const OpInputs inputs =
      ParseOpInputs(store.Text(ops.input_shapes[detail]), store.Text(ops.input_types[detail]), {});
  for (size_t i = 0; i < std::min(inputs.shapes.size(), inputs.types.size()); ++i) {
    if (!inputs.shapes[i].empty()) return inputs.types[i];
  }
  return {};
}

std::vector<CostedOp> CollectCostedOps(const TraceStore& store) {
  const std::vector<HostOp> ops = ComputeHostOps(store).ops;
  TextMemo has_formula(store, HasCostFormula);
  CostMemo costs(store);
  std::vector<bool> is_inside_known(store.slices.size(), false);  // holds an operator of known cost
  std::vector<CostedOp> found;
  for (size_t i = ops.size(); i-- > 0;) {  // the operators inside one come behind it
    const HostOp& op = ops[i];
    const auto slice = static_cast<size_t>(op.slice);
    const StringId name = store.slices.name[slice];
    bool is_known = is_inside_known[slice];
    if (!is_known && op.detail != store::kNoId && op.device_total_ns > 0 && has_formula(name)) {
      if (const std::optional<OpCost> cost = costs.Of(name, op.detail)) {
        found.push_back({op.slice, op.detail, op.device_total_ns, *cost});
        is_known = true;
      }
    }
    if (is_known && op.parent != store::kNoSlice)
      is_inside_known[static_cast<size_t>(op.parent)] = true;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<RooflineRow> CollectRooflines(const TraceStore& store) {
  std::map<std::tuple<StringId, StringId, StringId>, RooflineGroup> groups;  // name, shapes, types
  for (const CostedOp& op : CollectCostedOps(store)) {
    groups[{store.slices.name[static_cast<size_t>(op.slice)],
            store.host_ops.input_shapes[op.detail], store.host_ops.input_types[op.detail]}]
        .Add(op);
  }
  const std::optional<DevicePeaks> peaks = FindDevicePeaks(store);
  std::vector<RooflineRow> rows;
  for (const auto& [key, group] : groups) {
    const double flops_per_s = group.cost.flops / SecondsOf(group.device_ns);
    const Roofline roofline =
        RooflineOf(peaks, FirstTensorType(store, group.detail), group.cost, flops_per_s);
    const auto text = [&](StringId id) { return std::string(store.Text(id)); };
    rows.push_back({text(std::get<0>(key)), text(std::get<1>(key)), text(std::get<2>(key)),
                    group.count, group.device_ns, group.cost.flops, group.cost.bytes,
                    std::string(roofline.bound), roofline.share});
  }
  std::sort(rows.begin(), rows.end(), [](const RooflineRow& a, const RooflineRow& b) {
    return std::tuple(-a.device_ns, std::tie(a.name, a.shapes, a.types)) <
           std::tuple(-b.device_ns, std::tie(b.name, b.shapes, b.types));
  });
  return rows;
}

table::Table RooflineTable(std::string table_name,
                           std::span<const std::pair<int64_t, RooflineRow>> rows_of_ranks) {
  table::Table out(std::move(table_name));
  const size_t rank = out.AddColumn("Rank", CellType::kInt);
  const size_t name = out.AddColumn("Name", CellType::kText);
  const size_t shapes = out.AddColumn("Input Shapes", CellType::kText);
  const size_t types = out.AddColumn("Input Types", CellType::kText);
  const size_t count = out.AddColumn("Count", CellType::kInt);
  const size_t time = out.AddColumn("Device Time(us)", CellType::kTimeUs);
  const size_t flops = out.AddColumn("FLOPs", CellType::kDouble, 0);
  const size_t bytes = out.AddColumn("Bytes", CellType::kDouble, 0);
  const size_t tflops = out.AddColumn("TFLOP/s", CellType::kDouble);
  const size_t gbps = out.AddColumn("GB/s", CellType::kDouble);
  const size_t intensity = out.AddColumn("FLOPs per Byte", CellType::kDouble);
  const size_t bound = out.AddColumn("Bound", CellType::kText);
  const size_t percent = out.AddColumn("Roofline(%)", CellType::kDouble, 2);
  for (const auto& [of_rank, row] : rows_of_ranks) {
    out.AppendInt(rank, of_rank);
    out.AppendText(name, row.name);
    out.AppendText(shapes, row.shapes);
    out.AppendText(types, row.types);
    out.AppendInt(count, row.count);
    out.AppendInt(time, row.device_ns);
    out.AppendDouble(flops, row.flops);
    out.AppendDouble(bytes, row.bytes);
    out.AppendDouble(tflops, row.flops / SecondsOf(row.device_ns) / 1e12);
    out.AppendDouble(gbps, row.bytes / SecondsOf(row.device_ns) / 1e9);
    out.AppendDouble(intensity, row.flops / row.bytes);
    out.AppendText(bound, row.bound);
    out.AppendDouble(percent, 100 * row.roofline);
  }
  return out;
}

table::Table OperatorRooflines(const store::Job& job) {
  std::vector<std::pair<int64_t, RooflineRow>> rows;
  for (const TraceStore& store : job.ranks) {
    for (RooflineRow& row : CollectRooflines(store))
      rows.emplace_back(store.info.rank, std::move(row));
  }
  return RooflineTable("operator_rooflines", rows);
}

}  // namespace steplens::analysis
