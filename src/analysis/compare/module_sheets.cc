#include "analysis/compare/module_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/compare/match.h"
#include "analysis/compare/names.h"
#include "analysis/compare/operator_sheets.h"
#include "analysis/time_math.h"
#include "base/name_pattern.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoId;

// The path as it is matched: --op_name_map renames modules as well, element by element.
std::string MatchedPath(const std::string& path, const SheetOptions& options) {
  if (options.compat || options.op_names.empty()) return path;
  std::string mapped;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    std::string element = path.substr(at + 1, end - at - 1);
    for (const auto& [from, to] : options.op_names) {
      if (!FitsPattern(element, from) && !FitsPattern(element, "nn.Module: " + from)) continue;
      element = element.starts_with("nn.Module: ") && !to.starts_with("nn.Module: ")
                    ? "nn.Module: " + to
                    : to;
      break;
    }
    mapped += "/" + element;
    at = end;
  }
  return mapped;
}

// Kernels by name, with number and time.
std::string KernelTotalsText(const Side& side, const std::vector<uint32_t>& events) {
  struct Totals {
    std::string_view name;
    int64_t count = 0;
    int64_t ns = 0;
  };
  std::vector<Totals> totals;
  std::unordered_map<std::string_view, size_t> index;
  for (const uint32_t event : events) {
    const DeviceEvent& one = side.events[event];
    const auto [place, is_new] = index.try_emplace(one.name, totals.size());
    if (is_new) totals.push_back({one.name, 0, 0});
    ++totals[place->second].count;
    totals[place->second].ns = AddNs(totals[place->second].ns, one.dur_ns);
  }
  std::string text;
  for (const Totals& one : totals) {
    text +=
        fmt::format("{}, [number: {}], [duration_ms: {:.3f}]\n", one.name, one.count, Ms(one.ns));
  }
  return text;
}

// All calls of one operator in all calls of a module.
struct OpTotals {
  std::string_view name;
  int64_t ns = 0;
  int64_t count = 0;
  std::vector<uint32_t> events;
};
// All calls of a module.
struct ModuleTotals {
  std::string path;
  const ModuleNode* first = nullptr;
  int64_t self_ns = 0;
  int64_t total_ns = 0;
  int64_t count = 0;
  std::vector<OpTotals> ops;
};

std::vector<ModuleTotals> SumModules(const SideModules& of, const SheetOptions& options) {
  std::vector<ModuleTotals> modules;
  std::unordered_map<std::string, size_t> index;
  for (const uint32_t i : of.tree.ByBegin()) {
    const ModuleNode& node = of.tree.nodes[i];
    const std::string path = MatchedPath(node.path, options);
    const auto [place, is_new] = index.try_emplace(path, modules.size());
    if (is_new) modules.push_back({path, &node, 0, 0, 0, {}});
    ModuleTotals& totals = modules[place->second];
    totals.self_ns = AddNs(totals.self_ns, node.self_ns);
    totals.total_ns = AddNs(totals.total_ns, node.total_ns);
    ++totals.count;
    for (const ModuleNode::TopOp& op : node.ops) {
      const std::string_view name = of.side.ops[op.op].name;
      auto found = std::find_if(totals.ops.begin(), totals.ops.end(),
                                [&](const OpTotals& one) { return one.name == name; });
      if (found == totals.ops.end()) {
        found = totals.ops.insert(totals.ops.end(), OpTotals{name, 0, 0, {}});
      }
      found->ns += op.ns;
      ++found->count;
      found->events.insert(found->events.end(), op.events.begin(), op.events.end());
    }
  }
  return modules;
}

