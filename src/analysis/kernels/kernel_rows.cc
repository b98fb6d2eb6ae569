#include "analysis/kernels/kernel_rows.h"

#include <memory>
#include <utility>

#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"

namespace steplens::analysis {

using store::TraceStore;

std::vector<uint32_t> SelectKernels(const TraceStore& store, const TimeRange& range,
                                    const std::function<bool(size_t)>& wanted) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < store.kernels.size(); ++i) {
    const int64_t begin_ns = store.kernels.begin_ns[i];
    const int64_t dur_ns = store.kernels.dur_ns[i];
    if (begin_ns == store::kNone || dur_ns == store::kNone) continue;
    if (range.Touches(begin_ns, EndNs(begin_ns, dur_ns)) && wanted(i)) out.push_back(i);
  }
  return out;
}

std::function<bool(size_t)> CollectiveTest(const TraceStore& store) {
  return [&store, is_core = TextMemo(store, IsCommunicationCore),
          is_nccl = TextMemo(store, IsCommunicationKernel)](size_t row) mutable {
    return is_core(store.kernels.core[row]) || is_nccl(store.kernels.name[row]);
  };
}

std::function<bool(size_t)> StepTest(const TraceStore& store, std::optional<int64_t> step) {
  if (!step) return [](size_t) { return true; };
  auto steps = std::make_shared<const std::vector<StepRange>>(ComputeStepRanges(store));
  return [&store, step = *step, steps, finder = StepFinder(*steps)](size_t row) mutable {
    if (store.kernels.step[row] != store::kNone) return store.kernels.step[row] == step;
    const auto found = finder.Find(store.kernels.begin_ns[row]);
    return found && (*steps)[*found].step == step;
  };
}

table::Table KernelTable(const TraceStore& store, const std::vector<uint32_t>& rows,
                         const KernelTableOptions& options) {
  TableRows out(
      options.name,
      {TextColumn("Name"), TextColumn("Type"), TextColumn("Accelerator Core"),
       NumberColumn("Start Time(ms)", 6), TimeColumn("Duration(us)"), TimeColumn("Wait Time(us)"),
       IntColumn("Task ID"), IntColumn("Stream ID"), IntColumn("Block Num"),
       TextColumn("Input Shapes"), TextColumn("Input Data Types"), TextColumn("Input Formats"),
       TextColumn("Output Shapes"), TextColumn("Output Data Types"), TextColumn("Output Formats"),
       IntColumn("Start Time(ns)"), IntColumn("kernel")});
  const store::KernelTable& k = store.kernels;
  constexpr size_t kFixed = 17;
  if (options.with_metrics) {
    for (const store::DynamicColumn& column : store.kernel_metrics) {
      out.Column(column.is_text() ? TextColumn(column.name) : NumberColumn(column.name, 3));
    }
  }
  for (const uint32_t i : rows) {
    const int64_t start_ns = SubtractSaturating(k.begin_ns[i].value(), options.origin_ns);
    out.Add(store.Text(k.name[i]), store.Text(k.type[i]), store.Text(k.core[i]), NsToMs(start_ns),
            k.dur_ns[i], k.wait_ns[i], k.task_id[i], k.stream[i], k.block_dim[i],
            store.Text(k.input_shapes[i]), store.Text(k.input_types[i]),
            store.Text(k.input_formats[i]), store.Text(k.output_shapes[i]),
            store.Text(k.output_types[i]), store.Text(k.output_formats[i]), start_ns, i);
    for (size_t m = 0; options.with_metrics && m < store.kernel_metrics.size(); ++m) {
      const store::DynamicColumn& column = store.kernel_metrics[m];
      if (column.is_text()) {
        out.Cell(kFixed + m, store.Text(column.texts[i]));
      } else {
        out.Cell(kFixed + m, column.numbers[i]);
      }
    }
  }
  return out.Take();
}

}  // namespace steplens::analysis
