#include "analysis/facts/kernel_slices.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "analysis/classify/collective_kernels.h"
#include "analysis/classify/device_work.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

// A kernel or a slice that looks for its other half.
struct Half {
  int64_t begin_ns = 0;
  StringId name = StringId::kEmpty;
  uint32_t row = 0;

  auto operator<=>(const Half&) const = default;
  std::pair<int64_t, StringId> Key(int64_t shift_ns = 0) const {
    return {AddNs(begin_ns, shift_ns), name};
  }
};

// The rows for which wanted(row) holds, by start, name and row.
template <typename Table, typename Wanted>
std::vector<Half> SortedHalves(const Table& table, const Wanted& wanted) {
  std::vector<Half> halves;
  for (uint32_t row = 0, rows = static_cast<uint32_t>(table.size()); row < rows; ++row) {
    if (wanted(row)) halves.push_back({table.begin_ns[row], table.name[row], row});
  }
  if (!std::is_sorted(halves.begin(), halves.end())) std::sort(halves.begin(), halves.end());
  return halves;
}

// The end of the run of halves that have the key of the first.
template <typename Iterator>
Iterator EndOfRun(Iterator first, Iterator last) {
  return std::find_if(first, last, [&](const Half& half) { return half.Key() != first->Key(); });
}

// Row by row: a column that says the same of all rows need not become an array for this.
bool HasKnown(const store::Column<int64_t>& ids) {
  for (size_t row = 0; row < ids.size(); ++row) {
    if (ids[row] != kNone) return true;
  }
  return false;
}

// Where a kernel or a slice ran, as far as the kernels of the rank say such things at all.
class Places {
 public:
  using Place = std::pair<int64_t, int64_t>;  // device and stream, each kNone if nothing says it

  // The store must outlive this.
  Places(const TraceStore& store, Platform platform) : store_(store) {
    const bool knows_device = HasKnown(store.kernels.device);
    const bool knows_stream = HasKnown(store.kernels.stream);
    of_track_.reserve(store.tracks.size());
    for (uint32_t t = 0; t < store.tracks.size(); ++t) {
      const int64_t device = DeviceOfTrack(store, store::TrackId{t}, platform);
      const int64_t stream = ParseInt64(store.Text(store.tracks.tid[t])).value_or(kNone);
      of_track_.emplace_back(knows_device ? device : kNone, knows_stream ? stream : kNone);
    }
  }

  Place OfKernel(uint32_t row) const {
    return {store_.kernels.device[row], store_.kernels.stream[row]};
  }
  // The slice must be on a track.
  Place OfSlice(uint32_t row) const {
    return of_track_[static_cast<size_t>(store_.slices.track[row])];
  }

 private:
  const TraceStore& store_;
  std::vector<Place> of_track_;
};

class KernelMatcher {
 public:
  KernelMatcher(const TraceStore& store, std::span<const TrackKind> tracks, Platform platform)
      : store_(store),
        tracks_(tracks),
        is_gpu_(platform == Platform::kGpu),
        slice_kinds_(store),
        is_collective_(store, platform),
        places_(store, platform),
        slice_of_(store.kernels.size(), kNoSlice) {}

  std::vector<SliceId> Match() {
    if (!MatchInOrder()) {
      std::vector<Half> kernels = KernelsOn(TrackKind::kDevice);
      std::vector<Half> tasks =
          SortedHalves(store_.slices, [&](uint32_t row) { return IsTask(row); });
      Pair(kernels, tasks, 0);
    }
    std::vector<Half> collectives = KernelsOn(TrackKind::kCommGroup);
    if (collectives.empty()) return std::move(slice_of_);
    std::vector<Half> operations = SortedHalves(
        store_.slices, [&](uint32_t row) { return KindOf(row) == TrackKind::kCommGroup; });
    for (const int64_t shift_ns : {0, -1, 1}) Pair(collectives, operations, shift_ns);
    return std::move(slice_of_);
  }

 private:
  TrackKind KindOf(uint32_t slice) const {
    const auto track = static_cast<size_t>(store_.slices.track[slice]);
    return track < tracks_.size() ? tracks_[track] : TrackKind::kOther;
  }
  // The streams of a GPU trace also hold annotations.
  bool IsTask(uint32_t slice) const {
    return KindOf(slice) == TrackKind::kDevice &&
           (!is_gpu_ || IsGpuWork(slice_kinds_[store_.slices.category[slice]]));
  }
  TrackKind PlaceOfKernel(uint32_t row) {
    return !is_gpu_ && is_collective_(row) ? TrackKind::kCommGroup : TrackKind::kDevice;
  }
  std::vector<Half> KernelsOn(TrackKind kind) {
    return SortedHalves(store_.kernels, [&](uint32_t row) {
      return PlaceOfKernel(row) == kind && store_.kernels.begin_ns[row] != kNone;
    });
  }

