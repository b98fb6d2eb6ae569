#include "analysis/viewer/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "analysis/breakdown/breakdown.h"
#include "analysis/cells.h"
#include "analysis/collectives/group_times.h"
#include "analysis/compare/collective_keys.h"
#include "analysis/explain/free_causes.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "analysis/viewer/compare_kernels.h"

// Two sides next to each other.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr size_t kMatchedLimit = 20'000;

struct Side {
  CompareSide asked;
  uint32_t index = 0;  // in the job's ranks
  const TraceStore* store = nullptr;
};

Result<Side> FindSide(const CompareSide& asked) {
  for (uint32_t i = 0; i < asked.job->ranks.size(); ++i) {
    if (asked.job->ranks[i].info.rank == asked.rank) return Side{asked, i, &asked.job->ranks[i]};
  }
  return Error{ErrorCode::kNotFound, "there is no rank " + std::to_string(asked.rank)};
}

// Whole nanoseconds: sums of doubles leave more digits than anybody measured.
double Us(double us) { return RoundTo(us, 3); }

// The times of a part of a step over the chosen steps, in us.
struct Mean {
  double mean = 0;
  double deviation = 0;
  int64_t steps = 0;
};

Mean MeanOf(const std::vector<StepParts>& steps, int64_t StepParts::* part) {
  std::vector<double> values;
  for (const StepParts& step : steps) {
    const int64_t ns = step.*part;
    values.push_back(ns == store::kNone ? 0 : std::max(0.0, NsToUs(ns)));
  }
  Mean out;
  out.steps = static_cast<int64_t>(values.size());
  if (values.empty()) return out;
  for (const double value : values) out.mean += value / static_cast<double>(values.size());
  double square = 0;
  for (const double value : values) square += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(square / static_cast<double>(values.size()));
  return out;
}

// Whether a difference is larger than steps differ among themselves.
const char* Verdict(const Mean& a, const Mean& b) {
  if (a.steps < 3 || b.steps < 3) return "few_steps";
  const double noise = std::sqrt(a.deviation * a.deviation / static_cast<double>(a.steps) +
                                 b.deviation * b.deviation / static_cast<double>(b.steps));
  return std::fabs(b.mean - a.mean) > 2 * noise ? "clear" : "noise";
}

table::Table PartsTable(const Side& a, const Side& b) {
  TableRows rows("parts", {TextColumn("part"), NumberColumn("a_us", 3), NumberColumn("b_us", 3),
                           NumberColumn("delta_us", 3), NumberColumn("a_deviation_us", 3),
                           NumberColumn("b_deviation_us", 3), IntColumn("a_steps"),
                           IntColumn("b_steps"), TextColumn("verdict")});
  const auto steps_of = [](const Side& side) {
    return BreakDown(RankView(*side.store), {.selection = {.rank = {}, .step = side.asked.step}});
  };
  const std::vector<StepParts> of_a = steps_of(a);
  const std::vector<StepParts> of_b = steps_of(b);
  constexpr std::pair<const char*, int64_t StepParts::*> kParts[] = {
      {"Computing", &StepParts::computing_ns},
      {"Communication(Not Overlapped)", &StepParts::comm_not_overlapped_ns},
      {"Overlapped", &StepParts::overlapped_ns},
      {"Free", &StepParts::free_ns},
      {"Preparing", &StepParts::preparing_ns}};
  for (const auto& [name, part] : kParts) {
    const Mean x = MeanOf(of_a, part);
    const Mean y = MeanOf(of_b, part);
    rows.Add(name, Us(x.mean), Us(y.mean), Us(y.mean - x.mean), Us(x.deviation), Us(y.deviation),
             x.steps, y.steps, Verdict(x, y));
  }
  return rows.Take();
}

// Total and count on each side.
struct Pair {
  std::array<double, 2> total{};
  std::array<int64_t, 2> count{};

  double Average(size_t side) const {
    return count[side] == 0 ? kNoNumber : total[side] / static_cast<double>(count[side]);
  }
};

const char* ChangeOf(double a, double b) {
  constexpr double kSame = 0.005;
  if (a == 0) return b == 0 ? "same" : "added";
  if (b == 0) return "removed";
  const double share = (b - a) / a;
  return share > kSame ? "slower" : share < -kSame ? "faster" : "same";
}

// Keys of both sides, those that differ most first.
template <typename Key>
std::vector<std::pair<Key, Pair>> ByDifference(const std::map<Key, Pair>& pairs) {
  std::vector<std::pair<Key, Pair>> out(pairs.begin(), pairs.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) {
    return std::fabs(x.second.total[1] - x.second.total[0]) >
           std::fabs(y.second.total[1] - y.second.total[0]);
  });
  return out;
}

