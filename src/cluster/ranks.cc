#include "cluster/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/number.h"
#include "cluster/discover.h"
#include "readers/ascend_db/ascend_db.h"

namespace steplens::cluster {
namespace {

using readers::RankSource;
using store::kNone;

constexpr int64_t kMaxRank = 10'000'000;

// The time in "name_1700000000_20240101000000000_ascend_pt" or "PROF_000001_20240101..._ABC": the
// longest run of at least 14 digits between underscores; 0 if there is none.
int64_t TimeInName(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  int64_t time = 0;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('_', begin), name.size());
    const std::string_view token = name.substr(begin, end - begin);
    if (token.size() >= 14 && token.size() <= 18) time = ParseInt64(token).value_or(time);
    begin = end + 1;
  }
  return time;
}

// Kineto writes "distributedInfo": {"backend": "nccl", "rank": 3, ...} near the top of a trace.
std::optional<int64_t> RankInTraceHead(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = OpenByteSource(path);
  if (!source.ok()) return std::nullopt;
  std::string head(1 << 16, '\0');
  const Result<size_t> got = (*source)->Read(head.data(), head.size());
  if (!got.ok()) return std::nullopt;
  head.resize(*got);
  const size_t info = head.find("\"distributedInfo\"");
  if (info == std::string::npos) return std::nullopt;
  const size_t close = std::min(head.find('}', info), head.size());
  const size_t key = head.find("\"rank\"", info);
  if (key >= close) return std::nullopt;
  const size_t colon = head.find(':', key);
  const size_t end = head.find_first_of(",}\n", colon);
  if (colon >= close || end == std::string::npos) return std::nullopt;
  return ParseInt64(std::string_view(head).substr(colon + 1, end - colon - 1));
}

// What a capture of a lone trace says of its rank itself counts more than the file's name; a db is
// asked where no name says it.
void TakeRankFromFile(RankSource& rank) {
  for (const readers::SourceFile& file : rank.files) {
    if (rank.rank == store::kNone && file.role == readers::FileRole::kProfilerDb)
      rank.rank = readers::RankInDb(file.path).value_or(store::kNone);
  }
  if (!rank.source.empty() || rank.files.size() != 1) return;
  if (const auto inside = RankInTraceHead(rank.files.front().path); inside && *inside >= 0)
    rank.rank = *inside;
}

// Gives captures without a number the smallest free one.
void NumberTheRest(std::vector<RankSource>& ranks, std::vector<std::string>& notes) {
  std::set<int64_t> taken;
  for (const RankSource& rank : ranks) taken.insert(rank.rank);
  int64_t next = 0;
  size_t numbered = 0;
  for (RankSource& rank : ranks) {
    if (rank.rank >= 0) continue;
    while (!taken.insert(next).second) ++next;
    rank.rank = next;
    ++numbered;
  }
  if (numbered > 0) {
    notes.push_back(
        numbered == 1
            ? std::string("1 capture does not say which rank it is; it got the next free number")
            : fmt::format("{} captures do not say which ranks they are; they got the next "
                          "free numbers",
                          numbered));
  }
}

// Keeps the newest capture of each rank.
std::vector<RankSource> Newest(std::vector<RankSource> found, std::vector<std::string>& notes) {
  std::stable_sort(found.begin(), found.end(), [](const RankSource& a, const RankSource& b) {
    return std::pair(a.rank, TimeInName(a.path)) < std::pair(b.rank, TimeInName(b.path));
  });
  std::vector<RankSource> kept;
  RankSource left_out;
  size_t dropped = 0;
  bool times_differ = false;  // some name says when it was captured
  for (RankSource& rank : found) {
    if (kept.empty() || kept.back().rank != rank.rank) {
      kept.push_back(std::move(rank));
      continue;
    }
    ++dropped;
    times_differ |= TimeInName(rank.path) != TimeInName(kept.back().path);
    left_out = std::exchange(kept.back(), std::move(rank));
  }
  if (dropped > 0) {
    const auto used = std::find_if(kept.begin(), kept.end(), [&](const RankSource& rank) {
      return rank.rank == left_out.rank;
    });
    notes.push_back(fmt::format(
        "{} capture{} of ranks that were captured more than once {} left out, the {} is used (rank "
        "{}: {} is used, {} is not)",
        dropped, dropped == 1 ? "" : "s", dropped == 1 ? "is" : "are",
        times_differ ? "newest" : "last by name", used->rank, used->path, left_out.path));
  }
  return kept;
}

std::vector<RankSource> Limit(std::vector<RankSource> ranks, const std::vector<int64_t>& wanted,
                              std::vector<std::string>& notes) {
  std::set<int64_t> present;
  for (const RankSource& rank : ranks) present.insert(rank.rank);
  std::vector<int64_t> absent;
  for (const int64_t rank : wanted) {
    if (!present.contains(rank)) absent.push_back(rank);
  }
  std::erase_if(ranks, [&](const RankSource& rank) {
    return !std::binary_search(wanted.begin(), wanted.end(), rank.rank);
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
  std::vector<RankSource> found = std::move(discovered.ranks);
  RankSelection selection;
  selection.lost = std::move(discovered.lost);
  selection.found = found.size() + selection.lost.size();
  for (RankSource& rank : found) TakeRankFromFile(rank);
  NumberTheRest(found, selection.notes);
  selection.ranks = Newest(std::move(found), selection.notes);
  if (wanted) selection.ranks = Limit(std::move(selection.ranks), *wanted, selection.notes);
  return selection;
}

}  // namespace steplens::cluster
