#include "analysis/compare/report/close_up.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>

#include "analysis/breakdown/step_times.h"
#include "analysis/compare/collective_keys.h"
#include "analysis/compare/names.h"
#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

using store::kNone;

constexpr size_t kMostTasks = 200'000;  // of a step; more are cut off at its end
constexpr size_t kMostSlices = 400;     // of a lane
constexpr size_t kMostLanes = 8;
constexpr int64_t kLeastWindowNs = 20'000;

// A kernel, copy or communication call on the device.
struct Task {
  Interval time;
  std::string name;
  store::TrackId track = store::kNoTrack;
  std::string lane{};  // of a call without a track
};

struct StepTasks {
  int64_t step = kNone;
  Interval range;
  std::vector<Task> tasks;  // by begin
};

// The step of median length; all of a run without steps.
StepTasks ChooseStep(const Side& side) {
  StepTasks out;
  out.range = {INT64_MIN / 2, INT64_MAX / 2};
  const std::vector<std::optional<Interval>> work = WorkOfSteps(side.view);
  std::vector<size_t> order;
  for (size_t i = 0; i < work.size(); ++i) {
    const bool is_wanted = !side.step || side.view.steps()[i].step == side.step->step;
    if (work[i] && is_wanted) order.push_back(i);
  }
  if (order.empty()) return out;
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    return work[x]->end_ns - work[x]->begin_ns < work[y]->end_ns - work[y]->begin_ns;
  });
  const size_t middle = order[order.size() / 2];
  out.step = side.view.steps()[middle].step;
  out.range = *work[middle];
  return out;
}

void AddKernelRows(const Side& side, StepTasks& step) {
  const store::KernelTable& kernels = side.store.kernels;
  for (const uint32_t row : ComputeKernels(side)) {
    const store::MaybeInt end_ns = EndNs(kernels.begin_ns[row], kernels.dur_ns[row]);
    if (!end_ns.is_known()) continue;
    const Interval time{kernels.begin_ns[row], end_ns};
    if (time.begin_ns < step.range.begin_ns || time.begin_ns > step.range.end_ns) continue;
    const store::SliceId slice = side.view.kernel_slices().slice_of()[row];
    const store::TrackId track = slice == store::kNoSlice
                                     ? store::kNoTrack
                                     : side.store.slices.track[static_cast<size_t>(slice)];
    step.tasks.push_back({time, std::string(side.store.Text(kernels.name[row])), track});
  }
}

void AddKernelSlices(const Side& side, StepTasks& step) {
  const store::SliceTable& slices = side.store.slices;
  for (size_t i = 0; i < slices.size(); ++i) {
    const SliceKind kind = side.view.slice_kinds()[slices.category[i]];
    if (kind != SliceKind::kKernel && kind != SliceKind::kMemcpy) continue;
    const Interval time{slices.begin_ns[i], EndNs(slices.begin_ns[i], slices.dur_ns[i])};
    if (time.begin_ns < step.range.begin_ns || time.begin_ns > step.range.end_ns) continue;
    step.tasks.push_back({time, std::string(side.store.Text(slices.name[i])), slices.track[i]});
  }
}

// Calls by a name that the other run has as well.
void AddCalls(const Side& side, StepTasks& step) {
  const store::CommOpTable& ops = side.store.comm_ops;
  const std::map<StringId, std::string> keys = CollectiveKeys(side.store);
  for (size_t i = 0; i < ops.size(); ++i) {
    const Interval time{ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i])};
    if (time.begin_ns < step.range.begin_ns || time.begin_ns > step.range.end_ns) continue;
    const auto key = keys.find(ops.name[i]);
    Task task{time, key != keys.end() ? key->second : std::string(side.store.Text(ops.name[i])),
              ops.track[i], "Communication"};
    step.tasks.push_back(std::move(task));
  }
}

StepTasks CollectTasks(const Side& side) {
  StepTasks step = ChooseStep(side);
  // A GPU's calls are kernels among the others.
  if (side.is_gpu) {
    AddKernelSlices(side, step);
  } else {
    AddKernelRows(side, step);
    AddCalls(side, step);
  }
  std::stable_sort(step.tasks.begin(), step.tasks.end(),
                   [](const Task& x, const Task& y) { return x.time.begin_ns < y.time.begin_ns; });
  if (step.tasks.size() > kMostTasks) step.tasks.resize(kMostTasks);
  return step;
}

std::string LaneName(const Side& side, const Task& task) {
  const auto track = static_cast<size_t>(task.track);
  if (track >= side.store.tracks.size()) return task.lane;
  std::string name(side.store.Text(side.store.tracks.name[track]));
  if (name.empty()) name = side.store.Text(side.store.tracks.tid[track]);
  return name;
}

// Slices of the window, from its start; the longest where there are too many.
void AddSlice(std::vector<CloseUp::Slice>& slices, Interval time, std::string_view name,
              bool is_alone, Interval window) {
  const int64_t begin_ns = std::max(time.begin_ns, window.begin_ns);
  const int64_t end_ns = std::min(time.end_ns, window.end_ns);
  if (begin_ns > end_ns || time.end_ns < window.begin_ns || time.begin_ns > window.end_ns) return;
  slices.push_back(
      {{begin_ns - window.begin_ns, end_ns - window.begin_ns}, std::string(name), is_alone});
}

