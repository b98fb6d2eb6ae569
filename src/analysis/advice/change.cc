#include "analysis/advice/change.h"

#include <string>

namespace steplens::analysis {
namespace {

Edit EditOf(Edit::Action action, EditSelector::Part part, std::string pattern, int64_t rank) {
  Edit edit{.action = action, .factor = 0};
  edit.selector = {part, std::move(pattern), rank};
  return edit;
}

}  // namespace

std::vector<Edit> ChangeOf(const Finding& finding) {
  using Part = EditSelector::Part;
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
      default:
        break;
    }
  }
  return out;
}

}  // namespace steplens::analysis
