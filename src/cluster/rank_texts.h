#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/answer.h"
#include "base/shared_memory.h"

namespace steplens::cluster {

// The texts that recipes rendered for ranks: those of this process, and who has the others. A
// text's number says which rank and recipe it is of.
class RankTexts {
 public:
  RankTexts() = default;
  // With `is_shared`, other processes of the machine can look at the texts of this one, if the
  // system lets them.
  RankTexts(size_t recipes, size_t ranks, bool is_shared = false);
  // The member of the team that mapped each rank, once that is known; until then, this process.
  void SetHolders(std::vector<size_t> holders) { holders_ = std::move(holders); }

  uint64_t NumberOf(size_t rank, size_t recipe) const { return rank * recipes_ + recipe; }
  // Of a rank that this process maps; different ranks at once. Gives where it is in place().
  uint64_t Put(uint64_t number, std::string_view text);
  // What the holder of a text says of it.
  void SetOffset(uint64_t number, uint64_t offset) { texts_[number].offset = offset; }

  // Where others find all texts of this process; nothing if they cannot.
  std::optional<SharedPlace> place() const;
  // Lets this process look at the texts of the members of its machine, by member. If one is not
  // to be seen, or none is named, it sees its own. After the last text.
  Status Open(std::span<const SharedPlace> places);
  bool has_all() const { return !views_.empty(); }

  size_t HolderOf(uint64_t number) const {
    return recipes_ == 0 || number / recipes_ >= holders_.size() ? 0 : holders_[number / recipes_];
  }
  uint64_t OffsetOf(uint64_t number) const { return texts_[number].offset; }
  // Nothing if the piece is of a text that is not here, or beyond its end.
  std::optional<std::string_view> Find(const analysis::cluster::FilePiece& piece) const;
  // What a member has shared; nothing if that was not opened, or is shorter.
  std::optional<std::string_view> Find(uint64_t member, uint64_t offset, uint64_t size) const;

 private:
  struct Text {
    std::string bytes;    // of this process, if it is not in its shared memory
    uint64_t offset = 0;  // in that of its holder
    uint64_t size = 0;    // of this process
  };

  size_t recipes_ = 0;
  std::vector<size_t> holders_;         // by rank
  std::vector<Text> texts_;             // by number
  std::optional<SharedMemory> shared_;  // has texts of this process
  std::optional<SharedView> own_;       // of shared_
  std::vector<SharedView> views_;       // by member
};

}  // namespace steplens::cluster
