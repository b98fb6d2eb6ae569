#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace steplens {

// Index into a StringPool. Equal ids mean equal text, within one pool.
enum class StringId : uint32_t { kEmpty = 0 };

// Every distinct text once. Ids are handed out in order of first appearance; id 0 is the empty
// text.
//
//   offsets: 0 | 0 | 5 | 11 ...      text i is bytes[offsets[i], offsets[i + 1])
//   bytes:   aten::Conv2D...
//
// A pool either owns its bytes or views those of a mapped cache file (Attach), whose owner must
// outlive it; the look-up index is built at the first Intern or Find. Not thread safe while
// interning.
class StringPool {
 public:
  StringPool();
  ~StringPool();
  StringPool(StringPool&&) noexcept;
  StringPool& operator=(StringPool&&) noexcept;

  StringId Intern(std::string_view text);
  std::optional<StringId> Find(std::string_view text) const;
  std::string_view Get(StringId id) const {
    const auto i = static_cast<size_t>(id);
    const auto o = offsets();
    return {data() + o[i], static_cast<size_t>(o[i + 1] - o[i])};
  }

  size_t size() const { return offsets().size() - 1; }
  std::span<const uint64_t> offsets() const {
    return mapped_offsets_.empty() ? std::span<const uint64_t>(offsets_) : mapped_offsets_;
  }
  std::span<const char> bytes() const {
    return mapped_offsets_.empty() ? std::span<const char>(bytes_) : mapped_bytes_;
  }

  // Makes this pool a view of the two arrays. False, and no change, unless they are well formed.
  bool Attach(std::span<const uint64_t> offsets, std::span<const char> bytes);

 private:
  struct Index;
  const char* data() const {
    return mapped_offsets_.empty() ? bytes_.data() : mapped_bytes_.data();
  }
  Index& index() const;

  std::vector<uint64_t> offsets_;
  std::vector<char> bytes_;
  std::span<const uint64_t> mapped_offsets_;
  std::span<const char> mapped_bytes_;
  mutable std::unique_ptr<Index> index_;
};

}  // namespace steplens