template <typename List>
auto FindNamed(const List& list, std::string_view name) -> const typename List::value_type* {
  for (const auto& one : list) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

class ModuleStatisticWriter {
 public:
  ModuleStatisticWriter(const SideModules& base, const SideModules& comparison, SheetWriter& out)
      : base_(base), comparison_(comparison), out_(out) {}

  void Write(const ModuleTotals* a, const ModuleTotals* b) {
    path_ = a != nullptr ? a->path : b->path;
    WriteTotal(a, b);
    if (a != nullptr) {
      for (const OpTotals& op : a->ops) {
        WriteOp(&op, b == nullptr ? nullptr : FindNamed(b->ops, op.name));
      }
    }
    if (b == nullptr) return;
    for (const OpTotals& op : b->ops) {
      if (a == nullptr || FindNamed(a->ops, op.name) == nullptr) WriteOp(nullptr, &op);
    }
  }

 private:
  void WriteModule(std::string_view op) {
    out_.Order().Text(ModuleClass(path_)).Int(std::count(path_.begin(), path_.end(), '/'));
    out_.Text(ShownPath(path_)).Text(op);
  }
  void WriteTotal(const ModuleTotals* a, const ModuleTotals* b) {
    WriteModule("[ TOTAL ]");
    const ModuleTotals none;
    const ModuleTotals& base = a == nullptr ? none : *a;
    const ModuleTotals& comparison = b == nullptr ? none : *b;
    for (const ModuleTotals* side : {&base, &comparison}) {
      out_.Text("").Double(Ms(side->self_ns)).Int(side->count).Double(Ms(side->total_ns));
    }
    out_.Double(Diff(Ms(base.total_ns), Ms(comparison.total_ns)));
    out_.Double(Diff(Ms(base.self_ns), Ms(comparison.self_ns)));
    out_.Double(Ratio(Ms(base.total_ns), Ms(comparison.total_ns)));
    out_.Text(a == nullptr ? "" : a->first->call_stack);
    out_.Text(b == nullptr ? "" : b->first->call_stack);
  }
  void WriteOp(const OpTotals* a, const OpTotals* b) {
    WriteModule(a != nullptr ? a->name : b->name);
    WriteSide(base_, a);
    WriteSide(comparison_, b);
    const double base_ms = a == nullptr ? 0 : Ms(a->ns);
    const double comparison_ms = b == nullptr ? 0 : Ms(b->ns);
    out_.Empty().Double(Diff(base_ms, comparison_ms)).Double(Ratio(base_ms, comparison_ms));
    out_.Text("").Text("");
  }
  void WriteSide(const SideModules& of, const OpTotals* op) {
    if (op == nullptr) {
      out_.Text("").Double(0).Int(0).Empty();
      return;
    }
    out_.Text(KernelTotalsText(of.side, op->events)).Double(Ms(op->ns)).Int(op->count).Empty();
  }

  const SideModules& base_;
  const SideModules& comparison_;
  SheetWriter& out_;
  std::string path_;
};

// Modules of both sides that stand for each other, level by level.
class ModuleMatcher {
 public:
  ModuleMatcher(const SideModules& base, const SideModules& comparison, const SheetOptions& options)
      : base_(base), comparison_(comparison), options_(options) {}

  std::vector<Pair> Run() {
    std::vector<Pair> pairs{{0, 0}, {1, 1}};
    for (size_t i = 0; i < pairs.size(); ++i) {
      const Pair parent = pairs[i];
      const std::vector<uint32_t> a = Children(base_, parent.base);
      const std::vector<uint32_t> b = Children(comparison_, parent.comparison);
      for (const Pair& pair : MatchNames(Paths(base_, a), Paths(comparison_, b))) {
        pairs.push_back({pair.base == kUnmatched ? kUnmatched : a[pair.base],
                         pair.comparison == kUnmatched ? kUnmatched : b[pair.comparison]});
      }
    }
    pairs.erase(pairs.begin(), pairs.begin() + 2);
    return InOrder(pairs);
  }

 private:
  static std::vector<uint32_t> Children(const SideModules& of, uint32_t node) {
    return node == kUnmatched ? std::vector<uint32_t>() : of.tree.nodes[node].children;
  }
  std::vector<std::string> Paths(const SideModules& of, const std::vector<uint32_t>& nodes) const {
    std::vector<std::string> paths;
    for (const uint32_t node : nodes) {
      paths.push_back(MatchedPath(of.tree.nodes[node].path, options_));
    }
    return paths;
  }
  // By the begin of the base; those of the comparison alone before the first pair that begins later
  // in the comparison.
  std::vector<Pair> InOrder(const std::vector<Pair>& pairs) const {
    std::vector<Pair> ordered;
    std::vector<Pair> alone;
    for (const Pair& pair : pairs) (pair.base == kUnmatched ? alone : ordered).push_back(pair);
    const auto base_begin = [&](const Pair& pair) { return base_.tree.nodes[pair.base].begin_ns; };
    const auto comparison_begin = [&](const Pair& pair) {
      return comparison_.tree.nodes[pair.comparison].begin_ns;
    };
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](const Pair& a, const Pair& b) { return base_begin(a) < base_begin(b); });
    std::stable_sort(alone.begin(), alone.end(), [&](const Pair& a, const Pair& b) {
      return comparison_begin(a) < comparison_begin(b);
    });
    std::vector<Pair> all;
    size_t next = 0;
    for (const Pair& pair : ordered) {
      while (next < alone.size() && pair.comparison != kUnmatched &&
             comparison_begin(pair) > comparison_begin(alone[next])) {
        all.push_back(alone[next++]);
      }
      all.push_back(pair);
    }
    all.insert(all.end(), alone.begin() + static_cast<ptrdiff_t>(next), alone.end());
    return all;
  }

  const SideModules& base_;
  const SideModules& comparison_;
  const SheetOptions& options_;
};

