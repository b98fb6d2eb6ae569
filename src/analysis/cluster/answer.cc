#include "analysis/cluster/answer.h"

#include <algorithm>
#include <array>

namespace steplens::analysis::cluster {
namespace {

// The word for one of what the word for several names.
std::string_view OfOne(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kWords{{
      {"are", "is"},
      {"belong", "belongs"},
      {"do", "does"},
      {"get", "gets"},
      {"have", "has"},
      {"lie", "lies"},
      {"their", "its"},
      {"they", "it"},
  }};
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const auto& pair) { return pair.first == word; });
  if (found != kWords.end()) return found->second;
  return word.substr(0, word.size() - 1);  // ranks
}

}  // namespace

void Answer::Note(size_t count, std::string_view text) {
  if (count == 0) return;
  std::string note = std::to_string(count) + " ";
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    const size_t close = std::min(text.find('}', open), text.size());
    note += text.substr(0, open);
    if (close == text.size()) break;
    const std::string_view word = text.substr(open + 1, close - open - 1);
    note += count == 1 ? OfOne(word) : word;
    text.remove_prefix(close + 1);
  }
  notes.push_back(std::move(note));
}

}  // namespace steplens::analysis::cluster
