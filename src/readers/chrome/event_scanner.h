#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace steplens::readers {

// Between tokens.
inline bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// How far an object could be followed.
struct ObjectScan {
  enum class Outcome : uint8_t {
    kWhole,       // the brace that closes it was found
    kBroken,      // a byte stands where JSON does not allow it
    kUnfinished,  // the text ends first
  };
  Outcome outcome = Outcome::kUnfinished;
  size_t size = 0;  // bytes of the object; broken: of what precedes the byte that does not fit
  bool has_phase = false;  // a member "ph" with a text was seen, as every event has one
};

// Follows one JSON object byte by byte, by the grammar: keys, colons, commas, and brackets of the
// right kind. Damage is found where it is, not where the brackets stop to add up. Scalars and
// escapes are not checked; the parser does that.
class EventScanner {
 public:
  // The object that opens at text[0]. kScanAhead bytes behind the text are readable.
  ObjectScan Scan(std::string_view text) { return Walk(text, false); }
  // The rest of an object, from one of its keys on.
  ObjectScan ScanMembers(std::string_view text) { return Walk(text, true); }

 private:
  ObjectScan Walk(std::string_view text, bool is_inside);

  std::string closers_;  // the brackets that are still to come, the innermost last
};

}  // namespace steplens::readers
