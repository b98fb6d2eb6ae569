#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analysis/time_math.h"
#include "analysis/verify/checks.h"

namespace steplens::analysis::verify {
namespace {

// Files of 2023 wrote start times as doubles, which at today's epoch have one useful decimal of a
// microsecond.
bool HasCoarseStarts(const store::KernelTable& kernels) {
  const auto begins = kernels.begin_ns.span();
  return std::all_of(begins.begin(), begins.end(),
                     [](int64_t begin_ns) { return begin_ns % 100 == 0; });
}

// The largest difference that the rounding of start times explains.
int64_t WaitToleranceNs(const store::KernelTable& kernels) {
  if (HasCoarseStarts(kernels)) return 500;
  const auto devices = kernels.device.span();
  const bool names_device = std::any_of(devices.begin(), devices.end(),
                                        [](int64_t device) { return device != store::kNone; });
  // The generation that added Device_id computes the gap with doubles.
  return names_device ? 250 : 2;
}

const store::DynamicTable* FindSheet(const Context& context, std::string_view name) {
  for (const store::DynamicTable& sheet : context.store.sheets) {
    if (sheet.name == name) return &sheet;
  }
  return nullptr;
}

const store::DynamicColumn* FindColumn(const store::DynamicTable& sheet, std::string_view name) {
  for (const store::DynamicColumn& column : sheet.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

int64_t NumberAt(const store::DynamicColumn* column, size_t row) {
  if (column == nullptr || column->is_text()) return store::kNone;
  const double value = column->numbers[row];
  return std::fabs(value) < 1e15 ? static_cast<int64_t>(value) : store::kNone;
}

// stream, task, name; stream and task are none where kernel_details does not have them (Level0).
using TaskKey = std::tuple<int64_t, int64_t, StringId>;

std::set<TaskKey> KernelTasks(const store::KernelTable& kernels, bool with_ids) {
  std::set<TaskKey> tasks;
  for (size_t i = 0; i < kernels.size(); ++i) {
    tasks.insert(with_ids ? TaskKey{kernels.stream[i], kernels.task_id[i], kernels.name[i]}
                          : TaskKey{store::kNone, store::kNone, kernels.name[i]});
  }
  return tasks;
}

// Tasks on the streams that carry the name of a kernel and are in no row of kernel_details.
void CheckTasksAreKernels(const Context& context, Verdict& verdict) {
  const store::SliceTable& slices = context.store.slices;
  const KernelSlices& match = context.rank.kernel_slices();
  std::unordered_set<StringId> names;
  for (size_t kernel = 0; kernel < context.store.kernels.size(); ++kernel) {
    if (!context.IsCollective(kernel)) names.insert(context.store.kernels.name[kernel]);
  }
  for (uint32_t i = 0; i < slices.size(); ++i) {
    if (context.track_kind(slices.track[i]) != TrackKind::kDevice) continue;
    if (!names.contains(slices.name[i]) || match.KernelOf(store::SliceId{i}) != store::kNoId)
      continue;
    verdict.Row(false, [&] {
      return fmt::format("trace: task {} at {} is in no row of kernel_details",
                         context.Text(slices.name[i]), UsText(slices.begin_ns[i]));
    });
  }
}

bool HasTracks(const Context& context, TrackKind kind) {
  for (uint32_t t = 0; t < context.store.tracks.size(); ++t) {
    if (context.track_kind(store::TrackId{t}) == kind) return true;
  }
  return false;
}

}  // namespace

CheckResult CheckKernelStarts(const Context& context) {
  Verdict verdict(
      context, "12",
      "Kernels start where the tasks and collectives of the same name start on the timeline");
  if (!context.has_result_tables()) return verdict.NotApplicable("no kernel_details");
  const bool lost_all = context.lost_all_kernels();
  if (context.store.kernels.size() == 0 && !lost_all) {
    return verdict.NotApplicable("no kernel_details");
  }
  if (!HasTracks(context, TrackKind::kDevice)) {
    return verdict.NotApplicable("no device streams in the trace");
  }
  if (lost_all) {
    verdict.Row(false, [] {
      return std::string("kernel_details has no rows, and the trace has tasks of the device");
    });
  }
  const bool has_groups = HasTracks(context, TrackKind::kCommGroup);
  const std::vector<store::SliceId>& slice_of = context.rank.kernel_slices().slice_of();
  for (size_t kernel = 0; kernel < slice_of.size(); ++kernel) {
    if (context.IsCollective(kernel) && !has_groups) continue;
    if (context.store.kernels.begin_ns[kernel] == store::kNone) continue;
    verdict.Row(slice_of[kernel] != store::kNoSlice, [&] {
      return fmt::format("{}: nothing of that name starts at {} on the timeline",
                         context.KernelText(kernel),
                         UsText(context.store.kernels.begin_ns[kernel]));
    });
  }
  CheckTasksAreKernels(context, verdict);
  return verdict.Finish("kernels");
}

CheckResult CheckKernelDurations(const Context& context) {
  Verdict verdict(context, "12.duration",
                  "Kernels last as long as their tasks and collectives on the timeline");
  if (context.store.kernels.size() == 0 || !context.has_result_tables()) {
    return verdict.NotApplicable("no kernel_details");
  }
  // One file cuts durations at the third decimal, the other is rounded there.
  constexpr int64_t kToleranceNs = 2;
  const std::vector<store::SliceId>& slice_of = context.rank.kernel_slices().slice_of();
  for (size_t kernel = 0; kernel < slice_of.size(); ++kernel) {
    const int64_t dur_ns = context.store.kernels.dur_ns[kernel];
    if (slice_of[kernel] == store::kNoSlice || dur_ns == store::kNone) continue;
    verdict.Near(dur_ns, context.store.slices.dur_ns[static_cast<size_t>(slice_of[kernel])],
                 kToleranceNs, [&] { return context.KernelText(kernel) + ": Duration"; });
  }
  return verdict.Finish("kernels");
}

CheckResult CheckL2Cache(const Context& context) {
  Verdict verdict(context, "13", "Every task of l2_cache is a kernel of kernel_details");
  const store::DynamicTable* sheet = FindSheet(context, "l2_cache");
  if (sheet == nullptr) return verdict.NotApplicable("no l2_cache");
  const store::KernelTable& kernels = context.store.kernels;
  if (kernels.size() == 0) return verdict.NotApplicable("no kernel_details");
  const store::DynamicColumn* name = FindColumn(*sheet, "Op Name");
  if (name == nullptr || !name->is_text()) return verdict.NotApplicable("l2_cache has no Op Name");
  const store::DynamicColumn* stream = FindColumn(*sheet, "Stream Id");
  const store::DynamicColumn* task = FindColumn(*sheet, "Task Id");

  const bool with_ids = std::any_of(kernels.task_id.begin(), kernels.task_id.end(),
                                    [](int64_t id) { return id != store::kNone; });
  const std::set<TaskKey> tasks = KernelTasks(kernels, with_ids);
  for (size_t i = 0; i < sheet->size(); ++i) {
    const TaskKey key{with_ids ? NumberAt(stream, i) : store::kNone,
                      with_ids ? NumberAt(task, i) : store::kNone, name->texts[i]};
    verdict.Row(tasks.contains(key), [&] {
      const auto text = [i](const store::DynamicColumn* column) {
        const int64_t number = NumberAt(column, i);
        return number == store::kNone ? "?" : std::to_string(number);
      };
      return fmt::format("l2_cache row {}: no kernel {} with stream {} and task {}", i + 1,
                         context.Text(name->texts[i]), text(stream), text(task));
    });
  }
  if (!with_ids) verdict.Note("names only, kernel_details of Level0 has no stream and task ids");
  return verdict.Finish("tasks");
}

CheckResult CheckKernelOrder(const Context& context) {
  Verdict verdict(context, "kernels.order", "kernel_details is in start order, per device");
  const store::KernelTable& kernels = context.store.kernels;
  if (kernels.size() == 0 || !context.has_result_tables())
    return verdict.NotApplicable("no kernel_details");
  std::unordered_map<int64_t, int64_t> last_ns;  // by device
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int64_t begin_ns = kernels.begin_ns[i];
    if (begin_ns == store::kNone) continue;
    const auto [last, is_first] = last_ns.try_emplace(kernels.device[i], begin_ns);
    verdict.Row(begin_ns >= last->second, [&] {
      return fmt::format("{} starts at {}, before the row above it ({})", context.KernelText(i),
                         UsText(begin_ns), UsText(last->second));
    });
    last->second = begin_ns;
  }
  return verdict.Finish("kernels");
}

CheckResult CheckKernelWait(const Context& context) {
  Verdict verdict(
      context, "kernels.wait",
      "Wait Time is the gap to the end of the row above, over all streams and collectives");
  const store::KernelTable& kernels = context.store.kernels;
  if (kernels.size() == 0 || !context.has_result_tables())
    return verdict.NotApplicable("no kernel_details");
  const int64_t tolerance_ns = WaitToleranceNs(kernels);
  std::unordered_map<int64_t, int64_t> last_end_ns;  // by device
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int64_t begin_ns = kernels.begin_ns[i];
    if (begin_ns == store::kNone || kernels.dur_ns[i] == store::kNone) continue;
    const auto [end, is_first] = last_end_ns.try_emplace(kernels.device[i], begin_ns);
    const int64_t gap_ns = GapNs(end->second, begin_ns);
    end->second = EndNs(begin_ns, kernels.dur_ns[i].value());
    if (kernels.wait_ns[i] == store::kNone) continue;
    verdict.Near(kernels.wait_ns[i], gap_ns, tolerance_ns,
                 [&] { return context.KernelText(i) + ": Wait Time"; });
  }
  return verdict.Finish("kernels");
}

CheckResult CheckKernelStep(const Context& context) {
  Verdict verdict(context, "kernels.step",
                  "Step Id is the step in whose device range the kernel starts");
  const store::KernelTable& kernels = context.store.kernels;
  const auto known = [](int64_t step) { return step != store::kNone; };
  if (std::none_of(kernels.step.begin(), kernels.step.end(), known)) {
    return verdict.NotApplicable("no Step Id in kernel_details");
  }
  const std::vector<StepRange>& ranges = context.rank.steps();
  if (ranges.empty()) return verdict.NotApplicable("the steps are not marked on the timeline");
  StepFinder finder(ranges);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int64_t begin_ns = kernels.begin_ns[i];
    if (begin_ns == store::kNone) continue;
    const std::optional<size_t> range = finder.Find(begin_ns);
    const int64_t expected = range ? ranges[*range].step : store::kNone;
    // Unlike the finder, the file counts the very end of a step as part of it.
    const auto ends_here = [&](const StepRange& step) {
      return step.step == kernels.step[i] && step.end_ns == begin_ns;
    };
    const bool holds =
        kernels.step[i] == expected || std::any_of(ranges.begin(), ranges.end(), ends_here);
    const auto text = [](int64_t step) {
      return step == store::kNone ? "none" : std::to_string(step);
    };
    verdict.Row(holds, [&] {
      return fmt::format("{}: Step Id is {}, expected {}", context.KernelText(i),
                         text(kernels.step[i]), text(expected));
    });
  }
  return verdict.Finish("kernels");
}

