#include "cluster/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/number.h"
#include "cluster/discover.h"

namespace steplens::cluster {
namespace {

using opening::Capture;

constexpr int64_t kMaxRank = 10'000'000;

// A sentence about captures that do not say their rank.
void NoteFree(const std::vector<Capture>& ranks, std::vector<std::string>& notes) {
  const auto numbered = std::count_if(ranks.begin(), ranks.end(), [](const Capture& capture) {
    return capture.number_from == opening::NumberFrom::kFree;
  });
  if (numbered == 0) return;
  notes.push_back(
      numbered == 1 ? std::string("1 capture does not state its rank; it gets the next free number")
                    : fmt::format("{} captures do not state their ranks; they get the next "
                                  "free numbers",
                                  numbered));
}

std::vector<Capture> Limit(std::vector<Capture> ranks, const std::vector<int64_t>& wanted,
                           std::vector<std::string>& notes) {
  std::set<int64_t> present;
  for (const Capture& capture : ranks) present.insert(capture.rank);
  std::vector<int64_t> absent;
  for (const int64_t rank : wanted) {
    if (!present.contains(rank)) absent.push_back(rank);
  }
  std::erase_if(ranks, [&](const Capture& capture) {
    return !std::binary_search(wanted.begin(), wanted.end(), capture.rank);
  });
  if (!absent.empty()) {
    constexpr size_t kShown = 10;
    const size_t shown = std::min(absent.size(), kShown);
    notes.push_back(
        fmt::format("--rank_list: {} rank{} not there: {}{}", absent.size(),
                    absent.size() == 1 ? " is" : "s are",
                    fmt::join(absent.begin(), absent.begin() + static_cast<int64_t>(shown), ", "),
                    absent.size() > shown ? ", ..." : ""));
  }
  return ranks;
}

Error BadRankList(const std::string& text) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("--rank_list: '{}' is not a list of ranks; expected 'all' or something like "
                      "0-7,16,32-63",
                      text)};
}

}  // namespace

Result<std::optional<std::vector<int64_t>>> ParseRankList(const std::string& text) {
  if (Trim(text) == "all") return std::optional<std::vector<int64_t>>();
  std::set<int64_t> ranks;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view token = Trim(std::string_view(text).substr(begin, end - begin));
    const size_t dash = token.find('-', 1);
    const auto first = ParseInt64(token.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseInt64(token.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMaxRank)
      return BadRankList(text);
    for (int64_t rank = *first; rank <= *last; ++rank) ranks.insert(rank);
    begin = end + 1;
  }
  return std::optional(std::vector<int64_t>(ranks.begin(), ranks.end()));
}

Result<RankSelection> SelectRanks(Team& team, const std::string& path,
                                  const std::optional<std::vector<int64_t>>& wanted,
                                  const std::vector<std::string>& known) {
  SL_ASSIGN_OR_RETURN(Discovered discovered, DiscoverRanks(team, path, known));
  RankSelection selection;
  selection.lost = std::move(discovered.lost);
  selection.found = discovered.ranks.size() + selection.lost.size();
  // However it was divided for the search, all of it was given as one path.
  for (readers::RankSource& source : discovered.ranks) source.given = 0;
  opening::Captures captures = opening::NumberCaptures(std::move(discovered.ranks));
  NoteFree(captures.ranks, selection.notes);
  selection.ranks = std::move(captures.ranks);
  for (std::string& note : captures.notes) selection.notes.push_back(std::move(note));
  if (wanted) selection.ranks = Limit(std::move(selection.ranks), *wanted, selection.notes);
  return selection;
}

}  // namespace steplens::cluster
