#include "table/flat_buffer.h"

#include <algorithm>

namespace steplens::table {

void FlatBuffer::Align(size_t alignment, size_t more) {
  while ((bytes_.size() + more) % alignment != 0) bytes_ += '\0';
}

// Little endian, so in memory that runs backwards the highest byte comes first.
void FlatBuffer::Push(uint64_t value, size_t bytes) {
  for (size_t i = bytes; i > 0; --i) bytes_ += static_cast<char>(value >> (8 * (i - 1)) & 0xff);
}

FlatBuffer::Place FlatBuffer::AddText(std::string_view text) {
  Align(4, text.size() + 1);
  bytes_ += '\0';
  bytes_.append(text.rbegin(), text.rend());
  Push(text.size(), 4);
  return here();
}

FlatBuffer::Place FlatBuffer::AddReferences(std::span<const Place> places) {
  Align(4, 4 * places.size());
  for (size_t i = places.size(); i > 0; --i) Push(here() + 4 - places[i - 1], 4);
  Push(places.size(), 4);
  return here();
}

FlatBuffer::Place FlatBuffer::AddPairs(std::span<const int64_t> numbers) {
  Align(8, 8 * numbers.size());
  for (size_t i = numbers.size(); i > 0; --i) Push(static_cast<uint64_t>(numbers[i - 1]), 8);
  Push(numbers.size() / 2, 4);
  return here();
}

FlatBuffer::Place FlatBuffer::AddTable(std::vector<Field> fields) {
  const Place end = here();
  uint16_t count = 0;
  std::vector<Place> places;
  for (const Field& field : fields) {
    const size_t bytes = field.bytes == 0 ? 4 : field.bytes;
    Align(bytes, bytes);
    const auto value = static_cast<uint64_t>(field.value);
    Push(field.bytes == 0 ? here() + 4 - value : value, bytes);
    places.push_back(here());
    count = std::max(count, static_cast<uint16_t>(field.id + 1));
  }
  Align(4, 4);
  const size_t vtable_bytes = 2 * (static_cast<size_t>(count) + 2);
  Push(vtable_bytes, 4);  // the table of its fields comes right before it
  const Place table = here();
  std::vector<uint16_t> offsets(count);
  for (size_t i = 0; i < fields.size(); ++i)
    offsets[fields[i].id] = static_cast<uint16_t>(table - places[i]);
  for (size_t i = count; i > 0; --i) Push(offsets[i - 1], 2);
  Push(table - end, 2);
  Push(vtable_bytes, 2);
  return table;
}

std::string FlatBuffer::Finish(Place root) && {
  Align(8, 4);
  Push(here() + 4 - root, 4);
  std::reverse(bytes_.begin(), bytes_.end());
  return std::move(bytes_);
}

}  // namespace steplens::table
