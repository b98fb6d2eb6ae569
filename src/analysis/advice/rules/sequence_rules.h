#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/settings.h"

namespace steplens::analysis {

// A run of names to look for, written as words: "softmax mul? masked_fill_|add" is softmax, then
// perhaps mul, then one of two; "mul*2" is mul up to twice, or not at all.
class SequenceRule {
 public:
  explicit SequenceRule(std::string_view words);

  // How many names from the front of `names` the rule takes, as many as it can; 0 if it does not
  // fit. The names are compared as they are.
  size_t Match(std::span<const std::string_view> names) const;

 private:
  struct Word {
    std::vector<std::string> names;
    size_t least = 1;
    size_t most = 1;
  };
  size_t MatchFrom(size_t word, std::span<const std::string_view> names) const;
  std::vector<Word> words_;
};

// Where a rule fits.
struct SequenceMatch {
  size_t rule = 0;
  size_t first = 0;  // index in the names
  size_t count = 0;
};

// At each place the first rule that takes most names; matches do not overlap. Rules are tried in
// order. O(names x rules).
std::vector<SequenceMatch> FindSequences(std::span<const std::string_view> names,
                                         std::span<const SequenceRule> rules);

}  // namespace steplens::analysis
