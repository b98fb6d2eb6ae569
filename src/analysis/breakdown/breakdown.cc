#include "analysis/breakdown/breakdown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "analysis/classify/device_work.h"
#include "analysis/overlap/cover.h"
#include "analysis/overlap/overlap.h"
#include "analysis/overlap/sweep.h"
#include "analysis/steps/step_parts.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

// The reference keeps times as microseconds in doubles, which near today's date are 0.25 us apart.
double ReferenceUs(int64_t ns) { return static_cast<double>(static_cast<long double>(ns) / 1000); }
int64_t ToNs(double us) { return std::llround(us * 1000); }

// From the first start to the last end of a step's slices, as the reference computes it.
struct ReferenceSpan {
  double begin_us = std::numeric_limits<double>::infinity();
  double end_us = -std::numeric_limits<double>::infinity();

  void Extend(Interval in) {
    const double from_us = ReferenceUs(in.begin_ns);
    begin_us = std::min(begin_us, from_us);
    end_us = std::max(end_us, from_us + ReferenceUs(in.end_ns - in.begin_ns));
  }
  int64_t length_ns() const { return begin_us > end_us ? 0 : ToNs(end_us - begin_us); }
};

// What is counted for one step.
struct StepTally {
  int64_t step = store::kNone;
  int64_t computing_ns = 0;
  int64_t comm_not_overlapped_ns = 0;
  int64_t communication_ns = 0;
  int64_t memory_ns = 0;
  int64_t free_ns = 0;
  int64_t bubble_ns = 0;
  Interval hull;                 // of everything counted above; empty if nothing was
  ReferenceSpan reference_span;  // filled with --compat only
  int64_t first_work_ns = 0;
  int64_t host_begin_ns = store::kNone;
  int64_t busy_before_ns = 0;  // of the device between these two
  bool has_hull = false;
  bool has_work = false;

  void Extend(Interval in) {
    if (!has_hull) hull = in;
    has_hull = true;
    hull.begin_ns = std::min(hull.begin_ns, in.begin_ns);
    hull.end_ns = std::max(hull.end_ns, in.end_ns);
  }
  void NoteWork(int64_t begin_ns) {
    first_work_ns = has_work ? std::min(first_work_ns, begin_ns) : begin_ns;
    has_work = true;
  }
};

// The hull of a list sorted by begin.
Interval Hull(std::span<const Interval> intervals) {
  if (intervals.empty()) return {};
  Interval hull = intervals.front();
  for (const Interval& in : intervals) hull.end_ns = std::max(hull.end_ns, in.end_ns);
  return hull;
}

// Both lists as one, sorted by begin.
std::vector<Interval> MergeSorted(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> both(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin(),
             [](const Interval& x, const Interval& y) { return x.begin_ns < y.begin_ns; });
  return both;
}

Interval Join(Interval a, Interval b) {
  if (a == Interval{}) return b;
  if (b == Interval{}) return a;
  return {std::min(a.begin_ns, b.begin_ns), std::max(a.end_ns, b.end_ns)};
}

void CountPiece(PieceKind kind, Interval piece, bool compat, StepTally& row) {
  const int64_t length_ns = piece.end_ns - piece.begin_ns;
  if (kind == PieceKind::kCompute) row.computing_ns += length_ns;
  if (kind == PieceKind::kComm) row.communication_ns += length_ns;
  if (kind == PieceKind::kCommOnly) row.comm_not_overlapped_ns += length_ns;
  if (kind == PieceKind::kFree) row.free_ns += length_ns;
  if (kind != PieceKind::kComm) row.Extend(piece);
  if (compat) row.reference_span.Extend(piece);
  if (kind == PieceKind::kCompute || kind == PieceKind::kComm) row.NoteWork(piece.begin_ns);
}

// Whether disjoint runs, sorted, are the union of sorted intervals, but for the rounding of times.
bool IsUnionOf(std::span<const Interval> runs, std::span<const Interval> intervals) {
  constexpr int64_t kRoundingNs = 2;  // a start and a duration, each cut to whole nanoseconds
  size_t next = 0;
  for (const Interval& run : runs) {
    int64_t covered_ns = run.begin_ns;
    const size_t first = next;
    for (; next < intervals.size() && intervals[next].begin_ns < run.end_ns; ++next) {
      if (intervals[next].begin_ns > covered_ns + kRoundingNs) return false;
      covered_ns = std::max(covered_ns, intervals[next].end_ns);
    }
    if (next == first || intervals[first].begin_ns < run.begin_ns - kRoundingNs) return false;
    if (covered_ns < run.end_ns - kRoundingNs || covered_ns > run.end_ns + kRoundingNs)
      return false;
  }
  return next == intervals.size();
}

