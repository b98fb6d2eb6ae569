#include "analysis/compare/runs/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/compare/runs/amounts.h"

namespace steplens::analysis::runs {
namespace {

// New names count from this share of the step on: a limit in percent says nothing about them.
bool IsWorthMention(const Difference& difference, double step_ns) {
  return difference.unit == Unit::kBytes || difference.shift.a > 0 ||
         difference.shift.b >= step_ns * kLeastShare;
}

// A pattern is about names that matter: without this, of the hundred names that "kernel:*" matches
// one of a microsecond would raise the gate of a step of a second. A name that a rule spells out is
// always looked at.
bool IsAskedFor(const GateRule& rule, const Difference& difference, double step_ns) {
  if (!rule.Matches(difference)) return false;
  if (difference.subject != Subject::kRow || rule.pattern.find_first_of("*?") == std::string::npos)
    return true;
  return std::max(difference.shift.a, difference.shift.b) >= step_ns * kLeastShare;
}

double StepOf(const std::vector<Difference>& all) {
  for (const Difference& one : all) {
    if (one.subject == Subject::kPart && one.part == StepPart::kE2e) return one.shift.a;
  }
  return 0;
}

void LargestFirst(std::vector<Difference>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Difference& x, const Difference& y) {
    return x.shift.change > y.shift.change;
  });
}

}  // namespace

std::string_view StateName(RuleState state) {
  switch (state) {
    case RuleState::kPassed:
      return "passed";
    case RuleState::kBreached:
      return "breached";
    case RuleState::kUndecided:
      return "not enough steps";
    case RuleState::kNothingMatched:
      return "nothing matched";
  }
  return "";
}

std::vector<std::string> RuleOutcome::Lines() const {
  std::vector<std::string> lines;
  for (const Difference& one : found) {
    if (state == RuleState::kBreached) {
      lines.push_back(fmt::format("'{}' is breached by {}", rule.text, DescribeDifference(one)));
    } else {
      lines.push_back(fmt::format(
          "'{}' cannot be decided: not enough steps to tell noise ({} against {}, {} are "
          "needed); {}",
          rule.text, one.shift.b_steps, one.shift.a_steps, steps_needed, DescribeDifference(one)));
    }
  }
  if (state == RuleState::kNothingMatched)
    lines.push_back(fmt::format("'{}' matches nothing in either run", rule.text));
  return lines;
}

bool GateOutcome::Has(RuleState state) const {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const RuleOutcome& rule) { return rule.state == state; });
}

bool GateOutcome::is_breached() const { return Has(RuleState::kBreached); }

GateOutcome ApplyGate(const RunSummary& base, const RunSummary& run,
                      std::span<const GateRule> rules, const NoiseOptions& options) {
  return ApplyGate(AllDifferences(base, run), rules, options);
}

GateOutcome ApplyGate(std::vector<Difference> all, std::span<const GateRule> rules,
                      const NoiseOptions& options) {
  std::vector<Difference> looked_at;
  for (Difference& one : all) {
    const bool is_wanted = std::any_of(rules.begin(), rules.end(),
                                       [&](const GateRule& rule) { return rule.Matches(one); });
    if (is_wanted || (one.subject == Subject::kPart && one.part == StepPart::kE2e))
      looked_at.push_back(std::move(one));
  }
  const double step_ns = StepOf(looked_at);
  std::vector<bool> is_known(rules.size());  // rules that match anything, however short
  std::erase_if(looked_at, [&](const Difference& one) {
    bool is_asked_for = false;
    for (size_t i = 0; i < rules.size(); ++i) {
      is_known[i] = is_known[i] || rules[i].Matches(one);
      is_asked_for = is_asked_for || IsAskedFor(rules[i], one, step_ns);
    }
    return !is_asked_for;
  });
  std::vector<double> p;
  for (const Difference& one : looked_at) p.push_back(one.shift.p);
  const std::vector<double> adjusted = HolmAdjusted(p);
  for (size_t i = 0; i < looked_at.size(); ++i) {
    looked_at[i].adjusted_p = adjusted[i];
    looked_at[i].verdict = Judge(looked_at[i].shift, adjusted[i], looked_at.size(), 0, options);
  }
  GateOutcome out;
  for (size_t i = 0; i < rules.size(); ++i) {
    const GateRule& rule = rules[i];
    RuleOutcome& outcome = out.rules.emplace_back();
    outcome.rule = rule;
    outcome.steps_needed = StepsNeeded(looked_at.size(), options);
    std::vector<Difference> undecided;
    const Difference* closest = nullptr;
    for (const Difference& one : looked_at) {
      if (!IsAskedFor(rule, one, step_ns)) continue;
      ++outcome.matched;
      if (closest == nullptr || one.relative() > closest->relative()) closest = &one;
      if (!rule.IsPassedBy(one) || !IsWorthMention(one, step_ns)) continue;
      if (one.verdict == Verdict::kRegression) outcome.found.push_back(one);
      if (one.verdict == Verdict::kTooFewSteps) undecided.push_back(one);
    }
    if (closest != nullptr) outcome.closest.push_back(*closest);
    outcome.state = !is_known[i]             ? RuleState::kNothingMatched
                    : !outcome.found.empty() ? RuleState::kBreached
                    : !undecided.empty()     ? RuleState::kUndecided
                                             : RuleState::kPassed;
    if (outcome.found.empty()) outcome.found = std::move(undecided);
    LargestFirst(outcome.found);
  }
  return out;
}

}  // namespace steplens::analysis::runs
