#include "analysis/compare/runs/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/cluster/summary/robust.h"

namespace steplens::analysis::runs {
namespace {

bool HasNumbers(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

Difference PartDifference(const RunSummary& a, const RunSummary& b, StepPart part) {
  Difference out;
  out.part = part;
  out.name = PartName(part);
  out.unit = IsMemory(part) ? Unit::kBytes : Unit::kNs;
  const std::vector<double> of_a = JobValues(a, part);
  const std::vector<double> of_b = JobValues(b, part);
  out.shift = MeasureShift(of_a, of_b);
  out.contribution_ns = out.unit == Unit::kNs ? out.shift.change : 0;
  return out;
}

// How far each step is from the median of its side.
std::vector<double> Deviations(const std::vector<double>& values) {
  std::vector<double> numbers;
  for (const double value : values) {
    if (std::isfinite(value)) numbers.push_back(value);
  }
  const double middle = cluster::Median(numbers);
  for (double& value : numbers) value = std::fabs(value - middle);
  return numbers;
}

std::vector<Difference> PartDifferences(const RunSummary& a, const RunSummary& b) {
  std::vector<Difference> out;
  for (size_t i = 0; i < kStepParts; ++i) {
    Difference part = PartDifference(a, b, static_cast<StepPart>(i));
    if (part.shift.a_steps == 0 || part.shift.b_steps == 0) continue;
    if (part.shift.a == 0 && part.shift.b == 0 && i > 0) continue;
    out.push_back(std::move(part));
  }
  const std::vector<double> of_a = Deviations(JobValues(a, StepPart::kE2e));
  const std::vector<double> of_b = Deviations(JobValues(b, StepPart::kE2e));
  if (of_a.size() < 2 || of_b.size() < 2) return out;
  Difference jitter;
  jitter.subject = Subject::kJitter;
  jitter.name = "jitter";
  jitter.shift = MeasureShift(of_a, of_b);
  out.push_back(std::move(jitter));
  return out;
}

// The share of the job's ranks and steps that a row was seen in.
double Presence(const SumRow& row, const RunSummary& run) {
  double seen = 0;
  for (const uint32_t ranks : row.ranks) seen += ranks;
  double all = 0;
  for (const RankRun& rank : run.ranks) all += static_cast<double>(rank.steps.size());
  return all > 0 ? seen / all : 0;
}

// What a name takes at most in a run that does not list it: nothing, unless the run had to cut
// names off, in each of its steps.
std::vector<double> Unlisted(const RunSummary& run, RowKind kind) {
  const auto most_ns = static_cast<double>(run.cut_ns[static_cast<size_t>(kind)]);
  return std::vector<double>(run.steps.size(), most_ns);
}

bool IsCut(const RunSummary& run, RowKind kind) {
  return run.cut_ns[static_cast<size_t>(kind)] > 0;
}

Difference RowDifference(const SumRow* in_a, const SumRow* in_b, const RunSummary& a,
                         const RunSummary& b) {
  Difference out;
  const SumRow& any = in_a != nullptr ? *in_a : *in_b;
  out.subject = Subject::kRow;
  out.kind = any.kind;
  out.name = any.name;
  out.is_only_a = in_b == nullptr && !IsCut(b, any.kind);
  out.is_only_b = in_a == nullptr && !IsCut(a, any.kind);
  out.shift = MeasureShift(in_a != nullptr ? RowValues(*in_a) : Unlisted(a, any.kind),
                           in_b != nullptr ? RowValues(*in_b) : Unlisted(b, any.kind));
  const double presence = std::max(in_a != nullptr ? Presence(*in_a, a) : 0.0,
                                   in_b != nullptr ? Presence(*in_b, b) : 0.0);
  out.contribution_ns = out.shift.change * std::min(1.0, presence);
  if (in_a != nullptr) out.a_calls = CallsOf(*in_a);
  if (in_b != nullptr) out.b_calls = CallsOf(*in_b);
  return out;
}

// Whether one run lists a name with no more than what the other may have cut off.
bool MayBeCutOff(const Difference& row, const SumRow* in_a, const SumRow* in_b) {
  return (in_b == nullptr && row.shift.change >= 0) || (in_a == nullptr && row.shift.change <= 0);
}

std::vector<Difference> RowDifferences(const RunSummary& a, const RunSummary& b) {
  using Key = std::pair<RowKind, std::string_view>;
  std::map<Key, std::pair<const SumRow*, const SumRow*>> rows;
  for (const SumRow& row : a.rows) rows[{row.kind, row.name}].first = &row;
  for (const SumRow& row : b.rows) rows[{row.kind, row.name}].second = &row;
  std::array<std::array<bool, 2>, kRowKinds> has_kind{};
  for (const SumRow& row : a.rows) has_kind[static_cast<size_t>(row.kind)][0] = true;
  for (const SumRow& row : b.rows) has_kind[static_cast<size_t>(row.kind)][1] = true;
  std::vector<Difference> out;
  for (const auto& [key, pair] : rows) {
    const auto& has = has_kind[static_cast<size_t>(key.first)];
    if (!has[0] || !has[1]) continue;  // one run was captured without this kind
    Difference row = RowDifference(pair.first, pair.second, a, b);
    if (MayBeCutOff(row, pair.first, pair.second)) continue;
    out.push_back(std::move(row));
  }
  return out;
}

// All that a rank does by itself. Communication is left out: a slow rank has less of it, and those
// who wait for it more.
std::vector<double> OwnTime(const RunSummary& run, const std::vector<size_t>& ranks) {
  std::vector<double> out = ValuesOf(run, ranks, StepPart::kE2e);
  const std::vector<double> communication = ValuesOf(run, ranks, StepPart::kCommunication);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] -= std::isfinite(communication[i]) ? std::min(communication[i], out[i]) : 0;
  return out;
}

std::vector<Difference> RankDifferences(const RunSummary& a, const RunSummary& b,
                                        const Pairing& pairing) {
  std::vector<Difference> out;
  if (pairing.pairs.size() < 2) return out;  // the whole job says it
  for (const RankPair& pair : pairing.pairs) {
    Difference rank;
    rank.subject = Subject::kRank;
    rank.name = pair.name;
    const std::vector<double> of_a = OwnTime(a, pair.a);
    const std::vector<double> of_b = OwnTime(b, pair.b);
    if (!HasNumbers(of_a) || !HasNumbers(of_b)) continue;
    rank.shift = MeasureShift(of_a, of_b);
    rank.contribution_ns = rank.shift.change / static_cast<double>(pairing.pairs.size());
    out.push_back(std::move(rank));
  }
  return out;
}

// Judges the differences of one list together.
void JudgeList(std::vector<Difference*>& list, double step_ns, const NoiseOptions& options) {
  std::vector<double> p;
  for (const Difference* one : list) p.push_back(one->shift.p);
  const std::vector<double> adjusted = HolmAdjusted(p);
  for (size_t i = 0; i < list.size(); ++i) {
    Difference& one = *list[i];
    double least = std::fabs(one.shift.a) * options.least_change;
    if (one.unit == Unit::kNs) least = std::max(least, step_ns * kLeastShare);
    one.adjusted_p = adjusted[i];
    one.verdict = Judge(one.shift, adjusted[i], list.size(), least, options);
  }
}

bool IsClear(const Difference& row) {
  return row.verdict == Verdict::kRegression || row.verdict == Verdict::kImprovement;
}

// Clear changes of time, then what is called more or less often, which is no noise either.
int Certainty(const Difference& row) {
  if (IsClear(row)) return 0;
  return row.calls_changed() ? 1 : 2;
}

void SortByContribution(std::vector<Difference>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Difference& x, const Difference& y) {
    if (Certainty(x) != Certainty(y)) return Certainty(x) < Certainty(y);
    return std::fabs(x.contribution_ns) > std::fabs(y.contribution_ns);
  });
}

