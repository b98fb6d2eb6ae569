#include "readers/chrome/event_tokens.h"

namespace steplens::readers {
namespace {

// Keys end with a quote in the text.
bool SameKey(const char* a, const char* b) {
  while (*a == *b && *a != '"') ++a, ++b;
  return *a == *b;
}

// At the opening brace. Sets the args and their text.
bool ParseArgs(TokenCursor& tokens, Event& event) {
  Args& out = event.args;
  event.has_duplicate |= event.args_text.data() != nullptr;
  out.count = 0;
  out.known = &event.own_index;
  event.own_index.Clear();
  const char* const begin = tokens.Take('{');
  const char* end = tokens.Take('}');
  while (end == nullptr) {
    const char* key = tokens.Take('"');
    if (key == nullptr || tokens.Take(':') == nullptr) return false;
    const std::string_view raw = tokens.TakeValue();
    if (raw.empty()) return false;
    if (out.count < Args::kMax) {
      const size_t before = event.own_index.Add(key + 1, out.count);
      event.has_duplicate |= before != 0 && SameKey(out.items[before - 1].key, key + 1);
      out.items[out.count++] = {key + 1, raw};
    }
    if (tokens.Take(',') != nullptr) continue;
    end = tokens.Take('}');
    if (end == nullptr) return false;
  }
  event.args_text = {begin, static_cast<size_t>(end + 1 - begin)};
  return true;
}

void SetField(const char* key, std::string_view token, Event& event) {
  const auto set = [&](std::string_view& field) {
    event.has_duplicate |= field.data() != nullptr;
    field = Bare(token);
  };
  switch (key[0]) {
    case 'p':
      if (KeyIs(key, "ph")) set(event.ph);
      if (KeyIs(key, "pid")) set(event.pid);
      return;
    case 't':
      if (KeyIs(key, "ts")) set(event.ts);
      if (KeyIs(key, "tid")) set(event.tid);
      return;
    case 'n':
      if (KeyIs(key, "name")) set(event.name);
      return;
    case 'd':
      if (KeyIs(key, "dur")) set(event.dur);
      return;
    case 'c':
      if (KeyIs(key, "cat")) set(event.category);
      return;
    case 'i':
      if (KeyIs(key, "id")) set(event.id);
      return;
    default:
      return;
  }
}

}  // namespace

bool ParseEvent(TokenCursor& tokens, Event& event) {
  event.Clear();
  tokens.Take('{');
  if (tokens.Take('}') != nullptr) return true;
  do {
    const char* key = tokens.Take('"');
    if (key == nullptr || tokens.Take(':') == nullptr) return false;
    if (tokens.Peek() == '{' && KeyIs(key + 1, "args")) {
      if (!ParseArgs(tokens, event)) return false;
      continue;
    }
    const std::string_view raw = tokens.TakeValue();
    if (raw.empty()) return false;
    SetField(key + 1, raw, event);
  } while (tokens.Take(',') != nullptr);
  return tokens.Take('}') != nullptr;
}

}  // namespace steplens::readers
