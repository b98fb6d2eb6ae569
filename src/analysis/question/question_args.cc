#include "analysis/question/question_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number.h"

namespace steplens::analysis {
namespace {

constexpr size_t kMaxListed = 65536;

Error Wrong(std::string_view name, std::string_view expected) {
  return Error{ErrorCode::kInvalidArgument, fmt::format("argument '{}' is not {}", name, expected)};
}

std::optional<int64_t> AsInt(const QuestionArgs::Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return ParseInt64(*text);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double number = std::get<double>(value);
  if (std::floor(number) != number || std::fabs(number) > kExact) return std::nullopt;
  return static_cast<int64_t>(number);
}

// "3-7" or "5"; nothing for anything else.
std::optional<std::pair<int64_t, int64_t>> ParseRun(std::string_view text) {
  text = Trim(text);
  const size_t dash = text.find('-', 1);
  const auto first = ParseInt64(text.substr(0, dash));
  const auto last = dash == text.npos ? first : ParseInt64(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

Result<std::optional<int64_t>> QuestionArgs::Int(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end()) return std::optional<int64_t>();
  const auto number = AsInt(found->second);
  if (!number) return Wrong(name, "a whole number");
  return number;
}

Result<int64_t> QuestionArgs::IntOr(std::string_view name, int64_t otherwise) const {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> number, Int(name));
  return number.value_or(otherwise);
}

Result<double> QuestionArgs::DoubleOr(std::string_view name, double otherwise) const {
  const auto found = values.find(name);
  if (found == values.end()) return otherwise;
  if (const auto* number = std::get_if<int64_t>(&found->second)) {
    return static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<double>(&found->second)) return *number;
  const auto number = ParseDouble(std::get<std::string>(found->second));
  if (!number) return Wrong(name, "a number");
  return *number;
}

Result<std::string> QuestionArgs::TextOr(std::string_view name, std::string_view otherwise) const {
  const auto found = values.find(name);
  if (found == values.end()) return std::string(otherwise);
  if (const auto* text = std::get_if<std::string>(&found->second)) return *text;
  if (const auto* number = std::get_if<int64_t>(&found->second)) return std::to_string(*number);
  return Wrong(name, "a text");
}

Result<std::optional<int64_t>> QuestionArgs::Step() const {
  const auto found = values.find("step");
  if (found != values.end()) {
    const auto* text = std::get_if<std::string>(&found->second);
    if (text != nullptr && (text->empty() || *text == "all" || *text == "All"))
      return std::optional<int64_t>();
  }
  return Int("step");
}

Result<std::vector<int64_t>> QuestionArgs::IntList(std::string_view name) const {
  SL_ASSIGN_OR_RETURN(const std::string text, TextOr(name, ""));
  std::vector<int64_t> numbers;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto run = ParseRun(std::string_view(text).substr(begin, end - begin));
    if (!run) return Wrong(name, "a list of whole numbers such as 0,3-7");
    const auto length =
        static_cast<uint64_t>(run->second) - static_cast<uint64_t>(run->first);  // less one
    if (length >= kMaxListed || numbers.size() + length >= kMaxListed) {
      return Wrong(name, fmt::format("a list of at most {} numbers", kMaxListed));
    }
    for (uint64_t i = 0; i <= length; ++i) numbers.push_back(run->first + static_cast<int64_t>(i));
    begin = end + 1;
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace steplens::analysis
