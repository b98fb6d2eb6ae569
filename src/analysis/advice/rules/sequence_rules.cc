#include "analysis/advice/rules/sequence_rules.h"

#include <algorithm>

namespace steplens::analysis {
namespace {

// Cuts the text at the mark.
std::vector<std::string> Split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(mark), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

constexpr size_t kNoMatch = static_cast<size_t>(-1);

}  // namespace

SequenceRule::SequenceRule(std::string_view words) {
  for (std::string& text : Split(words, ' ')) {
    Word word;
    if (text.ends_with('?')) {
      word.least = 0;
      text.pop_back();
    }
    const size_t star = text.find('*');
    if (star != text.npos) {
      word.least = 0;
      word.most = static_cast<size_t>(text[star + 1] - '0');
      text.resize(star);
    }
    word.names = Split(text, '|');
    words_.push_back(std::move(word));
  }
}

size_t SequenceRule::MatchFrom(size_t index, std::span<const std::string_view> names) const {
  if (index == words_.size()) return 0;
  const Word& word = words_[index];
  size_t taken = 0;
  while (taken < word.most && taken < names.size() &&
         std::find(word.names.begin(), word.names.end(), names[taken]) != word.names.end()) {
    ++taken;
  }
  // As many as fit first, then fewer.
  for (size_t count = taken + 1; count-- > word.least;) {
    const size_t rest = MatchFrom(index + 1, names.subspan(count));
    if (rest != kNoMatch) return count + rest;
    if (count == 0) break;
  }
  return kNoMatch;
}

size_t SequenceRule::Match(std::span<const std::string_view> names) const {
  const size_t count = MatchFrom(0, names);
  return count == kNoMatch ? 0 : count;
}

std::vector<SequenceMatch> FindSequences(std::span<const std::string_view> names,
                                         std::span<const SequenceRule> rules) {
  std::vector<SequenceMatch> matches;
  for (size_t i = 0; i < names.size();) {
    SequenceMatch best{0, i, 0};
    for (size_t r = 0; r < rules.size(); ++r) {
      const size_t count = rules[r].Match(names.subspan(i));
      if (count > best.count) best = {r, i, count};
    }
    if (best.count > 0) matches.push_back(best);
    i += std::max<size_t>(1, best.count);
  }
  return matches;
}

}  // namespace steplens::analysis
