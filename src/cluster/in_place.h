#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/cluster/rank_facts.h"
#include "base/status.h"
#include "cluster/output.h"

namespace steplens::cluster {

struct EditOptions {
  std::string input;      // -d: what copies are named after
  std::string directory;  // <output>/cluster_analysis_output: where copies go
  bool in_place = false;  // --in_place: the captures themselves are changed
  bool compat = false;
};

// What was written, and what the user should know.
struct Edited {
  std::vector<std::string> files;
  std::vector<std::string> notes;
  size_t failed = 0;  // ranks that could not be changed; a note says why
};

// Carries out the edits of answers. Without --in_place only those of mstx2commop, on copies of the
// databases: <directory>/Mstx2Commop/<path below the input>. A database is copied, changed and put
// in its place at once; a rank where that fails stays as it is, and the others are changed.
Edited ApplyEdits(std::span<const Export> exports,
                  std::span<const analysis::cluster::RankFacts> ranks, const EditOptions& options);

}  // namespace steplens::cluster