// The work with its borders as delivered, where both say the same. The exporter knows times finer
// than the nanoseconds it writes: the end of a kernel's row may lie one beside that of its slice.
std::span<const Interval> WithDeliveredBorders(std::span<const Interval> work,
                                               std::span<const Interval> delivered) {
  return IsUnionOf(delivered, work) ? delivered : work;
}

// While the device received, each moment once, so that Bubble never exceeds the step.
void CountReceiving(const DeviceWork& work, Interval range, std::span<const StepRange> steps,
                    std::vector<StepTally>& rows) {
  StepFinder finder(steps);
  ForEachPiece(work.receive, {}, range, [&](PieceKind kind, Interval piece) {
    if (kind != PieceKind::kCompute) return;
    ForEachStepPart(steps, piece, [&](Interval part) {
      const size_t step = finder.IndexOf(part.begin_ns);
      if (step < steps.size()) rows[step].bubble_ns += part.end_ns - part.begin_ns;
    });
  });
}

// The rule of text captures: pieces of the whole timeline, split at step borders only where the
// host is the device.
void CountTimeline(const DeviceWork& work, std::span<const StepRange> steps, bool compat,
                   std::vector<StepTally>& rows) {
  const auto compute = WithDeliveredBorders(work.compute, work.delivered_compute);
  const auto communication = WithDeliveredBorders(work.communication, work.delivered_communication);
  const Interval busy = Join(Hull(compute), Hull(communication));
  if (busy == Interval{}) return;
  const Interval range = WithCuttingSteps(Join(busy, work.reference_range), steps);
  // Pieces of one kind come in order of their begin, as a finder likes it.
  std::array<StepFinder, 4> finders{StepFinder(steps), StepFinder(steps), StepFinder(steps),
                                    StepFinder(steps)};
  ForEachPiece(compute, communication, range, [&](PieceKind kind, Interval piece) {
    ForEachStepPart(steps, piece, [&](Interval part) {
      const size_t step = finders[static_cast<size_t>(kind)].IndexOf(part.begin_ns);
      if (step < steps.size()) CountPiece(kind, part, compat, rows[step]);
    });
  });
  if (CutsWork(steps)) return CountReceiving(work, range, steps, rows);
  StepFinder finder(steps);
  for (const Interval& in : work.receive) {
    const auto step = finder.Find(in.begin_ns);
    if (!step) continue;
    rows[*step].bubble_ns = AddNs(rows[*step].bubble_ns, in.end_ns - in.begin_ns);
    if (compat) rows[*step].reference_span.Extend(in);
  }
}

// What counts for one step, each list sorted by begin.
struct StepWork {
  std::span<const Interval> compute;
  std::span<const Interval> communication;
  std::span<const Interval> memory;
  std::span<const Interval> receive;
};

// The part of a list sorted by begin that starts in [begin_ns, end_ns).
std::span<const Interval> StartingIn(std::span<const Interval> intervals, const StepRange& step) {
  const auto starts_before = [](const Interval& in, int64_t ts_ns) { return in.begin_ns < ts_ns; };
  const auto first =
      std::lower_bound(intervals.begin(), intervals.end(), step.begin_ns, starts_before);
  const auto last = std::lower_bound(first, intervals.end(), step.end_ns, starts_before);
  return {first, last};
}

// A list sorted by begin, divided: each interval goes to the first step that it starts in.
std::vector<std::vector<Interval>> ByFirstStep(std::span<const Interval> intervals,
                                               std::span<const StepRange> steps) {
  std::vector<std::vector<Interval>> parts(steps.size());
  StepFinder finder(steps);
  for (const Interval& in : intervals) {
    if (const auto step = finder.Find(in.begin_ns)) parts[*step].push_back(in);
  }
  return parts;
}

// The work of a step, measured inside its own hull.
void CountSelection(const StepWork& work, StepTally& row) {
  for (const auto& list : {work.compute, work.communication, work.memory}) {
    if (list.empty()) continue;
    row.Extend(Hull(list));
    row.NoteWork(list.front().begin_ns);
  }
  const OverlapParts parts = ComputeOverlap(work.compute, work.communication, row.hull);
  row.computing_ns = parts.compute_only_ns + parts.overlapped_ns;
  row.communication_ns = parts.comm_only_ns + parts.overlapped_ns;
  row.comm_not_overlapped_ns = parts.comm_only_ns;
  row.free_ns = parts.free_ns;
  if (!work.memory.empty()) {
    const OverlapParts rest =
        ComputeOverlap(MergeSorted(work.compute, work.communication), work.memory, row.hull);
    row.memory_ns = rest.comm_only_ns;
    row.free_ns = rest.free_ns;
  }
  for (const Interval& in : work.receive) {
    row.bubble_ns = AddNs(row.bubble_ns, in.end_ns - in.begin_ns);
  }
}