class ModuleWriter {
 public:
  ModuleWriter(const SideModules& base, const SideModules& comparison, SheetWriter& out,
               bool compat)
      : base_(base), comparison_(comparison), out_(out), compat_(compat) {}

  void Write(const Pair& pair) {
    const ModuleNode* a = pair.base == kUnmatched ? nullptr : &base_.tree.nodes[pair.base];
    const ModuleNode* b =
        pair.comparison == kUnmatched ? nullptr : &comparison_.tree.nodes[pair.comparison];
    shown_ = a != nullptr ? a : b;
    WriteTotal(a, b);
    const auto names = [](const SideModules& of, const ModuleNode* node) {
      std::vector<std::string> list;
      if (node == nullptr) return list;
      for (const auto& op : node->ops) list.emplace_back(of.side.ops[op.op].name);
      return list;
    };
    for (const Pair& ops : MatchNames(names(base_, a), names(comparison_, b))) {
      WriteOp(ops.base == kUnmatched ? nullptr : &a->ops[ops.base],
              ops.comparison == kUnmatched ? nullptr : &b->ops[ops.comparison]);
    }
  }

 private:
  void WriteModule() {
    out_.Order().Text(ModuleClass(shown_->path)).Int(shown_->level).Text(ShownPath(shown_->path));
  }
  void WriteTotal(const ModuleNode* a, const ModuleNode* b) {
    WriteModule();
    for (const ModuleNode* side : {a, b}) {
      if (side == nullptr) {
        out_.Text("").Text("").Double(0).Double(0);
      } else {
        out_.Text("TOTAL").Text("").Double(Us(side->self_ns)).Double(Us(side->total_ns));
      }
    }
    const auto us = [](const ModuleNode* node, int64_t ModuleNode::* part) {
      return node == nullptr ? 0 : Us(node->*part);
    };
    const double total_a = us(a, &ModuleNode::total_ns);
    const double total_b = us(b, &ModuleNode::total_ns);
    out_.Double(Diff(total_a, total_b));
    out_.Double(Diff(us(a, &ModuleNode::self_ns), us(b, &ModuleNode::self_ns)));
    out_.Double(Ratio(total_a, total_b));
    out_.Text(a == nullptr ? "" : a->call_stack).Text(b == nullptr ? "" : b->call_stack);
  }
  void WriteOp(const ModuleNode::TopOp* a, const ModuleNode::TopOp* b) {
    WriteModule();
    WriteSide(base_, a);
    WriteSide(comparison_, b);
    const double base_us = a == nullptr ? 0 : Us(a->ns);
    const double comparison_us = b == nullptr ? 0 : Us(b->ns);
    const double diff = Diff(base_us, comparison_us);
    out_.Empty().Double(diff).Double(Ratio(base_us, comparison_us));
    out_.Text(diff > 0 ? StackOf(base_, a) : "").Text(diff > 0 ? StackOf(comparison_, b) : "");
  }
  void WriteSide(const SideModules& of, const ModuleNode::TopOp* op) {
    if (op == nullptr) {
      out_.Text("").Text("").Double(0).Empty();
      return;
    }
    std::string details;
    for (const uint32_t event : op->events) details += EventLine(of.side, of.side.events[event]);
    out_.Text(of.side.ops[op->op].name).Text(details).Double(Us(op->ns)).Empty();
  }
  std::string StackOf(const SideModules& of, const ModuleNode::TopOp* op) const {
    return op == nullptr ? "" : DescribeOp(of.side, of.side.ops[op->op], compat_).call_stack;
  }

