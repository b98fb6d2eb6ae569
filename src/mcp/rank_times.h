#pragma once

#include <vector>

#include "analysis/advice/rank_evidence.h"
#include "mcp/answer.h"
#include "mcp/capture.h"

namespace steplens::mcp {

// What a rank's steps are spent with.
struct RankTimes {
  int64_t rank = 0;
  analysis::StepTimes times;
};
std::vector<RankTimes> RankTimesOf(const Capture& capture);

// A row per rank, in ms per step: computing, exposed and overlapped communication, free.
table::Table RankTimesTable(const std::vector<RankTimes>& ranks);

// The mean step of the job in a line, and how far ranks are apart.
void AddRankTimes(const std::vector<RankTimes>& ranks, Answer& answer);

}  // namespace steplens::mcp
