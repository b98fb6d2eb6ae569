#include "analysis/compare/unmatched.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace steplens::analysis::compare {
namespace {

using Sums = Unmatched::Sums;
using ByName = std::map<std::string, Sums>;

// What is alone on both sides, by name.
void AddAll(const ByName& base, const ByName& comparison, Unmatched::Kind kind,
            std::vector<Unmatched>& rows) {
  std::map<std::string, Unmatched> merged;
  for (const auto& [name, sums] : base) merged[name].base = sums;
  for (const auto& [name, sums] : comparison) merged[name].comparison = sums;
  for (auto& [name, row] : merged) rows.push_back({kind, name, row.base, row.comparison});
}

ByName WithoutThoseOf(const ByName& of, const ByName& other) {
  ByName alone;
  for (const auto& [name, sums] : of) {
    if (!other.contains(name)) alone.emplace(name, sums);
  }
  return alone;
}

// The names that one side alone has.
void AddMissing(const ByName& base, const ByName& comparison, Unmatched::Kind kind,
                std::vector<Unmatched>& rows) {
  AddAll(WithoutThoseOf(base, comparison), WithoutThoseOf(comparison, base), kind, rows);
}

void AddAlone(const SideTree& of, uint32_t node, ByName& names) {
  Sums& sums = names[std::string(of.side.ops[of.tree.nodes[node].op].name)];
  ++sums.calls;
  for (const uint32_t below : Subtree(of.tree, node)) {
    for (const uint32_t event : of.side.EventsOf(of.side.ops[of.tree.nodes[below].op]))
      sums.device_ns += of.side.events[event].dur_ns;
  }
}

ByName ModulePaths(const SideModules& of) {
  ByName paths;
  for (const ModuleNode& node : of.tree.nodes) {
    if (node.path.empty()) continue;
    Sums& sums = paths[ShownPath(node.path)];
    ++sums.calls;
    sums.device_ns += node.self_ns;
  }
  return paths;
}

ByName CollectiveNames(const std::vector<CollectiveTotals>& of) {
  ByName names;
  for (const CollectiveTotals& one : of) {
    Sums& sums = names[one.name];
    sums.calls += one.ops.count;
    sums.device_ns += one.ops.total_ns;
  }
  return names;
}

ByName KernelNames(const std::vector<KernelTotals>& of) {
  ByName names;
  for (const KernelTotals& one : of) {
    Sums& sums = names[one.detail.empty() ? one.kernel : one.kernel + " " + one.detail];
    sums.calls += one.count;
    if (std::isfinite(one.total_us)) sums.device_ns += std::llround(one.total_us * 1000);
  }
  return names;
}

std::string_view KindText(Unmatched::Kind kind) {
  constexpr std::string_view kNames[] = {"operator", "module", "collective", "kernel"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

void AddUnmatchedOperators(const SideTree& base, const SideTree& comparison,
                           const std::vector<Pair>& pairs, std::vector<Unmatched>& rows) {
  ByName of_base;
  ByName of_comparison;
  for (const Pair& pair : pairs) {
    if (pair.comparison == kUnmatched) AddAlone(base, pair.base, of_base);
    if (pair.base == kUnmatched) AddAlone(comparison, pair.comparison, of_comparison);
  }
  AddAll(of_base, of_comparison, Unmatched::Kind::kOperator, rows);
}

void AddUnmatchedModules(const SideModules& base, const SideModules& comparison,
                         std::vector<Unmatched>& rows) {
  AddMissing(ModulePaths(base), ModulePaths(comparison), Unmatched::Kind::kModule, rows);
}

void AddUnmatchedCollectives(const std::vector<CollectiveTotals>& base,
                             const std::vector<CollectiveTotals>& comparison,
                             std::vector<Unmatched>& rows) {
  AddMissing(CollectiveNames(base), CollectiveNames(comparison), Unmatched::Kind::kCollective,
             rows);
}

void AddUnmatchedKernels(const std::vector<KernelTotals>& base,
                         const std::vector<KernelTotals>& comparison,
                         std::vector<Unmatched>& rows) {
  AddMissing(KernelNames(base), KernelNames(comparison), Unmatched::Kind::kKernel, rows);
}

ResultSheet UnmatchedSheet(std::vector<Unmatched> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Unmatched& x, const Unmatched& y) {
    if (x.kind != y.kind) return x.kind < y.kind;
    return x.base.device_ns + x.comparison.device_ns > y.base.device_ns + y.comparison.device_ns;
  });
  ResultSheet sheet("Unmatched");
  SheetWriter writer(sheet);
  writer.AddColumns({"iOrder Id", "tKind", "tName", "iCalls", "dDevice Duration(ms)", "iCalls",
                     "dDevice Duration(ms)"});
  sheet.base = {3, 4};
  sheet.comparison = {5, 6};
  const auto add = [&](const Sums& sums) {
    if (sums.calls == 0) {
      writer.Empty(2);
    } else {
      writer.Int(sums.calls).Double(Ms(sums.device_ns));
    }
  };
  for (const Unmatched& row : rows) {
    writer.Order().Text(KindText(row.kind)).Text(row.name);
    add(row.base);
    add(row.comparison);
  }
  return sheet;
}

}  // namespace steplens::analysis::compare
