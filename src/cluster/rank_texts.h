#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/answer.h"
#include "base/shared_bytes.h"

namespace steplens::cluster {

// The texts that recipes rendered for ranks: those of this process, and who has the others. A
// text's number says which rank and recipe it is of.
class RankTexts {
 public:
  // In place of an offset: others cannot look at the text.
  static constexpr uint64_t kNotShared = UINT64_MAX;

  RankTexts() = default;
  RankTexts(size_t recipes, size_t ranks) : recipes_(recipes), texts_(recipes * ranks) {}
  // The member of the team that mapped each rank, once that is known; until then, this process.
  void SetHolders(std::vector<size_t> holders) { holders_ = std::move(holders); }

  // Before the first text: puts them where other processes of this machine can look at them. If
  // that cannot be, they are kept as without it.
  void Share();

  uint64_t NumberOf(size_t rank, size_t recipe) const { return rank * recipes_ + recipe; }
  // Of a rank that this process maps; different ranks at once. Gives the offset in what this
  // process shares.
  uint64_t Put(uint64_t number, std::string_view text);
  // What the holder of a text says of it.
  void SetOffset(uint64_t number, uint64_t offset) { texts_[number].offset = offset; }

  // Adds bytes that are no text to what this process shares, and gives their offset.
  Result<uint64_t> PutShared(std::string_view bytes);

  // After the last text: where others find those of this process; nothing if some are not there.
  std::optional<SharedPlace> EndSharing();
  // Opens what the members share, by member. If one cannot be opened, none is.
  Status OpenAll(std::span<const SharedPlace> places);
  bool has_all() const { return !views_.empty(); }
  void CloseAll() { views_.clear(); }

  size_t HolderOf(uint64_t number) const {
    return recipes_ == 0 || number / recipes_ >= holders_.size() ? 0 : holders_[number / recipes_];
  }
  uint64_t OffsetOf(uint64_t number) const { return texts_[number].offset; }
  // Nothing if the piece is of a text that is not here, or beyond its end.
  std::optional<std::string_view> Find(const analysis::cluster::FilePiece& piece) const;
  // A stretch of what a member shares; nothing beyond its end, or if it was not opened.
  std::optional<std::string_view> FindShared(uint64_t member, uint64_t offset, uint64_t size) const;

 private:
  struct Text {
    std::string bytes;             // unless it is shared
    uint64_t offset = kNotShared;  // in what its holder shares
    uint64_t size = 0;             // of a text of this process
  };

  size_t recipes_ = 0;
  std::vector<size_t> holders_;  // by rank
  std::vector<Text> texts_;      // by number
  std::unique_ptr<SharedBytes> shared_;
  std::optional<SharedView> own_view_;
  std::vector<SharedView> views_;  // by member
};

}  // namespace steplens::cluster
