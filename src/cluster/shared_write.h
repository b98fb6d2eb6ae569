#pragma once

#include <span>
#include <string>

#include "analysis/cluster/answer.h"
#include "base/status.h"
#include "base/team.h"
#include "base/thread_pool.h"
#include "cluster/rank_texts.h"

namespace steplens::cluster {

struct FileToWrite {
  std::string path;
  const analysis::cluster::ResultFile* file = nullptr;
};

// On the root: writes files whose texts may be with other members of the team, each whole or not at
// all. If all are on one machine and see each other's texts, each file is written by one of them.
// Else those of the root's machine write the stretches of their own texts, and others send them.
// The threads of `pool` are used where others have nothing to do.
Status WriteTogether(Team& team, ThreadPool& pool, RankTexts& texts,
                     std::span<const FileToWrite> files);

// On all others: does what the root asks for until it needs nothing more.
Status ServeWrites(Team& team, RankTexts& texts);

}  // namespace steplens::cluster