  const SideModules& base_;
  const SideModules& comparison_;
  SheetWriter& out_;
  const bool compat_;
  const ModuleNode* shown_ = nullptr;
};

}  // namespace

ResultSheet ModuleStatisticSheet(const SideModules& base, const SideModules& comparison,
                                 const SheetOptions& options) {
  ResultSheet sheet("ModuleCompareStatistic");
  sheet.base = {5, 8};
  sheet.comparison = {9, 12};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tModule Class", "iModule Level", "tModule Name", "tOperator Name",
                  "tKernel Details", "dDevice Self Time(ms)", "iNumber", "dDevice Total Time(ms)",
                  "tKernel Details", "dDevice Self Time(ms)", "iNumber", "dDevice Total Time(ms)",
                  "dDevice Total Time Diff(ms)", "dDevice Self Time Diff(ms)", "dDiff Total Ratio",
                  "tBase Call Stack", "tComparison Call Stack"});
  const std::vector<ModuleTotals> a = SumModules(base, options);
  const std::vector<ModuleTotals> b = SumModules(comparison, options);
  std::unordered_map<std::string_view, const ModuleTotals*> in_base;
  std::unordered_map<std::string_view, const ModuleTotals*> in_comparison;
  for (const ModuleTotals& module : a) in_base.emplace(module.path, &module);
  for (const ModuleTotals& module : b) in_comparison.emplace(module.path, &module);
  ModuleStatisticWriter writer(base, comparison, out);
  for (const ModuleTotals& module : a) {
    const auto partner = in_comparison.find(module.path);
    writer.Write(&module, partner == in_comparison.end() ? nullptr : partner->second);
  }
  for (const ModuleTotals& module : b) {
    if (!in_base.contains(module.path)) writer.Write(nullptr, &module);
  }
  return sheet;
}

ResultSheet ModuleSheet(const SideModules& base, const SideModules& comparison,
                        const SheetOptions& options) {
  ResultSheet sheet("ModuleCompare");
  sheet.base = {4, 7};
  sheet.comparison = {8, 11};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tModule Class", "iModule Level", "tModule Name", "tOperator Name",
                  "tKernel Details", "dDevice Self Time(us)", "dDevice Total Time(us)",
                  "tOperator Name", "tKernel Details", "dDevice Self Time(us)",
                  "dDevice Total Time(us)", "dDevice Total Time Diff(us)",
                  "dDevice Self Time Diff(us)", "dDiff Total Ratio", "tBase Call Stack",
                  "tComparison Call Stack"});
  ModuleWriter writer(base, comparison, out, options.compat);
  for (const Pair& pair : ModuleMatcher(base, comparison, options).Run()) writer.Write(pair);
  return sheet;
}

}  // namespace steplens::analysis::compare
