#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace steplens::readers {

// A place between two events: `... } , { "ph": ...`.
struct EventBorder {
  size_t comma = 0;       // position of the comma
  size_t next_event = 0;  // position of the brace that opens the next event
};

// The last place in `text` that looks like an event border, with its brace at `from` or behind it.
// It may lie inside a string or a nested value; parsing what precedes it tells.
std::optional<EventBorder> FindLastBorder(std::string_view text, size_t from = 0);

// Length of the JSON value that starts at text[0] with '{' or '[', counting braces outside strings.
std::optional<size_t> ValueLength(std::string_view text);

// Where the member of an object that starts at text[0] ends: at the comma behind it or at the brace
// that closes the object; nothing if the text ends before.
std::optional<size_t> FindMemberEnd(std::string_view text);

// Position of the ']' that closes the array whose elements start at text[0]; nothing if it is not
// in the text, or if the first one that could be it is a stray one (SplitEvents tells).
std::optional<size_t> FindArrayEnd(std::string_view text);

// The careful way through a damaged piece: one event at a time.
struct SplitResult {
  size_t consumed = 0;  // bytes dealt with; what follows is the beginning of an unfinished event
  bool array_ended = false;
  size_t scanned_bytes = 0;  // how much was looked at: at most a few times the size of the text
};
struct SplitCallbacks {
  std::function<void(std::string_view event, size_t position)> on_event;
  // An event that is not whole, or something that is no event; skipped up to the next event.
  std::function<void(size_t position)> on_damage;
};
// `at_end`: no more text follows, so an unfinished event is damage. Longer than kMaxEventBytes is
// damage too. A ']' behind which events go on is damage, not the array's end. kParserPadding bytes
// behind the text are readable.
inline constexpr size_t kMaxEventBytes = 16 << 20;
SplitResult SplitEvents(std::string_view text, bool at_end, const SplitCallbacks& callbacks);

}  // namespace steplens::readers
