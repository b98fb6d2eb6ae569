#include "server/filter_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "base/number.h"
#include "base/saturate.h"
#include "server/bad_request.h"

namespace steplens::server {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxTerms = 256;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct FieldName {
  std::string_view name;
  SliceFilter::Field field;
};
constexpr std::array kFields = {
    FieldName{"name", SliceFilter::Field::kName}, FieldName{"cat", SliceFilter::Field::kCategory},
    FieldName{"lane", SliceFilter::Field::kLane}, FieldName{"dur", SliceFilter::Field::kDur},
    FieldName{"self", SliceFilter::Field::kSelf}, FieldName{"rank", SliceFilter::Field::kRank},
    FieldName{"step", SliceFilter::Field::kStep},
};
constexpr std::string_view kOps[] = {"!~", "=~", "!=", "<=", ">=", "~", "=", "<", ">", ":"};

bool IsWordEnd(std::string_view text, size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == '(' || text[at] == ')';
}

bool StartsWithWord(std::string_view text, std::string_view word) {
  return text.starts_with(word) && IsWordEnd(text, word.size());
}

// The number of a quantity with one of the units, in units of 10^-power of the unit "".
struct Unit {
  std::string_view name;
  int64_t factor;
};

std::optional<int64_t> ParseQuantity(std::string_view text, int power,
                                     std::initializer_list<Unit> units) {
  const size_t digits = std::min(text.find_first_not_of("0123456789.-"), text.size());
  const std::string_view unit = Trim(text.substr(digits));
  for (const Unit& one : units) {
    if (one.name != unit) continue;
    const auto number = ParseScaled(text.substr(0, digits), power);
    int64_t product = 0;
    if (!number || __builtin_mul_overflow(*number, one.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

// Nanoseconds; parsed in ns of the unit so that 1.5us is exact.
Result<int64_t> ParseDuration(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = Trim(text.substr(digits));
  const int power = unit == "ns"                   ? 0
                    : unit == "us" || unit.empty() ? 3
                    : unit == "ms"                 ? 6
                    : unit == "s"                  ? 9
                                                   : -1;
  const auto ns = power < 0 ? std::nullopt : ParseScaled(text.substr(0, digits), power);
  if (!ns) return Bad(fmt::format("'{}' is not a duration; write 50us, 1.5ms, 200ns or 2s", text));
  return *ns;
}

// Numbers of arguments in thousandths: args have fractions, sizes have units.
std::optional<int64_t> ParseArgNumber(std::string_view text) {
  return ParseQuantity(text, 3,
                       {{"", 1}, {"B", 1}, {"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}});
}

Result<SliceFilter::Term::Range> ParseNumberRange(std::string_view text) {
  const size_t dash = text.find('-', 1);
  const auto first = ParseInt64(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : ParseInt64(text.substr(dash + 1));
  if (!first || !last) return Bad(fmt::format("'{}' is not a list of numbers like 0,3-7", text));
  return SliceFilter::Term::Range{*first, *last};
}

// The numbers that a comparison with one value lets through; nothing for other operators.
std::optional<SliceFilter::Term::Range> Compared(std::string_view op, int64_t value) {
  using Range = SliceFilter::Term::Range;
  if (op == "<") return Range{kLeast, SubtractSaturating(value, 1)};
  if (op == "<=") return Range{kLeast, value};
  if (op == ">") return Range{AddSaturating(value, 1), kMost};
  if (op == ">=") return Range{value, kMost};
  if (op == "=" || op == "!=") return Range{value, value};
  return std::nullopt;
}

Status AddText(SliceFilter::Term& term, std::string_view op, const std::string& value,
               std::string_view field) {
  MatchMode mode = MatchMode::kContains;
  if (op == "=" || op == "!=" || op == "in") {
    mode = MatchMode::kExact;
  } else if (op == "=~") {
    mode = MatchMode::kRegex;
  } else if (op != "~" && op != "!~" && op != ":") {
    return Bad(fmt::format("'{}' cannot be compared by '{}'", field, op));
  }
  SL_ASSIGN_OR_RETURN(TextMatcher matcher, TextMatcher::Make(mode, value));
  term.texts.push_back(std::move(matcher));
  return {};
}

Status AddDuration(SliceFilter::Term& term, std::string_view op, const std::string& value,
                   std::string_view field) {
  SL_ASSIGN_OR_RETURN(const int64_t ns, ParseDuration(value));
  const auto range = Compared(op == "in" ? "=" : op, ns);
  if (!range) return Bad(fmt::format("'{}' cannot be compared by '{}'", field, op));
  term.ranges.push_back(*range);
  return {};
}

Status AddNumbers(SliceFilter::Term& term, std::string_view op, const std::string& value,
                  std::string_view field) {
  if (op.starts_with('<') || op.starts_with('>')) {
    const auto number = ParseInt64(value);
    if (!number) return Bad(fmt::format("'{}' is not a number", value));
    term.ranges.push_back(*Compared(op, *number));
    return {};
  }
  if (op != "=" && op != "!=" && op != "in" && op != ":")
    return Bad(fmt::format("'{}' cannot be compared by '{}'", field, op));
  SL_ASSIGN_OR_RETURN(const SliceFilter::Term::Range range, ParseNumberRange(value));
  term.ranges.push_back(range);
  return {};
}

// Equal texts are equal; where both are numbers, equal numbers are.
Status AddArg(SliceFilter::Term& term, std::string_view op, const std::string& value,
              std::string_view field) {
  const auto number = ParseArgNumber(value);
  if (op.starts_with('<') || op.starts_with('>')) {
    if (!number) return Bad(fmt::format("'{}' is not a number; write 12, 1.5 or 4MB", value));
    term.ranges.push_back(*Compared(op, *number));
    return {};
  }
  if (number && (op == "=" || op == "!=" || op == "in")) term.ranges.push_back({*number, *number});
  return AddText(term, op, value, field);
}

Status AddValue(SliceFilter::Term& term, std::string_view op, const std::string& value,
                std::string_view field) {
  switch (term.field) {
    case SliceFilter::Field::kName:
    case SliceFilter::Field::kCategory:
    case SliceFilter::Field::kLane:
      return AddText(term, op, value, field);
    case SliceFilter::Field::kDur:
    case SliceFilter::Field::kSelf:
      return AddDuration(term, op, value, field);
    case SliceFilter::Field::kRank:
    case SliceFilter::Field::kStep:
      return AddNumbers(term, op, value, field);
    case SliceFilter::Field::kArg:
      return AddArg(term, op, value, field);
  }
  return {};
}

}  // namespace

std::optional<FilterParser::Head> FilterParser::ReadHead(std::string_view text) {
  Head head;
  const std::string_view whole = text;
  bool found = false;
  for (const FieldName& one : kFields) {
    if (!text.starts_with(one.name)) continue;
    head.field = one.field;
    text.remove_prefix(one.name.size());
    found = true;
    break;
  }
  constexpr std::string_view kArg = "arg.";
  if (!found && text.starts_with(kArg)) {
    text.remove_prefix(kArg.size());
    const bool quoted = text.starts_with('"');
    if (quoted) text.remove_prefix(1);
    const size_t end =
        std::min(quoted ? text.find('"') : text.find_first_of("!=<>~: "), text.size());
    head.field = Field::kArg;
    head.arg = text.substr(0, end);
    text.remove_prefix(std::min(end + (quoted ? 1 : 0), text.size()));
    found = !head.arg.empty();
  }
  if (!found) return std::nullopt;
  head.name = whole.substr(0, whole.size() - text.size());
  text = Trim(text);
  if (StartsWithWord(text, "in") && text.size() < whole.size() - head.name.size()) {
    head.op = "in";
    head.rest = Trim(text.substr(2));
    return head;
  }
  for (const std::string_view op : kOps) {
    if (!text.starts_with(op)) continue;
    head.op = op;
    head.rest = Trim(text.substr(op.size()));
    return head;
  }
  return std::nullopt;
}

bool FilterParser::LooksLikeTerms(std::string_view text) {
  while (true) {
    text = Trim(text);
    if (text.starts_with('(')) {
      text.remove_prefix(1);
    } else if (StartsWithWord(text, "not")) {
      text.remove_prefix(3);
    } else {
      return ReadHead(text).has_value();
    }
  }
}

Result<SliceFilter> FilterParser::Parse() {
  SL_ASSIGN_OR_RETURN(const uint32_t whole, Any(0));
  if (!rest_.empty())
    return Bad(fmt::format("'{}': nothing opens the ')' before '{}'", text_, rest_.substr(1)));
  if (whole + 1 != out_.nodes_.size()) return Error{ErrorCode::kInternal, "filter out of order"};
  return std::move(out_);
}

uint32_t FilterParser::AddNode(SliceFilter::Join join, std::vector<uint32_t> parts) {
  if (parts.size() == 1 && (join == SliceFilter::Join::kAnd || join == SliceFilter::Join::kOr))
    return parts[0];
  out_.nodes_.push_back({join, std::move(parts)});
  return static_cast<uint32_t>(out_.nodes_.size() - 1);
}

bool FilterParser::TakeWord(std::string_view word) {
  if (!StartsWithWord(rest_, word)) return false;
  rest_ = Trim(rest_.substr(word.size()));
  return true;
}

Result<uint32_t> FilterParser::Any(int depth) {
  std::vector<uint32_t> parts;
  do {
    SL_ASSIGN_OR_RETURN(const uint32_t part, All(depth));
    parts.push_back(part);
  } while (TakeWord("or"));
  return AddNode(SliceFilter::Join::kOr, std::move(parts));
}

Result<uint32_t> FilterParser::All(int depth) {
  std::vector<uint32_t> parts;
  while (true) {
    SL_ASSIGN_OR_RETURN(const uint32_t part, One(depth));
    parts.push_back(part);
    if (TakeWord("and")) continue;
    if (rest_.empty() || rest_.starts_with(')') || StartsWithWord(rest_, "or"))
      return AddNode(SliceFilter::Join::kAnd, std::move(parts));
  }
}

Result<uint32_t> FilterParser::One(int depth) {
  if (depth > kMaxDepth) return Bad("the filter is nested too deeply");
  if (TakeWord("not")) {
    SL_ASSIGN_OR_RETURN(const uint32_t inner, One(depth + 1));
    return AddNode(SliceFilter::Join::kNot, {inner});
  }
  if (!rest_.starts_with('(')) return ReadTerm();
  rest_ = Trim(rest_.substr(1));
  SL_ASSIGN_OR_RETURN(const uint32_t inner, Any(depth + 1));
  if (!rest_.starts_with(')')) return Bad(fmt::format("'{}': a '(' is not closed", text_));
  rest_ = Trim(rest_.substr(1));
  return inner;
}

Result<uint32_t> FilterParser::ReadTerm() {
  const std::optional<Head> head = ReadHead(rest_);
  if (!head) {
    return Bad(
        fmt::format("'{}' is not a term; one is name, cat, lane, dur, self, rank, step or "
                    "arg.NAME with a comparison",
                    rest_.empty() ? text_ : rest_));
  }
  if (out_.terms_.size() == kMaxTerms) return Bad("the filter has too many terms");
  rest_ = head->rest;
  Term term;
  term.field = head->field;
  term.negated = head->op.starts_with('!');
  term.arg = head->arg;
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> values, ReadValues(*head));
  for (const std::string& value : values)
    SL_RETURN_IF_ERROR(AddValue(term, head->op, value, head->name));
  out_.terms_.push_back(std::move(term));
  return AddNode(SliceFilter::Join::kTerm, {static_cast<uint32_t>(out_.terms_.size() - 1)});
}

// One value; a list where the operator or the field takes several.
Result<std::vector<std::string>> FilterParser::ReadValues(const Head& head) {
  const bool is_list =
      head.op == "in" || ((head.field == Field::kRank || head.field == Field::kStep) &&
                          (head.op == "=" || head.op == "!=" || head.op == ":"));
  std::vector<std::string> out;
  do {
    SL_ASSIGN_OR_RETURN(std::string value, ReadValue(head, is_list));
    out.push_back(std::move(value));
    if (!is_list || !rest_.starts_with(',')) break;
    rest_ = Trim(rest_.substr(1));
  } while (true);
  return out;
}

// A quoted text, or all up to a space, a ')' that nothing in it opened, or in lists a comma.
Result<std::string> FilterParser::ReadValue(const Head& head, bool in_list) {
  std::string value;
  size_t end = 0;
  if (rest_.starts_with('"')) {
    for (end = 1; end < rest_.size() && rest_[end] != '"'; ++end) {
      if (rest_[end] == '\\' && end + 1 < rest_.size()) ++end;
      value += rest_[end];
    }
    if (end >= rest_.size()) return Bad("a quoted text does not end");
    ++end;
  } else {
    int open = 0;
    for (; end < rest_.size() && rest_[end] != ' ' && !(in_list && rest_[end] == ','); ++end) {
      if (rest_[end] == '(') ++open;
      if (rest_[end] == ')' && open-- == 0) break;
    }
    if (end == 0) return Bad(fmt::format("nothing follows '{}{}'", head.name, head.op));
    value = rest_.substr(0, end);
  }
  rest_ = Trim(rest_.substr(end));
  return value;
}

}  // namespace steplens::server