void NoteCoverage(const RunSummary& a, const RunSummary& b, const Pairing& pairing,
                  std::vector<std::string>& notes) {
  if (a.steps.size() < 2 || b.steps.size() < 2) {
    notes.push_back(fmt::format("not enough steps to tell noise: {} against {}", b.steps.size(),
                                a.steps.size()));
  }
  if (a.level != b.level && !a.level.empty() && !b.level.empty())
    notes.push_back(
        fmt::format("the captures have different levels: {} against {}", b.level, a.level));
  for (size_t kind = 0; kind < kRowKinds; ++kind) {
    const auto has = [&](const RunSummary& run) {
      return std::any_of(run.rows.begin(), run.rows.end(),
                         [&](const SumRow& row) { return static_cast<size_t>(row.kind) == kind; });
    };
    if (has(a) == has(b)) continue;
    notes.push_back(fmt::format("{} has no {} rows; they are not compared",
                                has(a) ? "the new run" : "the base run",
                                KindName(static_cast<RowKind>(kind))));
  }
  const auto note_lonely = [&](const std::vector<int64_t>& ranks, std::string_view run) {
    if (ranks.empty()) return;
    notes.push_back(fmt::format("{} {} of {} {} no counterpart", ranks.size(),
                                ranks.size() == 1 ? "rank" : "ranks", run,
                                ranks.size() == 1 ? "has" : "have"));
  };
  note_lonely(pairing.only_a, "the base run");
  note_lonely(pairing.only_b, "the new run");
}

}  // namespace

