#include "server/timeline/summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace steplens::server {
namespace {

using analysis::Interval;

// More buckets than this gain nothing: a screen shows some thousand.
constexpr size_t kMaxBaseBuckets = 1 << 18;

void Join(std::vector<Interval>& list, const Interval& next) {
  if (!list.empty() && next.begin_ns <= list.back().end_ns) {
    list.back().end_ns = std::max(list.back().end_ns, next.end_ns);
  } else {
    list.push_back(next);
  }
}

std::vector<Interval> Unite(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> out;
  out.reserve(a.size() + b.size());
  size_t i = 0;
  size_t k = 0;
  while (i < a.size() || k < b.size()) {
    const bool from_a = k == b.size() || (i < a.size() && a[i].begin_ns <= b[k].begin_ns);
    Join(out, from_a ? a[i++] : b[k++]);
  }
  return out;
}

// Adds the length of each interval to the buckets it touches. visit(bucket, ns).
template <typename Visitor>
void ForEachBucket(const std::vector<Interval>& busy, int64_t begin_ns, uint32_t level,
                   size_t buckets, Visitor&& visit) {
  const int64_t width_ns = int64_t{1} << level;
  const int64_t end_ns = AddSaturating(begin_ns, static_cast<int64_t>(buckets) << level);
  for (const Interval& interval : busy) {
    int64_t from_ns = std::max(interval.begin_ns, begin_ns);
    const int64_t to_ns = std::min(interval.end_ns, end_ns);
    while (from_ns < to_ns) {
      const auto bucket = static_cast<size_t>((from_ns - begin_ns) >> level);
      const int64_t edge_ns =
          AddSaturating(begin_ns, (static_cast<int64_t>(bucket) + 1) * width_ns);
      const int64_t until_ns = std::min(to_ns, edge_ns);
      visit(bucket, until_ns - from_ns);
      from_ns = until_ns;
    }
  }
}

}  // namespace

std::vector<Interval> BusyIntervals(const std::vector<const LaneRows*>& lanes, int64_t t0_ns,
                                    int64_t t1_ns) {
  std::vector<std::vector<Interval>> lists;
  for (const LaneRows* lane : lanes) {
    for (size_t r = 0; r < lane->rows(); ++r) {
      const auto [lo, hi] = lane->Touching(r, t0_ns, t1_ns);
      if (lo == hi) continue;
      std::vector<Interval>& list = lists.emplace_back();
      for (const uint32_t slice : lane->row(r).subspan(lo, hi - lo))
        Join(list, {lane->columns().begin(slice), lane->columns().end(slice)});
    }
  }
  if (lists.empty()) return {};
  while (lists.size() > 1) {
    std::vector<std::vector<Interval>> halved((lists.size() + 1) / 2);
    for (size_t i = 0; i + 1 < lists.size(); i += 2) halved[i / 2] = Unite(lists[i], lists[i + 1]);
    if (lists.size() % 2 == 1) halved.back() = std::move(lists.back());
    lists = std::move(halved);
  }
  return std::move(lists.front());
}

Summary::Summary(std::vector<const LaneRows*> lanes) : lanes_(std::move(lanes)) {
  for (const LaneRows* lane : lanes_) slices_ += lane->size();
  // Times beyond 73 years of the epoch are damage; they must not stretch the base level.
  constexpr int64_t kFar = int64_t{1} << 61;
  std::vector<Interval> busy = BusyIntervals(lanes_, -kFar, kFar);
  if (busy.empty()) return;
  busy.front().begin_ns = std::max(busy.front().begin_ns, -kFar);
  busy.back().end_ns = std::clamp(busy.back().end_ns, busy.back().begin_ns, kFar);
  base_begin_ns_ = busy.front().begin_ns;
  const uint64_t length_ns =
      static_cast<uint64_t>(busy.back().end_ns) - static_cast<uint64_t>(busy.front().begin_ns) + 1;
  const size_t wanted = std::clamp<size_t>(slices_ / 4, 256, kMaxBaseBuckets);
  while ((length_ns >> base_level_) >= wanted) ++base_level_;
  const size_t buckets = static_cast<size_t>(length_ns >> base_level_) + 1;
  base_.assign(buckets + 1, 0);
  ForEachBucket(busy, base_begin_ns_, base_level_, buckets,
                [&](size_t bucket, int64_t ns) { base_[bucket + 1] += ns; });
  for (size_t i = 1; i < base_.size(); ++i) base_[i] += base_[i - 1];
}

