#include "analysis/operators/operator_tables.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/operators/host_ops.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;
using table::CellType;

// visit(op) for the operators of a rank that the selection holds, ProfilerStep# left out.
template <typename Visitor>
void ForEachOp(const TraceStore& store, const HostOps& host_ops, const Selection& selection,
               Visitor&& visit) {
  const std::vector<StepRange> steps =
      selection.step ? ComputeStepRanges(store) : std::vector<StepRange>{};
  const auto in_selected_step = [&](int64_t begin_ns) {
    return std::any_of(steps.begin(), steps.end(), [&](const StepRange& step) {
      return selection.HasStep(step.step) && step.host_begin_ns <= begin_ns &&
             begin_ns <= step.host_end_ns;
    });
  };
  for (const HostOp& op : host_ops.ops) {
    const auto s = static_cast<size_t>(op.slice);
    if (store.Text(store.slices.name[s]).find("ProfilerStep#") != std::string_view::npos) continue;
    if (selection.step && !in_selected_step(store.slices.begin_ns[s])) continue;
    visit(op);
  }
}

table::Table BuildOperatorTable(const store::Job& job, const Selection& selection,
                                std::string table_name, bool with_tree) {
  table::Table out(std::move(table_name));
  const size_t rank = out.AddColumn("Rank", CellType::kInt);
  const size_t tree = rank + 1;
  if (with_tree) {
    out.AddColumn("Slice Id", CellType::kInt);
    out.AddColumn("Parent Slice Id", CellType::kInt);
  }
  const size_t name = out.AddColumn("Name", CellType::kText);
  const size_t shapes = out.AddColumn("Input Shapes", CellType::kText);
  const size_t stack = out.AddColumn("Call Stack", CellType::kText);
  const size_t first_time = stack + 1;
  for (const char* column :
       {"Host Self Duration(us)", "Host Total Duration(us)", "Device Self Duration(us)",
        "Device Total Duration(us)", "Device Self Duration With AICore(us)",
        "Device Total Duration With AICore(us)"}) {
    out.AddColumn(column, CellType::kTimeUs);
  }
  const size_t pass = with_tree ? out.AddColumn("Pass", CellType::kText) : 0;
  for (const TraceStore& store : job.ranks) {
    if (!selection.HasRank(store.info.rank)) continue;
    const HostOps host_ops = ComputeHostOps(store);
    ForEachOp(store, host_ops, selection, [&](const HostOp& op) {
      const auto s = static_cast<size_t>(op.slice);
      const bool has_detail = op.detail != store::kNoId;
      out.AppendInt(rank, store.info.rank);
      if (with_tree) {
        out.AppendInt(tree, static_cast<int64_t>(op.slice));
        out.AppendInt(tree + 1, op.parent == store::kNoSlice ? table::kNull
                                                             : static_cast<int64_t>(op.parent));
      }
      out.AppendText(name, store.Text(store.slices.name[s]));
      out.AppendText(shapes, has_detail ? store.Text(store.host_ops.input_shapes[op.detail]) : "");
      out.AppendText(stack, has_detail ? store.Text(store.host_ops.call_stack[op.detail]) : "");
      const auto if_known = [&](int64_t ns) { return host_ops.knows_aicore ? ns : table::kNull; };
      const int64_t times[] = {op.host_self_ns,
                               op.host_total_ns,
                               op.device_self_ns,
                               op.device_total_ns,
                               if_known(op.device_self_aicore_ns),
                               if_known(op.device_total_aicore_ns)};
      for (size_t i = 0; i < std::size(times); ++i) out.AppendInt(first_time + i, times[i]);
      if (with_tree) out.AppendText(pass, PassName(op.pass));
    });
  }
  return out;
}

struct NameTotals {
  int64_t count = 0;
  int64_t host_total_ns = 0;
  int64_t host_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t device_self_ns = 0;

  void Add(const NameTotals& other) {
    count += other.count;
    host_total_ns = AddNs(host_total_ns, other.host_total_ns);
    host_self_ns = AddNs(host_self_ns, other.host_self_ns);
    device_total_ns = AddNs(device_total_ns, other.device_total_ns);
    device_self_ns = AddNs(device_self_ns, other.device_self_ns);
  }
};

struct NameRow {
  std::string_view name;
  OpPass pass;
  NameTotals totals;
};

// One rank's rows, by host self time descending, then by name and pass; the pass of all is unknown
// unless by_pass.
std::vector<NameRow> RowsOfRank(const TraceStore& store, const Selection& selection, bool by_pass) {
  std::map<std::pair<StringId, OpPass>, NameTotals> totals;
  ForEachOp(store, ComputeHostOps(store), selection, [&](const HostOp& op) {
    const StringId name = store.slices.name[static_cast<size_t>(op.slice)];
    totals[{name, by_pass ? op.pass : OpPass::kUnknown}].Add(
        {1, op.host_total_ns, op.host_self_ns, op.device_total_ns, op.device_self_ns});
  });
  std::vector<NameRow> rows;
  rows.reserve(totals.size());
  for (const auto& [key, sums] : totals) rows.push_back({store.Text(key.first), key.second, sums});
  std::sort(rows.begin(), rows.end(), [](const NameRow& a, const NameRow& b) {
    if (a.totals.host_self_ns != b.totals.host_self_ns)
      return a.totals.host_self_ns > b.totals.host_self_ns;
    return std::tie(a.name, a.pass) < std::tie(b.name, b.pass);
  });
  return rows;
}

}  // namespace

table::Table OperatorDetails(const store::Job& job, const Selection& selection) {
  return BuildOperatorTable(job, selection, "operator_details", false);
}

table::Table OperatorTree(const store::Job& job, const Selection& selection) {
  return BuildOperatorTable(job, selection, "operator_tree", true);
}

table::Table HostOpStatistics(const store::Job& job, const Selection& selection, bool by_pass) {
  table::Table out("operator_stats");
  const size_t rank = out.AddColumn("Rank", CellType::kInt);
  const size_t name = out.AddColumn("Name", CellType::kText);
  const size_t count = out.AddColumn("Count", CellType::kInt);
  const size_t host_total = out.AddColumn("Host Total Duration(us)", CellType::kTimeUs);
  const size_t host_self = out.AddColumn("Host Self Duration(us)", CellType::kTimeUs);
  const size_t device_total = out.AddColumn("Device Total Duration(us)", CellType::kTimeUs);
  const size_t device_self = out.AddColumn("Device Self Duration(us)", CellType::kTimeUs);
  const size_t pass = by_pass ? out.AddColumn("Pass", CellType::kText) : 0;
  for (const TraceStore& store : job.ranks) {
    if (!selection.HasRank(store.info.rank)) continue;
    for (const auto& [op_name, op_pass, totals] : RowsOfRank(store, selection, by_pass)) {
      out.AppendInt(rank, store.info.rank);
      out.AppendText(name, op_name);
      out.AppendInt(count, totals.count);
      out.AppendInt(host_total, totals.host_total_ns);
      out.AppendInt(host_self, totals.host_self_ns);
      out.AppendInt(device_total, totals.device_total_ns);
      out.AppendInt(device_self, totals.device_self_ns);
      if (by_pass) out.AppendText(pass, PassName(op_pass));
    }
  }
  return out;
}

}  // namespace steplens::analysis
