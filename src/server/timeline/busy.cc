#include "server/timeline/busy.h"

#include <algorithm>

namespace steplens::server {

using analysis::Interval;

BusySweep::BusySweep(const std::vector<const LaneRows*>& lanes, int64_t t0_ns, int64_t t1_ns) {
  for (const LaneRows* lane : lanes) {
    for (size_t r = 0; r < lane->rows(); ++r) {
      if (lane->LiesInside(r)) continue;
      const auto [lo, hi] = lane->Touching(r, t0_ns, t1_ns);
      if (lo == hi) continue;
      const auto slices = lane->row(r).subspan(lo, hi - lo);
      heap_.push_back({lane->columns().begin(slices[0]), static_cast<uint32_t>(cursors_.size())});
      cursors_.push_back({&lane->columns(), slices, 0});
    }
  }
  const auto later = [](const Entry& a, const Entry& b) { return a.begin_ns > b.begin_ns; };
  std::make_heap(heap_.begin(), heap_.end(), later);
}

int64_t BusySweep::FirstEnd() const {
  const Cursor& first = cursors_[heap_[0].cursor];
  return first.end(first.at);
}

// Puts an entry where it belongs, starting from a free place at the top.
void BusySweep::Sink(Entry entry) {
  size_t hole = 0;
  while (true) {
    size_t child = 2 * hole + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].begin_ns < heap_[child].begin_ns) ++child;
    if (heap_[child].begin_ns >= entry.begin_ns) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = entry;
}

// Moves the first cursor to its next slice that ends behind `reach_ns`: ends ascend in a row.
void BusySweep::StepFirst(int64_t reach_ns) {
  Cursor& first = cursors_[heap_[0].cursor];
  const size_t size = first.slices.size();
  size_t low = first.at + 1;
  size_t stride = 1;
  while (low + stride <= size && first.end(low + stride - 1) <= reach_ns) {
    low += stride;
    stride *= 2;
  }
  size_t high = std::min(low + stride - 1, size);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (first.end(middle) <= reach_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < size) {
    first.at = low;
    return Sink({first.columns->begin(first.slices[low]), heap_[0].cursor});
  }
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) Sink(last);
}

bool BusySweep::Next(Interval& out) {
  if (heap_.empty()) return false;
  out = {heap_[0].begin_ns, FirstEnd()};
  StepFirst(out.end_ns);
  while (!heap_.empty() && heap_[0].begin_ns <= out.end_ns) {
    out.end_ns = std::max(out.end_ns, FirstEnd());
    StepFirst(out.end_ns);
  }
  return true;
}

int64_t CoveredNs(const std::vector<const LaneRows*>& lanes, int64_t t0_ns, int64_t t1_ns) {
  BusySweep sweep(lanes, t0_ns, t1_ns);
  int64_t sum_ns = 0;
  for (Interval busy; sweep.Next(busy);)
    sum_ns = AddSaturating(sum_ns, SharedNs(busy.begin_ns, busy.end_ns, t0_ns, t1_ns));
  return sum_ns;
}

LaneCover::LaneCover(const LaneRows& lane) {
  if (lane.size() == 0) return;
  const auto row = lane.row(0);
  int64_t sum_ns = 0;
  for (size_t p = 0; p < row.size(); p += kStride) {
    if (p > 0) {
      sum_ns =
          AddSaturating(sum_ns, server::CoveredNs({&lane}, lane.columns().begin(row[p - kStride]),
                                                  lane.columns().begin(row[p])));
    }
    before_ns_.push_back(sum_ns);
  }
}

int64_t LaneCover::BeforeNs(const LaneRows& lane, int64_t t_ns) const {
  const auto row = lane.row(0);
  size_t low = 0;
  size_t high = before_ns_.size();
  while (low < high) {  // the first mark at or behind the time
    const size_t middle = low + (high - low) / 2;
    if (lane.columns().begin(row[middle * kStride]) < t_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  const int64_t mark_ns = lane.columns().begin(row[(low - 1) * kStride]);
  return AddSaturating(before_ns_[low - 1], server::CoveredNs({&lane}, mark_ns, t_ns));
}

int64_t LaneCover::CoveredNs(const LaneRows& lane, int64_t t0_ns, int64_t t1_ns) const {
  if (before_ns_.empty() || t1_ns <= t0_ns) return 0;
  return SubtractSaturating(BeforeNs(lane, t1_ns), BeforeNs(lane, t0_ns));
}

}  // namespace steplens::server