Result<table::Table> OperatorsTable(const Side& a, const Side& b, const std::string& group_by) {
  std::map<std::pair<std::string, std::string>, Pair> pairs;
  const bool by_type = group_by.ends_with("Type");
  for (size_t side = 0; side < 2; ++side) {
    const Side& from = side == 0 ? a : b;
    MetricArgs args;
    args.values = {{"rank", from.asked.rank}, {"group_by", group_by}, {"top", int64_t{-1}}};
    if (from.asked.step) args.values.emplace("step", *from.asked.step);
    SL_ASSIGN_OR_RETURN(const MetricAnswer answer,
                        ComputeMetric("operator_groups", args, *from.asked.job));
    const table::Table& groups = answer.tables.front();
    const std::map<StringId, std::string> keys = CollectiveKeys(*from.store);
    const auto text = [&](const char* column, size_t row) -> const std::string& {
      return groups.Find(column)->texts[row];
    };
    for (size_t i = 0; i < groups.rows(); ++i) {
      std::string name = by_type ? text("Type", i) : text("Name", i);
      if (const auto id = from.store->strings.Find(name); !by_type && id && keys.contains(*id))
        name = keys.at(*id);
      if (!by_type && !text("Input Shape", i).empty()) name += " " + text("Input Shape", i);
      Pair& pair = pairs[{std::move(name), text("Accelerator Core", i)}];
      pair.total[side] += groups.Find("Total Time(us)")->doubles[i];
      pair.count[side] += groups.Find("Count")->ints[i];
    }
  }
  TableRows rows("operators", {TextColumn("Name"), TextColumn("Accelerator Core"),
                               TextColumn("Change"), NumberColumn("Total A(us)", 2),
                               NumberColumn("Total B(us)", 2), NumberColumn("B - A(us)", 2),
                               NumberColumn("B / A", 3), IntColumn("Count A"), IntColumn("Count B"),
                               NumberColumn("Avg A(us)", 2), NumberColumn("Avg B(us)", 2)});
  for (const auto& [key, pair] : ByDifference(pairs)) {
    const auto [x, y] = pair.total;
    rows.Add(key.first, key.second, ChangeOf(x, y), x, y, RoundTo(y - x, 2),
             x > 0 ? RoundTo(y / x, 3) : kNoNumber, pair.count[0], pair.count[1],
             RoundTo(pair.Average(0), 2), RoundTo(pair.Average(1), 2));
  }
  return rows.Take();
}

// The device time of the side's step; all time without one.
Interval WindowOf(const Side& side) {
  Interval window{INT64_MIN / 2, INT64_MAX / 2};
  if (!side.asked.step) return window;
  window = {0, 0};
  for (const StepRange& step : ComputeStepRanges(*side.store)) {
    if (step.step == *side.asked.step) window = {step.begin_ns, step.end_ns};
  }
  return window;
}

std::vector<Interval> Clipped(const std::vector<Interval>& intervals, Interval window) {
  std::vector<Interval> out;
  for (const Interval& one : intervals) {
    const Interval cut{std::max(one.begin_ns, window.begin_ns),
                       std::min(one.end_ns, window.end_ns)};
    if (cut.begin_ns < cut.end_ns) out.push_back(cut);
  }
  return out;
}

std::vector<Interval> LaneOf(const Side& side, std::vector<Interval> OverlapLanes::* lane) {
  std::vector<Interval> out;
  for (OverlapLanes& device : ComputeOverlapLanes(*side.store))
    out.insert(out.end(), (device.*lane).begin(), (device.*lane).end());
  return Clipped(out, WindowOf(side));
}

// What each group cost in time that nothing else covers.
table::Table CommunicationTable(const Side& a, const Side& b) {
  std::map<std::string, Pair> pairs;
  for (size_t at = 0; at < 2; ++at) {
    const Side& side = at == 0 ? a : b;
    const Cover exposed(LaneOf(side, &OverlapLanes::not_overlapped));
    for (const GroupTime& group : GroupTimes(*side.asked.job, *side.store, exposed))
      pairs[group.label].total[at] += NsToUs(group.total_ns);
  }
  TableRows rows("communication", {TextColumn("group"), NumberColumn("a_us", 3),
                                   NumberColumn("b_us", 3), NumberColumn("delta_us", 3)});
  for (const auto& [label, pair] : ByDifference(pairs))
    rows.Add(label, Us(pair.total[0]), Us(pair.total[1]), Us(pair.total[1] - pair.total[0]));
  return rows.Take();
}

table::Table FreeTable(const Side& a, const Side& b) {
  std::map<std::string, Pair> pairs;
  for (size_t at = 0; at < 2; ++at) {
    const Side& side = at == 0 ? a : b;
    const FreeCauses causes =
        FindFreeCauses(*side.asked.job, side.index, LaneOf(side, &OverlapLanes::free));
    for (const auto& [cause, us] : causes.cause_us) pairs[cause].total[at] += us;
  }
  TableRows rows("free", {TextColumn("cause"), NumberColumn("a_us", 3), NumberColumn("b_us", 3),
                          NumberColumn("delta_us", 3)});
  for (const auto& [cause, pair] : ByDifference(pairs))
    rows.Add(cause, Us(pair.total[0]), Us(pair.total[1]), Us(pair.total[1] - pair.total[0]));
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> Compare(const CompareSide& asked_a, const CompareSide& asked_b,
                             const CompareOptions& options) {
  SL_ASSIGN_OR_RETURN(const Side a, FindSide(asked_a));
  SL_ASSIGN_OR_RETURN(const Side b, FindSide(asked_b));
  SL_ASSIGN_OR_RETURN(table::Table operators, OperatorsTable(a, b, options.group_by));
  MetricAnswer answer;
  answer.definition = "steplens.compare";
  answer.tables.push_back(PartsTable(a, b));
  answer.tables.push_back(std::move(operators));
  answer.tables.push_back(CommunicationTable(a, b));
  answer.tables.push_back(FreeTable(a, b));
  const SideKernels of_a = KernelsOfSide(*a.store, asked_a);
  const SideKernels of_b = KernelsOfSide(*b.store, asked_b);
  answer.tables.push_back(SidesTable(of_a, of_b, asked_a, asked_b));
  bool is_cut = false;
  answer.tables.push_back(MatchedTable(of_a, of_b, kMatchedLimit, is_cut));
  if (is_cut) answer.warnings.push_back(Message{"warning.matches_cut"});
  if (!options.key.empty())
    answer.tables.push_back(HistogramTable(of_a, of_b, options.key, options.core));
  return answer;
}

}  // namespace steplens::analysis::viewer
