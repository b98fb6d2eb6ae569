#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "table/html/text.h"

// More keys than can be drawn become groups of neighbours.

namespace steplens::table::html {

// How many neighbours form a group so that at most `max_count` groups remain; 1: no need.
size_t GroupSize(size_t count, size_t max_count);

// The keys of the groups: "0–4", "5–9", ... The last group may be smaller.
std::vector<std::string> CondenseKeys(const std::vector<std::string>& keys, size_t group_size);

// The means of the groups, without gaps; a group of gaps only is a gap.
std::vector<double> CondenseValues(const std::vector<double>& values, size_t group_size);

// Says it to the reader; empty for groups of one.
Text CondensedNote(size_t group_size);

}  // namespace steplens::table::html