// Edges of the tile need not lie on edges of the base: between two of those the covered time is
// taken to be even, which is exact to a base bucket, a small part of the tile's.
std::vector<int64_t> Summary::FromBase(const TileSpan& span) const {
  const auto before = [&](int64_t t_ns) -> int64_t {
    if (t_ns <= base_begin_ns_) return 0;
    const auto offset_ns = static_cast<uint64_t>(t_ns) - static_cast<uint64_t>(base_begin_ns_);
    const size_t bucket = static_cast<size_t>(offset_ns >> base_level_);
    if (bucket + 1 >= base_.size()) return base_.back();
    const double part = static_cast<double>(offset_ns & ((uint64_t{1} << base_level_) - 1)) /
                        static_cast<double>(uint64_t{1} << base_level_);
    return base_[bucket] +
           std::llround(part * static_cast<double>(base_[bucket + 1] - base_[bucket]));
  };
  std::vector<int64_t> out(kTileBuckets);
  int64_t previous = before(span.begin_ns);
  for (size_t b = 0; b < kTileBuckets; ++b) {
    const int64_t next = before(span.edge_ns(b + 1));
    out[b] = next - previous;
    previous = next;
  }
  return out;
}

std::vector<int64_t> Summary::Covered(const TileSpan& span) const {
  if (base_.empty() || span.end_ns() <= base_begin_ns_) return {};
  // From 16 base buckets a tile bucket on, what a base bucket may be off is less than can be shown.
  if (span.level >= base_level_ + 4) return FromBase(span);
  const std::vector<Interval> busy = BusyIntervals(lanes_, span.begin_ns, span.end_ns());
  if (busy.empty()) return {};
  std::vector<int64_t> out(kTileBuckets, 0);
  ForEachBucket(busy, span.begin_ns, span.level, kTileBuckets,
                [&](size_t bucket, int64_t ns) { out[bucket] += ns; });
  return out;
}

void AppendSummaryTile(std::string& out, const TileKey& key, const Summary& summary,
                       int64_t base_ns) {
  const TileSpan span = SpanOf(key, base_ns);
  const std::vector<int64_t> covered = summary.Covered(span);
  struct Piece {
    uint16_t x0;
    uint16_t x1;
    uint8_t share;
  };
  std::vector<Piece> pieces;
  for (size_t b = 0; b < covered.size(); ++b) {
    if (covered[b] <= 0) continue;
    const double share =
        255.0 * static_cast<double>(covered[b]) / static_cast<double>(span.bucket_ns());
    const auto level = static_cast<uint8_t>(std::clamp(std::lround(share), 1L, 255L));
    const auto x0 = static_cast<uint16_t>(b);
    if (!pieces.empty() && pieces.back().x1 == x0 && pieces.back().share == level) {
      ++pieces.back().x1;
    } else {
      pieces.push_back({x0, static_cast<uint16_t>(b + 1), level});
    }
  }
  if (pieces.empty()) return AppendBareTile(out, key, TileKind::kEmpty);
  TileWriter writer(out, key, TileKind::kSummary);
  writer.Value(static_cast<uint32_t>(pieces.size()));
  for (const Piece& piece : pieces) writer.Value(piece.x0);
  writer.Align();
  for (const Piece& piece : pieces) writer.Value(piece.x1);
  writer.Align();
  for (const Piece& piece : pieces) writer.Value(piece.share);
  writer.Finish();
}

}  // namespace steplens::server
