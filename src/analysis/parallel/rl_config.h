#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steplens::analysis {

// A task of a reinforcement learning loop, and the marks of its micro batches.
struct RlTask {
  std::string role;
  std::string name;  // of the mark
  std::vector<std::string> forward{};
  std::vector<std::string> backward{};
};

// How a framework marks its tasks.
struct RlFramework {
  std::string framework;
  std::string algorithm;
  std::vector<RlTask> tasks;
};

// verl and MindSpeed-RL.
std::vector<RlFramework> KnownRlFrameworks();
// From JSON in the form of the reference viewer's RLMstxConfig.json:
//   {"config": [{"framework", "algorithm", "tasks": [{"roleName", "taskName",
//     "microBatch": [{"batchName", "type": "FP" or "BP"}]}]}]}
Result<std::vector<RlFramework>> ParseRlConfig(const std::string& json);

}  // namespace steplens::analysis
