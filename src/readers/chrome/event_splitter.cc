#include "readers/chrome/event_splitter.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace steplens::readers {
namespace {

// Is text[brace] the opening brace of an event with one of the keys every writer uses?
bool OpensEvent(std::string_view text, size_t brace) {
  static constexpr std::array<std::string_view, 12> kKeys = {
      "\"ph\"",  "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\"",
      "\"dur\"", "\"args\"", "\"id\"",  "\"s\"",   "\"bp\"",  "\"cname\""};
  size_t i = brace + 1;
  while (i < text.size() && IsBlank(text[i])) ++i;
  const std::string_view rest = text.substr(i, 8);
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](std::string_view key) { return rest.starts_with(key); });
}

// The border whose second event opens at `brace`, if there is one.
std::optional<EventBorder> BorderAt(std::string_view text, size_t brace) {
  size_t i = brace;
  while (i > 0 && IsBlank(text[i - 1])) --i;
  if (i == 0 || text[i - 1] != ',') return std::nullopt;
  const size_t comma = i - 1;
  i = comma;
  while (i > 0 && IsBlank(text[i - 1])) --i;
  if (i == 0 || text[i - 1] != '}' || !OpensEvent(text, brace)) return std::nullopt;
  return EventBorder{comma, brace};
}

// Walks JSON text outside strings: depth after each bracket, until `stop` says so.
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
    if ((c == '{' || c == '[' || c == '}' || c == ']') && stop(c)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<EventBorder> FindLastBorder(std::string_view text) {
  for (size_t end = text.size(); end > 0;) {
    const void* found = ::memrchr(text.data(), '{', end);
    if (found == nullptr) return std::nullopt;
    const auto brace = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    if (const auto border = BorderAt(text, brace)) return border;
    end = brace;
  }
  return std::nullopt;
}

std::optional<EventBorder> FindFirstBorder(std::string_view text) {
  for (size_t brace = text.find('{'); brace != std::string_view::npos;
       brace = text.find('{', brace + 1)) {
    if (const auto border = BorderAt(text, brace)) return border;
  }
  return std::nullopt;
}

std::optional<size_t> ValueLength(std::string_view text) {
  int64_t depth = 0;
  const auto last = WalkBrackets(text, [&](char c) {
    depth += c == '{' || c == '[' ? 1 : -1;
    return depth == 0;
  });
  if (!last) return std::nullopt;
  return *last + 1;
}

std::optional<size_t> FindArrayEnd(std::string_view text) {
  int64_t depth = 0;
  const auto end = WalkBrackets(text, [&](char c) {
    depth += c == '{' || c == '[' ? 1 : -1;
    return depth < 0;
  });
  if (!end || text[*end] != ']') return std::nullopt;  // a stray brace closes no array
  return end;
}

// The next whole object behind a border that has a phase, as every event does: objects inside args
// do not count.
static std::optional<size_t> FindNextEvent(std::string_view text) {
  size_t from = 0;
  while (const auto border = FindFirstBorder(text.substr(from))) {
    from += border->next_event;
    const auto length = ValueLength(text.substr(from));
    const std::string_view event = text.substr(from, length.value_or(0));
    const size_t phase = event.find("\"ph\"");
    if (phase != std::string_view::npos) {
      size_t i = phase + 4;
      while (i < event.size() && (IsBlank(event[i]) || event[i] == ':')) ++i;
      if (event[i] == '"') return from;
    }
  }
  return std::nullopt;
}

SplitResult SplitEvents(std::string_view text, bool at_end, const SplitCallbacks& callbacks) {
  size_t i = 0;
  while (true) {
    while (i < text.size() && (IsBlank(text[i]) || text[i] == ',')) ++i;
    if (i == text.size()) return {i, false};
    if (text[i] == ']') return {i + 1, true};
    if (text[i] == '{') {
      if (const auto length = ValueLength(text.substr(i))) {
        callbacks.on_event(text.substr(i, *length), i);
        i += *length;
        continue;
      }
    }
    // Neither an event nor the end: wait for more text, or skip to the next thing that looks like
    // an event.
    const bool hopeless = at_end || text.size() - i > kMaxEventBytes;
    if (!hopeless) return {i, false};
    callbacks.on_damage(i);
    const auto next = FindNextEvent(text.substr(i));
    if (!next) return {text.size(), false};
    i += *next;
  }
}

}  // namespace steplens::readers
