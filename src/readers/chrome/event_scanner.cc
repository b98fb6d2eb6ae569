#include "readers/chrome/event_scanner.h"

#include <bit>

#include "readers/chrome/value_scan.h"

namespace steplens::readers {
namespace {

enum class Expected : uint8_t { kKeyOrEnd, kKey, kColon, kValueOrEnd, kValue, kCommaOrEnd };

bool MayBeKey(Expected expected) {
  return expected == Expected::kKey || expected == Expected::kKeyOrEnd;
}
bool MayBeValue(Expected expected) {
  return expected == Expected::kValue || expected == Expected::kValueOrEnd;
}
bool MayBeEnd(Expected expected) {
  return expected == Expected::kCommaOrEnd || expected == Expected::kKeyOrEnd ||
         expected == Expected::kValueOrEnd;
}

struct StringEnd {
  const char* at;  // the closing quote, a control character, which no string may have, or the end
  bool is_broken;
};

// `p` is at the opening quote.
StringEnd FindStringEnd(const char* p, const char* end) {
  for (++p; p < end;) {
    size_t step = kScanAhead;
    for (uint32_t marks = scan_detail::StringMarks(p); marks != 0;) {
      const auto at = static_cast<size_t>(std::countr_zero(marks));
      if (p + at >= end) return {end, false};
      if (p[at] != '\\') return {p + at, p[at] != '"'};
      if (at + 2 > step) step = at + 2;
      marks &= ~(uint32_t{3} << at);
    }
    p += step;
  }
  return {end, false};
}

// Behind a number or word at `p`.
const char* SkipScalar(const char* p, const char* end) {
  constexpr std::string_view kEnds = " \t\r\n,:[]{}\"\\";
  while (p < end && kEnds.find(*p) == std::string_view::npos) ++p;
  return p;
}

}  // namespace

ObjectScan EventScanner::Walk(std::string_view text, bool is_inside) {
  using Outcome = ObjectScan::Outcome;
  const char* p = text.data();
  const char* const end = p + text.size();
  Expected expected = is_inside ? Expected::kKey : Expected::kValue;
  closers_.assign(is_inside ? 1 : 0, '}');
  bool is_phase = false;  // the key at hand is "ph", of the outermost object
  bool has_phase = false;
  const auto stop = [&](Outcome outcome, const char* at) {
    return ObjectScan{outcome, static_cast<size_t>(at - text.data()), has_phase};
  };
  while (p < end) {
    const char* const token = p++;
    switch (*token) {
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        break;
      case '{':
      case '[':
        if (!MayBeValue(expected)) return stop(Outcome::kBroken, token);
        closers_.push_back(*token == '{' ? '}' : ']');
        expected = *token == '{' ? Expected::kKeyOrEnd : Expected::kValueOrEnd;
        break;
      case '}':
      case ']':
        if (!MayBeEnd(expected) || closers_.back() != *token) return stop(Outcome::kBroken, token);
        closers_.pop_back();
        if (closers_.empty()) return stop(Outcome::kWhole, p);
        expected = Expected::kCommaOrEnd;
        break;
      case ',':
        if (expected != Expected::kCommaOrEnd) return stop(Outcome::kBroken, token);
        expected = closers_.back() == '}' ? Expected::kKey : Expected::kValue;
        break;
      case ':':
        if (expected != Expected::kColon) return stop(Outcome::kBroken, token);
        expected = Expected::kValue;
        break;
      case '"': {
        const bool is_key = MayBeKey(expected);
        if (!is_key && !MayBeValue(expected)) return stop(Outcome::kBroken, token);
        const auto [close, is_broken] = FindStringEnd(token, end);
        if (is_broken) return stop(Outcome::kBroken, close);
        if (close == end) return stop(Outcome::kUnfinished, end);
        p = close + 1;
        has_phase |= !is_key && is_phase && closers_.size() == 1;
        is_phase = is_key && closers_.size() == 1 && std::string_view(token, p) == "\"ph\"";
        expected = is_key ? Expected::kColon : Expected::kCommaOrEnd;
        break;
      }
      default:
        p = SkipScalar(token, end);
        if (!MayBeValue(expected) || p == token) return stop(Outcome::kBroken, token);
        expected = Expected::kCommaOrEnd;
    }
  }
  return stop(Outcome::kUnfinished, end);
}

}  // namespace steplens::readers
