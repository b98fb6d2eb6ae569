#include "analysis/verify/step_rows.h"

#include <algorithm>

namespace steplens::analysis::verify {
namespace {

bool AnyKnown(const store::Column<int64_t>& column) {
  return std::any_of(column.begin(), column.end(),
                     [](int64_t value) { return value != store::kNone; });
}

}  // namespace

StepRows::StepRows(const Context& context) : context_(context), finder_(context.rank.steps()) {
  const store::StepTraceTable& traces = context.store.step_traces;
  // One device is the device of all rows, whether or not both files name it.
  has_devices_ = AnyKnown(traces.device) && AnyKnown(context.store.kernels.device) &&
                 std::any_of(traces.device.begin(), traces.device.end(),
                             [&](int64_t device) { return device != traces.device[0]; });
  has_steps_ = AnyKnown(traces.step);
  kernels_have_steps_ = AnyKnown(context.store.kernels.step);
  for (size_t i = 0; i < traces.size(); ++i) {
    rows_.try_emplace({has_devices_ ? traces.device[i] : store::kNone, traces.step[i]}, i);
  }
}

size_t StepRows::Find(int64_t device, int64_t step) const {
  const auto row = rows_.find({has_devices_ ? device : store::kNone, step});
  return row == rows_.end() ? kNoRow : row->second;
}

std::optional<size_t> StepRows::OfKernel(size_t kernel) {
  const store::KernelTable& kernels = context_.store.kernels;
  if (!has_steps_) return Find(kernels.device[kernel], store::kNone);
  if (kernels_have_steps_) return Find(kernels.device[kernel], kernels.step[kernel]);
  return OfTime(kernels.device[kernel], kernels.begin_ns[kernel]);
}

std::optional<size_t> StepRows::OfTime(int64_t device, int64_t ts_ns) {
  if (!has_steps_) return Find(device, store::kNone);
  if (context_.rank.steps().empty()) return std::nullopt;
  const std::optional<size_t> range = finder_.Find(ts_ns);
  return range ? Find(device, context_.rank.steps()[*range].step) : kNoRow;
}

}  // namespace steplens::analysis::verify
