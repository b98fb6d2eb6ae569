#include "analysis/compare/operator_sheets.h"
#include "analysis/time_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/number.h"
#include "table/python_double.h"

namespace steplens::analysis::compare {
namespace {

using store::kNone;

std::string PythonNumber(double value) {
  std::string text;
  table::AppendPythonDouble(text, value);
  return text;
}

// What an operator and all that it called did on the device.
struct DeviceUse {
  std::vector<uint32_t> events;
  int64_t ns = 0;
};
DeviceUse DeviceUseOf(const SideTree& of, uint32_t node) {
  DeviceUse use;
  for (const uint32_t one : Subtree(of.tree, node)) {
    for (const uint32_t event : of.side.EventsOf(of.side.ops[of.tree.nodes[one].op])) {
      use.events.push_back(event);
      use.ns = AddNs(use.ns, of.side.events[event].dur_ns);
    }
  }
  return use;
}

struct MemoryUse {
  std::vector<uint32_t> records;
  int64_t bytes = 0;
  int64_t ns = 0;
};
MemoryUse MemoryUseOf(const SideTree& of, uint32_t node) {
  MemoryUse use;
  for (const uint32_t one : Subtree(of.tree, node)) {
    for (const uint32_t record : of.tree.nodes[one].memory) {
      use.records.push_back(record);
      use.bytes = AddSaturating(use.bytes, of.tree.memory[record].size_bytes);
      use.ns = AddNs(use.ns, of.tree.memory[record].dur_ns);
    }
  }
  return use;
}

double Kilobytes(int64_t bytes) { return static_cast<double>(bytes) / 1024; }
double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1024 / 1024; }

const HostEvent& OpOf(const SideTree& of, uint32_t node) {
  return of.side.ops[of.tree.nodes[node].op];
}

// What is known of all operators of one name.
template <typename Totals>
struct ByName {
  std::string_view name;
  Totals base{};
  Totals comparison{};
};

// Operators of the pairs by name, as they come first; those of the comparison alone at the end.
template <typename Totals, typename Add>
std::vector<ByName<Totals>> GroupByName(const SideTree& base, const SideTree& comparison,
                                        const std::vector<Pair>& pairs, Add&& add) {
  std::vector<ByName<Totals>> groups;
  std::unordered_map<std::string_view, size_t> index;
  const auto group_of = [&](std::string_view name) -> ByName<Totals>& {
    const auto [place, is_new] = index.try_emplace(name, groups.size());
    if (is_new) groups.push_back({name, {}, {}});
    return groups[place->second];
  };
  for (const Pair& pair : pairs) {
    if (pair.base == kUnmatched) continue;
    add(base, pair.base, group_of(OpOf(base, pair.base).name).base);
  }
  for (const Pair& pair : pairs) {
    if (pair.comparison != kUnmatched) {
      add(comparison, pair.comparison, group_of(OpOf(comparison, pair.comparison).name).comparison);
    }
  }
  return groups;
}

// Shapes and types of an operator; empty if there is none.
void WriteOp(SheetWriter& out, const SideTree& of, uint32_t node, bool compat) {
  if (node == kUnmatched) {
    out.Empty(3);
    return;
  }
  const HostEvent& op = OpOf(of, node);
  const OpTexts texts = DescribeOp(of.side, op, compat);
  out.Text(op.name).Text(texts.shapes).Text(texts.types);
}

// A time of the allocator as the reference's reader of the format prints it.
std::string MemoryTime(const Side& side, int64_t ns, bool compat) {
  if (side.is_gpu) {
    if (ns == kNone) return "None";
    return ns % 1000 == 0 ? std::to_string(ns / 1000) : FormatNsAsUs(ns);
  }
  if (side.is_db && compat) {
    return ns == kNone ? "0.0" : PythonNumber(EpochUs(ns));
  }
  return ns == kNone ? "0" : FormatNsAsUs(ns);
}

std::string MemoryLine(const Side& side, const MemoryRecord& record, bool compat) {
  return fmt::format("{}, ({}, {}), [duration: {}], [size: {}]\n", record.name,
                     MemoryTime(side, record.alloc_ns, compat),
                     MemoryTime(side, record.release_ns, compat), PythonNumber(Us(record.dur_ns)),
                     PythonNumber(Kilobytes(record.size_bytes)));
}

}  // namespace