CheckResult CheckStreamOverlap(const Context& context) {
  Verdict verdict(context, "kernels.stream_overlap",
                  "Compute kernels of one stream run one after the other");
  if (context.is_gpu()) return CheckGpuStreams(context, verdict);
  const store::KernelTable& kernels = context.store.kernels;
  if (kernels.size() == 0 || !context.has_result_tables())
    return verdict.NotApplicable("no kernel_details");
  std::vector<size_t> order;
  for (size_t i = 0; i < kernels.size(); ++i) {
    // Sub-tasks of one task (context id) may run side by side.
    if (context.IsCollective(i) || kernels.stream[i] == store::kNone) continue;
    if (kernels.context_id[i] != store::kNone) continue;
    if (!kernels.begin_ns[i].is_known() || !kernels.dur_ns[i].is_known()) continue;
    order.push_back(i);
  }
  if (order.empty()) return verdict.NotApplicable("no stream ids in kernel_details");
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto key = [&](size_t i) {
      return std::tuple(kernels.device[i], kernels.stream[i], kernels.begin_ns[i], i);
    };
    return key(a) < key(b);
  });
  const int64_t slack_ns = WaitToleranceNs(kernels);
  for (size_t n = 0; n < order.size(); ++n) {
    const size_t i = order[n];
    const size_t before = n == 0 ? i : order[n - 1];
    const bool same = before != i && kernels.stream[before] == kernels.stream[i] &&
                      kernels.device[before] == kernels.device[i];
    const int64_t end_ns = EndNs(kernels.begin_ns[before], kernels.dur_ns[before]);
    verdict.Row(!same || end_ns <= AddNs(kernels.begin_ns[i].value(), slack_ns), [&] {
      return fmt::format("{} starts at {}, {} before {} on stream {} ends", context.KernelText(i),
                         UsText(kernels.begin_ns[i]), UsText(GapNs(kernels.begin_ns[i], end_ns)),
                         context.KernelText(before), kernels.stream[i].value());
    });
  }
  return verdict.Finish("kernels");
}

}  // namespace steplens::analysis::verify
