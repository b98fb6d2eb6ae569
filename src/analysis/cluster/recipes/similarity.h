#pragma once

#include <string_view>

namespace steplens::analysis::cluster {

// How much two texts have in common, 0 to 1: twice the length of what matches over the sum of both
// lengths. What matches is the longest common piece (of several the first in `a`, then in `b`) and,
// left and right of it, the same again. O(|a| |b|) per piece.
double Similarity(std::string_view a, std::string_view b);

// No less than Similarity, in O(|a| + |b|): by the letters alone.
double SimilarityAtMost(std::string_view a, std::string_view b);

}  // namespace steplens::analysis::cluster
