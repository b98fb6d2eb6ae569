#include "base/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace steplens {
namespace {

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Insertions, deletions, replacements and swaps of neighbours that make one text of the other.
size_t Keystrokes(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> cost((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> size_t& { return cost[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::string NearestName(std::string_view word, std::span<const std::string> names) {
  constexpr size_t kLongest = 64;  // longer words are no mistyped names
  if (word.empty() || word.size() > kLongest) return "";
  const std::string wanted = LowerCase(word);
  const std::string* nearest = nullptr;
  const std::string* continued = nullptr;
  size_t continuations = 0;
  size_t fewest = wanted.size() / 3 + 1;  // more changes than that make another word
  for (const std::string& name : names) {
    const std::string candidate = LowerCase(name);
    if (candidate.starts_with(wanted)) {
      continued = &name;
      ++continuations;
    }
    const size_t changes = Keystrokes(wanted, candidate);
    // A word all of whose letters change is not this one.
    if (changes >= std::max(wanted.size(), candidate.size())) continue;
    if (changes < fewest || (changes == fewest && nearest == nullptr)) {
      nearest = &name;
      fewest = changes;
    }
  }
  if (continuations == 1) return *continued;
  return nearest == nullptr ? "" : *nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> names) {
  const std::string name = NearestName(word, names);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

}  // namespace steplens
