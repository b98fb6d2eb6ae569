#pragma once

#include <limits>
#include <optional>

#include "format/bytes.h"

namespace steplens::format {

// The framing of FRAMEWORK files (docs/formats/framework.md):
//
//   record := type:u16  length:u32  value[length]
//   value  := fixed part (its size depends on the file)  field*
//   field  := tag:u16  length:u32  bytes[length]
inline constexpr size_t kTlvHeaderBytes = 6;

// ---- Reading
// ---------------------------------------------------------------------------------------------

// One framed item: a record of a file, or a field of a record. `value` is a view of the input.
struct TlvItem {
  uint16_t type = 0;
  Bytes value;
};

// Walks framed items in order. Ends at the first one that is cut off; truncated() then says so and
// offset() is where it starts, so that what follows a damaged place is never taken for a record.
class TlvReader {
 public:
  explicit TlvReader(Bytes bytes) : bytes_(bytes) {}

  std::optional<TlvItem> Next() {
    const size_t left = bytes_.size() - offset_;
    if (left < kTlvHeaderBytes) {
      truncated_ = left != 0;
      return std::nullopt;
    }
    const uint32_t length = Load<uint32_t>(bytes_, offset_ + 2);
    if (length > left - kTlvHeaderBytes) {
      truncated_ = true;
      return std::nullopt;
    }
    const TlvItem item{Load<uint16_t>(bytes_, offset_),
                       bytes_.subspan(offset_ + kTlvHeaderBytes, length)};
    offset_ += kTlvHeaderBytes + length;
    return item;
  }

  bool truncated() const { return truncated_; }
  size_t offset() const { return offset_; }

 private:
  Bytes bytes_;
  size_t offset_ = 0;
  bool truncated_ = false;
};

// ---- Writing
// ---------------------------------------------------------------------------------------------

// Appends one record: construct, Field()..., and the length is right at every moment. `out` must
// not be touched by others meanwhile.
class TlvWriter {
 public:
  TlvWriter(std::vector<uint8_t>& out, uint16_t type, size_t fixed_bytes)
      : out_(out), start_(out.size()) {
    uint8_t* header = Extend(out_, kTlvHeaderBytes + fixed_bytes);
    Store<uint16_t>(header, 0, type);
    UpdateLength();
  }

  // The fixed part; valid until the first Field().
  uint8_t* fixed() { return out_.data() + start_ + kTlvHeaderBytes; }

  // A field; cut at 256 MiB.
  void Field(uint16_t tag, std::string_view text) {
    const size_t length =
        text.size() < kMaxFieldBytes ? text.size() : static_cast<size_t>(kMaxFieldBytes);
    uint8_t* field = Extend(out_, kTlvHeaderBytes + length);
    Store<uint16_t>(field, 0, tag);
    Store<uint32_t>(field, 2, static_cast<uint32_t>(length));
    if (length != 0) std::memcpy(field + kTlvHeaderBytes, text.data(), length);
    UpdateLength();
  }

  // A field if there is a text.
  void FieldIfAny(uint16_t tag, std::string_view text) {
    if (!text.empty()) Field(tag, text);
  }

 private:
  static constexpr uint32_t kMaxFieldBytes = std::numeric_limits<uint32_t>::max() / 16;

  void UpdateLength() {
    Store<uint32_t>(out_.data() + start_, 2,
                    static_cast<uint32_t>(out_.size() - start_ - kTlvHeaderBytes));
  }

  std::vector<uint8_t>& out_;
  size_t start_;
};

}  // namespace steplens::format
