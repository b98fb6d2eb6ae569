#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "analysis/overlap/overlap.h"

namespace steplens::analysis {

// Walks the union of a sorted, possibly overlapping list as alternating edges:
// begin, end, begin, end, ... so that the sweep below sees disjoint intervals.
class UnionEdges {
 public:
  UnionEdges(std::span<const Interval> in, Interval window) : rest_(in), window_(window) {
    Advance();
  }
  // The next edge; never reached if there is none.
  int64_t next() const { return inside_ ? run_.end_ns : run_.begin_ns; }
  bool inside() const { return inside_; }
  void Step() {
    if (inside_) Advance();
    inside_ = !inside_;
  }

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

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

// What the Overlap Analysis track of a trace shows: Computing, Communication, Communication(Not
// Overlapped), Free.
enum class PieceKind : uint8_t { kCompute, kComm, kCommOnly, kFree };

// Cuts the window into maximal pieces of each kind, with the inputs of ComputeOverlap: visit(kind,
// interval) when a piece ends; pieces of one kind come in order. Compute, CommOnly and Free pieces
// together fill the window. O(n + m), no allocation.
template <typename Visitor>
void ForEachPiece(std::span<const Interval> compute, std::span<const Interval> comm,
                  Interval window, Visitor&& visit) {
  if (window.begin_ns >= window.end_ns) return;
  UnionEdges a(compute, window);
  UnionEdges b(comm, window);
  // A bit per kind: whether a piece of it is open; and since when.
  uint32_t open = 0;
  std::array<int64_t, 4> since_ns{};
  const auto update = [&](uint32_t now_open, int64_t now_ns) {
    for (uint32_t changed = open ^ now_open; changed != 0; changed &= changed - 1) {
      const auto kind = static_cast<size_t>(std::countr_zero(changed));
      if ((open >> kind & 1) != 0) visit(static_cast<PieceKind>(kind), {since_ns[kind], now_ns});
      since_ns[kind] = now_ns;
    }
    open = now_open;
  };
  // The kinds open by (inside compute, inside communication).
  constexpr auto kBit = [](PieceKind kind) { return 1u << static_cast<uint32_t>(kind); };
  constexpr std::array<uint32_t, 4> kOpen{kBit(PieceKind::kFree), kBit(PieceKind::kCompute),
                                          kBit(PieceKind::kComm) | kBit(PieceKind::kCommOnly),
                                          kBit(PieceKind::kCompute) | kBit(PieceKind::kComm)};
  int64_t now_ns = window.begin_ns;
  while (now_ns < window.end_ns) {
    if (a.next() == now_ns) a.Step();
    if (b.next() == now_ns) b.Step();
    update(kOpen[(a.inside() ? 1 : 0) + (b.inside() ? 2 : 0)], now_ns);
    now_ns = std::min({a.next(), b.next(), window.end_ns});
  }
  update(0, window.end_ns);
}

}  // namespace steplens::analysis
