#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/answer.h"
#include "base/process_memory.h"

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
  // Of a rank that this process maps; different ranks at once. Gives the address, where it stays.
  uint64_t Put(uint64_t number, std::string_view text);
  // What the holder of a text says of it.
  void SetAddress(uint64_t number, uint64_t address) { texts_[number].address = address; }

  // Lets this process read the texts of all members of its machine, by member. If one lets nobody
  // in, none is read.
  Status OpenAll(std::span<const MemoryPlace> places);
  bool has_all() const { return !memories_.empty(); }

  size_t HolderOf(uint64_t number) const {
    return recipes_ == 0 || number / recipes_ >= holders_.size() ? 0 : holders_[number / recipes_];
  }
  uint64_t AddressOf(uint64_t number) const { return texts_[number].address; }
  // Nothing if the piece is of a text that is not here, or beyond its end.
  std::optional<std::string_view> Find(const analysis::cluster::FilePiece& piece) const;
  // Memory of a member, which must have been opened.
  Status Read(uint64_t member, std::span<const MemoryPiece> pieces, char* buffer) const;

 private:
  struct Text {
    std::string bytes;     // of this process
    uint64_t address = 0;  // where its holder has it
  };

  size_t recipes_ = 0;
  std::vector<size_t> holders_;          // by rank
  std::vector<Text> texts_;              // by number
  std::vector<ProcessMemory> memories_;  // by member
};

}  // namespace steplens::cluster
