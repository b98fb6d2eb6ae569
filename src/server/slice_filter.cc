#include "server/slice_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/number.h"
#include "base/saturate.h"

namespace steplens::server {
namespace {

Error Bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

struct Term {
  std::string field;
  std::string op;
  std::string value;
};

constexpr std::string_view kFields[] = {"name", "cat", "dur", "rank", "lane", "step"};
constexpr std::string_view kOps[] = {"!~", "=~", "!=", "<=", ">=", "~", "=", "<", ">", ":"};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(Trim(text)) {}

  bool done() const { return rest_.empty(); }

  // The term at the front; an empty field if there is none.
  Result<Term> Next() {
    Term term;
    for (const std::string_view field : kFields) {
      if (!rest_.starts_with(field)) continue;
      std::string_view behind = Trim(rest_.substr(field.size()));
      for (const std::string_view op : kOps) {
        if (!behind.starts_with(op)) continue;
        term.field = field;
        term.op = op;
        rest_ = Trim(behind.substr(op.size()));
        SL_RETURN_IF_ERROR(TakeValue(term));
        if (rest_.starts_with("and ")) rest_ = Trim(rest_.substr(4));
        return term;
      }
    }
    return term;
  }

 private:
  Status TakeValue(Term& term) {
    if (rest_.starts_with('"')) {
      size_t i = 1;
      for (; i < rest_.size() && rest_[i] != '"'; ++i) {
        if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
        term.value += rest_[i];
      }
      if (i >= rest_.size()) return Bad("a quoted text does not end");
      rest_ = Trim(rest_.substr(i + 1));
      return {};
    }
    const size_t end = std::min(rest_.find(' '), rest_.size());
    term.value = rest_.substr(0, end);
    if (term.value.empty()) return Bad(fmt::format("nothing follows '{}{}'", term.field, term.op));
    rest_ = Trim(rest_.substr(end));
    return {};
  }

  std::string_view rest_;
};

Result<SliceFilter::TextTest> ParseTextTest(const Term& term) {
  const bool negated = term.op.starts_with('!');
  MatchMode mode = MatchMode::kContains;
  if (term.op == "=" || term.op == "!=") {
    mode = MatchMode::kExact;
  } else if (term.op == "=~") {
    mode = MatchMode::kRegex;
  } else if (term.op != "~" && term.op != "!~" && term.op != ":") {
    return Bad(fmt::format("'{}' cannot be compared by '{}'", term.field, term.op));
  }
  SL_ASSIGN_OR_RETURN(TextMatcher matcher, TextMatcher::Make(mode, term.value));
  return SliceFilter::TextTest{std::move(matcher), !negated};
}

Result<int64_t> ParseDuration(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[digits])) || text[digits] == '.'))
    ++digits;
  const std::string_view unit = Trim(text.substr(digits));
  const int power = unit == "ns"                   ? 0
                    : unit == "us" || unit.empty() ? 3
                    : unit == "ms"                 ? 6
                    : unit == "s"                  ? 9
                                                   : -1;
  const auto ns = power < 0 ? std::nullopt : ParseScaled(text.substr(0, digits), power);
  if (!ns) return Bad(fmt::format("'{}' is no duration; write 50us, 1.5ms, 200ns or 2s", text));
  return *ns;
}

Status ApplyDuration(const Term& term, SliceFilter& out) {
  SL_ASSIGN_OR_RETURN(const int64_t ns, ParseDuration(term.value));
  if (term.op == ">")
    out.least_ns = std::max(out.least_ns, AddSaturating(ns, 1));
  else if (term.op == ">=")
    out.least_ns = std::max(out.least_ns, ns);
  else if (term.op == "<")
    out.most_ns = std::min(out.most_ns, ns - 1);
  else if (term.op == "<=")
    out.most_ns = std::min(out.most_ns, ns);
  else if (term.op == "=")
    out.least_ns = out.most_ns = ns;
  else
    return Bad(fmt::format("'dur' cannot be compared by '{}'", term.op));
  return {};
}

Result<std::vector<SliceFilter::NumberRange>> ParseRanges(const Term& term) {
  if (term.op != "=" && term.op != ":") return Bad(fmt::format("'{}' takes '='", term.field));
  std::vector<SliceFilter::NumberRange> out;
  std::string_view rest = term.value;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t dash = part.find('-', 1);
    const auto first = ParseInt64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseInt64(part.substr(dash + 1));
    if (!first || !last)
      return Bad(fmt::format("'{}' is not a list of numbers like 0,3-7", term.value));
    out.push_back({*first, *last});
  }
  return out;
}

Status Apply(const Term& term, SliceFilter& out) {
  if (term.field == "dur") return ApplyDuration(term, out);
  if (term.field == "rank" || term.field == "step") {
    SL_ASSIGN_OR_RETURN(auto ranges, ParseRanges(term));
    auto& into = term.field == "rank" ? out.ranks : out.steps;
    into.insert(into.end(), ranges.begin(), ranges.end());
    return {};
  }
  SL_ASSIGN_OR_RETURN(SliceFilter::TextTest test, ParseTextTest(term));
  auto& into = term.field == "name" ? out.names : term.field == "cat" ? out.categories : out.lanes;
  into.push_back(std::move(test));
  return {};
}

}  // namespace

bool SliceFilter::All(const std::vector<TextTest>& tests, std::string_view text) {
  return std::all_of(tests.begin(), tests.end(),
                     [&](const TextTest& test) { return test.matcher(text) == test.wanted; });
}

bool SliceFilter::Any(const std::vector<NumberRange>& ranges, int64_t number) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [&](const NumberRange& range) {
           return number >= range.first && number <= range.last;
         });
}

Result<SliceFilter> ParseSliceFilter(std::string_view text, MatchMode mode) {
  SliceFilter out;
  Scanner scanner(text);
  bool any = false;
  while (!scanner.done()) {
    SL_ASSIGN_OR_RETURN(const Term term, scanner.Next());
    if (term.field.empty()) {
      if (any)
        return Bad(
            fmt::format("'{}': a term is one of name, cat, dur, rank, lane, step with a "
                        "comparison; terms must all hold",
                        text));
      SL_ASSIGN_OR_RETURN(TextMatcher matcher, TextMatcher::Make(mode, text));
      out.names.push_back({std::move(matcher), true});
      return out;
    }
    any = true;
    SL_RETURN_IF_ERROR(Apply(term, out));
  }
  return out;
}

}  // namespace steplens::server