std::string EventLine(const Side& side, const DeviceEvent& event) {
  const std::string duration = PythonNumber(Us(event.dur_ns));
  if (side.is_gpu) return fmt::format("{} [duration: {}]\n", event.name, duration);
  const std::string id = event.task_id == kNone ? "None" : std::to_string(event.task_id);
  const std::string_view type = event.task_type.empty() ? "None" : event.task_type;
  std::string shapes;
  if (event.knows_shapes) {
    shapes = event.shapes.empty() ? ", [input shapes: N/A]"
                                  : fmt::format(", [input shapes: \"{}\"]", event.shapes);
  }
  return fmt::format("{}, {}, {}{} [duration: {}]\n", event.name, id, type, shapes, duration);
}

ResultSheet OperatorStatisticSheet(const SideTree& base, const SideTree& comparison,
                                   const std::vector<Pair>& pairs, bool compat) {
  struct Totals {
    int64_t ns = 0;
    int64_t count = 0;
    int64_t communication_ns = 0;
  };
  auto groups = GroupByName<Totals>(
      base, comparison, pairs, [](const SideTree& of, uint32_t node, Totals& totals) {
        const DeviceUse use = DeviceUseOf(of, node);
        totals.ns = AddNs(totals.ns, use.ns);
        ++totals.count;
        for (const uint32_t event : use.events) {
          const DeviceEvent& one = of.side.events[event];
          if (one.is_collective)
            totals.communication_ns = AddNs(totals.communication_ns, one.dur_ns);
        }
      });
  // The reference sorts by what it shows.
  const auto diff = [&](const ByName<Totals>& group) {
    if (compat) return Diff(Ms(group.base.ns), Ms(group.comparison.ns));
    return static_cast<double>(group.comparison.ns - group.base.ns);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto& a, const auto& b) { return diff(a) > diff(b); });
  ResultSheet sheet("OperatorCompareStatistic");
  sheet.base = {2, 3};
  sheet.comparison = {4, 5};
  SheetWriter out(sheet);
  out.AddColumns({"iTop", "tOperator Name", "dBase Device Duration(ms)", "iBase Operator Number",
                  "dComparison Device Duration(ms)", "iComparison Operator Number",
                  "dDiff Duration(ms)", "dDiff Ratio"});
  if (!compat) {
    out.AddColumns({"dBase Communication(ms)", "dComparison Communication(ms)"});
  }
  for (const auto& group : groups) {
    const double a = Ms(group.base.ns);
    const double b = Ms(group.comparison.ns);
    out.Order().Text(group.name).Double(a).Int(group.base.count).Double(b);
    out.Int(group.comparison.count).Double(Diff(a, b)).Double(Ratio(a, b));
    if (!compat) {
      out.Double(Ms(group.base.communication_ns)).Double(Ms(group.comparison.communication_ns));
    }
  }
  return sheet;
}

