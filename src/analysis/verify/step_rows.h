#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/steps/steps.h"
#include "analysis/verify/check.h"

namespace steplens::analysis::verify {

// Which row of step_trace_time a kernel or a time belongs to.
class StepRows {
 public:
  static constexpr size_t kNoRow = static_cast<size_t>(-1);  // outside of all steps

  explicit StepRows(const Context& context);

  // By Step Id where kernel_details has it, else by start. Nothing if the steps cannot be told.
  std::optional<size_t> OfKernel(size_t kernel);
  // Nothing if the file speaks of steps and the timeline marks none.
  std::optional<size_t> OfTime(int64_t device, int64_t ts_ns);

 private:
  size_t Find(int64_t device, int64_t step) const;

  const Context& context_;
  std::map<std::pair<int64_t, int64_t>, size_t> rows_;  // (device, step)
  bool has_devices_ = false;                            // the rows name devices
  bool has_steps_ = false;                              // the rows name steps
  bool kernels_have_steps_ = false;
  StepFinder finder_;
};

}  // namespace steplens::analysis::verify
