#include "server/slice_filter.h"

#include <algorithm>

#include "base/number.h"
#include "server/filter_parser.h"

namespace steplens::server {

bool SliceFilter::Term::Holds(std::string_view text) const {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const TextMatcher& matches) { return matches(text); }) != negated;
}

bool SliceFilter::Term::Holds(int64_t number) const {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
           return number >= range.first && number <= range.last;
         }) != negated;
}

bool SliceFilter::Term::HoldsArg(std::string_view value) const {
  if (!ranges.empty()) {
    // Thousandths, as the ranges of arguments are: 1.5 and 1.50 are equal.
    if (const auto number = ParseScaled(Trim(value), 3)) return Holds(*number);
    if (texts.empty()) return negated;
  }
  return Holds(value);
}

SliceFilter SliceFilter::OfTerm(TextMatcher name) {
  SliceFilter out;
  Term term;
  term.texts.push_back(std::move(name));
  out.terms_.push_back(std::move(term));
  out.nodes_.push_back({Join::kTerm, {0}});
  return out;
}

SliceFilter SliceFilter::OfName(std::string_view name) {
  // Texts that are compared as a whole are never refused.
  return OfTerm(*TextMatcher::Make(MatchMode::kExact, name));
}

Result<SliceFilter> SliceFilter::Parse(std::string_view text, MatchMode mode) {
  text = Trim(text);
  if (FilterParser::LooksLikeTerms(text)) return FilterParser(text).Parse();
  if (text.empty()) return SliceFilter();
  SL_ASSIGN_OR_RETURN(TextMatcher matcher, TextMatcher::Make(mode, text));
  return OfTerm(std::move(matcher));
}

}  // namespace steplens::server
