#include "analysis/steps/keep_steps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "analysis/classify/classify.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

using Mask = std::vector<bool>;  // of the rows of a table: true stays

template <typename T>
store::Column<T> Kept(const store::Column<T>& column, const Mask& mask) {
  store::Column<T> out;
  out.Reserve(static_cast<size_t>(std::count(mask.begin(), mask.end(), true)));
  for (size_t i = 0; i < column.size(); ++i) {
    if (mask[i]) out.Append(column[i]);
  }
  return out;
}

// Columns may be views of each other, so none is replaced before all are copied. A column that was
// dropped stays so.
template <typename Table>
void KeepRows(Table& table, const Mask& mask) {
  if (std::find(mask.begin(), mask.end(), false) == mask.end()) return;
  std::vector<std::function<void()>> replacements;
  table.ForEachColumn([&](std::string_view, std::string_view, auto& column) {
    if (column.size() != mask.size()) return;
    replacements.push_back(
        [&column, kept = Kept(column, mask)]() mutable { column = std::move(kept); });
  });
  for (auto& replace : replacements) replace();
}

template <typename Table, typename Stays>
Mask MaskOf(const Table& table, const Stays& stays) {
  Mask mask(table.size());
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = stays(i);
  return mask;
}

// Where something is in time, and whether that is in a step that stays.
class Windows {
 public:
  Windows(const TraceStore& store, std::span<const int64_t> wanted)
      : steps_(ComputeStepRanges(store)), device_(steps_), kinds_(ClassifyTracks(store)) {
    for (const StepRange& step : steps_) {
      stays_.push_back(std::find(wanted.begin(), wanted.end(), step.step) != wanted.end());
      if (stays_.back()) found_.push_back(step.step);
    }
  }
  const std::vector<int64_t>& found() const { return found_; }

  bool HasHost(int64_t ts_ns) const {
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), ts_ns,
                         [](int64_t ns, const StepRange& step) { return ns < step.host_begin_ns; });
    if (after == steps_.begin()) return false;
    const auto last = static_cast<size_t>(after - steps_.begin()) - 1;
    return stays_[last] && ts_ns <= steps_[last].host_end_ns;
  }
  bool HasDevice(int64_t ts_ns) {
    size_t step = device_.IndexOf(ts_ns);
    for (size_t s = 0; step == steps_.size() && s < steps_.size(); ++s) {
      if (steps_[s].end_ns == ts_ns) step = s;
    }
    return step < steps_.size() && stays_[step];
  }
  bool HasOn(store::TrackId track, int64_t ts_ns) {
    const auto t = static_cast<size_t>(track);
    const TrackKind kind = t < kinds_.size() ? kinds_[t] : TrackKind::kOther;
    const bool is_host =
        kind == TrackKind::kHost || kind == TrackKind::kCann || kind == TrackKind::kOther;
    return is_host ? HasHost(ts_ns) : HasDevice(ts_ns);
  }
  // Whether host or device was in a step that stays.
  bool HasSample(int64_t ts_ns) const {
    for (size_t s = 0; s < steps_.size(); ++s) {
      const StepRange& step = steps_[s];
      if (stays_[s] && std::min(step.host_begin_ns, step.begin_ns) <= ts_ns && ts_ns <= step.end_ns)
        return true;
    }
    return false;
  }
  bool HasNumber(int64_t step) const {
    return std::find(found_.begin(), found_.end(), step) != found_.end();
  }

 private:
  std::vector<StepRange> steps_;
  StepFinder device_;
  std::vector<TrackKind> kinds_;
  std::vector<bool> stays_;     // parallel to steps_
  std::vector<int64_t> found_;  // the numbers of those that stay
};

// Rows that are about a slice follow it to its new place.
template <typename Table>
void FollowSlices(Table& table, const Mask& slices, const std::vector<uint32_t>& places) {
  const auto slice_of = [&](size_t i) { return static_cast<size_t>(table.slice[i]); };
  KeepRows(table, MaskOf(table, [&](size_t i) {
             return slice_of(i) < slices.size() && slices[slice_of(i)];
           }));
  store::Column<store::SliceId> moved;
  moved.Reserve(table.size());
  for (size_t i = 0; i < table.size(); ++i) moved.Append(store::SliceId{places[slice_of(i)]});
  table.slice = std::move(moved);
}

// Rows of other tables that are not where they were any more.
void ForgetRows(store::Column<int64_t>& column) {
  store::Column<int64_t> unknown;
  for (size_t i = 0; i < column.size(); ++i) unknown.Append(kNone);
  column = std::move(unknown);
}

void KeepSlices(TraceStore& store, Windows& windows) {
  const Mask mask = MaskOf(store.slices, [&](size_t i) {
    return windows.HasOn(store.slices.track[i], store.slices.begin_ns[i]);
  });
  std::vector<uint32_t> places(mask.size());
  uint32_t kept = 0;
  for (size_t i = 0; i < mask.size(); ++i) places[i] = mask[i] ? kept++ : store::kNoId;
  FollowSlices(store.host_ops, mask, places);
  FollowSlices(store.copies, mask, places);
  FollowSlices(store.markers, mask, places);
  FollowSlices(store.cann_calls, mask, places);
  FollowSlices(store.device_tasks, mask, places);
  KeepRows(store.slices, mask);
}

