#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/single/memory_categories.h"

namespace steplens::exporting {

// The memory in use by category, from this moment to the next point.
struct MemoryPoint {
  int64_t ns = 0;
  std::array<int64_t, kMemoryCategories> bytes{};
};

// A page that needs nothing else: a stacked plot as inline SVG, with a legend. Long timelines are
// thinned; peaks stay.
std::string MemoryHtml(const std::vector<MemoryPoint>& points, std::string_view device);

}  // namespace steplens::exporting
