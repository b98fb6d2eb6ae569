#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/cells.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"
#include "base/number.h"

// The Memory page for static graphs (MindSpore): what is live at each node.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr int64_t kToTheEnd = 4294967295;

// A column of static_op_mem.csv by what its header begins with, in any case.
const store::DynamicColumn* FindColumn(const store::DynamicTable& sheet, std::string_view lower) {
  for (const store::DynamicColumn& column : sheet.columns) {
    if (StartsInAnyCase(column.name, lower)) return &column;
  }
  return nullptr;
}

std::string TextAt(const TraceStore& store, const store::DynamicColumn* column, size_t row) {
  if (column == nullptr) return {};
  if (column->is_text()) return std::string(store.Text(column->texts[row]));
  return std::isnan(column->numbers[row]) ? std::string() : FormatDouble(column->numbers[row]);
}

double NumberAt(const TraceStore& store, const store::DynamicColumn* column, size_t row) {
  if (column == nullptr) return kNoNumber;
  if (!column->is_text()) return column->numbers[row];
  return ParseDouble(store.Text(column->texts[row])).value_or(kNoNumber);
}

double SizeUnitMb(std::string_view header) {
  if (ContainsInAnyCase(header, "(kb)")) return 1.0 / 1024;
  if (ContainsInAnyCase(header, "(b)") || ContainsInAnyCase(header, "byte")) {
    return 1.0 / (1024 * 1024);
  }
  return 1;
}

struct StaticOp {
  std::string device;
  std::string name;
  std::string graph;
  int64_t first_node = 0;
  int64_t last_node = 0;
  double size_mb = 0;
};

std::vector<StaticOp> ReadStaticOps(const TraceStore& store, const store::DynamicTable& sheet) {
  const store::DynamicColumn* size = FindColumn(sheet, "size");
  const store::DynamicColumn* name = FindColumn(sheet, "op name");
  if (name == nullptr) name = FindColumn(sheet, "name");
  const double unit_mb = size == nullptr ? 1 : SizeUnitMb(size->name);
  std::vector<StaticOp> ops;
  for (size_t row = 0; row < sheet.size(); ++row) {
    StaticOp op;
    op.device = TextAt(store, FindColumn(sheet, "device"), row);
    op.name = TextAt(store, name, row);
    op.graph = TextAt(store, FindColumn(sheet, "graph"), row);
    const double first = NumberAt(store, FindColumn(sheet, "node index start"), row);
    const double last = NumberAt(store, FindColumn(sheet, "node index end"), row);
    op.size_mb = NumberAt(store, size, row) * unit_mb;
    const bool is_usable = first >= 0 && last >= first && last <= 1e15 && op.size_mb >= 0;
    if (!is_usable && op.name != "TOTAL") continue;
    op.first_node = std::isnan(first) ? 0 : static_cast<int64_t>(first);
    op.last_node = std::isnan(last) ? 0 : static_cast<int64_t>(last);
    ops.push_back(std::move(op));
  }
  return ops;
}

// The sum of what is live, at each node where it changes.
table::Table Curve(const std::vector<const StaticOp*>& ops, int64_t end_node) {
  std::map<int64_t, double> changes;
  double total_mb = kNoNumber;
  for (const StaticOp* op : ops) {
    if (op->name == "TOTAL") {
      total_mb = op->size_mb;
      continue;
    }
    changes[op->first_node] += op->size_mb;
    changes[std::min(op->last_node, end_node) + 1] -= op->size_mb;
  }
  TableRows rows("points", {IntColumn("node"), NumberColumn("Size(MB)", 2),
                            NumberColumn("Total Size(MB)", 2)});
  double live_mb = 0;
  for (const auto& [node, change_mb] : changes) {
    live_mb += change_mb;
    rows.Add(node, RoundTo(std::max(0.0, live_mb), 2), RoundTo(total_mb, 2));
  }
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> MemoryStatic(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(std::string graph, call.args.TextOr("graph", ""));
  MetricAnswer answer;
  answer.definition = "insight.memory_static";
  std::vector<StaticOp> all;
  for (const store::DynamicTable& sheet : store->sheets) {
    if (sheet.name.starts_with("static_op_mem")) all = ReadStaticOps(*store, sheet);
  }
  std::set<std::string> graphs;
  for (const StaticOp& op : all) {
    if (op.name != "TOTAL") graphs.insert(op.graph);
  }
  if (graph.empty() && !graphs.empty()) graph = *graphs.begin();
  std::vector<const StaticOp*> ops;
  int64_t end_node = 0;  // one past the last node that any operation names
  for (const StaticOp& op : all) {
    if (op.graph != graph && op.name != "TOTAL") continue;
    ops.push_back(&op);
    end_node = std::max(end_node, op.first_node + 1);
    if (op.last_node != kToTheEnd) end_node = std::max(end_node, op.last_node + 1);
  }
  TableRows rows("memory_static",
                 {TextColumn("Device ID"), TextColumn("Name"), IntColumn("Node Index Start"),
                  IntColumn("Node Index End"), NumberColumn("Size(MB)", 2)});
  for (const StaticOp* op : ops) {
    if (op->name == "TOTAL") continue;
    rows.Add(op->device, op->name, op->first_node, std::min(op->last_node, end_node),
             RoundTo(op->size_mb, 2));
  }
  TableRows names("graphs", {TextColumn("graph")});
  for (const std::string& name : graphs) names.Add(name);
  answer.tables.push_back(rows.Take());
  answer.tables.push_back(Curve(ops, end_node));
  answer.tables.push_back(names.Take());
  if (all.empty()) {
    answer.warnings.push_back(Message{"warning.no_static_memory"});
  } else {
    answer.query = fmt::format("SELECT * FROM static_op_mem WHERE rank = {}", store->info.rank);
  }
  return answer;
}

}  // namespace steplens::analysis::viewer
