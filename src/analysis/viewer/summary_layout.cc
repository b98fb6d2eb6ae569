#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/cells.h"
#include "analysis/viewer/metrics.h"
#include "analysis/viewer/rank_loads.h"

// The Summary page: the parallel strategy and the grid of its elements.

namespace steplens::analysis::viewer {
namespace {

// Which dimensions an element of the grid tells apart.
struct Fold {
  std::string_view name;
  bool pp = false;
  bool cp = false;
  bool tp = false;
};
constexpr std::array<Fold, 5> kFolds{{{"DP", false, false, false},
                                      {"DP+PP", true, false, false},
                                      {"DP+PP+CP", true, true, false},
                                      {"DP+PP+CP+TP", true, true, true},
                                      {"DP+PP+TP", true, true, true}}};

Result<Fold> ParseFold(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::string name, call.args.TextOr("dimension", "DP+PP+CP+TP"));
  for (const Fold& fold : kFolds) {
    if (fold.name == name) return fold;
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("argument 'dimension' is '{}', expected DP, DP+PP, DP+PP+CP or "
                           "DP+PP+CP+TP",
                           name)};
}

// An element of the grid with the ranks folded into it.
struct Element {
  std::string name;
  int64_t x = 0;
  int64_t y = 0;
  std::vector<int64_t> ranks;
};

std::string ElementName(const Strategy& s, const Fold& fold, const RankPlace& at) {
  std::string name = fmt::format("dp{}", at.dp);
  if (fold.pp) name += fmt::format("-pp{}", at.pp);
  if (fold.cp && s.cp > 1) name += fmt::format("-cp{}", at.cp);
  if (fold.tp) name += fmt::format("-tp{}", at.tp);
  return name;
}

std::vector<Element> Elements(const Strategy& s, const Fold& fold) {
  std::map<std::pair<int64_t, int64_t>, Element> grid;  // by y, x
  for (int64_t rank = 0; rank < s.World(); ++rank) {
    const RankPlace at = PlaceOf(s, rank);
    int64_t x = at.dp;
    if (fold.cp) x = x * s.cp + at.cp;
    if (fold.tp) x = x * s.tp + at.tp;
    const int64_t y = fold.pp ? at.pp : 0;
    Element& element = grid[{y, x}];
    if (element.ranks.empty()) element = {ElementName(s, fold, at), x, y, {}};
    element.ranks.push_back(rank);
  }
  std::vector<Element> out;
  for (auto& [place, element] : grid) out.push_back(std::move(element));
  return out;
}

constexpr std::array kMetrics{"Computing", "Communication", "Communication(Not Overlapped)", "Free",
                              "Total"};
std::array<double, 5> MetricsOf(const RankLoad& load) {
  return {load.computing_us, load.communication_us, load.not_overlapped_us, load.free_us,
          load.total_us()};
}

struct Extremes {
  double high = kNoNumber;
  double low = kNoNumber;
  void Add(double value) {
    high = std::fmax(high, value);
    low = std::fmin(low, value);
  }
};

// Highest and lowest of a metric over the ranks of an element. Of a DP element: the sum over its
// pipeline stages of each stage's extremes.
Extremes FoldMetric(const Strategy& s, const Fold& fold, const Element& element, size_t metric,
                    const std::map<int64_t, RankLoad>& loads) {
  std::map<int64_t, Extremes> stages;
  for (const int64_t rank : element.ranks) {
    const auto load = loads.find(rank);
    if (load == loads.end()) continue;
    stages[fold.pp ? 0 : PlaceOf(s, rank).pp].Add(MetricsOf(load->second)[metric]);
  }
  if (stages.empty()) return {};
  Extremes sum{0, 0};
  for (const auto& [stage, extremes] : stages) {
    sum.high += extremes.high;
    sum.low += extremes.low;
  }
  return sum;
}

std::string JoinRanks(const std::vector<int64_t>& ranks) {
  return fmt::format("{}", fmt::join(ranks, ","));
}

table::Table ElementTable(const Strategy& s, const Fold& fold, const std::vector<Element>& elements,
                          const std::map<int64_t, RankLoad>& loads) {
  TableRows rows("elements", {TextColumn("name"), IntColumn("x"), IntColumn("y"),
                              TextColumn("ranks"), IntColumn("captured")});
  constexpr size_t kFirst = 5;
  for (const char* metric : kMetrics) {
    for (const char* kind : {"max", "min", "range"}) {
      rows.Column(NumberColumn(fmt::format("{} {}(us)", metric, kind), 3));
    }
  }
  for (const Element& element : elements) {
    const auto captured = std::count_if(element.ranks.begin(), element.ranks.end(),
                                        [&](int64_t rank) { return loads.contains(rank); });
    rows.Add(element.name, element.x, element.y, JoinRanks(element.ranks), captured);
    for (size_t metric = 0; metric < kMetrics.size(); ++metric) {
      const Extremes e = FoldMetric(s, fold, element, metric, loads);
      rows.Cell(kFirst + 3 * metric, RoundTo(e.high, 3));
      rows.Cell(kFirst + 3 * metric + 1, RoundTo(e.low, 3));
      rows.Cell(kFirst + 3 * metric + 2, RoundTo(e.high - e.low, 3));
    }
  }
  return rows.Take();
}

// The mean over the ranks of an element of their time in each parallel group.
table::Table DomainTable(const MetricCall& call, const std::vector<Element>& elements,
                         std::optional<int64_t> step) {
  const auto times = DomainTimes(call.job, step);
  TableRows rows("domains",
                 {TextColumn("name"), TextColumn("parallel"), NumberColumn("mean_ms", 4)});
  for (const Element& element : elements) {
    std::map<std::string, double> sums;
    size_t captured = 0;
    for (const int64_t rank : element.ranks) {
      const auto found = times.find(rank);
      if (found == times.end()) continue;
      ++captured;
      for (const auto& [name, elapse_ms] : found->second) sums[name] += elapse_ms;
    }
    for (const auto& [name, sum_ms] : sums) {
      rows.Add(element.name, name, RoundTo(sum_ms / static_cast<double>(captured), 4));
    }
  }
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> SummaryStrategy(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const FoundStrategy found, StrategyOf(call));
  const Strategy& s = found.strategy;
  TableRows rows("strategy", {TextColumn("algorithm"), IntColumn("pp"), IntColumn("tp"),
                              IntColumn("cp"), IntColumn("dp"), IntColumn("ep"),
                              IntColumn("moe_tp"), IntColumn("world"), TextColumn("source")});
  rows.Add(s.algorithm, s.pp, s.tp, s.cp, s.dp, s.ep, s.moe_tp, s.World(),
           found.is_from_data ? "data" : "default");
  TableRows names("algorithms", {TextColumn("algorithm")});
  for (const std::string& name : Algorithms()) names.Add(name);
  MetricAnswer answer;
  answer.definition = "insight.summary_strategy";
  answer.query = "SELECT * FROM meta WHERE name = 'distributed_args'";
  if (!found.problem.empty()) answer.warnings.push_back(Note(found.problem));
  answer.tables.push_back(rows.Take());
  answer.tables.push_back(names.Take());
  return answer;
}

Result<MetricAnswer> SummaryArrangement(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const FoundStrategy found, StrategyOf(call));
  SL_ASSIGN_OR_RETURN(const Fold fold, ParseFold(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> step, StepOf(call));
  SL_ASSIGN_OR_RETURN(const std::vector<RankLoad> loads, ReadRankLoads(call.job, step));
  std::map<int64_t, RankLoad> by_rank;
  for (const RankLoad& load : loads) by_rank.emplace(load.rank, load);
  const std::vector<Element> elements = Elements(found.strategy, fold);
  TableRows groups("groups", {TextColumn("token"), IntColumn("index"), TextColumn("ranks")});
  for (const ParallelGroup& group : ParallelGroups(found.strategy)) {
    groups.Add(group.token, group.index, JoinRanks(group.ranks));
  }
  MetricAnswer answer;
  answer.definition = "insight.summary_arrangement";
  answer.query = "SELECT * FROM step_traces";
  if (!found.problem.empty()) answer.warnings.push_back(Note(found.problem));
  answer.tables.push_back(ElementTable(found.strategy, fold, elements, by_rank));
  answer.tables.push_back(groups.Take());
  answer.tables.push_back(DomainTable(call, elements, step));
  return answer;
}

}  // namespace steplens::analysis::viewer
