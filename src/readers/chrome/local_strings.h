#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace steplens::readers {

// The distinct raw texts of one piece of a trace, as views into the piece: numbered in order of
// first appearance, emptied without freeing. The assembler unescapes and interns each of them once.
class LocalStrings {
 public:
  LocalStrings() : slots_(kInitialSlots) {}

  uint32_t Intern(std::string_view text);
  std::string_view Get(uint32_t id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }
  void Clear();

 private:
  static constexpr size_t kInitialSlots = 4096;
  struct Slot {
    uint32_t id_plus_one = 0;
    uint32_t tag = 0;
  };
  void Grow();

  std::vector<Slot> slots_;
  std::vector<std::string_view> texts_;
  std::vector<uint64_t> hashes_;
};

}  // namespace steplens::readers
