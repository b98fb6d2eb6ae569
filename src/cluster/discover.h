#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "base/team.h"
#include "readers/detect.h"

namespace steplens::cluster {

struct Discovered {
  std::vector<readers::RankSource> ranks;
  std::vector<store::InputFile> lost;  // captures that cannot be read, with the reason
};

// The captures below `path`, as readers::DetectRanks finds them, in order of path. A folder that
// holds nothing but captures (<name>_ascend_pt, <name>_ascend_ms) is divided among the team; all
// members get the same. `known` are folders of captures that somebody else found there: if they are
// all there, nothing else is looked at.
Result<Discovered> DiscoverRanks(Team& team, const std::string& path,
                                 const std::vector<std::string>& known);

}  // namespace steplens::cluster
