#include "analysis/breakdown/step_table.h"

#include "analysis/breakdown/breakdown.h"

namespace steplens::analysis {
namespace {

StepRow DeliveredRow(const store::StepTraceTable& traces, size_t row) {
  return {.step = traces.step[row],
          .computing_us = traces.computing_us[row],
          .comm_not_overlapped_us = traces.comm_not_overlapped_us[row],
          .overlapped_us = traces.overlapped_us[row],
          .communication_us = traces.communication_us[row],
          .free_us = traces.free_us[row],
          .stage_us = traces.stage_us[row],
          .bubble_us = traces.bubble_us[row],
          .comm_exclude_receive_us = traces.comm_exclude_receive_us[row],
          .preparing_us = traces.preparing_us[row]};
}

StepRow RowOfParts(const StepParts& parts) {
  const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
  return {.step = parts.step,
          .computing_us = us(parts.computing_ns),
          .comm_not_overlapped_us = us(parts.comm_not_overlapped_ns),
          .overlapped_us = us(parts.overlapped_ns),
          .communication_us = us(parts.communication_ns),
          .free_us = us(parts.free_ns),
          .stage_us = us(parts.stage_ns),
          .bubble_us = us(parts.bubble_ns),
          .comm_exclude_receive_us = us(parts.comm_exclude_receive_ns),
          .preparing_us = us(parts.preparing_ns),
          .memory_us = us(parts.memory_ns)};
}

}  // namespace

std::vector<StepRow> ReadStepTable(const RankView& rank) {
  const store::StepTraceTable& traces = rank.store().step_traces;
  std::vector<StepRow> out;
  for (size_t row = 0; row < traces.size(); ++row) out.push_back(DeliveredRow(traces, row));
  if (!out.empty()) return out;
  // Of a raw capture, what its results will have.
  const store::TraceStore& store = rank.store();
  const bool is_raw =
      store::IsRaw(store.info.format) && store.info.source != store::Source::kMsprof;
  BreakdownOptions options;
  if (is_raw) options.rule = BreakdownRule::kText;
  for (const StepParts& parts : BreakDown(rank, options)) out.push_back(RowOfParts(parts));
  return out;
}

}  // namespace steplens::analysis
