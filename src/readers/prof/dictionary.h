#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/string_pool.h"
#include "readers/prof/prof_files.h"
#include "store/issues.h"

namespace steplens::readers::prof {

// The texts behind the hashes and type numbers of a capture. A text enters the store's pool when it
// is first asked for.
class Dictionary {
 public:
  explicit Dictionary(StringPool& strings) : strings_(strings) {}
  void Read(const Side& host, store::IssueLog& issues);

  // An id that is not known gives its number.
  StringId Hash(uint64_t id);
  std::string_view HashText(uint64_t id) { return strings_.Get(Hash(id)); }
  StringId Type(uint16_t level, uint32_t type);
  std::string_view TypeText(uint16_t level, uint32_t type) {
    return strings_.Get(Type(level, type));
  }

  // One line of a dictionary: "<id>:<text>" and "<level>_<type>:<text>". False if it is neither.
  bool AddHashLine(std::string_view line);
  bool AddTypeLine(std::string_view line);

 private:
  template <typename AddLine>
  void ReadLines(const std::vector<Slice>& slices, store::IssueLog& issues, const AddLine& add);

  StringPool& strings_;
  std::deque<std::string> files_;  // what the views below look into
  std::unordered_map<uint64_t, std::string_view> hash_texts_;
  std::unordered_map<uint64_t, std::string_view> type_texts_;  // level << 32 | type
  std::unordered_map<uint64_t, StringId> hashes_;
  std::unordered_map<uint64_t, StringId> types_;
};

}  // namespace steplens::readers::prof
