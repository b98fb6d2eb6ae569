#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::table {

// Builds a FlatBuffer, the encoding of Arrow's messages, from its end to its front: what something
// refers to is written before it. A place is the distance from the end of the buffer.
class FlatBuffer {
 public:
  using Place = uint32_t;

  // A field of a table: a number of some bytes, or a reference.
  struct Field {
    uint16_t id = 0;
    uint16_t bytes = 0;  // 1, 2, 4 or 8; 0: a reference
    int64_t value = 0;   // or the place it refers to
  };

  Place AddText(std::string_view text);
  Place AddReferences(std::span<const Place> places);
  Place AddPairs(std::span<const int64_t> numbers);  // structs of two int64 each
  Place AddTable(std::vector<Field> fields);
  // The buffer with this table as its root; its size is a multiple of 8.
  std::string Finish(Place root) &&;

 private:
  Place here() const { return static_cast<Place>(bytes_.size()); }
  // Pads so that after `more` bytes the place is a multiple of `alignment`.
  void Align(size_t alignment, size_t more);
  void Push(uint64_t value, size_t bytes);

  std::string bytes_;  // back to front
};

}  // namespace steplens::table
