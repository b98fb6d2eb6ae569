#include "analysis/advice/finding.h"

#include <fmt/format.h>

#include <algorithm>

namespace steplens::analysis {

std::string_view ConfidenceName(Confidence confidence) {
  switch (confidence) {
    case Confidence::kMeasured:
      return "measured";
    case Confidence::kEstimated:
      return "estimated";
    case Confidence::kHint:
      return "hint";
  }
  return "";
}

std::string_view PriorityName(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return "low";
    case Priority::kMedium:
      return "medium";
    case Priority::kHigh:
      return "high";
  }
  return "";
}

std::optional<Priority> PriorityFrom(std::string_view name) {
  for (const Priority one : {Priority::kLow, Priority::kMedium, Priority::kHigh}) {
    if (PriorityName(one) == name) return one;
  }
  return std::nullopt;
}

std::string_view EffortName(Effort effort) {
  switch (effort) {
    case Effort::kSetting:
      return "setting";
    case Effort::kCode:
      return "code";
    case Effort::kModel:
      return "model";
    case Effort::kHardware:
      return "hardware";
  }
  return "";
}

Message Finding::WholeReason() const {
  return is_hidden ? Message{"finding.hidden", {{"reason", reason}}} : reason;
}

std::string ShortRanks(const std::vector<int64_t>& ranks) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(ranks.size(), kShown); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(ranks[i]);
  if (ranks.size() > kShown) text += fmt::format(",... ({} ranks)", ranks.size());
  return text;
}

}  // namespace steplens::analysis
