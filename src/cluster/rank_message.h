#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::cluster {

// What is said of a text for files that stays where it was rendered. `Text` is a string, or a view
// of the packed bytes.
template <typename Text>
struct RenderedText {
  Text index;  // empty: nothing was rendered
  uint64_t size = 0;
  uint64_t offset = 0;  // where the process that rendered it has it (RankTexts)

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(index, size, offset);
  }
  bool operator==(const RenderedText&) const = default;
};

// What travels of a rank from where it was mapped to the root.
template <typename Text>
struct RankMessageOf {
  bool is_cached = false;                    // nothing was read, the part was known
  uint32_t readers = 0;                      // who may read what it was made of (ReadersOfInputs)
  Text part;                                 // the bytes that the part cache keeps
  std::vector<RenderedText<Text>> rendered;  // one a recipe; none for most captures

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(is_cached, readers, part, rendered);
  }
};
using RankMessage = RankMessageOf<std::string>;
using RankMessageView = RankMessageOf<std::string_view>;

}  // namespace steplens::cluster
