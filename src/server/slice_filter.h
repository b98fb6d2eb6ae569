#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/text_match.h"

namespace steplens::server {

// What the search box asks for. All of it must hold.
//
//   name~"matmul" dur>50us rank=0,3-7 lane:hardware step=12
//
// Terms: name ~ (contains) !~ = != =~ (regex); cat with the same; dur < <= > >= = with ns, us, ms
// or s (none: us); rank= and step= lists of numbers and ranges; lane: or lane~ a part of the lane's
// title. Text that has no term is a name, matched by the mode.
struct SliceFilter {
  struct TextTest {
    TextMatcher matcher;
    bool wanted = true;
  };
  struct NumberRange {
    int64_t first;
    int64_t last;
  };
  std::vector<TextTest> names;
  std::vector<TextTest> categories;
  std::vector<TextTest> lanes;
  std::vector<NumberRange> ranks;  // any of them
  std::vector<NumberRange> steps;
  int64_t least_ns = 0;
  int64_t most_ns = std::numeric_limits<int64_t>::max();

  static bool All(const std::vector<TextTest>& tests, std::string_view text);
  static bool Any(const std::vector<NumberRange>& ranges, int64_t number);
};

Result<SliceFilter> ParseSliceFilter(std::string_view text, MatchMode mode);

}  // namespace steplens::server
