#include "analysis/compare/api_sheet.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

// Nodes in the order the reference looks at them.
std::vector<uint32_t> ApiNodes(const SideTree& of, bool compat) {
  std::vector<uint32_t> nodes;
  if (compat && of.side.step) {
    nodes = of.tree.top;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<uint32_t>& children = of.tree.nodes[nodes[i]].children;
      nodes.insert(nodes.end(), children.begin(), children.end());
    }
    return nodes;
  }
  for (uint32_t node = 1; node < of.tree.nodes.size(); ++node) nodes.push_back(node);
  return nodes;
}

}  // namespace

std::vector<ApiTotals> CollectApis(const SideTree& of, bool compat) {
  std::vector<ApiTotals> apis;
  std::unordered_map<std::string_view, size_t> index;
  for (const uint32_t node : ApiNodes(of, compat)) {
    const HostEvent& op = of.side.ops[of.tree.nodes[node].op];
    if (IsStepName(op.name)) continue;
    const auto [place, is_new] = index.try_emplace(op.name, apis.size());
    if (is_new) apis.push_back({op.name, 0, 0, 0});
    ApiTotals& api = apis[place->second];
    const int64_t total_ns = op.end_ns - op.begin_ns;
    api.total_ns = AddNs(api.total_ns, total_ns);
    api.self_ns = AddNs(api.self_ns, total_ns);
    for (const uint32_t child : of.tree.nodes[node].children) {
      const HostEvent& inner = of.side.ops[of.tree.nodes[child].op];
      api.self_ns -= inner.end_ns - inner.begin_ns;
    }
    ++api.count;
  }
  return apis;
}

ResultSheet ApiSheet(const std::vector<ApiTotals>& base, const std::vector<ApiTotals>& comparison,
                     bool compat) {
  ResultSheet sheet("ApiCompare");
  sheet.base = {2, 5};
  sheet.comparison = {6, 9};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tapi name", "dTotal Duration(ms)", "dSelf Time(ms)",
                  "dAvg Duration(ms)", "iCalls", "dTotal Duration(ms)", "dSelf Time(ms)",
                  "dAvg Duration(ms)", "iCalls", "dDiff Total Ratio", "dDiff Self Ratio",
                  "dDiff Avg Ratio", "dDiff Calls Ratio"});
  if (base.empty() || comparison.empty()) return sheet;
  struct Shown {
    double total = 0;
    double self = 0;
    double avg = 0;
    int64_t count = 0;
  };
  // The reference rounds first; ratios are of what it shows.
  const auto shown = [&](const ApiTotals* api) {
    Shown values;
    if (api == nullptr || api->count == 0) return values;
    const auto round = [&](double value) { return compat ? Round(value, 2) : value; };
    values.total = round(Ms(api->total_ns));
    values.self = round(Ms(api->self_ns));
    values.avg = round(values.total / static_cast<double>(api->count));
    values.count = api->count;
    return values;
  };
  const auto write = [&](std::string_view name, const ApiTotals* first, const ApiTotals* second) {
    const Shown a = shown(first);
    const Shown b = shown(second);
    out.Order().Text(name);
    for (const Shown& side : {a, b}) {
      out.Double(side.total).Double(side.self).Double(side.avg).Int(side.count);
    }
    out.Double(Ratio(a.total, b.total)).Double(Ratio(a.self, b.self)).Double(Ratio(a.avg, b.avg));
    out.Double(Ratio(static_cast<double>(a.count), static_cast<double>(b.count)));
  };
  std::unordered_map<std::string_view, const ApiTotals*> in_base;
  std::unordered_map<std::string_view, const ApiTotals*> in_comparison;
  for (const ApiTotals& api : base) in_base.emplace(api.name, &api);
  for (const ApiTotals& api : comparison) in_comparison.emplace(api.name, &api);
  for (const ApiTotals& api : base) {
    const auto partner = in_comparison.find(api.name);
    write(api.name, &api, partner == in_comparison.end() ? nullptr : partner->second);
  }
  for (const ApiTotals& api : comparison) {
    if (!in_base.contains(api.name)) write(api.name, nullptr, &api);
  }
  return sheet;
}

}  // namespace steplens::analysis::compare
