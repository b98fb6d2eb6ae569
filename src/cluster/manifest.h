#pragma once

#include <string>
#include <vector>

#include "analysis/cluster/rank_facts.h"
#include "base/status.h"
#include "open/numbering.h"

// cluster_manifest.json: where the captures of a job are, so that nobody needs to look through its
// folders again.
//
//   {"version": 1, "input": "/captures", "ranks": [{"rank": 0, "path": "/captures/host0_1_..._pt",
//    "type": "ascend_pt", "format": "text", "level": "1", "size_bytes": 812, "mtime_ns": 17...,
//    "steps": [10, 11]}]}

namespace steplens::cluster {

// The folders of the captures in a manifest, in its order. An error (kInvalidArgument) if the file
// is none, or one of another input.
Result<std::vector<std::string>> ReadManifest(const std::string& path, const std::string& input);

// The captures found, and what was read of them. Whole or not at all.
Status WriteManifest(const std::string& path, const std::string& input,
                     const std::vector<opening::Capture>& found,
                     const std::vector<analysis::cluster::RankFacts>& ranks);

}  // namespace steplens::cluster