// The rule of db and GPU captures: the work that starts in the step, each piece of it in one step.
void CountStarting(const DeviceWork& work, std::span<const Interval> copies,
                   std::span<const StepRange> steps, std::vector<StepTally>& rows) {
  const auto compute = ByFirstStep(work.compute, steps);
  const auto communication = ByFirstStep(work.communication, steps);
  const auto memory = ByFirstStep(copies, steps);
  const auto receive = ByFirstStep(work.receive, steps);
  for (size_t s = 0; s < steps.size(); ++s) {
    CountSelection({compute[s], communication[s], memory[s], receive[s]}, rows[s]);
  }
}

// As the reference has it: where steps overlap, in each of them.
void CountStartingAsReference(const DeviceWork& work, std::span<const Interval> copies,
                              std::span<const StepRange> steps, std::vector<StepTally>& rows) {
  for (size_t s = 0; s < steps.size(); ++s) {
    CountSelection({StartingIn(work.compute, steps[s]), StartingIn(work.communication, steps[s]),
                    StartingIn(copies, steps[s]), StartingIn(work.receive, steps[s])},
                   rows[s]);
  }
}

// Start of the first host operator; none without operators.
int64_t FirstHostOp(const RankView& rank) {
  int64_t first_ns = store::kNone;
  const TraceStore& store = rank.store();
  const SliceKinds& kinds = rank.slice_kinds();
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (kinds[store.slices.category[i]] != SliceKind::kHostOp) continue;
    const int64_t begin_ns = store.slices.begin_ns[i];
    if (first_ns == store::kNone || begin_ns < first_ns) first_ns = begin_ns;
  }
  return first_ns;
}

// From the first start to the last end of the kernels that name a step, in order of time.
std::vector<StepRange> StepsOfKernels(const TraceStore& store) {
  const store::KernelTable& kernels = store.kernels;
  std::map<int64_t, StepRange> by_step;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int64_t end_ns = EndNs(kernels.begin_ns[i], kernels.dur_ns[i]);
    if (kernels.step[i] == store::kNone || !IsPlausible(kernels.begin_ns[i], end_ns)) continue;
    const StepRange alone{kernels.step[i], store::kNone, store::kNone, kernels.begin_ns[i], end_ns};
    StepRange& step = by_step.try_emplace(kernels.step[i], alone).first->second;
    step.begin_ns = std::min(step.begin_ns, alone.begin_ns);
    step.end_ns = std::max(step.end_ns, alone.end_ns);
  }
  std::vector<StepRange> steps;
  for (const auto& [number, step] : by_step) steps.push_back(step);
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepRange& a, const StepRange& b) { return a.begin_ns < b.begin_ns; });
  return steps;
}

// A run without marked steps is one step that holds everything.
std::vector<StepRange> StepsOrAll(const RankView& rank) {
  const TraceStore& store = rank.store();
  std::vector<StepRange> steps = rank.steps();
  if (steps.empty() && store.slices.size() == 0) steps = StepsOfKernels(store);
  if (!steps.empty()) return steps;
  const int64_t host_begin_ns = FirstHostOp(rank);
  return {{store::kNone, host_begin_ns, host_begin_ns, std::numeric_limits<int64_t>::min(),
           std::numeric_limits<int64_t>::max()}};
}

// Text made of a GPU trace is measured as the trace.
bool IsText(const RankView& rank, BreakdownRule rule) {
  if (rule != BreakdownRule::kOfCapture) return rule == BreakdownRule::kText;
  return rank.platform() != Platform::kGpu && store::DividesStepsAsText(rank.store().info.format);
}

// While the device still works for an earlier step it does not wait for the host.
void CountBusyBefore(const DeviceWork& work, std::vector<StepTally>& rows) {
  const Cover busy(MergeSorted(work.compute, work.communication));
  for (StepTally& row : rows) {
    if (!row.has_work || row.host_begin_ns == store::kNone) continue;
    if (row.first_work_ns > row.host_begin_ns)
      row.busy_before_ns = busy.Within({row.host_begin_ns, row.first_work_ns});
  }
}

int64_t PreparingTime(const StepTally& tally, bool compat) {
  if (!tally.has_work || tally.host_begin_ns == store::kNone) return 0;
  if (!compat)
    return AddNs(AddNs(tally.first_work_ns, -tally.host_begin_ns), -tally.busy_before_ns);
  return ToNs(ReferenceUs(tally.first_work_ns) - ReferenceUs(tally.host_begin_ns));
}

