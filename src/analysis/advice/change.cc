#include "analysis/advice/change.h"

#include <algorithm>
#include <string>

namespace steplens::analysis {
namespace {

Edit EditOf(Edit::Action action, EditSelector::Part part, std::string pattern, int64_t rank) {
  Edit edit{.action = action, .factor = 0};
  edit.selector = {part, std::move(pattern), rank};
  return edit;
}

// Which findings a general one must not repeat; none for those that name a cause.
std::vector<RuleId> CausesBehind(RuleId rule) {
  switch (rule) {
    case RuleId::kHostBound:
    case RuleId::kLaunch:
    case RuleId::kDependency:
      return {
          RuleId::kLaunchBound,   RuleId::kHostSync,   RuleId::kAllocatorCalls, RuleId::kDispatch,
          RuleId::kCpuContention, RuleId::kStepJitter, RuleId::kDataloader,     RuleId::kGc,
          RuleId::kConjecturedGc, RuleId::kMemoryCalls};
    case RuleId::kSyncStream:
      return {RuleId::kHostSync};
    case RuleId::kExposedCommunication:
    case RuleId::kCollectiveIdle:
      return {RuleId::kLateRank,     RuleId::kLateGroup,    RuleId::kUnevenLoad,
              RuleId::kSlowLink,     RuleId::kSmallPackets, RuleId::kSmallCollectives,
              RuleId::kExpertBalance};
    default:
      return {};
  }
}

bool ShareARank(const Finding& a, const Finding& b) {
  return std::any_of(a.ranks.begin(), a.ranks.end(), [&](int64_t rank) {
    return std::find(b.ranks.begin(), b.ranks.end(), rank) != b.ranks.end();
  });
}

// A job waits for its late ranks everywhere, not only on them.
bool IsFeltElsewhere(RuleId rule) {
  return rule == RuleId::kLateRank || rule == RuleId::kLateGroup || rule == RuleId::kUnevenLoad ||
         rule == RuleId::kSlowLink || rule == RuleId::kExpertBalance;
}

}  // namespace

void TakeExplained(double least_ms, std::vector<Finding>& findings) {
  for (Finding& general : findings) {
    if (!general.saving) continue;
    double explained_ms = 0;
    for (const RuleId rule : CausesBehind(general.rule)) {
      for (const Finding& cause : findings) {
        if (cause.rule != rule || !cause.saving || cause.is_hidden) continue;
        if (IsFeltElsewhere(rule) || ShareARank(cause, general))
          explained_ms += cause.saving->Best();
      }
    }
    if (explained_ms <= 0) continue;
    general.saving->at_most_ms = std::max(0.0, general.saving->at_most_ms - explained_ms);
    if (general.saving->ms)
      general.saving->ms =
          std::clamp(*general.saving->ms - explained_ms, 0.0, general.saving->at_most_ms);
  }
  std::erase_if(findings, [&](const Finding& one) {
    // A fault, such as blocking launches, is one whatever it costs.
    return one.least_priority == Priority::kLow && !CausesBehind(one.rule).empty() && one.saving &&
           one.saving->Best() < least_ms;
  });
}

std::vector<Edit> ChangeOf(const Finding& finding) {
  if (!finding.change.empty()) return finding.change;
  using Part = EditSelector::Part;
  if ((finding.rule == RuleId::kLateRank || finding.rule == RuleId::kLateGroup) &&
      !finding.is_hidden) {
    Edit level{.action = Edit::Action::kBalance};
    level.ranks = finding.ranks;
    return {level};
  }
  std::vector<Edit> out;
  for (const int64_t rank : finding.ranks) {
    switch (finding.rule) {
      case RuleId::kExposedCommunication:
        out.push_back(EditOf(Edit::Action::kOverlap, Part::kComm, "*", rank));
        break;
      case RuleId::kConversion:
        out.push_back(EditOf(Edit::Action::kRemove, Part::kKernel, "*Cast*", rank));
        out.push_back(EditOf(Edit::Action::kRemove, Part::kKernel, "*Trans*", rank));
        break;
      case RuleId::kDispatch:
        out.push_back(EditOf(Edit::Action::kRemove, Part::kHost, "*aclopCompileAndExecute", rank));
        break;
      case RuleId::kLaunch:
        out.push_back(EditOf(Edit::Action::kRemove, Part::kLaunch, "*", rank));
        break;
      case RuleId::kSyncStream:
        out.push_back(EditOf(Edit::Action::kRemove, Part::kSync, "*", rank));
        break;
      case RuleId::kDataloader:
        out.push_back(EditOf(Edit::Action::kRemove, Part::kHost, "*DataLoader*", rank));
        break;
      case RuleId::kGc:
        out.push_back(EditOf(Edit::Action::kRemove, Part::kHost, "GC", rank));
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace steplens::analysis
