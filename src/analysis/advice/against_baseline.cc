#include "analysis/advice/against_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/cells.h"
#include "analysis/compare/api_sheet.h"
#include "analysis/compare/kernel_sheets.h"
#include "analysis/compare/op_tree.h"
#include "analysis/compare/side.h"

namespace steplens::analysis {
namespace {

// Totals of one name on both sides, in us; counts of 0 where a side lacks it.
struct ComparedTotals {
  double us[2] = {0, 0};  // target, baseline
  double self_us[2] = {0, 0};
  int64_t count[2] = {0, 0};
  double LostUs() const { return us[0] - us[1]; }
};
using ComparedRows = std::map<std::pair<std::string, std::string>, ComparedTotals>;

void AddKernels(const compare::Side& side, const compare::SheetOptions& options, int place,
                ComparedRows& rows) {
  for (const compare::KernelTotals& one : compare::CollectKernelTypes(side, options)) {
    ComparedTotals& totals = rows[{one.kernel, one.detail}];
    totals.us[place] += one.total_us;
    totals.count[place] += one.count;
  }
}

void AddApis(const compare::Side& side, int place, ComparedRows& rows) {
  const compare::OpTree tree = compare::BuildOpTree(side, {}, false);
  for (const compare::ApiTotals& one : compare::CollectApis({side, tree}, false)) {
    ComparedTotals& totals = rows[{std::string(one.name), ""}];
    totals.us[place] += NsToUs(one.total_ns);
    totals.self_us[place] += NsToUs(one.self_ns);
    totals.count[place] += one.count;
  }
}

double MeanUs(const ComparedTotals& one, int place) {
  return Share(one.us[place], static_cast<double>(one.count[place]));
}
// Baseline / target: above 1 the target is faster.
double RatioOf(double target, double baseline) {
  return target > 0 ? baseline / target : kNoNumber;
}

std::vector<std::pair<std::string, std::string>> ByLoss(const ComparedRows& rows) {
  std::vector<std::pair<std::string, std::string>> order;
  for (const auto& [key, totals] : rows) order.push_back(key);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return rows.at(a).LostUs() > rows.at(b).LostUs();
  });
  return order;
}

table::Table ComparedTable(const ComparedRows& all, const std::string& name, bool is_kernels) {
  const char* title = is_kernels ? "Kernel Type" : "api name";
  TableRows rows(name, {IntColumn("Order Id"), TextColumn(title), TextColumn("Core Type"),
                        NumberColumn("Lost(us)", 3), NumberColumn("Total Duration(us)", 3),
                        NumberColumn("Self Time(us)", 3), NumberColumn("Avg Duration(us)", 3),
                        IntColumn("Calls"), NumberColumn("Benchmark Total Duration(us)", 3),
                        NumberColumn("Benchmark Self Time(us)", 3),
                        NumberColumn("Benchmark Avg Duration(us)", 3), IntColumn("Benchmark Calls"),
                        NumberColumn("Diff Total Ratio", 4), NumberColumn("Diff Avg Ratio", 4)});
  int64_t order = 0;
  for (const auto& key : ByLoss(all)) {
    const ComparedTotals& one = all.at(key);
    rows.Add(++order, key.first, key.second, one.LostUs(), one.us[0],
             is_kernels ? kNoNumber : one.self_us[0], MeanUs(one, 0), one.count[0], one.us[1],
             is_kernels ? kNoNumber : one.self_us[1], MeanUs(one, 1), one.count[1],
             RatioOf(one.us[0], one.us[1]), RatioOf(MeanUs(one, 0), MeanUs(one, 1)));
  }
  return rows.Take();
}

void AddComparison(const ComparedRows& rows, const std::string& name, bool is_kernels,
                   const Finding& like, RankComparison& out) {
  if (rows.empty()) return;
  out.tables.push_back(ComparedTable(rows, name, is_kernels));
  double lost_us = 0;
  for (const auto& [key, totals] : rows) lost_us += totals.LostUs();
  const auto worst = ByLoss(rows).front();
  const double worst_us = rows.at(worst).LostUs();
  if (lost_us <= 0 || worst_us <= 0) return;
  Finding finding = like;
  finding.reason = {"finding.comparison.reason",
                    {{"time", fmt::format("{:.3f}", lost_us / 1000)},
                     {"name", worst.first},
                     {"most", fmt::format("{:.3f}", worst_us / 1000)}}};
  finding.details = {out.tables.back()};
  finding.evidence = {
      {{"evidence.rank_steps", {{"count", std::to_string(rows.size())}}},
       is_kernels ? "SELECT rank, type, core, sum(dur_ns), count(*) FROM kernels GROUP BY 1, 2, 3"
                  : "SELECT rank, name, sum(dur_ns), count(*) FROM slices WHERE category = "
                    "'cpu_op' GROUP BY 1, 2"}};
  out.findings.push_back(std::move(finding));
}

}  // namespace

Result<RankComparison> CompareRankWith(const ComparedRank& target, const ComparedRank& baseline,
                                       ComparedWork work) {
  const compare::SheetOptions options;
  SL_ASSIGN_OR_RETURN(const compare::Side own,
                      compare::CollectSide(target.view, options, std::nullopt));
  SL_ASSIGN_OR_RETURN(const compare::Side other,
                      compare::CollectSide(baseline.view, options, std::nullopt));
  RankComparison out;
  Finding like;
  like.rule = RuleId::kComparison;
  like.advice = {"finding.comparison.advice"};
  like.ranks = {target.view.rank()};
  like.confidence = Confidence::kMeasured;
  if (work != ComparedWork::kApis) {
    ComparedRows kernels;
    AddKernels(own, options, 0, kernels);
    AddKernels(other, options, 1, kernels);
    like.subject = {"finding.comparison.kernels", {{"a", target.name}, {"b", baseline.name}}};
    AddComparison(kernels, fmt::format("Kernel compare of {} and {}", target.name, baseline.name),
                  true, like, out);
  }
  if (work != ComparedWork::kKernels) {
    ComparedRows apis;
    AddApis(own, 0, apis);
    AddApis(other, 1, apis);
    like.subject = {"finding.comparison.apis", {{"a", target.name}, {"b", baseline.name}}};
    AddComparison(apis, fmt::format("Api compare of {} and {}", target.name, baseline.name), false,
                  like, out);
  }
  return out;
}

}  // namespace steplens::analysis
