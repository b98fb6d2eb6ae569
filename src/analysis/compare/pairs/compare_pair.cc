#include "analysis/compare/pairs/compare_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "analysis/breakdown/breakdown.h"
#include "analysis/cells.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/compare/collective_keys.h"
#include "analysis/compare/pairs/pair_kernels.h"
#include "analysis/compare/report/step_account.h"
#include "analysis/compare/side.h"
#include "analysis/kernels/operator_groups.h"
#include "analysis/time_math.h"

// Two sides next to each other.

namespace steplens::analysis::pairs {
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
  // A side without device work has no parts; that is no improvement.
  const auto is_missing = [&](const std::vector<StepParts>& steps) {
    return std::all_of(steps.begin(), steps.end(), [&](const StepParts& step) {
      return std::all_of(std::begin(kParts), std::end(kParts),
                         [&](const auto& one) { return step.*one.second <= 0; });
    });
  };
  const bool no_a = is_missing(of_a);
  const bool no_b = is_missing(of_b);
  const auto known = [](bool is_unknown, double us) { return is_unknown ? kNoNumber : Us(us); };
  for (const auto& [name, part] : kParts) {
    const Mean x = MeanOf(of_a, part);
    const Mean y = MeanOf(of_b, part);
    rows.Add(name, known(no_a, x.mean), known(no_b, y.mean), known(no_a || no_b, y.mean - x.mean),
             known(no_a, x.deviation), known(no_b, y.deviation), x.steps, y.steps,
             no_a || no_b ? "missing" : Verdict(x, y));
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
  SL_ASSIGN_OR_RETURN(const OperatorGrouping by, ParseOperatorGrouping(group_by));
  for (size_t side = 0; side < 2; ++side) {
    const Side& from = side == 0 ? a : b;
    const TraceStore& store = *from.store;
    const std::map<StringId, std::string> keys = CollectiveKeys(store);
    const bool is_cpu = IsCpuCapture(store);
    for (const OperatorGroup& group :
         GroupOperators(store, OperatorKernels(store, {}, from.asked.step, by), by)) {
      std::string name(store.Text(by.by_type ? group.type : group.name));
      if (const auto key = keys.find(group.name); !by.by_type && key != keys.end())
        name = key->second;
      const std::string_view shape = store.Text(group.shape);
      if (!shape.empty()) name.append(" ").append(shape);
      Pair& pair = pairs[{std::move(name), std::string(CoreWord(store.Text(group.core), is_cpu))}];
      pair.total[side] += RoundTo(NsToUs(group.stats.total_ns), 2);
      pair.count[side] += group.stats.count;
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

// Where the device time of a side's steps went; nothing of a step that it does not have.
compare::StepAccount AccountOf(const Side& side) {
  const compare::SheetOptions options;
  const Result<compare::Side> collected =
      compare::CollectSide(RankView(*side.store), options, side.asked.step);
  if (!collected.ok()) return {};
  return compare::AccountOfSteps({*side.asked.job, side.index, *collected}, options);
}

// What the difference of a step is made of, as the report of `steplens compare` has it. Empty if a
// side has no device work.
table::Table WaterfallTable(const Side& a, const Side& b) {
  const compare::Waterfall waterfall = compare::CompareAccounts(AccountOf(a), AccountOf(b));
  TableRows rows("waterfall", {TextColumn("kind"), TextColumn("name"), NumberColumn("a_us", 3),
                               NumberColumn("b_us", 3), NumberColumn("delta_us", 3)});
  if (waterfall.is_missing_a || waterfall.is_missing_b) return rows.Take();
  for (const compare::Waterfall::Bar& bar : waterfall.bars) {
    rows.Add(compare::KindName(bar.key.kind), bar.key.name, NsToUs(bar.a_ns), NsToUs(bar.b_ns),
             NsToUs(bar.change_ns()));
  }
  rows.Add("step", "", NsToUs(waterfall.a_ns), NsToUs(waterfall.b_ns),
           NsToUs(waterfall.b_ns - waterfall.a_ns));
  return rows.Take();
}

}  // namespace

Result<QuestionAnswer> Compare(const CompareSide& asked_a, const CompareSide& asked_b,
                               const CompareOptions& options) {
  SL_ASSIGN_OR_RETURN(const Side a, FindSide(asked_a));
  SL_ASSIGN_OR_RETURN(const Side b, FindSide(asked_b));
  SL_ASSIGN_OR_RETURN(table::Table operators, OperatorsTable(a, b, options.group_by));
  QuestionAnswer answer;
  answer.definition = "steplens.compare";
  answer.tables.push_back(PartsTable(a, b));
  answer.tables.push_back(std::move(operators));
  answer.tables.push_back(WaterfallTable(a, b));
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

}  // namespace steplens::analysis::pairs
