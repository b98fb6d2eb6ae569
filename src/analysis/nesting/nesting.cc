#include "analysis/nesting/nesting.h"

#include <algorithm>
#include <limits>

#include "analysis/time_math.h"
#include "base/outer_first.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

// What the drawing order compares, side by side for the sort.
struct SliceKey {
  int64_t begin_ns;
  int64_t dur_ns;
  SliceId id;
};

bool DrawnBefore(const SliceKey& a, const SliceKey& b) {
  if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
  if (a.dur_ns != b.dur_ns) return a.dur_ns > b.dur_ns;
  return a.id < b.id;
}

// Moves what is out of order by a few places only, as slices that start together are. False, with
// some of it moved, once that takes too long.
template <typename Before>
bool SortNearby(std::span<SliceId> slices, const Before& before) {
  size_t moves_left = 4 * slices.size();
  for (size_t i = 1; i < slices.size(); ++i) {
    const SliceId slice = slices[i];
    size_t place = i;
    for (; place > 0 && before(slice, slices[place - 1]); --place) {
      if (moves_left-- == 0) {
        slices[place] = slice;
        return false;
      }
      slices[place] = slices[place - 1];
    }
    slices[place] = slice;
  }
  return true;
}

// Most tracks are in order already, or in the order of their ends; the others are sorted by keys
// laid side by side.
void SortInDrawingOrder(const TraceStore& store, std::span<SliceId> slices) {
  const auto begin_ns = store.slices.begin_ns.span();
  const auto dur_ns = store.slices.dur_ns.span();
  const auto key = [&](SliceId s) {
    return SliceKey{begin_ns[static_cast<size_t>(s)], dur_ns[static_cast<size_t>(s)], s};
  };
  const auto drawn_before = [&](SliceId a, SliceId b) { return DrawnBefore(key(a), key(b)); };
  if (std::is_sorted(slices.begin(), slices.end(), drawn_before)) return;
  OuterFirst(begin_ns, slices);
  if (SortNearby(slices, drawn_before)) return;
  std::vector<SliceKey> keys(slices.size());
  std::transform(slices.begin(), slices.end(), keys.begin(), key);
  std::sort(keys.begin(), keys.end(), DrawnBefore);
  std::transform(keys.begin(), keys.end(), slices.begin(), [](const SliceKey& k) { return k.id; });
}

// The rows of one track: until when each is taken. A min-tree over the rows finds the first free
// row in O(log rows), however many slices overlap each other.
class Rows {
 public:
  void Clear() { std::fill(tree_.begin(), tree_.end(), kFree); }

  // Takes the first row at or after `from` that is free at begin_ns, until end_ns.
  uint32_t Take(uint32_t from, int64_t begin_ns, int64_t end_ns) {
    size_t row = from;
    if (row >= rows_ || leaf(row) > begin_ns) row = FirstFree(from, begin_ns);
    Set(row, end_ns);
    return static_cast<uint32_t>(row);
  }

 private:
  static constexpr int64_t kFree = std::numeric_limits<int64_t>::min();

  int64_t leaf(size_t row) const { return tree_[rows_ + row]; }

  void Set(size_t row, int64_t end_ns) {
    size_t node = rows_ + row;
    tree_[node] = end_ns;
    for (node /= 2; node >= 1; node /= 2) {
      const int64_t lowest = std::min(tree_[2 * node], tree_[2 * node + 1]);
      if (tree_[node] == lowest) return;
      tree_[node] = lowest;
    }
  }

  size_t FirstFree(size_t from, int64_t begin_ns) {
    while (from >= rows_) Grow();
    size_t node = rows_ + from;
    while (tree_[node] > begin_ns) {
      // Up to the first subtree on the right; past the last row there is a fresh one.
      while (node % 2 == 1 && node > 1) node /= 2;
      if (node == 1) {
        const size_t fresh = rows_;
        Grow();
        return fresh;
      }
      ++node;
    }
    while (node < rows_) node = tree_[2 * node] <= begin_ns ? 2 * node : 2 * node + 1;
    return node - rows_;
  }

  void Grow() {
    std::vector<int64_t> bigger(4 * rows_, kFree);
    std::copy_n(tree_.begin() + static_cast<std::ptrdiff_t>(rows_), rows_,
                bigger.begin() + static_cast<std::ptrdiff_t>(2 * rows_));
    rows_ *= 2;
    tree_ = std::move(bigger);
    for (size_t node = rows_ - 1; node >= 1; --node) {
      tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
    }
  }

