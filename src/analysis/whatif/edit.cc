#include "analysis/whatif/edit.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/nearest_name.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using Part = EditSelector::Part;

constexpr std::array<std::pair<std::string_view, Part>, 8> kPartNames{{{"kernel", Part::kKernel},
                                                                       {"copy", Part::kCopy},
                                                                       {"comm", Part::kComm},
                                                                       {"host", Part::kHost},
                                                                       {"launch", Part::kLaunch},
                                                                       {"sync", Part::kSync},
                                                                       {"wait", Part::kWait},
                                                                       {"idle", Part::kIdle}}};

Error Invalid(std::string text) { return {ErrorCode::kInvalidArgument, std::move(text)}; }

Result<double> ParseFactor(std::string_view text, std::string_view what) {
  const auto value = ParseDouble(text);
  if (!value || !std::isfinite(*value) || *value < 0 || *value > 1e6) {
    return Invalid(
        fmt::format("{}: '{}' is no factor; a number from 0 to 1000000 was expected", what, text));
  }
  return *value;
}

}  // namespace

Result<EditSelector> ParseSelector(std::string_view text) {
  EditSelector out;
  std::string_view rest = text;
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    // Names may hold an @ themselves.
    if (const auto rank = ParseInt64(rest.substr(at + 1)); rank && *rank >= 0) {
      out.rank = *rank;
      rest = rest.substr(0, at);
    }
  }
  const size_t colon = rest.find(':');
  const std::string_view name = rest.substr(0, colon);
  if (colon != std::string_view::npos) out.pattern = rest.substr(colon + 1);
  if (out.pattern.empty()) {
    return Invalid(fmt::format("'{}': a name or a pattern was expected after '{}:'", text, name));
  }
  // People write it as the class that critical-path shows.
  if (name == "dataloader") {
    if (colon == std::string_view::npos) out.pattern = "*DataLoader*";
    out.part = Part::kHost;
    return out;
  }
  std::vector<std::string> names;
  for (const auto& [known, part] : kPartNames) {
    if (known == name) {
      out.part = part;
      return out;
    }
    names.emplace_back(known);
  }
  names.emplace_back("dataloader");
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : ", ") + one;
  return Invalid(fmt::format("'{}': there is no part '{}'{}; parts: {}", text, name,
                             DidYouMean(name, names), list));
}

Result<Edit> ParseScale(std::string_view text) {
  const size_t mark = text.rfind('=');
  if (mark == std::string_view::npos) {
    return Invalid(fmt::format(
        "--scale: '{}' is not of the form PART[:PATTERN][@RANK]=FACTOR, e.g. kernel:MatMul*=0.5",
        text));
  }
  Edit out;
  out.text = fmt::format("scale {}", text);
  SL_ASSIGN_OR_RETURN(out.selector, ParseSelector(text.substr(0, mark)));
  SL_ASSIGN_OR_RETURN(out.factor, ParseFactor(text.substr(mark + 1), "--scale"));
  return out;
}

Result<Edit> ParseFaster(std::string_view text, Part part, std::string_view option) {
  std::string_view number = text;
  if (number.ends_with('x')) number.remove_suffix(1);
  SL_ASSIGN_OR_RETURN(const double times, ParseFactor(number, option));
  if (times <= 0) return Invalid(fmt::format("{}: '{}' must be above 0", option, text));
  Edit out;
  out.factor = 1 / times;
  out.text = fmt::format("{} {}", option.substr(2), text);
  out.selector.part = part;
  return out;
}

Result<Edit> ParseRemove(std::string_view text) {
  Edit out;
  out.action = Edit::Action::kRemove;
  out.factor = 0;
  out.text = fmt::format("remove {}", text);
  SL_ASSIGN_OR_RETURN(out.selector, ParseSelector(text));
  return out;
}

Result<Edit> ParseOverlap(std::string_view text) {
  Edit out;
  out.action = Edit::Action::kOverlap;
  out.text = fmt::format("overlap {}", text);
  SL_ASSIGN_OR_RETURN(out.selector, ParseSelector(text));
  if (out.selector.part != Part::kComm && out.selector.part != Part::kCopy)
    return Invalid(fmt::format("--overlap: '{}' is neither comm nor copy", text));
  return out;
}

Result<Edit> ParseBalance(std::string_view text) {
  if (text != "ranks") return Invalid(fmt::format("--balance: '{}' is not 'ranks'", text));
  Edit out;
  out.action = Edit::Action::kBalance;
  out.text = "balance ranks";
  return out;
}

}  // namespace steplens::analysis
