#include "readers/chrome/event_splitter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "readers/chrome/event_scanner.h"

namespace steplens::readers {
namespace {

using Outcome = ObjectScan::Outcome;

size_t BlanksEnd(std::string_view text, size_t i) {
  while (i < text.size() && IsBlank(text[i])) ++i;
  return i;
}

// The byte before `i` that is not blank; '\0' if there is none.
char ByteBefore(std::string_view text, size_t i) {
  while (i > 0 && IsBlank(text[i - 1])) --i;
  return i == 0 ? '\0' : text[i - 1];
}

// Is text[brace] the opening brace of an event with one of the keys every writer uses?
bool OpensEvent(std::string_view text, size_t brace) {
  static constexpr std::array<std::string_view, 12> kKeys = {
      "\"ph\"",  "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\"",
      "\"dur\"", "\"args\"", "\"id\"",  "\"s\"",   "\"bp\"",  "\"cname\""};
  const std::string_view rest = text.substr(BlanksEnd(text, brace + 1), 8);
  return rest.starts_with('"') &&
         std::any_of(kKeys.begin(), kKeys.end(),
                     [&](std::string_view key) { return rest.starts_with(key); });
}

// The border whose second event opens at `brace`, if there is one.
std::optional<EventBorder> BorderAt(std::string_view text, size_t brace) {
  size_t i = brace;
  while (i > 0 && IsBlank(text[i - 1])) --i;
  if (i == 0 || text[i - 1] != ',') return std::nullopt;
  const size_t comma = i - 1;
  if (ByteBefore(text, comma) != '}' || !OpensEvent(text, brace)) return std::nullopt;
  return EventBorder{comma, brace};
}

// The first brace from `from` on that looks like that of an event: not the value of a member.
std::optional<size_t> FindEventBrace(std::string_view text, size_t from) {
  for (size_t brace = text.find('{', from); brace != std::string_view::npos;
       brace = text.find('{', brace + 1)) {
    if (OpensEvent(text, brace) && ByteBefore(text, brace) != ':') return brace;
  }
  return std::nullopt;
}

// Walks JSON text outside strings: asks `stop` at each bracket and comma, until it says so.
template <typename Stop>
std::optional<size_t> WalkBrackets(std::string_view text, Stop stop) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if ((c == '{' || c == '[' || c == '}' || c == ']' || c == ',') && stop(c)) return i;
  }
  return std::nullopt;
}

int64_t DepthChange(char c) { return c == ',' ? 0 : c == '{' || c == '[' ? 1 : -1; }

// What a ']' between events is.
enum class BracketRole : uint8_t { kEnd, kStray, kNotKnownYet };

// Behind the true end come a closing brace, further members of the trace's object, or nothing.
// Anything else is the end only if no event follows. `behind`: the place behind the bracket. Looks
// at `limit` bytes of the members and takes off what it looked at.
BracketRole RoleOfBracket(std::string_view text, size_t behind, bool at_end, EventScanner& scanner,
                          size_t& limit) {
  const size_t next = BlanksEnd(text, behind);
  if (next == text.size()) return at_end ? BracketRole::kEnd : BracketRole::kNotKnownYet;
  if (text[next] == '[') return BracketRole::kEnd;  // a second trace
  std::optional<size_t> object_end;
  if (text[next] == '}') object_end = next + 1;
  if (text[next] == ',') {
    const ObjectScan members = scanner.ScanMembers(text.substr(next + 1, limit));
    limit -= members.size;
    if (members.outcome == Outcome::kUnfinished) return BracketRole::kEnd;
    if (members.outcome == Outcome::kWhole) object_end = next + 1 + members.size;
  }
  // An object behind which a comma or bracket stands is a part of a damaged event.
  if (object_end) {
    const size_t last = BlanksEnd(text, *object_end);
    const bool goes_on = last < text.size() && (text[last] == ',' || text[last] == '}');
    if (!goes_on) return BracketRole::kEnd;
  }
  return FindEventBrace(text, next) ? BracketRole::kStray : BracketRole::kEnd;
}

}  // namespace

std::optional<EventBorder> FindLastBorder(std::string_view text, size_t from) {
  for (size_t end = text.size(); end > from;) {
    const void* found = ::memrchr(text.data() + from, '{', end - from);
    if (found == nullptr) return std::nullopt;
    const auto brace = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    if (const auto border = BorderAt(text, brace)) return border;
    end = brace;
  }
  return std::nullopt;
}

std::optional<size_t> ValueLength(std::string_view text) {
  int64_t depth = 0;
  const auto last = WalkBrackets(text, [&](char c) {
    depth += DepthChange(c);
    return depth == 0;
  });
  if (!last) return std::nullopt;
  return *last + 1;
}

std::optional<size_t> FindMemberEnd(std::string_view text) {
  int64_t depth = 0;
  return WalkBrackets(text, [&](char c) {
    depth += DepthChange(c);
    return depth < 0 || (depth == 0 && c == ',');
  });
}

std::optional<size_t> FindArrayEnd(std::string_view text) {
  int64_t depth = 0;
  const auto end = WalkBrackets(text, [&](char c) {
    depth += DepthChange(c);
    return depth < 0;
  });
  if (!end || text[*end] != ']') return std::nullopt;  // a stray brace closes no array
  EventScanner scanner;
  size_t limit = text.size();
  const BracketRole role = RoleOfBracket(text, *end + 1, true, scanner, limit);
  if (role == BracketRole::kStray) return std::nullopt;
  return end;
}