// A kernel waits since the end of the row above, which may be another one now; the first waits for
// nothing.
void RepairWaits(store::KernelTable& kernels, const Mask& mask) {
  size_t place = 0;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) continue;
    const bool has_new_row_above = i > 0 && !mask[i - 1];
    if (has_new_row_above && kernels.wait_ns[place] != kNone) {
      const store::MaybeInt begin_ns = kernels.begin_ns[place];
      const store::MaybeInt since_ns =
          place == 0 ? begin_ns : EndNs(kernels.begin_ns[place - 1], kernels.dur_ns[place - 1]);
      const bool is_known = begin_ns.is_known() && since_ns.is_known();
      kernels.wait_ns.Set(
          place, is_known
                     ? std::max<int64_t>(0, SubtractSaturating(begin_ns.value(), since_ns.value()))
                     : kNone);
    }
    ++place;
  }
}

// Kernels whose step the exporter or FillKernelSteps said go by that.
void KeepKernels(TraceStore& store, Windows& windows) {
  const Mask mask = MaskOf(store.kernels, [&](size_t i) {
    const int64_t step = store.kernels.step[i];
    return step == kNone ? windows.HasDevice(store.kernels.begin_ns[i]) : windows.HasNumber(step);
  });
  KeepRows(store.kernels, mask);
  RepairWaits(store.kernels, mask);
  for (store::DynamicColumn& metric : store.kernel_metrics) {
    if (metric.is_text()) {
      metric.texts = Kept(metric.texts, mask);
    } else {
      metric.numbers = Kept(metric.numbers, mask);
    }
  }
}

// The time of a sheet's row; nothing if its rows have none.
std::function<int64_t(size_t)> RowTimes(const TraceStore& store, const store::DynamicTable& sheet) {
  for (const store::DynamicColumn& column : sheet.columns) {
    if (column.name != "Timestamp(us)") continue;
    return [&store, &column](size_t row) {
      if (column.is_text()) return ParseUsToNs(store.Text(column.texts[row])).value_or(kNone);
      return static_cast<int64_t>(std::llround(column.numbers[row] * 1e3));
    };
  }
  return {};
}

void KeepSheets(TraceStore& store, const Windows& windows) {
  std::erase_if(store.sheets,
                [&](const store::DynamicTable& sheet) { return !RowTimes(store, sheet); });
  for (store::DynamicTable& sheet : store.sheets) {
    const auto time_of = RowTimes(store, sheet);
    const Mask mask = MaskOf(sheet, [&](size_t i) { return windows.HasSample(time_of(i)); });
    for (store::DynamicColumn& column : sheet.columns) {
      if (column.is_text()) {
        column.texts = Kept(column.texts, mask);
      } else {
        column.numbers = Kept(column.numbers, mask);
      }
    }
  }
}

template <typename Table>
void KeepSamples(Table& table, const store::Column<int64_t>& times, const Windows& windows) {
  KeepRows(table, MaskOf(table, [&](size_t i) { return windows.HasSample(times[i]); }));
}

}  // namespace

std::vector<int64_t> KeepSteps(TraceStore& store, std::span<const int64_t> steps) {
  Windows windows(store, steps);
  if (windows.found().empty()) return {};
  KeepKernels(store, windows);  // some of its columns may be views of the slices'
  KeepSlices(store, windows);
  KeepRows(store.flows, MaskOf(store.flows, [&](size_t i) {
             return windows.HasOn(store.flows.from_track[i], store.flows.from_ns[i]) &&
                    windows.HasOn(store.flows.to_track[i], store.flows.to_ns[i]);
           }));
  KeepRows(store.instants, MaskOf(store.instants, [&](size_t i) {
             return windows.HasOn(store.instants.track[i], store.instants.ts_ns[i]);
           }));
  const auto on_device = [&](const auto& table) {
    return MaskOf(table, [&](size_t i) { return windows.HasDevice(table.begin_ns[i]); });
  };
  KeepRows(store.comm_ops, on_device(store.comm_ops));
  KeepRows(store.comm_tasks, on_device(store.comm_tasks));
  ForgetRows(store.kernels.device_task);
  ForgetRows(store.comm_tasks.device_task);
  ForgetRows(store.comm_tasks.comm_op);
  KeepSamples(store.counters, store.counters.ts_ns, windows);
  KeepSamples(store.allocations, store.allocations.alloc_ns, windows);
  KeepSamples(store.memory_samples, store.memory_samples.ts_ns, windows);
  KeepSamples(store.module_memory, store.module_memory.ts_ns, windows);
  KeepRows(store.steps,
           MaskOf(store.steps, [&](size_t i) { return windows.HasNumber(store.steps.step[i]); }));
  store.comm_times = {};
  store.comm_bandwidths = {};
  store.comm_packets = {};
  store.comm_links = {};
  store.step_traces = {};
  store.op_statistics = {};
  store.api_statistics = {};
  store.operator_details = {};
  KeepSheets(store, windows);
  return windows.found();
}

}  // namespace steplens::analysis
