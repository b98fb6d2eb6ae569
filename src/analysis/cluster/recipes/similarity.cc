#include "analysis/cluster/recipes/similarity.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace steplens::analysis::cluster {
namespace {

struct Piece {
  size_t in_a = 0;
  size_t in_b = 0;
  size_t size = 0;
};

Piece LongestCommon(std::string_view a, std::string_view b) {
  Piece best;
  std::vector<size_t> before(b.size() + 1, 0);  // common length that ends before a[i], b[j]
  std::vector<size_t> now(b.size() + 1, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      now[j + 1] = a[i] == b[j] ? before[j] + 1 : 0;
      if (now[j + 1] > best.size) best = {i + 1 - now[j + 1], j + 1 - now[j + 1], now[j + 1]};
    }
    std::swap(before, now);
  }
  return best;
}

double Ratio(size_t matched, std::string_view a, std::string_view b) {
  const size_t length = a.size() + b.size();
  return length == 0 ? 1 : 2 * static_cast<double>(matched) / static_cast<double>(length);
}

}  // namespace

double Similarity(std::string_view a, std::string_view b) {
  size_t matched = 0;
  std::vector<std::pair<std::string_view, std::string_view>> open = {{a, b}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    const Piece piece = LongestCommon(left, right);
    if (piece.size == 0) continue;
    matched += piece.size;
    open.emplace_back(left.substr(0, piece.in_a), right.substr(0, piece.in_b));
    open.emplace_back(left.substr(piece.in_a + piece.size), right.substr(piece.in_b + piece.size));
  }
  return Ratio(matched, a, b);
}

double SimilarityAtMost(std::string_view a, std::string_view b) {
  std::array<size_t, 256> in_a{};
  for (const char c : a) ++in_a[static_cast<uint8_t>(c)];
  size_t matched = 0;
  for (const char c : b) {
    size_t& left = in_a[static_cast<uint8_t>(c)];
    if (left == 0) continue;
    --left;
    ++matched;
  }
  return Ratio(matched, a, b);
}

}  // namespace steplens::analysis::cluster
