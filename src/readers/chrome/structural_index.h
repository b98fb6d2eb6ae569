#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace steplens::readers {

// Extra bytes that must be readable behind a text given to StructuralIndex.
inline constexpr size_t kParserPadding = 64;

// Where in a JSON text its tokens are: each brace, bracket, colon and comma outside strings, and
// the first byte of each string and other scalar. Found by simdjson, at several bytes a cycle.
class StructuralIndex {
 public:
  StructuralIndex();
  ~StructuralIndex();

  // False if the text is empty, not valid UTF-8, or has a string that is not closed.
  bool Build(std::string_view text);

  // The positions in order; behind the last one the size of the text, twice. Valid until the next
  // Build.
  const uint32_t* begin() const;
  const uint32_t* end() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Front to back through the tokens of an indexed text. '\0' stands for the end and is never passed:
// a reader that stops at what it does not expect needs no other check.
class TokenCursor {
 public:
  TokenCursor() = default;
  // Both must outlive the cursor.
  TokenCursor(std::string_view text, const StructuralIndex& index)
      : text_(text.data()), position_(index.begin()), end_(index.end()) {}

  bool AtEnd() const { return position_ == end_; }
  char Peek() const { return AtEnd() ? '\0' : text_[*position_]; }
  // The token at hand if it is `wanted` (not '\0'), which is stepped over, else null.
  const char* Take(char wanted) { return Peek() == wanted ? text_ + *position_++ : nullptr; }
  // The text of the value at hand, which is stepped over: a scalar up to the next token (quotes and
  // blanks behind it kept), or a whole object or array. Empty if there is no value.
  std::string_view TakeValue() {
    const char first = Peek();
    if (first == '{' || first == '[') return TakeNested();
    if (first == '\0' || first == '}' || first == ']' || first == ',' || first == ':') return {};
    const uint32_t begin = *position_++;
    return {text_ + begin, *position_ - begin};  // at the end this is the size of the text
  }

 private:
  std::string_view TakeNested();

  const char* text_ = nullptr;
  const uint32_t* position_ = nullptr;
  const uint32_t* end_ = nullptr;
};

}  // namespace steplens::readers
