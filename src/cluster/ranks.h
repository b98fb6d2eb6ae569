#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/team.h"
#include "open/numbering.h"

namespace steplens::cluster {

// "0-7, 16,32-63" -> the ranks, ascending; "all" -> none, which means all of them. Anything else is
// an error that shows the form expected.
Result<std::optional<std::vector<int64_t>>> ParseRankList(const std::string& text);

// The ranks of a job, ascending, each once.
struct RankSelection {
  std::vector<opening::Capture> ranks;
  std::vector<store::InputFile> lost;  // captures that cannot be read, with the reason
  size_t found = 0;                    // captures below the path, before anything was left out
  std::vector<std::string> notes;      // what was left out and why, one sentence each
};

// Finds the captures below `path` and numbers them as every command does (open/numbering.h).
// `wanted` limits the selection; those of it that are not there are named in a note. All members of
// the team call it and get the same. `known` as for DiscoverRanks.
Result<RankSelection> SelectRanks(Team& team, const std::string& path,
                                  const std::optional<std::vector<int64_t>>& wanted,
                                  const std::vector<std::string>& known = {});

}  // namespace steplens::cluster
