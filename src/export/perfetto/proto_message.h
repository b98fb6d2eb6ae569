#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace steplens::exporting {

// The bytes of a message of protocol buffers, field by field.
class ProtoMessage {
 public:
  void Uint(uint32_t field, uint64_t value) {
    Key(field, kVarint);
    Varint(value);
  }
  void Fixed64(uint32_t field, uint64_t value) {
    Key(field, kFixed64);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
  void Double(uint32_t field, double value) { Fixed64(field, std::bit_cast<uint64_t>(value)); }
  void Bytes(uint32_t field, std::string_view value) {
    Key(field, kBytes);
    Varint(value.size());
    bytes_ += value;
  }
  void Message(uint32_t field, const ProtoMessage& message) { Bytes(field, message.bytes()); }

  std::string_view bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };
  void Key(uint32_t field, WireType type) { Varint(uint64_t{field} << 3U | type); }
  void Varint(uint64_t value) {
    for (; value > 0x7F; value >>= 7U) bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace steplens::exporting
