#include "analysis/memory/memory_kinds.h"

#include <algorithm>
#include <limits>

#include "analysis/classify/text_memo.h"
#include "analysis/operators/host_ops.h"
#include "analysis/overlap/overlap.h"
#include "analysis/steps/steps.h"
#include "base/saturate.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

Interval SliceTimes(const TraceStore& store, size_t slice) {
  const int64_t begin_ns = store.slices.begin_ns[slice];
  return {begin_ns, AddSaturating(begin_ns, store.slices.dur_ns[slice])};
}

void SortByBegin(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns < b.end_ns;
  });
}

// Slices whose name starts with `prefix`, by begin.
std::vector<Interval> SlicesNamed(const TraceStore& store, std::string_view prefix) {
  TextMemo is_named(store, [&](std::string_view name) { return name.starts_with(prefix); });
  std::vector<Interval> out;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (is_named(store.slices.name[i])) out.push_back(SliceTimes(store, i));
  }
  SortByBegin(out);
  return out;
}

// What the arrows from forward to backward operators say.
struct Passes {
  std::vector<int64_t> forward_ns;  // when forward operators begin
  std::vector<Interval> backward;   // backward operators, by begin
};

Passes FollowArrows(const TraceStore& store) {
  Passes out;
  const auto kind = store.strings.Find("fwdbwd");
  if (!kind) return out;
  const HostOpFinder finder(store);
  for (size_t i = 0; i < store.flows.size(); ++i) {
    if (store.flows.kind[i] != *kind) continue;
    out.forward_ns.push_back(store.flows.from_ns[i]);
    const store::SliceId op = finder.Find(store.flows.to_track[i], store.flows.to_ns[i]);
    if (op != store::kNoSlice) out.backward.push_back(SliceTimes(store, static_cast<size_t>(op)));
  }
  SortByBegin(out.backward);
  return out;
}

// Backward passes: operators between which no forward operator, step of the optimizer or step of
// the training begins are one. They do not overlap.
std::vector<Interval> FindBackwardPasses(const TraceStore& store,
                                         const std::vector<Interval>& optimizer) {
  Passes passes = FollowArrows(store);
  std::vector<int64_t> border_ns = std::move(passes.forward_ns);
  for (const Interval& step : optimizer) border_ns.push_back(step.begin_ns);
  for (const StepRange& step : ComputeStepRanges(store)) border_ns.push_back(step.host_begin_ns);
  std::sort(border_ns.begin(), border_ns.end());
  std::vector<Interval> ops = SlicesNamed(store, "autograd::engine::evaluate_function");
  if (ops.empty()) ops = std::move(passes.backward);
  std::vector<Interval> out;
  for (const Interval& op : ops) {
    const bool is_new = out.empty() || [&] {
      if (op.begin_ns <= out.back().end_ns) return false;
      const auto next = std::lower_bound(border_ns.begin(), border_ns.end(), out.back().end_ns);
      return next != border_ns.end() && *next < op.begin_ns;
    }();
    if (is_new) {
      out.push_back(op);
    } else {
      out.back().end_ns = std::max(out.back().end_ns, op.end_ns);
    }
  }
  return out;
}

// The interval that contains a time; null if none does. Disjoint, by begin.
const Interval* FindAround(const std::vector<Interval>& intervals, int64_t ts_ns) {
  auto next = std::upper_bound(intervals.begin(), intervals.end(), ts_ns,
                               [](int64_t ts, const Interval& each) { return ts < each.begin_ns; });
  if (next == intervals.begin()) return nullptr;
  --next;
  return ts_ns < next->end_ns ? &*next : nullptr;
}

}  // namespace

std::vector<TensorKind> FindTensorKinds(const TraceStore& store) {
  const std::vector<Interval> optimizer = SlicesNamed(store, "Optimizer.step#");
  const std::vector<Interval> backward = FindBackwardPasses(store, optimizer);
  if (backward.empty()) return {};
  const auto kind_of = [&](int64_t alloc_ns, int64_t release_ns) {
    if (const Interval* step = FindAround(optimizer, alloc_ns)) {
      return release_ns > step->end_ns ? TensorKind::kOptimizerState : TensorKind::kTemporary;
    }
    if (const Interval* pass = FindAround(backward, alloc_ns)) {
      return release_ns > pass->end_ns ? TensorKind::kGradient : TensorKind::kTemporary;
    }
    const auto next =
        std::lower_bound(backward.begin(), backward.end(), alloc_ns,
                         [](const Interval& each, int64_t ts) { return each.begin_ns < ts; });
    if (next == backward.end() || release_ns > next->end_ns) return TensorKind::kOther;
    return release_ns < next->begin_ns ? TensorKind::kTemporary : TensorKind::kActivation;
  };
  std::vector<TensorKind> out;
  const store::AllocationTable& blocks = store.allocations;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int64_t release_ns = blocks.release_ns[i];
    out.push_back(kind_of(blocks.alloc_ns[i],
                          release_ns == kNone ? std::numeric_limits<int64_t>::max() : release_ns));
  }
  return out;
}

}  // namespace steplens::analysis
