#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The rows of a table by their name, so that a click on one does not look at all of them.
class NameRows {
 public:
  // `texts`: how many texts the pool has. O(rows + texts); 4 bytes a row and a text.
  NameRows(std::span<const StringId> names, size_t texts);

  // Ascending.
  std::span<const uint32_t> Of(StringId name) const {
    const auto text = static_cast<size_t>(name);
    if (text + 1 >= first_.size()) return {};
    return std::span(rows_).subspan(first_[text], first_[text + 1] - first_[text]);
  }

 private:
  std::vector<uint32_t> rows_;   // by name, then by number
  std::vector<uint32_t> first_;  // by text; one more than texts
};

}  // namespace steplens::analysis
