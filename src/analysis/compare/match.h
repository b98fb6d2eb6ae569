#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace steplens::analysis::compare {

inline constexpr uint32_t kUnmatched = static_cast<uint32_t>(-1);

// An item of the base and one of the comparison, or one of them alone.
struct Pair {
  uint32_t base = kUnmatched;
  uint32_t comparison = kUnmatched;
  bool operator==(const Pair&) const = default;
};

// Aligns two sequences of ids: the longest run that both have in common (of several the first in
// the base, then the first in the comparison) is matched, and so are the parts left and right of
// it. Before each run come the items of the base that have no partner, then those of the
// comparison.
//
// All runs of one length are found in one pass over the ids, so long repetitive sequences take
// O(n log n) where no run is shared by chance; the worst case is O(n sqrt(n) log n).
std::vector<Pair> MatchSequences(std::span<const uint32_t> base,
                                 std::span<const uint32_t> comparison);

}  // namespace steplens::analysis::compare
