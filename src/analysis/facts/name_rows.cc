#include "analysis/facts/name_rows.h"

namespace steplens::analysis {

NameRows::NameRows(std::span<const StringId> names, size_t texts) : first_(texts + 1, 0) {
  for (const StringId name : names) {
    if (static_cast<size_t>(name) < texts) ++first_[static_cast<size_t>(name) + 1];
  }
  for (size_t text = 0; text < texts; ++text) first_[text + 1] += first_[text];
  rows_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end());
  for (uint32_t row = 0; row < names.size(); ++row) {
    if (static_cast<size_t>(names[row]) < texts)
      rows_[next[static_cast<size_t>(names[row])]++] = row;
  }
}

}  // namespace steplens::analysis