ResultSheet OperatorSheet(const SideTree& base, const SideTree& comparison,
                          const std::vector<Pair>& pairs, bool compat) {
  ResultSheet sheet("OperatorCompare");
  sheet.base = {1, 5};
  sheet.comparison = {6, 10};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tOperator Name", "tInput Shape", "tInput Type", "tKernel Details",
                  "dDevice Duration(us)", "tOperator Name", "tInput Shape", "tInput Type",
                  "tKernel Details", "dDevice Duration(us)", "dDiff Duration(us)", "dDiff Ratio"});
  const auto write = [&](const SideTree& of, uint32_t node) {
    WriteOp(out, of, node, compat);
    const DeviceUse use = node == kUnmatched ? DeviceUse() : DeviceUseOf(of, node);
    std::string details;
    for (const uint32_t event : use.events) details += EventLine(of.side, of.side.events[event]);
    out.Text(details).Double(Us(use.ns));
    return Us(use.ns);
  };
  for (const Pair& pair : pairs) {
    out.Order();
    const double a = write(base, pair.base);
    const double b = write(comparison, pair.comparison);
    out.Double(Diff(a, b)).Double(Ratio(a, b));
  }
  return sheet;
}

ResultSheet MemoryStatisticSheet(const SideTree& base, const SideTree& comparison,
                                 const std::vector<Pair>& pairs, bool compat) {
  struct Totals {
    int64_t bytes = 0;
    int64_t ns = 0;
    int64_t count = 0;
  };
  auto groups = GroupByName<Totals>(base, comparison, pairs,
                                    [](const SideTree& of, uint32_t node, Totals& totals) {
                                      const MemoryUse use = MemoryUseOf(of, node);
                                      totals.bytes = AddSaturating(totals.bytes, use.bytes);
                                      totals.ns = AddNs(totals.ns, use.ns);
                                      ++totals.count;
                                    });
  const auto diff = [&](const ByName<Totals>& group) {
    if (compat) return Diff(Megabytes(group.base.bytes), Megabytes(group.comparison.bytes));
    return static_cast<double>(SubtractSaturating(group.comparison.bytes, group.base.bytes));
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto& a, const auto& b) { return diff(a) > diff(b); });
  ResultSheet sheet("MemoryCompareStatistic");
  sheet.base = {2, 4};
  sheet.comparison = {5, 7};
  SheetWriter out(sheet);
  out.AddColumns({"iTop", "tOperator Name", "dBase Allocated Duration(ms)",
                  "dBase Allocated Memory(MB)", "iBase Operator Number",
                  "dComparison Allocated Duration(ms)", "dComparison Allocated Memory(MB)",
                  "iComparison Operator Number", "dDiff Memory(MB)", "dDiff Ratio"});
  for (const auto& group : groups) {
    const double a = Megabytes(group.base.bytes);
    const double b = Megabytes(group.comparison.bytes);
    out.Order().Text(group.name).Double(Ms(group.base.ns)).Double(a).Int(group.base.count);
    out.Double(Ms(group.comparison.ns)).Double(b).Int(group.comparison.count);
    out.Double(Diff(a, b)).Double(Ratio(a, b));
  }
  return sheet;
}

ResultSheet MemorySheet(const SideTree& base, const SideTree& comparison,
                        const std::vector<Pair>& pairs, bool compat) {
  ResultSheet sheet("MemoryCompare");
  sheet.base = {1, 5};
  sheet.comparison = {6, 10};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tOperator Name", "tInput Shape", "tInput Type",
                  "tAllocated Details", "dSize(KB)", "tOperator Name", "tInput Shape",
                  "tInput Type", "tAllocated Details", "dSize(KB)", "dDiff Size(KB)",
                  "dDiff Ratio"});
  const auto write = [&](const SideTree& of, uint32_t node) {
    WriteOp(out, of, node, compat);
    const MemoryUse use = node == kUnmatched ? MemoryUse() : MemoryUseOf(of, node);
    std::string details;
    for (const uint32_t record : use.records) {
      details += MemoryLine(of.side, of.tree.memory[record], compat);
    }
    out.Text(details).Double(Kilobytes(use.bytes));
    return Kilobytes(use.bytes);
  };
  for (const Pair& pair : pairs) {
    out.Order();
    const double a = write(base, pair.base);
    const double b = write(comparison, pair.comparison);
    out.Double(Diff(a, b)).Double(Ratio(a, b));
  }
  return sheet;
}

}  // namespace steplens::analysis::compare