// `as_reference`: the Stage and Preparing of a text capture in compat mode.
StepParts PartsOf(const StepTally& tally, int64_t device, bool as_reference) {
  const int64_t length_ns =
      as_reference ? tally.reference_span.length_ns() : tally.hull.end_ns - tally.hull.begin_ns;
  StepParts parts;
  parts.device = device;
  parts.step = tally.step;
  parts.computing_ns = tally.computing_ns;
  parts.comm_not_overlapped_ns = tally.comm_not_overlapped_ns;
  parts.overlapped_ns = tally.communication_ns - tally.comm_not_overlapped_ns;
  parts.communication_ns = tally.communication_ns;
  parts.free_ns = tally.free_ns;
  parts.stage_ns = AddNs(length_ns, -tally.bubble_ns);
  parts.bubble_ns = tally.bubble_ns;
  parts.comm_exclude_receive_ns =
      std::max<int64_t>(0, tally.comm_not_overlapped_ns - tally.bubble_ns);
  parts.preparing_ns = PreparingTime(tally, as_reference);
  parts.memory_ns = tally.memory_ns;
  return parts;
}

// The steps of one device, by their number.
std::vector<StepTally> CountDevice(bool is_text, const BreakdownOptions& options,
                                   const DeviceWork& work, std::span<const StepRange> steps) {
  std::vector<StepTally> rows(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    rows[s].step = steps[s].step;
    rows[s].host_begin_ns = steps[s].host_begin_ns;
  }
  std::span<const Interval> copies;  // result files have no column for them
  if (options.rule == BreakdownRule::kOfCapture) copies = work.memory;
  if (is_text) {
    CountTimeline(work, steps, options.compat, rows);
  } else if (options.compat) {
    CountStartingAsReference(work, copies, steps, rows);
  } else {
    CountStarting(work, copies, steps, rows);
  }
  // Result files count Preparing up to the first work, whatever the device does meanwhile.
  if (options.rule == BreakdownRule::kOfCapture && !options.compat) CountBusyBefore(work, rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StepTally& a, const StepTally& b) { return a.step < b.step; });
  return rows;
}

// Nothing can be computed of a rank without a timeline that its result files do not say better.
bool IsDeliveredOnly(const TraceStore& store, BreakdownRule rule) {
  return rule == BreakdownRule::kOfCapture && store.slices.size() == 0 &&
         store.step_traces.size() > 0;
}

// A row as the result files have it.
StepParts DeliveredParts(const store::StepTraceTable& traces, size_t row) {
  constexpr double kAbsurdUs = 1e15;  // thirty years
  const auto ns = [&](const store::Column<double>& column_us) {
    return std::fabs(column_us[row]) < kAbsurdUs ? ToNs(column_us[row]) : store::kNone;
  };
  return {.device = traces.device[row],
          .step = traces.step[row],
          .computing_ns = ns(traces.computing_us),
          .comm_not_overlapped_ns = ns(traces.comm_not_overlapped_us),
          .overlapped_ns = ns(traces.overlapped_us),
          .communication_ns = ns(traces.communication_us),
          .free_ns = ns(traces.free_us),
          .stage_ns = ns(traces.stage_us),
          .bubble_ns = ns(traces.bubble_us),
          .comm_exclude_receive_ns = ns(traces.comm_exclude_receive_us),
          .preparing_ns = ns(traces.preparing_us),
          .memory_ns = store::kNone};
}

}  // namespace

std::vector<StepParts> BreakDown(const RankView& rank, const BreakdownOptions& options) {
  const TraceStore& store = rank.store();
  std::vector<StepParts> out;
  if (!options.selection.HasRank(store.info.rank)) return out;
  const auto add = [&](const StepParts& parts) {
    if (options.selection.HasStep(parts.step)) out.push_back(parts);
  };
  if (IsDeliveredOnly(store, options.rule)) {
    for (size_t row = 0; row < store.step_traces.size(); ++row)
      add(DeliveredParts(store.step_traces, row));
    return out;
  }
  if (rank.device_work().empty()) return out;
  const std::vector<StepRange> steps = StepsOrAll(rank);
  const bool is_text = IsText(rank, options.rule) || CutsWork(steps);
  for (const DeviceWork& work : rank.device_work()) {
    for (const StepTally& tally : CountDevice(is_text, options, work, steps))
      add(PartsOf(tally, work.device, options.compat && is_text));
  }
  return out;
}

}  // namespace steplens::analysis
