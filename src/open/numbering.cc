#include "open/numbering.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/number.h"

namespace steplens::opening {
namespace {

using readers::RankSource;

// The time in "name_1700000000_20240101000000000_ascend_pt" or "PROF_000001_20240101..._ABC": the
// last run of 14 to 18 digits between underscores; 0 if there is none.
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

// Captures of one rank below one path.
using Rivals = std::vector<Capture>;

// Takes the newest out of each group, in order; the others are left out.
std::vector<Capture> NewestOf(std::map<std::pair<size_t, int64_t>, Rivals> groups, Captures& out) {
  std::vector<Capture> newest;
  size_t dropped = 0;
  bool times_differ = false;  // some name says when it was captured
  std::string example;
  for (auto& [path_and_rank, rivals] : groups) {
    std::stable_sort(rivals.begin(), rivals.end(), [](const Capture& a, const Capture& b) {
      return TimeInName(a.source.path) < TimeInName(b.source.path);
    });
    newest.push_back(std::move(rivals.back()));
    rivals.pop_back();
    if (rivals.empty()) continue;
    const std::string& used = newest.back().source.path;
    for (const Capture& older : rivals) {
      times_differ |= TimeInName(older.source.path) != TimeInName(used);
      out.ignored.push_back(
          {older.source.path, 0, false,
           fmt::format("rank {} was captured more than once; {} is used", older.rank, used)});
    }
    dropped += rivals.size();
    example = fmt::format("rank {}: {} is used, {} is not", path_and_rank.second, used,
                          rivals.back().source.path);
  }
  if (dropped > 0) {
    out.notes.push_back(fmt::format(
        "{} capture{} of ranks that were captured more than once {} left out, the {} is used ({})",
        dropped, dropped == 1 ? "" : "s", dropped == 1 ? "is" : "are",
        times_differ ? "newest" : "last by name", example));
  }
  return newest;
}

// "a repeats rank 3; it is shown as rank 4"
void NoteRepeated(const std::vector<Capture>& captures, std::vector<std::string>& notes) {
  size_t repeated = 0;
  const Capture* first = nullptr;
  for (const Capture& capture : captures) {
    if (capture.number_from != NumberFrom::kRepeated) continue;
    if (repeated++ == 0) first = &capture;
  }
  if (repeated == 0) return;
  std::string note = fmt::format("{} repeats rank {}; it is shown as rank {}", first->source.path,
                                 first->source.rank, first->rank);
  if (repeated > 1) {
    note = fmt::format("{} captures repeat ranks of another path and got numbers of their own ({})",
                       repeated, note);
  }
  notes.push_back(std::move(note));
}

}  // namespace

Captures NumberCaptures(std::vector<RankSource> found, const RankNumbers& given) {
  Captures out;
  std::map<std::pair<size_t, int64_t>, Rivals> groups;
  std::vector<Capture> without_number;
  for (RankSource& source : found) {
    if (const auto number = given.find(source.path); number != given.end()) {
      out.ranks.push_back({std::move(source), number->second});
    } else if (source.rank < 0) {
      without_number.push_back({std::move(source), -1, NumberFrom::kFree});
    } else {
      const std::pair key(source.given, source.rank);
      groups[key].push_back({std::move(source), key.second});
    }
  }
  // In the order in which they may claim a number.
  std::ranges::move(NewestOf(std::move(groups), out), std::back_inserter(out.ranks));
  std::ranges::move(without_number, std::back_inserter(out.ranks));
  std::set<int64_t> taken;
  for (Capture& capture : out.ranks) {
    if (capture.rank >= 0 && !taken.insert(capture.rank).second)
      capture.number_from = NumberFrom::kRepeated;
  }
  int64_t next = 0;
  for (Capture& capture : out.ranks) {
    if (capture.number_from == NumberFrom::kFiles) continue;
    while (!taken.insert(next).second) ++next;
    capture.rank = next;
  }
  NoteRepeated(out.ranks, out.notes);
  std::stable_sort(out.ranks.begin(), out.ranks.end(),
                   [](const Capture& a, const Capture& b) { return a.rank < b.rank; });
  return out;
}

}  // namespace steplens::opening