  // Whether the kernels of the streams are the first tasks, one by one, as in captures whose device
  // is the host. Nothing has to be searched then.
  bool MatchInOrder() {
    const auto& slices = store_.slices;
    const auto& kernels = store_.kernels;
    uint32_t task = 0;
    for (uint32_t row = 0; row < kernels.size(); ++row) {
      if (PlaceOfKernel(row) != TrackKind::kDevice) continue;
      while (task < slices.size() && !IsTask(task)) ++task;
      const bool is_it = task < slices.size() && slices.begin_ns[task] == kernels.begin_ns[row] &&
                         slices.name[task] == kernels.name[row] &&
                         places_.OfSlice(task) == places_.OfKernel(row);
      if (!is_it) {
        slice_of_.assign(kernels.size(), kNoSlice);
        return false;
      }
      slice_of_[row] = SliceId{task++};
    }
    return true;
  }

  // Pairs kernels with slices of their name that start `shift_ns` after them. What found its half
  // leaves the lists.
  void Pair(std::vector<Half>& kernels, std::vector<Half>& slices, int64_t shift_ns) {
    auto kernel = kernels.begin();
    auto slice = slices.begin();
    while (kernel != kernels.end() && slice != slices.end()) {
      if (kernel->Key(shift_ns) < slice->Key()) {
        ++kernel;
      } else if (slice->Key() < kernel->Key(shift_ns)) {
        ++slice;
      } else {
        const auto last_kernel = EndOfRun(kernel, kernels.end());
        const auto last_slice = EndOfRun(slice, slices.end());
        PairRun({kernel, last_kernel}, {slice, last_slice});
        kernel = last_kernel;
        slice = last_slice;
      }
    }
    const auto is_paired = [](const Half& half) { return half.row == kPaired; };
    std::erase_if(kernels, is_paired);
    std::erase_if(slices, is_paired);
  }

  // Kernels and slices of one name and start.
  void PairRun(std::span<Half> kernels, std::span<Half> slices) {
    if (kernels.size() > 1 || slices.size() > 1) PairByPlace(kernels, slices);
    auto slice = slices.begin();
    for (Half& kernel : kernels) {
      if (kernel.row == kPaired) continue;
      while (slice != slices.end() && slice->row == kPaired) ++slice;
      if (slice == slices.end()) return;
      Join(kernel, *slice);
    }
  }

  void PairByPlace(std::span<Half> kernels, std::span<Half> slices) {
    using PlaceOf = Places::Place (Places::*)(uint32_t) const;
    struct Placed {
      Places::Place place;
      Half* half;
      bool operator<(const Placed& other) const { return place < other.place; }
    };
    const auto by_place = [&](std::span<Half> halves, PlaceOf place_of) {
      std::vector<Placed> placed;
      for (Half& half : halves) placed.push_back({(places_.*place_of)(half.row), &half});
      std::stable_sort(placed.begin(), placed.end());
      return placed;
    };
    const std::vector<Placed> at_kernels = by_place(kernels, &Places::OfKernel);
    const std::vector<Placed> at_slices = by_place(slices, &Places::OfSlice);
    auto slice = at_slices.begin();
    for (const Placed& kernel : at_kernels) {
      while (slice != at_slices.end() && *slice < kernel) ++slice;
      if (slice == at_slices.end()) return;
      if (!(kernel < *slice)) Join(*kernel.half, *(slice++)->half);
    }
  }

  void Join(Half& kernel, Half& slice) {
    slice_of_[kernel.row] = SliceId{slice.row};
    kernel.row = kPaired;
    slice.row = kPaired;
  }

  static constexpr uint32_t kPaired = store::kNoId;
  const TraceStore& store_;
  std::span<const TrackKind> tracks_;
  bool is_gpu_;
  SliceKinds slice_kinds_;
  CollectiveKernels is_collective_;
  Places places_;
  std::vector<SliceId> slice_of_;
};

}  // namespace

KernelSlices::KernelSlices(std::vector<SliceId> slice_of) : slice_of_(std::move(slice_of)) {
  for (uint32_t kernel = 0; kernel < slice_of_.size(); ++kernel) {
    if (slice_of_[kernel] != kNoSlice) by_slice_.push_back(kernel);
  }
  const auto slice = [&](uint32_t kernel) { return slice_of_[kernel]; };
  if (!std::ranges::is_sorted(by_slice_, {}, slice)) std::ranges::sort(by_slice_, {}, slice);
}

uint32_t KernelSlices::KernelOf(SliceId slice) const {
  const auto slice_of = [&](uint32_t kernel) { return slice_of_[kernel]; };
  const auto at = std::ranges::lower_bound(by_slice_, slice, {}, slice_of);
  return at != by_slice_.end() && slice_of(*at) == slice ? *at : store::kNoId;
}

KernelSlices MatchKernelSlices(const TraceStore& store, std::span<const TrackKind> tracks,
                               Platform platform) {
  if (store.kernels.size() == 0 || store.slices.size() == 0)
    return KernelSlices(std::vector<SliceId>(store.kernels.size(), kNoSlice));
  return KernelSlices(KernelMatcher(store, tracks, platform).Match());
}

}  // namespace steplens::analysis
