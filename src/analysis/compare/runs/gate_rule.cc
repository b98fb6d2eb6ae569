#include "analysis/compare/runs/gate_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/name_pattern.h"
#include "base/nearest_name.h"
#include "base/number.h"

namespace steplens::analysis::runs {
namespace {

constexpr std::array<std::string_view, 12> kPlainTargets = {
    "e2e",       "computing", "communication", "overlapped", "wait",     "free",
    "preparing", "bubble",    "copies",        "memory",     "reserved", "jitter"};
constexpr std::array<std::string_view, 7> kNamedTargets = {"kernel", "type",  "operator", "module",
                                                           "comm",   "group", "rank"};

template <size_t n>
bool IsOneOf(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Error RuleError(std::string_view text, std::string_view what) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("--fail-on '{}': {}; expected TARGET>LIMIT, such as 'e2e>3%', "
                      "'kernel:MatMul*>5%', 'memory>200MB'",
                      text, what)};
}

struct LimitUnit {
  std::string_view name;
  double factor;
  bool is_share;
  Unit unit;
};
constexpr std::array<LimitUnit, 8> kLimitUnits = {
    {{"%", 0.01, true, Unit::kNs},
     {"ns", 1, false, Unit::kNs},
     {"us", 1e3, false, Unit::kNs},
     {"ms", 1e6, false, Unit::kNs},
     {"KB", 1024.0, false, Unit::kBytes},
     {"MB", 1024.0 * 1024, false, Unit::kBytes},
     {"GB", 1024.0 * 1024 * 1024, false, Unit::kBytes},
     {"s", 1e9, false, Unit::kNs}}};

Status ParseLimit(std::string_view text, std::string_view limit, GateRule& rule) {
  for (const LimitUnit& unit : kLimitUnits) {
    if (!limit.ends_with(unit.name)) continue;
    const std::string_view digits = Trim(limit.substr(0, limit.size() - unit.name.size()));
    const std::optional<double> number = ParseDouble(digits);
    if (!number || *number < 0)
      return RuleError(text, fmt::format("'{}' is not a number of 0 or more", digits));
    rule.limit = *number * unit.factor;
    rule.is_share = unit.is_share;
    rule.unit = unit.unit;
    const bool is_memory = rule.target == "memory" || rule.target == "reserved";
    if (!rule.is_share && is_memory != (rule.unit == Unit::kBytes)) {
      return RuleError(text, fmt::format("'{}' cannot be measured in {}", rule.target, unit.name));
    }
    return {};
  }
  return RuleError(text,
                   fmt::format("'{}' has no unit that is known (%, us, ms, s, KB, MB, GB)", limit));
}

std::string UnknownTarget(std::string_view target) {
  std::vector<std::string> known(kPlainTargets.begin(), kPlainTargets.end());
  known.insert(known.end(), kNamedTargets.begin(), kNamedTargets.end());
  return fmt::format("there is no '{}' to measure{} ({}, or {} with a name)", target,
                     DidYouMean(std::string(target), known), fmt::join(kPlainTargets, ", "),
                     fmt::join(kNamedTargets, ":, "));
}

}  // namespace

Result<GateRule> ParseGateRule(std::string_view text) {
  GateRule rule;
  rule.text = Trim(text);
  const std::string_view whole = rule.text;
  const size_t mark = whole.rfind('>');
  if (mark == std::string_view::npos) return RuleError(whole, "there is no '>'");
  const std::string_view target = Trim(whole.substr(0, mark));
  const std::string_view limit = Trim(whole.substr(mark + 1));
  if (target.empty()) return RuleError(whole, "nothing stands before '>'");
  if (limit.empty()) return RuleError(whole, "nothing stands behind '>'");
  const size_t colon = target.find(':');
  rule.target = Trim(target.substr(0, colon));
  if (colon == std::string_view::npos) {
    if (!IsOneOf(rule.target, kPlainTargets)) {
      if (IsOneOf(rule.target, kNamedTargets))
        return RuleError(whole, fmt::format("'{0}' needs a name, as in '{0}:*'", rule.target));
      return RuleError(whole, UnknownTarget(rule.target));
    }
  } else {
    if (!IsOneOf(rule.target, kNamedTargets)) {
      if (IsOneOf(rule.target, kPlainTargets))
        return RuleError(whole, fmt::format("'{}' takes no name", rule.target));
      return RuleError(whole, UnknownTarget(rule.target));
    }
    rule.pattern = Trim(target.substr(colon + 1));
    if (rule.pattern.empty())
      return RuleError(whole, fmt::format("no name follows '{}:'", rule.target));
  }
  SL_RETURN_IF_ERROR(ParseLimit(whole, limit, rule));
  return rule;
}

bool GateRule::Matches(const Difference& difference) const {
  switch (difference.subject) {
    case Subject::kPart:
      // A limit on memory is one on all that is known of it.
      return target == PartName(difference.part) ||
             (target == "memory" && IsMemory(difference.part));
    case Subject::kJitter:
      return target == "jitter";
    case Subject::kRow:
      return target == KindName(difference.kind) && difference.name != kOthersName &&
             FitsPattern(difference.name, pattern);
    case Subject::kRank:
      return target == "rank" && (FitsPattern(difference.name, pattern) ||
                                  FitsPattern(difference.name, "rank " + pattern) ||
                                  FitsPattern(difference.name, "rank " + pattern + " (*"));
  }
  return false;
}

bool GateRule::IsPassedBy(const Difference& difference) const {
  if (difference.shift.change <= 0) return false;
  return is_share ? difference.relative() > limit : difference.shift.change > limit;
}

}  // namespace steplens::analysis::runs
