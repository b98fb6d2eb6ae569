#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace steplens::exporting {

// How many bytes may be read from the start of a PaddedView, whatever its size.
inline constexpr size_t kPadding = 64;

// A text that can be copied kPadding bytes at a time: what lies behind its end is memory, too.
class PaddedView : public std::string_view {
 public:
  PaddedView() = default;

 private:
  friend class PaddedTexts;
  explicit PaddedView(std::string_view text) : std::string_view(text) {}
};

// Copies the text to `at`, where there is room for it and kPadding bytes more; returns its end.
// Most texts of a trace are short: for them this is a few moves without a branch on their size.
inline char* PutPadded(char* at, PaddedView text) {
  std::memcpy(at, text.data(), kPadding);
  if (text.size() > kPadding) [[unlikely]]
    std::memcpy(at + kPadding, text.data() + kPadding, text.size() - kPadding);
  return at + text.size();
}

// Keeps texts side by side in blocks that never move. Not thread safe.
class PaddedTexts {
 public:
  // Lives as long as this. Has data even if it is empty.
  PaddedView Keep(std::string_view text) {
    if (text.size() + kPadding > room_) NewBlock(text.size() + kPadding);
    if (!text.empty()) std::memcpy(next_, text.data(), text.size());
    const PaddedView kept(std::string_view(next_, text.size()));
    next_ += text.size();
    room_ -= text.size();
    return kept;
  }

 private:
  void NewBlock(size_t bytes) {
    constexpr size_t kBlockBytes = size_t{1} << 16;
    room_ = std::max(bytes, kBlockBytes);
    next_ = blocks_.emplace_back(new char[room_]()).get();
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t room_ = 0;
};

}  // namespace steplens::exporting
