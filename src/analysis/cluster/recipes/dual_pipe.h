#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steplens::analysis::cluster {

// One entry of a pipeline schedule: the micro batches it works on and the phase it belongs to.
struct PipelineTask {
  std::string name;  // "3", "10b", "7F+13B", "logits"
  int64_t type = 0;  // 0 warm-up ... 6 cool-down

  bool operator==(const PipelineTask&) const = default;
};

// What stage `stage` of `stages` does in one step of DualPipeV with `micro_batches`, which must be
// at least twice the stages, in order.
std::vector<PipelineTask> DualPipeVSchedule(int64_t stage, int64_t stages, int64_t micro_batches);

}  // namespace steplens::analysis::cluster
