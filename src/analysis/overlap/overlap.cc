#include "analysis/overlap/overlap.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

namespace steplens::analysis {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Walks the union of a sorted, possibly overlapping list as alternating edges:
// begin, end, begin, end, ... so that the sweep below sees disjoint intervals.
class UnionEdges {
 public:
  UnionEdges(std::span<const Interval> in, Interval window) : rest_(in), window_(window) {
    Advance();
  }
  int64_t next() const { return inside_ ? run_.end_ns : run_.begin_ns; }  // or kNever
  bool inside() const { return inside_; }
  void Step() {
    if (inside_) Advance();
    inside_ = !inside_;
  }

 private:
  // Merges the next run of touching intervals, clipped to the window.
  void Advance() {
    run_ = {kNever, kNever};
    for (; !rest_.empty(); rest_ = rest_.subspan(1)) {
      const Interval in{std::max(rest_.front().begin_ns, window_.begin_ns),
                        std::min(rest_.front().end_ns, window_.end_ns)};
      if (in.begin_ns >= in.end_ns) continue;
      if (run_.begin_ns == kNever) {
        run_ = in;
      } else if (in.begin_ns > run_.end_ns) {
        return;
      } else {
        run_.end_ns = std::max(run_.end_ns, in.end_ns);
      }
    }
  }

  std::span<const Interval> rest_;
  Interval window_;
  Interval run_;
  bool inside_ = false;
};

}  // namespace

OverlapParts ComputeOverlap(std::span<const Interval> compute, std::span<const Interval> comm,
                            Interval window) {
  OverlapParts parts;
  UnionEdges a(compute, window);
  UnionEdges b(comm, window);
  int64_t now = window.begin_ns;
  while (now < window.end_ns) {
    const int64_t next = std::min({a.next(), b.next(), window.end_ns});
    int64_t& part = a.inside() ? (b.inside() ? parts.overlapped_ns : parts.compute_only_ns)
                               : (b.inside() ? parts.comm_only_ns : parts.free_ns);
    part += next - now;
    now = next;
    if (a.next() == now) a.Step();
    if (b.next() == now) b.Step();
  }
  return parts;
}

void ForEachPiece(std::span<const Interval> compute, std::span<const Interval> comm,
                  Interval window, const std::function<void(PieceKind, Interval)>& visit) {
  if (window.begin_ns >= window.end_ns) return;
  UnionEdges a(compute, window);
  UnionEdges b(comm, window);
  // Whether a piece of each kind is open, and since when.
  std::array<bool, 4> open{};
  std::array<int64_t, 4> since_ns{};
  const auto update = [&](std::array<bool, 4> now_open, int64_t now_ns) {
    for (size_t kind = 0; kind < open.size(); ++kind) {
      if (open[kind] == now_open[kind]) continue;
      if (open[kind]) visit(static_cast<PieceKind>(kind), {since_ns[kind], now_ns});
      since_ns[kind] = now_ns;
    }
    open = now_open;
  };
  int64_t now_ns = window.begin_ns;
  while (now_ns < window.end_ns) {
    if (a.next() == now_ns) a.Step();
    if (b.next() == now_ns) b.Step();
    update({a.inside(), b.inside(), b.inside() && !a.inside(), !a.inside() && !b.inside()}, now_ns);
    now_ns = std::min({a.next(), b.next(), window.end_ns});
  }
  update({}, window.end_ns);
}

int64_t UnionLength(std::span<const Interval> intervals) {
  int64_t length_ns = 0;
  int64_t covered_to_ns = std::numeric_limits<int64_t>::min();
  for (const Interval& in : intervals) {
    const int64_t begin_ns = std::max(in.begin_ns, covered_to_ns);
    if (in.end_ns <= begin_ns) continue;
    length_ns += in.end_ns - begin_ns;
    covered_to_ns = in.end_ns;
  }
  return length_ns;
}

std::vector<Interval> MergeIntervals(std::span<const Interval> intervals) {
  std::vector<Interval> merged;
  for (const Interval& in : intervals) {
    if (in.begin_ns >= in.end_ns) continue;
    if (!merged.empty() && in.begin_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, in.end_ns);
    } else {
      merged.push_back(in);
    }
  }
  return merged;
}

void SortIntervals(std::vector<Interval>& intervals) {
  const auto before = [](const Interval& a, const Interval& b) {
    return std::tie(a.begin_ns, a.end_ns) < std::tie(b.begin_ns, b.end_ns);
  };
  if (std::is_sorted(intervals.begin(), intervals.end(), before)) return;
  std::sort(intervals.begin(), intervals.end(), before);
}

}  // namespace steplens::analysis