double Difference::relative() const {
  if (shift.a != 0) return shift.change / std::fabs(shift.a);
  if (shift.change == 0) return 0;
  return std::copysign(std::numeric_limits<double>::infinity(), shift.change);
}

std::string_view Difference::Kind() const {
  switch (subject) {
    case Subject::kPart:
      return IsMemory(part) ? "memory" : "part";
    case Subject::kJitter:
      return "part";
    case Subject::kRow:
      return KindName(kind);
    case Subject::kRank:
      return "rank";
  }
  return "";
}

std::vector<Difference> AllDifferences(const RunSummary& a, const RunSummary& b) {
  std::vector<Difference> out = PartDifferences(a, b);
  for (Difference& row : RowDifferences(a, b)) out.push_back(std::move(row));
  for (Difference& rank : RankDifferences(a, b, PairRanks(a, b))) out.push_back(std::move(rank));
  return out;
}

RunComparison CompareRuns(const RunSummary& a, const RunSummary& b, const NoiseOptions& options) {
  RunComparison out;
  out.pairing = PairRanks(a, b);
  out.parts = PartDifferences(a, b);
  const double step_ns = out.parts.empty() ? 0 : out.parts.front().shift.a;
  for (Difference& row : RowDifferences(a, b)) {
    if (std::max(row.shift.a, row.shift.b) >= step_ns * kLeastShare)
      out.rows.push_back(std::move(row));
  }
  out.ranks = RankDifferences(a, b, out.pairing);
  std::map<std::pair<Subject, RowKind>, std::vector<Difference*>> lists;
  for (auto* list : {&out.parts, &out.rows, &out.ranks}) {
    for (Difference& one : *list) {
      const bool is_part = one.subject == Subject::kPart || one.subject == Subject::kJitter;
      lists[{is_part ? Subject::kPart : one.subject, one.kind}].push_back(&one);
    }
  }
  for (auto& [key, list] : lists) JudgeList(list, step_ns, options);
  SortByContribution(out.rows);
  SortByContribution(out.ranks);
  NoteCoverage(a, b, out.pairing, out.notes);
  return out;
}

}  // namespace steplens::analysis::runs
