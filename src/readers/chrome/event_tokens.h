#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/number.h"
#include "readers/chrome/known_args.h"
#include "readers/chrome/structural_index.h"
#include "store/tables.h"

namespace steplens::readers {

// Compares a key, which ends with a quote in the text, with a literal of N - 1 characters.
template <size_t N>
bool KeyIs(const char* key, const char (&literal)[N]) {
  return std::memcmp(key, literal, N - 1) == 0 && key[N - 1] == '"';
}

// A scalar as it stands in the text: quotes removed, blanks around it too.
inline std::string_view Bare(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  return token;
}

// The value of one member of `args`.
struct Arg {
  const char* key = nullptr;
  std::string_view raw;  // scalars: quotes kept; objects and arrays: the whole text
};

// The args of one event. More than kMax are rare and of no use here.
struct Args {
  static constexpr size_t kMax = 40;
  std::array<Arg, kMax> items;
  size_t count = 0;
  const ArgIndex* known = nullptr;  // of the items; not read if there are none

  // The value without quotes; empty if the event does not have it.
  std::string_view Find(KnownArg arg) const {
    const size_t place = count == 0 ? 0 : (*known)[arg];
    return place == 0 ? std::string_view() : Bare(items[place - 1].raw);
  }
  int64_t Int(KnownArg arg) const {
    const std::string_view text = Find(arg);
    return text.empty() ? store::kNone : ParseInt64(text).value_or(store::kNone);
  }
};

// The fields of one event, as tokens of the text.
struct Event {
  Event() = default;
  Event(const Event&) = delete;  // args may refer to own_index
  Event& operator=(const Event&) = delete;

  std::string_view ph, name, category, pid, tid, ts, dur, id;
  std::string_view args_text;
  Args args;
  bool has_duplicate = false;  // a field or an arg that is used stands there twice
  ArgIndex own_index;          // what args.known refers to if ParseEvent took the event
  void Clear() {
    ph = name = category = pid = tid = ts = dur = id = args_text = {};
    args.count = 0;
    has_duplicate = false;
  }
};

// Takes one event, from its opening brace to behind the closing one. False if it is not well
// formed.
bool ParseEvent(TokenCursor& tokens, Event& event);

}  // namespace steplens::readers
