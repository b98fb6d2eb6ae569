#include "analysis/compare/runs/gate_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "analysis/cells.h"
#include "analysis/cluster/summary/robust.h"
#include "analysis/compare/runs/gate.h"

namespace steplens::analysis::runs {
namespace {

constexpr std::array<double, 14> kShares = {0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07,
                                            0.10,  0.15, 0.20, 0.30, 0.50, 1.0,  2.0};
constexpr double kFound = 0.9;
constexpr size_t kPlantedComparisons = 40;

int64_t Larger(int64_t value, double share) {
  if (value == store::kNone) return value;
  return std::llround(static_cast<double>(value) * (1 + share));
}

// Draws two samples of a run's steps that have none in common.
class StepDraw {
 public:
  StepDraw(const RunSummary& run, const TrialOptions& options)
      : run_(run), block_(std::max<size_t>(options.block, 1)), random_(options.seed) {
    // Of a short run single steps: its blocks would be too few to draw from.
    if (run.steps.size() < 4 * block_) block_ = 1;
    const size_t half = run.steps.size() / block_ * block_ / 2;
    each_ = options.steps == 0 ? half : std::min(half, options.steps);
  }

  size_t steps() const { return each_; }
  std::pair<RunSummary, RunSummary> Next() {
    std::vector<size_t> blocks(run_.steps.size() / block_);
    std::iota(blocks.begin(), blocks.end(), size_t{0});
    for (size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random_() % i]);
    std::vector<size_t> places;
    for (const size_t block : blocks) {
      for (size_t i = 0; i < block_; ++i) places.push_back(block * block_ + i);
    }
    const auto middle = places.begin() + static_cast<int64_t>(each_);
    std::vector<size_t> first(places.begin(), middle);
    std::vector<size_t> second(middle, middle + static_cast<int64_t>(each_));
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    return {WithSteps(run_, first), WithSteps(run_, second)};
  }

 private:
  const RunSummary& run_;
  size_t block_;
  std::mt19937 random_;
  size_t each_ = 0;
};

double SpreadOf(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return 0;
  const double middle = cluster::Median(values);
  return middle == 0 ? 0 : cluster::RobustSpread(values) / middle;
}

// The row that a change is planted into.
const SumRow* RowOf(const RunSummary& run, const GateRule& rule) {
  for (const SumRow& row : run.rows) {  // the longest of a kind first
    Difference about;
    about.subject = Subject::kRow;
    about.kind = row.kind;
    about.name = row.name;
    if (rule.Matches(about)) return &row;
  }
  return nullptr;
}

// The rank that a change is planted into.
const RankRun* RankOf(const RunSummary& run, const GateRule& rule) {
  if (run.ranks.size() < 2) return nullptr;
  for (const RankRun& rank : run.ranks) {
    Difference about;
    about.subject = Subject::kRank;
    about.name = fmt::format("rank {}", rank.rank);
    if (rule.Matches(about)) return &rank;
  }
  return nullptr;
}

bool IsAbout(const GateRule& rule, StepPart part) {
  Difference about;
  about.part = part;
  return rule.Matches(about);
}

// Steps of what PlantChange changes.
std::vector<double> PlantedValues(const RunSummary& run, const GateRule& rule) {
  if (const SumRow* row = RowOf(run, rule); row != nullptr) return RowValues(*row);
  if (const RankRun* rank = RankOf(run, rule); rank != nullptr)
    return ValuesOf(run, {static_cast<size_t>(rank - run.ranks.data())}, StepPart::kE2e);
  for (size_t i = 0; i < kStepParts; ++i) {
    const auto part = static_cast<StepPart>(i);
    if (IsAbout(rule, part)) return JobValues(run, part);
  }
  return {};
}

// Two samples and what differs between them, before anything is planted.
struct DrawnPair {
  RunSummary a;
  RunSummary b;
  std::vector<Difference> all;
};

// Without rows, but the one that a change is planted into: the others stay as they are.
RunSummary WithRowOf(const RunSummary& run, const GateRule& rule) {
  RunSummary out;
  out.label = run.label;
  out.level = run.level;
  out.steps = run.steps;
  out.ranks = run.ranks;
  out.cut_ns = run.cut_ns;
  if (const SumRow* row = RowOf(run, rule); row != nullptr) out.rows.push_back(*row);
  return out;
}

bool IsSameSubject(const Difference& x, const Difference& y) {
  return x.subject == y.subject && x.kind == y.kind && x.part == y.part && x.name == y.name;
}

// The smallest of kShares that `rule` sees in so many of the pairs. Larger changes are found as
// well, so each question decides half of what is left.
class SmallestChange {
 public:
  SmallestChange(std::span<const DrawnPair> pairs, std::span<const GateRule> rules,
                 const NoiseOptions& noise)
      : pairs_(pairs), rules_(rules), noise_(noise) {}

  double Find(size_t rule) const {
    std::vector<std::pair<RunSummary, RunSummary>> samples;
    for (const DrawnPair& pair : pairs_)
      samples.emplace_back(WithRowOf(pair.a, rules_[rule]), WithRowOf(pair.b, rules_[rule]));
    const auto found = std::partition_point(kShares.begin(), kShares.end(), [&](double share) {
      return !IsFound(samples, rule, share);
    });
    return found == kShares.end() ? 0 : *found;
  }

