#include "analysis/cluster/recipes/dual_pipe.h"

#include <fmt/format.h>

namespace steplens::analysis::cluster {
namespace {

// Each stage holds two halves of the model, numbered 0 and 1; micro batches of the second half have
// numbers from `micro_batches` on. The members count how far each half has come.
class DualPipeV {
 public:
  DualPipeV(int64_t stage, int64_t stages, int64_t micro_batches)
      : stage_(stage), stages_(stages), micro_batches_(micro_batches) {}

  std::vector<PipelineTask> Schedule() {
    WarmUp();
    InterleavedForward();
    BackwardWeightForward();
    Overlap();
    BackwardOverlap();
    const bool ends_in_second = InterleavedBackward();
    CoolDown(ends_in_second);
    return std::move(tasks_);
  }

 private:
  enum Phase : int64_t {
    kWarmUp,
    kInterleavedForward,
    kBackwardWeightForward,
    kOverlap,
    kBackwardOverlap,
    kInterleavedBackward,
    kCoolDown,
  };

  void Add(std::string name, Phase phase) { tasks_.push_back({std::move(name), phase}); }
  // The first stage computes the logits before the backward pass of the second half.
  void AddLogits(Phase phase) {
    if (stage_ == 0) Add("logits", phase);
  }

  void WarmUp() {
    for (int64_t i = 0; i < 2 * stages_ - 2 - 2 * stage_; ++i)
      Add(fmt::format("{}", ++forward0_), kWarmUp);
  }

  void InterleavedForward() {
    forward1_ = micro_batches_ - 1;
    for (int64_t i = 0; i <= stage_; ++i) {
      Add(fmt::format("{}", ++forward0_), kInterleavedForward);
      Add(fmt::format("{}", ++forward1_), kInterleavedForward);
    }
  }

  void BackwardWeightForward() {
    backward1_ = micro_batches_ - 1;
    for (int64_t i = 0; i < stages_ - stage_ - 1; ++i) {
      AddLogits(kBackwardWeightForward);
      ++backward1_;
      Add(fmt::format("{}b", backward1_), kBackwardWeightForward);
      Add(fmt::format("{}w", backward1_), kBackwardWeightForward);
      Add(fmt::format("{}", ++forward1_), kBackwardWeightForward);
    }
  }

  void Overlap() {
    for (int64_t i = 0; i < micro_batches_ - 2 * stages_ + stage_ + 1; ++i) {
      AddLogits(kOverlap);
      ++forward0_;
      ++backward1_;
      if (stage_ == stages_ - 1 && i == 0) {
        Add(fmt::format("{}F", forward0_), kOverlap);
        Add(fmt::format("{}B", backward1_), kOverlap);
      } else {
        Add(fmt::format("{}F+{}B", forward0_, backward1_), kOverlap);
      }
      ++forward1_;
      ++backward0_;
      Add(fmt::format("{}F+{}B", forward1_, backward0_), kOverlap);
    }
  }

  void BackwardOverlap() {
    for (int64_t i = 0; i < stages_ - stage_ - 1; ++i) {
      AddLogits(kBackwardOverlap);
      Add(fmt::format("{}B", ++backward1_), kBackwardOverlap);
      ++forward1_;
      ++backward0_;
      Add(fmt::format("{}F+{}B", forward1_, backward0_), kBackwardOverlap);
    }
  }

  // True if the last entry is of the second half.
  bool InterleavedBackward() {
    for (int64_t i = 0; i <= stage_; ++i) {
      if (i % 2 == 0) {
        AddLogits(kInterleavedBackward);
        Add(fmt::format("{}B", ++backward1_), kInterleavedBackward);
      } else {
        Add(fmt::format("{}B", ++backward0_), kInterleavedBackward);
      }
    }
    return stage_ % 2 == 0;
  }

  // Both halves in turn; a finished one is skipped.
  void CoolDown(bool ends_in_second) {
    bool is_second = !ends_in_second;
    while (backward0_ < micro_batches_ - 1 || backward1_ < 2 * micro_batches_ - 1) {
      int64_t& backward = is_second ? backward1_ : backward0_;
      const int64_t last = is_second ? 2 * micro_batches_ - 1 : micro_batches_ - 1;
      if (backward < last) Add(fmt::format("{}B", ++backward), kCoolDown);
      is_second = !is_second;
    }
  }

  int64_t stage_;
  int64_t stages_;
  int64_t micro_batches_;
  int64_t forward0_ = -1;  // the last micro batch of each pass and half
  int64_t forward1_ = -1;
  int64_t backward0_ = -1;
  int64_t backward1_ = -1;
  std::vector<PipelineTask> tasks_;
};

}  // namespace

std::vector<PipelineTask> DualPipeVSchedule(int64_t stage, int64_t stages, int64_t micro_batches) {
  return DualPipeV(stage, stages, micro_batches).Schedule();
}

}  // namespace steplens::analysis::cluster
