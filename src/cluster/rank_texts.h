#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/answer.h"

namespace steplens::cluster {

// The texts that recipes rendered for ranks: those of this process, and who has the others. A
// text's number says which rank and recipe it is of.
class RankTexts {
 public:
  RankTexts() = default;
  RankTexts(size_t recipes, size_t ranks) : recipes_(recipes), texts_(recipes * ranks) {}
  // The member of the team that mapped each rank, once that is known; until then, this process.
  void SetHolders(std::vector<size_t> holders) { holders_ = std::move(holders); }

  uint64_t NumberOf(size_t rank, size_t recipe) const { return rank * recipes_ + recipe; }
  // Of a rank that this process maps; different ranks at once. Kept for long, so without the room
  // that it was rendered in.
  void Put(uint64_t number, const std::string& text) { texts_[number] = text; }

  size_t HolderOf(uint64_t number) const {
    return recipes_ == 0 || number / recipes_ >= holders_.size() ? 0 : holders_[number / recipes_];
  }
  // Nothing if the piece is of a text that is not here, or beyond its end.
  std::optional<std::string_view> Find(const analysis::cluster::FilePiece& piece) const {
    if (piece.is_here()) return piece.bytes();
    if (piece.text >= texts_.size()) return std::nullopt;
    const std::string_view text = texts_[piece.text];
    if (piece.offset > text.size() || piece.size > text.size() - piece.offset) return std::nullopt;
    return text.substr(piece.offset, piece.size);
  }

 private:
  size_t recipes_ = 0;
  std::vector<size_t> holders_;     // by rank
  std::vector<std::string> texts_;  // by number
};

}  // namespace steplens::cluster
