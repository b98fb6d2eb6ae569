#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace steplens::readers {

// Between tokens.
inline bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// A place between two events: `... } , { "ph": ...`.
struct EventBorder {
  size_t comma = 0;       // position of the comma
  size_t next_event = 0;  // position of the brace that opens the next event
};

// The last and the first place in `text` that look like an event border. They may lie inside a
// string or a nested value; parsing what precedes them tells.
std::optional<EventBorder> FindLastBorder(std::string_view text);
std::optional<EventBorder> FindFirstBorder(std::string_view text);

// Length of the JSON value that starts at text[0] with '{' or '[', counting braces outside strings.
std::optional<size_t> ValueLength(std::string_view text);

// Position of the ']' that closes the array whose elements start at text[0]; nothing if it is not
// in the text.
std::optional<size_t> FindArrayEnd(std::string_view text);

// The careful way through a damaged piece: one event at a time.
struct SplitResult {
  size_t consumed = 0;  // bytes dealt with; what follows is the beginning of an unfinished event
  bool array_ended = false;
};
struct SplitCallbacks {
  std::function<void(std::string_view event, size_t position)> on_event;
  std::function<void(size_t position)>
      on_damage;  // something that is no event; skipped up to the next border
};
// `at_end`: no more text follows, so an unfinished event is damage. Longer than kMaxEventBytes is
// damage too.
inline constexpr size_t kMaxEventBytes = 16 << 20;
SplitResult SplitEvents(std::string_view text, bool at_end, const SplitCallbacks& callbacks);

}  // namespace steplens::readers
