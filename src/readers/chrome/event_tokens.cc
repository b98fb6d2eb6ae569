#include "readers/chrome/event_tokens.h"

namespace steplens::readers {
namespace {

// At the opening brace. Sets the args and their text.
bool ParseArgs(TokenCursor& tokens, Event& event) {
  Args& out = event.args;
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
      event.own_index.Add(key + 1, out.count);
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
  switch (key[0]) {
    case 'p':
      if (KeyIs(key, "ph")) event.ph = Bare(token);
      if (KeyIs(key, "pid")) event.pid = Bare(token);
      return;
    case 't':
      if (KeyIs(key, "ts")) event.ts = Bare(token);
      if (KeyIs(key, "tid")) event.tid = Bare(token);
      return;
    case 'n':
      if (KeyIs(key, "name")) event.name = Bare(token);
      return;
    case 'd':
      if (KeyIs(key, "dur")) event.dur = Bare(token);
      return;
    case 'c':
      if (KeyIs(key, "cat")) event.category = Bare(token);
      return;
    case 'i':
      if (KeyIs(key, "id")) event.id = Bare(token);
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