namespace {

// Goes through a text once, and again through the stretches where damage made it lose its way. How
// much may be read again grows with what is read, so that the whole is linear whatever the
// text is.
class Splitter {
 public:
  Splitter(std::string_view text, bool at_end, const SplitCallbacks& callbacks)
      : text_(text), at_end_(at_end), callbacks_(callbacks) {}

  SplitResult Run() {
    while (!is_done_) is_lost_ ? FindWay() : TakeNext();
    result_.consumed = at_;
    return result_;
  }

 private:
  void TakeNext() {
    while (at_ < text_.size() && (IsBlank(text_[at_]) || text_[at_] == ',')) ++at_;
    if (at_ == text_.size()) {
      is_done_ = true;
    } else if (text_[at_] == '{') {
      TakeObject();
    } else if (text_[at_] == ']') {
      TakeBracket();
    } else {
      Lose(at_);
    }
  }

  void TakeBracket() {
    const size_t before = credit_;
    const BracketRole role = RoleOfBracket(text_, at_ + 1, at_end_, scanner_, credit_);
    result_.scanned_bytes += before - credit_;
    if (role == BracketRole::kStray) return Lose(at_);
    result_.array_ended = role == BracketRole::kEnd;
    at_ += result_.array_ended ? 1 : 0;
    is_done_ = true;
  }

  // Whatever stands here is not used; the next event is looked for behind it.
  void Lose(size_t position) {
    callbacks_.on_damage(position);
    is_lost_ = true;
    ran_out_ = false;
    ++at_;
  }

  void FindWay() {
    if (const auto brace = FindEventBrace(text_, at_)) {
      at_ = *brace;
      return TakeObject();
    }
    is_done_ = true;
    const auto end = at_end_ && !ran_out_ ? FindEndBehindDamage() : std::nullopt;
    result_.array_ended = end.has_value();
    at_ = end.value_or(text_.size());
  }

  void TakeObject() {
    const std::string_view rest = text_.substr(at_);
    const ObjectScan scan = scanner_.Scan(rest.substr(0, kMaxEventBytes));
    Count(at_ + scan.size, scan.size);
    if (scan.outcome == Outcome::kUnfinished && !at_end_ && rest.size() <= kMaxEventBytes) {
      is_done_ = true;
      return;
    }
    if (scan.outcome == Outcome::kWhole) {
      // Behind damage an object may be a part of the args of a broken event.
      if (!is_lost_ || scan.has_phase) {
        callbacks_.on_event(rest.substr(0, scan.size), at_);
        is_lost_ = false;
      }
      at_ += scan.size;
      return;
    }
    if (!is_lost_ || scan.has_phase) callbacks_.on_damage(at_);
    is_lost_ = true;
    ran_out_ = scan.outcome == Outcome::kUnfinished;
    GoOnBehind(scan.size);
  }

  // The next event may begin inside of what was scanned: behind a quote that is missing, say.
  void GoOnBehind(size_t scanned) {
    const size_t again = scanned == 0 ? 0 : scanned - 1;
    const bool may_go_back = again <= credit_;
    if (may_go_back) credit_ -= again;
    at_ += may_go_back ? 1 : scanned;
  }

  void Count(size_t end, size_t scanned) {
    result_.scanned_bytes += scanned;
    credit_ += std::max(end, furthest_) - furthest_;
    furthest_ = std::max(end, furthest_);
  }

  // The last event is damaged, and what follows the array must not be lost with it: the base of all
  // times may be there.
  std::optional<size_t> FindEndBehindDamage() {
    const size_t bracket = text_.rfind(']');
    if (bracket == std::string_view::npos || bracket < at_) return std::nullopt;
    const size_t next = BlanksEnd(text_, bracket + 1);
    if (next == text_.size() || ByteBefore(text_, bracket) != '}') return std::nullopt;
    if (text_[next] != '}' && text_[next] != ',') return std::nullopt;
    const ObjectScan tail = scanner_.ScanMembers(text_.substr(next + 1));
    const size_t end = text_[next] == '}' ? next + 1 : next + 1 + tail.size;
    const bool is_whole = text_[next] == '}' || tail.outcome == Outcome::kWhole;
    if (!is_whole || BlanksEnd(text_, end) != text_.size()) return std::nullopt;
    return bracket + 1;
  }

  static constexpr size_t kFirstCredit = 64 << 10;

  const std::string_view text_;
  const bool at_end_;
  const SplitCallbacks& callbacks_;
  EventScanner scanner_;
  size_t at_ = 0;
  bool is_lost_ = false;  // behind damage: where the next event begins is not known
  bool ran_out_ = false;  // the damage is that the text ends
  bool is_done_ = false;
  size_t furthest_ = 0;           // of the bytes scanned
  size_t credit_ = kFirstCredit;  // bytes that may be scanned again
  SplitResult result_;
};

}  // namespace

SplitResult SplitEvents(std::string_view text, bool at_end, const SplitCallbacks& callbacks) {
  return Splitter(text, at_end, callbacks).Run();
}

}  // namespace steplens::readers