  size_t rows_ =
      16;  // a power of two; row r is tree_[rows_ + r], node i has children 2i and 2i + 1
  std::vector<int64_t> tree_ = std::vector<int64_t>(32, kFree);
};

template <typename Wanted>
TrackIndex BuildIndex(const TraceStore& store, const Wanted& wanted) {
  const auto& track = store.slices.track;
  const size_t track_count = store.tracks.size();

  TrackIndex index;
  index.first.assign(track_count + 1, 0);
  for (size_t i = 0, rows = track.size(); i < rows; ++i) {
    const auto t = static_cast<size_t>(track[i]);
    if (t < track_count && wanted(i)) ++index.first[t + 1];
  }
  for (size_t t = 0; t < track_count; ++t) index.first[t + 1] += index.first[t];

  index.order.resize(index.first.back());
  std::vector<uint32_t> next(index.first.begin(), index.first.end() - 1);
  for (size_t i = 0, rows = track.size(); i < rows; ++i) {
    const auto t = static_cast<size_t>(track[i]);
    if (t < track_count && wanted(i)) index.order[next[t]++] = static_cast<SliceId>(i);
  }
  for (size_t t = 0; t < track_count; ++t) {
    SortInDrawingOrder(
        store, std::span(index.order).subspan(index.first[t], index.first[t + 1] - index.first[t]));
  }
  return index;
}

}  // namespace

TrackIndex BuildTrackIndex(const TraceStore& store) {
  return BuildIndex(store, [](size_t) { return true; });
}

TrackIndex BuildTrackIndex(const TraceStore& store, const std::function<bool(size_t row)>& wanted) {
  return BuildIndex(store, wanted);
}

TrackIndex BuildTrackIndex(const TraceStore& store, const std::vector<bool>& wanted_tracks) {
  const auto& track = store.slices.track;
  return BuildIndex(store, [&](size_t row) {
    const auto t = static_cast<size_t>(track[row]);
    return t < wanted_tracks.size() && wanted_tracks[t];
  });
}

SliceId TrackIndex::LastStarted(const TraceStore& store, TrackId track, int64_t ts_ns) const {
  const auto begin_ns = store.slices.begin_ns.span();
  const auto in_order = slices(track);
  const auto after = std::upper_bound(
      in_order.begin(), in_order.end(), ts_ns,
      [&](int64_t ts, SliceId s) { return ts < begin_ns[static_cast<size_t>(s)]; });
  return after == in_order.begin() ? kNoSlice : *(after - 1);
}

SliceId Nesting::InnermostAt(const TraceStore& store, const TrackIndex& index, TrackId track,
                             int64_t ts_ns) const {
  // Whatever still runs at ts contains the slices that started after it and ended before, so it is
  // among the ancestors of the last one started.
  SliceId s = index.LastStarted(store, track, ts_ns);
  while (s != kNoSlice) {
    const auto i = static_cast<size_t>(s);
    if (ts_ns < EndNs(store.slices.begin_ns[i], store.slices.dur_ns[i])) return s;
    s = parent[i];
  }
  return kNoSlice;
}

Nesting ComputeNesting(const TraceStore& store, const TrackIndex& index) {
  const auto begin_ns = store.slices.begin_ns.span();
  const auto dur_ns = store.slices.dur_ns.span();
  Nesting nesting;
  nesting.depth.assign(begin_ns.size(), 0);
  nesting.parent.assign(begin_ns.size(), kNoSlice);

  struct Open {
    int64_t end_ns;
    SliceId id;
  };
  std::vector<Open> open;
  Rows rows;
  for (size_t t = 0; t + 1 < index.first.size(); ++t) {
    open.clear();
    rows.Clear();
    for (const SliceId s : index.slices(static_cast<TrackId>(t))) {
      const auto i = static_cast<size_t>(s);
      const int64_t end_ns = EndNs(begin_ns[i], dur_ns[i]);
      // A slice that ends before this one does can contain nothing that starts later and is not
      // inside this one.
      while (!open.empty() && (open.back().end_ns <= begin_ns[i] || open.back().end_ns < end_ns)) {
        open.pop_back();
      }
      uint32_t from = 0;
      if (!open.empty()) {
        nesting.parent[i] = open.back().id;
        from = nesting.depth[static_cast<size_t>(open.back().id)] + 1;
      }
      nesting.depth[i] = rows.Take(from, begin_ns[i], end_ns);
      open.push_back({end_ns, s});
    }
  }
  return nesting;
}

Nesting ComputeNesting(const TraceStore& store) {
  return ComputeNesting(store, BuildTrackIndex(store));
}

}  // namespace steplens::analysis
