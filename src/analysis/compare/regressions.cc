#include "analysis/compare/regressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoId;

struct WorkKey {
  std::string module;
  std::string op;
  auto operator<=>(const WorkKey&) const = default;
};
struct KernelTime {
  int64_t ns = 0;
  int64_t count = 0;
  bool is_collective = false;
};
// What an operator of a module did on one side.
struct Work {
  int64_t ns = 0;
  std::map<std::string_view, KernelTime> kernels;
  std::string frame;
};
using WorkMap = std::map<WorkKey, Work>;

// The first line of a call stack.
std::string InnermostFrame(const Side& side, uint32_t op) {
  const HostEvent& event = side.ops[op];
  if (event.detail == kNoId) return {};
  const std::string_view stack = side.store.Text(side.store.host_ops.call_stack[event.detail]);
  return std::string(stack.substr(0, stack.find(';')));
}

class WorkCollector {
 public:
  WorkCollector(const SideTree& of, const ModuleTree* modules) : of_(of), modules_(modules) {}

  WorkMap Collect() {
    is_taken_.assign(of_.side.events.size(), false);
    if (modules_ != nullptr) {
      for (const ModuleNode& node : modules_->nodes) {
        for (const ModuleNode::TopOp& op : node.ops) AddModuleOp(node, op);
      }
    }
    for (const uint32_t top : of_.tree.top) {
      for (const uint32_t node : Subtree(of_.tree, top)) AddTopOp(of_.tree.nodes[top].op, node);
    }
    return std::move(work_);
  }

 private:
  void AddModuleOp(const ModuleNode& node, const ModuleNode::TopOp& op) {
    Work& work = WorkOf({ShownPath(node.path), std::string(of_.side.ops[op.op].name)}, op.op);
    for (const uint32_t event : op.events) Add(work, event);
  }
  void AddTopOp(uint32_t top_op, uint32_t node) {
    const auto events = of_.side.EventsOf(of_.side.ops[of_.tree.nodes[node].op]);
    if (events.empty()) return;
    Work& work = WorkOf({"", std::string(of_.side.ops[top_op].name)}, top_op);
    for (const uint32_t event : events) Add(work, event);
  }
  Work& WorkOf(WorkKey key, uint32_t op) {
    const auto [place, is_new] = work_.try_emplace(std::move(key));
    if (is_new) place->second.frame = InnermostFrame(of_.side, op);
    return place->second;
  }
  void Add(Work& work, uint32_t event) {
    if (is_taken_[event]) return;
    is_taken_[event] = true;
    const DeviceEvent& one = of_.side.events[event];
    KernelTime& kernel = work.kernels[one.name];
    kernel.ns = AddNs(kernel.ns, one.dur_ns);
    ++kernel.count;
    kernel.is_collective = one.is_collective;
    work.ns = AddNs(work.ns, one.dur_ns);
  }

  const SideTree& of_;
  const ModuleTree* modules_;
  std::vector<bool> is_taken_;
  WorkMap work_;
};

// The kernel that grew most, and how.
Message LookAt(const Work& base, const Work& comparison) {
  std::string_view largest;
  int64_t largest_ns = 0;
  KernelTime before;
  KernelTime after;
  for (const auto& [name, kernel] : comparison.kernels) {
    const auto found = base.kernels.find(name);
    const KernelTime old = found == base.kernels.end() ? KernelTime() : found->second;
    if (kernel.ns - old.ns <= largest_ns) continue;
    largest = name;
    largest_ns = kernel.ns - old.ns;
    before = old;
    after = kernel;
  }
  if (largest.empty()) return {};
  const MessageArg name("name", std::string(largest));
  const MessageArg count("count", std::to_string(after.count));
  if (after.is_collective) return {"compare.look.collective", {name}};
  if (before.count == 0) return {"compare.look.new", {name, count}};
  if (before.count != after.count)
    return {"compare.look.calls", {name, count, {"before", std::to_string(before.count)}}};
  const auto each = [](const KernelTime& kernel) {
    return fmt::format("{:.3f}", Us(kernel.ns) / static_cast<double>(kernel.count));
  };
  return {"compare.look.slower", {name, {"after", each(after)}, {"before", each(before)}}};
}

}  // namespace

std::vector<Regression> FindRegressions(const RegressionInput& input, size_t limit) {
  WorkMap base = WorkCollector(input.base, input.base_modules).Collect();
  const WorkMap comparison = WorkCollector(input.comparison, input.comparison_modules).Collect();
  std::vector<Regression> found;
  for (const auto& [key, work] : comparison) {
    const Work& before = base[key];
    if (work.ns <= before.ns) continue;
    found.push_back({key.op, key.module.empty() ? work.frame : key.module, before.ns, work.ns,
                     LookAt(before, work)});
  }
  if (input.base_overall != nullptr && input.comparison_overall != nullptr) {
    const int64_t before_ns = input.base_overall->free_ns();
    const int64_t after_ns = input.comparison_overall->free_ns();
    if (after_ns > before_ns) {
      found.push_back({"Free Time", "", before_ns, after_ns, Message{"compare.look.free"}});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Regression& a, const Regression& b) {
    return a.diff_ns() > b.diff_ns();
  });
  if (found.size() > limit) found.resize(limit);
  return found;
}

table::Table RegressionTable(const std::vector<Regression>& regressions, int64_t total_diff_ns,
                             Language language) {
  table::Table table("Largest regressions");
  const size_t what = table.AddColumn("What", table::CellType::kText);
  const size_t where = table.AddColumn("Where", table::CellType::kText);
  const size_t base = table.AddColumn("Base(ms)", table::CellType::kDouble);
  const size_t comparison = table.AddColumn("Comparison(ms)", table::CellType::kDouble);
  const size_t diff = table.AddColumn("Diff(ms)", table::CellType::kDouble);
  const size_t share = table.AddColumn("Share(%)", table::CellType::kDouble, 1);
  const size_t look_at = table.AddColumn("Look at", table::CellType::kText);
  for (const Regression& one : regressions) {
    table.AppendText(what, one.what);
    table.AppendText(where, one.where);
    table.AppendDouble(base, Ms(one.base_ns));
    table.AppendDouble(comparison, Ms(one.comparison_ns));
    table.AppendDouble(diff, Ms(one.diff_ns()));
    table.AppendDouble(share, total_diff_ns > 0 ? 100.0 * static_cast<double>(one.diff_ns()) /
                                                      static_cast<double>(total_diff_ns)
                                                : kNoValue);
    table.AppendText(look_at, Render(one.look_at, language));
  }
  return table;
}

}  // namespace steplens::analysis::compare