void KeepMost(std::vector<CloseUp::Slice>& slices) {
  if (slices.size() > kMostSlices) {
    std::stable_sort(slices.begin(), slices.end(), [](const auto& x, const auto& y) {
      return x.time.end_ns - x.time.begin_ns > y.time.end_ns - y.time.begin_ns;
    });
    slices.resize(kMostSlices);
  }
  std::stable_sort(slices.begin(), slices.end(),
                   [](const auto& x, const auto& y) { return x.time.begin_ns < y.time.begin_ns; });
}

// The outermost operators of the thread that was busiest with them.
CloseUp::Lane HostLane(const Side& side, Interval window) {
  std::map<store::TrackId, std::vector<const HostEvent*>> threads;
  for (const HostEvent& op : side.ops) {
    if (op.end_ns < window.begin_ns) continue;
    if (op.begin_ns > window.end_ns) break;
    if (op.name.starts_with("ProfilerStep#")) continue;
    std::vector<const HostEvent*>& thread = threads[op.track];
    if (thread.empty() || op.begin_ns >= thread.back()->end_ns) thread.push_back(&op);
  }
  CloseUp::Lane lane;
  size_t most = 0;
  for (const auto& [track, ops] : threads) {
    if (ops.size() <= most) continue;
    most = ops.size();
    lane.slices.clear();
    for (const HostEvent* op : ops)
      AddSlice(lane.slices, {op->begin_ns, op->end_ns}, op->name, false, window);
  }
  KeepMost(lane.slices);
  return lane;
}

CloseUp::Half HalfOf(const Side& side, const StepTasks& step, const std::vector<bool>& is_alone,
                     Interval window) {
  CloseUp::Half half;
  half.step = step.step;
  half.begin_ns = window.begin_ns;
  half.lanes.push_back(HostLane(side, window));
  std::map<std::string, std::vector<CloseUp::Slice>> lanes;
  for (size_t i = 0; i < step.tasks.size(); ++i) {
    const Task& task = step.tasks[i];
    if (task.time.end_ns < window.begin_ns || task.time.begin_ns > window.end_ns) continue;
    AddSlice(lanes[LaneName(side, task)], task.time, task.name, is_alone[i], window);
  }
  for (auto& [name, slices] : lanes) {
    if (half.lanes.size() > kMostLanes) break;
    KeepMost(slices);
    half.lanes.push_back({name.empty() ? "Device" : name, std::move(slices)});
  }
  return half;
}

// Two neighbouring matches between which the sides drift apart most.
struct Drift {
  size_t before = 0;  // of the matches
  int64_t change_ns = 0;
};
Drift LargestDrift(const StepTasks& a, const StepTasks& b, const std::vector<Pair>& matches) {
  Drift largest;
  for (size_t i = 0; i + 1 < matches.size(); ++i) {
    const auto distance = [&](const StepTasks& of, uint32_t from, uint32_t to) {
      return of.tasks[to].time.begin_ns - of.tasks[from].time.begin_ns;
    };
    const int64_t change_ns = distance(b, matches[i].comparison, matches[i + 1].comparison) -
                              distance(a, matches[i].base, matches[i + 1].base);
    if (std::abs(change_ns) > std::abs(largest.change_ns)) largest = {i, change_ns};
  }
  return largest;
}

std::vector<Pair> Matches(const StepTasks& a, const StepTasks& b) {
  const auto names = [](const StepTasks& of) {
    std::vector<std::string> out;
    for (const Task& task : of.tasks) out.push_back(task.name);
    return out;
  };
  std::vector<Pair> matches = MatchNames(names(a), names(b));
  std::erase_if(matches, [](const Pair& pair) {
    return pair.base == kUnmatched || pair.comparison == kUnmatched;
  });
  return matches;
}

}  // namespace

std::optional<CloseUp> FindCloseUp(const Side& a, const Side& b) {
  const StepTasks of_a = CollectTasks(a);
  const StepTasks of_b = CollectTasks(b);
  const std::vector<Pair> matches = Matches(of_a, of_b);
  if (matches.size() < 2) return std::nullopt;
  std::vector<bool> alone_a(of_a.tasks.size(), true);
  std::vector<bool> alone_b(of_b.tasks.size(), true);
  for (const Pair& pair : matches) {
    alone_a[pair.base] = false;
    alone_b[pair.comparison] = false;
  }
  const Drift drift = LargestDrift(of_a, of_b, matches);
  const auto [a_from, b_from] = matches[drift.before];
  const auto [a_to, b_to] = matches[drift.before + 1];
  CloseUp out;
  out.change_ns = drift.change_ns;
  out.before = of_a.tasks[a_from].name;
  out.after = of_a.tasks[a_to].name;
  // Both windows begin as long before the last common task and are as long.
  const int64_t longest_ns =
      std::max(of_a.tasks[a_to].time.end_ns - of_a.tasks[a_from].time.begin_ns,
               of_b.tasks[b_to].time.end_ns - of_b.tasks[b_from].time.begin_ns);
  const int64_t room_ns = std::max(longest_ns / 3, kLeastWindowNs);
  out.length_ns = longest_ns + 2 * room_ns;
  const auto window = [&](const StepTasks& of, uint32_t from) {
    const int64_t begin_ns = of.tasks[from].time.begin_ns - room_ns;
    return Interval{begin_ns, begin_ns + out.length_ns};
  };
  out.a = HalfOf(a, of_a, alone_a, window(of_a, a_from));
  out.b = HalfOf(b, of_b, alone_b, window(of_b, b_from));
  return out;
}

}  // namespace steplens::analysis::compare
