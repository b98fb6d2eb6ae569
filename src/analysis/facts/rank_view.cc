#include "analysis/facts/rank_view.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "analysis/launches/launches.h"
#include "analysis/steps/kernel_steps.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

// A value that is computed once, by the thread that asks first. Afterwards it costs one load, so
// that loops over slices can ask for it.
template <typename T>
class Fact {
 public:
  template <typename Compute>
  const T& Get(const Compute& compute) {
    if (const T* known = known_.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(mutex_);
    if (!value_) {
      value_.emplace(compute());
      known_.store(&*value_, std::memory_order_release);
    }
    return *value_;
  }

 private:
  std::atomic<const T*> known_{nullptr};
  std::mutex mutex_;  // guards value_ until it is there
  std::optional<T> value_;
};

bool SaysSteps(const store::KernelTable& kernels) {
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (kernels.step[row] != store::kNone) return true;
  }
  return false;
}

}  // namespace

// None of them may refer to the store, which can be moved.
struct RankView::Facts {
  Fact<std::vector<TrackKind>> tracks;
  Fact<SliceKinds> slice_kinds;
  Fact<Platform> platform;
  Fact<std::vector<StepRange>> steps;
  Fact<std::vector<DeviceWork>> device_work;
  Fact<std::optional<std::vector<int64_t>>> kernel_steps;  // nothing where the input says them
  Fact<KernelSlices> kernel_slices;
  Fact<TrackIndex> track_index;
  Fact<Nesting> nesting;
  Fact<FlowEnds> flow_ends;
  Fact<NameRows> slice_names;
  Fact<NameRows> kernel_names;
  Fact<Cover> communication;
  Fact<std::vector<OverlapLanes>> overlap;
  Fact<std::vector<store::SliceId>> launch_calls;
  std::once_flag strings;

  // The fact, which is compute(store).
  template <typename T, typename Compute>
  const T& Get(Fact<T>& fact, const TraceStore& store, const Compute& compute) {
    return fact.Get([&] {
      // The first look-up builds the index of the pool, which is not for several threads.
      std::call_once(strings, [&] { (void)store.strings.Find(""); });
      return compute(store);
    });
  }
};

RankView::RankView(const TraceStore& store) : RankView(store, std::make_shared<Facts>()) {}

RankView::RankView(const TraceStore& store, std::shared_ptr<Facts> facts)
    : store_(&store), facts_(std::move(facts)) {}

RankView RankView::AfterMove(const TraceStore& moved) const { return RankView(moved, facts_); }

const std::vector<TrackKind>& RankView::tracks() const {
  return facts_->Get(facts_->tracks, *store_, ClassifyTracks);
}

const SliceKinds& RankView::slice_kinds() const {
  return facts_->Get(facts_->slice_kinds, *store_,
                     [](const TraceStore& store) { return SliceKinds(store); });
}

Platform RankView::platform() const {
  return facts_->Get(facts_->platform, *store_,
                     [&](const TraceStore& store) { return DetectPlatform(store, tracks()); });
}

const std::vector<StepRange>& RankView::steps() const {
  return facts_->Get(facts_->steps, *store_, ComputeStepRanges);
}

const std::vector<DeviceWork>& RankView::device_work() const {
  return facts_->Get(facts_->device_work, *store_, CollectDeviceWork);
}

std::span<const int64_t> RankView::kernel_steps() const {
  const auto& derived = facts_->Get(facts_->kernel_steps, *store_, [](const TraceStore& store) {
    return SaysSteps(store.kernels) ? std::nullopt : std::optional(KernelSteps(store));
  });
  return derived ? std::span<const int64_t>(*derived) : store_->kernels.step.span();
}

const KernelSlices& RankView::kernel_slices() const {
  return facts_->Get(facts_->kernel_slices, *store_, [&](const TraceStore& store) {
    return MatchKernelSlices(store, tracks(), platform());
  });
}

const TrackIndex& RankView::track_index() const {
  return facts_->Get(facts_->track_index, *store_,
                     [](const TraceStore& store) { return BuildTrackIndex(store); });
}

const Nesting& RankView::nesting() const {
  return facts_->Get(facts_->nesting, *store_,
                     [&](const TraceStore& store) { return ComputeNesting(store, track_index()); });
}

const FlowEnds& RankView::flow_ends() const {
  return facts_->Get(facts_->flow_ends, *store_, [&](const TraceStore& store) {
    return ResolveFlowEnds(store, track_index(), nesting());
  });
}

const Cover& RankView::communication() const {
  return facts_->Get(facts_->communication, *store_, [&](const TraceStore&) {
    std::vector<Interval> all;
    for (const DeviceWork& work : device_work())
      all.insert(all.end(), work.communication.begin(), work.communication.end());
    return Cover(std::move(all));
  });
}

const std::vector<OverlapLanes>& RankView::overlap() const {
  return facts_->Get(facts_->overlap, *store_, ComputeOverlapLanes);
}

const NameRows& RankView::slice_names() const {
  return facts_->Get(facts_->slice_names, *store_, [](const TraceStore& store) {
    return NameRows(store.slices.name.span(), store.strings.size());
  });
}

const NameRows& RankView::kernel_names() const {
  return facts_->Get(facts_->kernel_names, *store_, [](const TraceStore& store) {
    return NameRows(store.kernels.name.span(), store.strings.size());
  });
}

const std::vector<store::SliceId>& RankView::launch_calls() const {
  return facts_->Get(facts_->launch_calls, *store_, [&](const TraceStore& store) {
    std::vector<store::SliceId> calls(store.slices.size(), store::kNoSlice);
    ForEachApiLaunch(store, tracks(), [&](const Launch& launch) {
      calls[static_cast<size_t>(launch.device)] = launch.call;
    });
    return calls;
  });
}

}  // namespace steplens::analysis
