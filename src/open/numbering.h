#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "readers/detect.h"
#include "store/trace_store.h"

namespace steplens::opening {

// Where the number of a rank comes from. kFree: its files do not say it; kRepeated: they do, and
// another path has a capture of that rank. Both got the smallest number that was free.
enum class NumberFrom : uint8_t { kFiles, kFree, kRepeated };

// A capture and the number that its rank has in every result.
struct Capture {
  readers::RankSource source;  // source.rank: what its files say
  int64_t rank = 0;
  NumberFrom number_from = NumberFrom::kFiles;
};

// Numbers that the user gave to captures, by their path: those in the files do not count.
using RankNumbers = std::map<std::string, int64_t, std::less<>>;

struct Captures {
  std::vector<Capture> ranks;             // ascending by rank, each number once
  std::vector<store::InputFile> ignored;  // captures of ranks that have a newer one
  std::vector<std::string> notes;         // what was left out or renumbered; one sentence each
};

// Gives each capture a number, by one rule for all commands:
//   * Of several captures of a rank below one path the newest is used, by the time in its name,
//     else the last by name. The others are left out.
//   * A rank that was captured below several paths is shown once per path: whoever names two paths
//     wants to see both. The first keeps its number, the others get the smallest free one.
//   * A capture that does not say its rank gets the smallest free number.
// `found` in the order of detection, which decides who comes first.
Captures NumberCaptures(std::vector<readers::RankSource> found, const RankNumbers& given = {});

}  // namespace steplens::opening