 private:
  bool IsFound(std::span<const std::pair<RunSummary, RunSummary>> samples, size_t rule,
               double share) const {
    size_t found = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      RunSummary changed = samples[i].second;
      PlantChange(changed, rules_[rule], share);
      std::vector<Difference> all = pairs_[i].all;
      for (Difference& one : AllDifferences(samples[i].first, changed)) {
        const auto old = std::find_if(all.begin(), all.end(), [&](const Difference& other) {
          return IsSameSubject(one, other);
        });
        if (old != all.end()) *old = std::move(one);
      }
      const GateOutcome gate = ApplyGate(std::move(all), rules_, noise_);
      if (gate.rules[rule].state == RuleState::kBreached) ++found;
    }
    return static_cast<double>(found) >= kFound * static_cast<double>(samples.size());
  }

  std::span<const DrawnPair> pairs_;
  std::span<const GateRule> rules_;
  const NoiseOptions& noise_;
};

}  // namespace

RunSummary WithSteps(const RunSummary& run, std::span<const size_t> places) {
  RunSummary out = run;
  out.steps.clear();
  for (const size_t place : places) out.steps.push_back(run.steps[place]);
  for (RankRun& rank : out.ranks) {
    std::erase_if(rank.steps, [&](const StepSums& step) {
      return !std::binary_search(out.steps.begin(), out.steps.end(), step.step);
    });
  }
  for (size_t i = 0; i < run.rows.size(); ++i) {
    SumRow& row = out.rows[i];
    row.total_ns.clear();
    row.calls.clear();
    row.ranks.clear();
    for (const size_t place : places) {
      row.total_ns.push_back(run.rows[i].total_ns[place]);
      row.calls.push_back(run.rows[i].calls[place]);
      row.ranks.push_back(run.rows[i].ranks[place]);
    }
  }
  return out;
}

std::string PlantChange(RunSummary& run, const GateRule& rule, double share) {
  if (const SumRow* found = RowOf(run, rule); found != nullptr) {
    SumRow& row = run.rows[static_cast<size_t>(found - run.rows.data())];
    for (int64_t& ns : row.total_ns) ns = Larger(ns, share);
    return row.name;
  }
  if (const RankRun* found = RankOf(run, rule); found != nullptr) {
    RankRun& rank = run.ranks[static_cast<size_t>(found - run.ranks.data())];
    for (StepSums& step : rank.steps) {
      const int64_t communication_ns = std::max<int64_t>(step[StepPart::kCommunication], 0);
      int64_t& step_ns = step[StepPart::kE2e];
      if (step_ns > communication_ns)
        step_ns = communication_ns + Larger(step_ns - communication_ns, share);
    }
    return fmt::format("rank {}", rank.rank);
  }
  std::string planted;
  for (size_t i = 0; i < kStepParts; ++i) {
    const auto part = static_cast<StepPart>(i);
    if (!IsAbout(rule, part)) continue;
    for (RankRun& rank : run.ranks) {
      for (StepSums& step : rank.steps) {
        if (step[part] == store::kNone) continue;
        step[part] = Larger(step[part], share);
        if (planted.empty()) planted = PartName(part);
      }
    }
  }
  return planted;
}

GateTrial TryGate(const RunSummary& run, std::span<const GateRule> rules, const NoiseOptions& noise,
                  const TrialOptions& options) {
  GateTrial trial;
  StepDraw draw(run, options);
  trial.comparisons = options.comparisons;
  trial.steps = draw.steps();
  for (const GateRule& rule : rules) {
    RuleTrial& one = trial.rules.emplace_back();
    one.rule = rule;
    RunSummary changed = run;
    one.planted = PlantChange(changed, rule, 1);
    if (!one.planted.empty()) one.spread = SpreadOf(PlantedValues(run, rule));
  }
  std::vector<DrawnPair> pairs;
  for (size_t i = 0; i < options.comparisons; ++i) {
    auto [a, b] = draw.Next();
    std::vector<Difference> all = AllDifferences(a, b);
    const GateOutcome gate = ApplyGate(all, rules, noise);
    if (gate.is_breached()) ++trial.alarms;
    for (size_t k = 0; k < rules.size(); ++k) {
      if (gate.rules[k].state == RuleState::kBreached) ++trial.rules[k].alarms;
    }
    if (i < kPlantedComparisons) pairs.push_back({std::move(a), std::move(b), std::move(all)});
  }
  const SmallestChange smallest(pairs, rules, noise);
  for (size_t k = 0; k < rules.size(); ++k) {
    if (!trial.rules[k].planted.empty()) trial.rules[k].smallest = smallest.Find(k);
  }
  return trial;
}

table::Table TrialTable(const GateTrial& trial) {
  TableRows rows("GateTrial",
                 {TextColumn("Rule"), TextColumn("Planted Into"), NumberColumn("Spread(%)", 1),
                  IntColumn("Comparisons"), IntColumn("False Alarms"),
                  NumberColumn("Smallest Change Found(%)", 1)});
  const auto count = static_cast<int64_t>(trial.comparisons);
  for (const RuleTrial& one : trial.rules) {
    rows.Add(one.rule.text, one.planted, one.planted.empty() ? kNoNumber : one.spread * 100, count,
             static_cast<int64_t>(one.alarms), one.smallest > 0 ? one.smallest * 100 : kNoNumber);
  }
  rows.Add("(any of them)", "", kNoNumber, count, static_cast<int64_t>(trial.alarms), kNoNumber);
  return rows.Take();
}

}  // namespace steplens::analysis::runs
