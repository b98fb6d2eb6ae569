#include "analysis/overlap/cover.h"

#include <algorithm>

#include "analysis/overlap/sweep.h"
#include "analysis/time_math.h"

namespace steplens::analysis {

Cover::Cover(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& in) {
    return in.begin_ns >= in.end_ns || !IsPlausible(in.begin_ns, in.end_ns);
  });
  SortIntervals(intervals);
  for (const Interval& in : intervals) {
    if (!runs_.empty() && in.begin_ns <= runs_.back().end_ns) {
      runs_.back().end_ns = std::max(runs_.back().end_ns, in.end_ns);
    } else {
      runs_.push_back(in);
    }
  }
  before_ns_.reserve(runs_.size() + 1);
  before_ns_.push_back(0);
  for (const Interval& run : runs_) {
    before_ns_.push_back(AddNs(before_ns_.back(), run.end_ns - run.begin_ns));
  }
}

int64_t Cover::CoveredBefore(int64_t ts_ns) const {
  const auto after = std::upper_bound(
      runs_.begin(), runs_.end(), ts_ns,
      [](int64_t wanted_ns, const Interval& run) { return wanted_ns < run.begin_ns; });
  if (after == runs_.begin()) return 0;
  const Interval& last = *(after - 1);
  return before_ns_[static_cast<size_t>(after - runs_.begin()) - 1] +
         (std::min(ts_ns, last.end_ns) - last.begin_ns);
}

int64_t Cover::Within(Interval interval) const {
  if (runs_.empty() || interval.begin_ns >= interval.end_ns) return 0;
  return CoveredBefore(interval.end_ns) - CoveredBefore(interval.begin_ns);
}

std::vector<Interval> Subtract(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> out;
  if (a.empty()) return out;
  Interval window{a.front().begin_ns, a.front().end_ns};
  for (const Interval& in : a) window.end_ns = std::max(window.end_ns, in.end_ns);
  ForEachPiece(b, a, window, [&](PieceKind kind, Interval piece) {
    if (kind == PieceKind::kCommOnly) out.push_back(piece);
  });
  return out;
}

}  // namespace steplens::analysis
