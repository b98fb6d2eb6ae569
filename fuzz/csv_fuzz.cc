// Splits any bytes as CSV, in blocks whose size the first byte chooses; what is split is the same
// in one block.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/csv.h"

namespace {

std::vector<std::string> Split(std::string_view text, size_t block_bytes) {
  steplens::CsvReader reader(steplens::MakeMemorySource(text), "fuzz.csv", block_bytes);
  std::vector<std::string> cells;
  while (true) {
    const auto has_row = reader.Next();
    if (!has_row.ok() || !*has_row) return cells;
    cells.emplace_back(std::to_string(reader.line()));
    cells.insert(cells.end(), reader.cells().begin(), reader.cells().end());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t one_block = size;
  if (Split(text, data[0]) != Split(text, one_block)) std::abort();
  return 0;
}
