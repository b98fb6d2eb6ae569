#include "analysis/operators/op_pass.h"

namespace steplens::analysis {

using store::SliceId;

std::string_view PassName(OpPass pass) {
  switch (pass) {
    case OpPass::kUnknown:
      return "";
    case OpPass::kForward:
      return "forward";
    case OpPass::kBackward:
      return "backward";
    case OpPass::kRecomputed:
      return "recomputed";
  }
  return "";
}

PassRules::PassRules(const store::TraceStore& store)
    : store_(store),
      is_engine_(store,
                 [](std::string_view name) {
                   return name.starts_with("autograd::engine::evaluate_function");
                 }),
      is_checkpoint_(store, [](std::string_view name) {
        return name.find("CheckpointFunctionBackward") != std::string_view::npos;
      }) {}

OpPass PassRules::OfOutermost(SliceId op, uint32_t detail) {
  if (IsOfEngine(op, detail)) return OpPass::kBackward;
  return IsRecorded(detail) ? OpPass::kForward : OpPass::kUnknown;
}

OpPass PassRules::OfInner(SliceId op, uint32_t detail, SliceId parent, OpPass parent_pass) {
  if (IsOfEngine(op, detail)) return OpPass::kBackward;
  if (parent_pass == OpPass::kBackward) {
    const bool is_again = IsRecorded(detail) || is_checkpoint_(NameOf(parent));
    return is_again ? OpPass::kRecomputed : OpPass::kBackward;
  }
  if (parent_pass != OpPass::kUnknown) return parent_pass;
  return IsRecorded(detail) ? OpPass::kForward : OpPass::kUnknown;
}

// Who writes files of a rank drops columns that it has done with: a row may be beyond their end, as
// an operator without a row is.
bool PassRules::IsOfEngine(SliceId op, uint32_t detail) {
  if (is_engine_(NameOf(op))) return true;
  constexpr uint32_t kBackwardScope = 1;
  const store::HostOpTable& ops = store_.host_ops;
  const int64_t fwd_thread =
      detail < ops.fwd_thread.size() ? ops.fwd_thread[detail].value_or(0) : 0;
  return fwd_thread != 0 || (detail < ops.scope.size() && ops.scope[detail] == kBackwardScope);
}

bool PassRules::IsRecorded(uint32_t detail) const {
  const auto& numbers = store_.host_ops.sequence_number;
  return detail < numbers.size() && numbers[detail] >= 0;
}

}  // namespace steplens::analysis
