#include "server/timeline/summary.h"

#include <algorithm>
#include <cmath>

#include "server/timeline/busy.h"

namespace steplens::server {
namespace {

using analysis::Interval;

// More buckets than this gain nothing: a screen shows some thousand.
constexpr size_t kMaxBaseBuckets = 1 << 20;
constexpr double kFullShare = 65535;

// Buckets of equal width, side by side.
struct Buckets {
  int64_t begin_ns;
  uint32_t level;
  size_t count;
};

// Adds the length of an interval to the buckets it touches.
void AddTo(std::span<int64_t> sums, const Buckets& buckets, const Interval& interval) {
  const int64_t width_ns = int64_t{1} << buckets.level;
  const int64_t end_ns =
      AddSaturating(buckets.begin_ns, static_cast<int64_t>(buckets.count) << buckets.level);
  int64_t from_ns = std::max(interval.begin_ns, buckets.begin_ns);
  const int64_t to_ns = std::min(interval.end_ns, end_ns);
  while (from_ns < to_ns) {
    const auto bucket = static_cast<size_t>((from_ns - buckets.begin_ns) >> buckets.level);
    const int64_t edge_ns =
        AddSaturating(buckets.begin_ns, (static_cast<int64_t>(bucket) + 1) * width_ns);
    const int64_t until_ns = std::min(to_ns, edge_ns);
    sums[bucket] += until_ns - from_ns;
    from_ns = until_ns;
  }
}

// Times beyond 73 years of the epoch are damage; they must not stretch the base level.
constexpr int64_t kFarNs = int64_t{1} << 61;

// From the first begin to the last end, held to sensible times; end before begin if there is none.
Interval HullOf(const std::vector<const LaneRows*>& lanes) {
  Interval hull{kFarNs, -kFarNs};
  for (const LaneRows* lane : lanes) {
    for (size_t r = 0; r < lane->rows(); ++r) {
      const auto [lo, hi] = lane->Touching(r, -kFarNs, kFarNs);
      if (lo == hi) continue;
      const int64_t begin_ns = std::max(lane->columns().begin(lane->row(r)[lo]), -kFarNs);
      hull.begin_ns = std::min(hull.begin_ns, begin_ns);
      hull.end_ns = std::max(
          hull.end_ns, std::clamp(lane->columns().end(lane->row(r)[hi - 1]), begin_ns, kFarNs));
    }
  }
  return hull;
}

}  // namespace

Summary::Summary(std::vector<const LaneRows*> lanes) : lanes_(std::move(lanes)) {
  for (const LaneRows* lane : lanes_) slices_ += lane->size();
}

const Summary::Base& Summary::base() const {
  std::call_once(lazy_->once, [&] {
    lazy_->base = Count();
    lazy_->is_counted = true;
  });
  return lazy_->base;
}

size_t Summary::bytes() const {
  if (!lazy_->is_counted) return 0;
  return lazy_->base.shares.capacity() * sizeof(uint16_t) +
         lazy_->base.marks.capacity() * sizeof(int64_t);
}

Summary::Base Summary::Count() const {
  Base out;
  const Interval hull = HullOf(lanes_);
  if (hull.end_ns < hull.begin_ns) return out;
  out.begin_ns = hull.begin_ns;
  const uint64_t length_ns =
      static_cast<uint64_t>(hull.end_ns) - static_cast<uint64_t>(hull.begin_ns) + 1;
  const size_t wanted = std::clamp<size_t>(slices_, 256, kMaxBaseBuckets);
  while ((length_ns >> out.level) >= wanted) ++out.level;
  const size_t buckets = static_cast<size_t>(length_ns >> out.level) + 1;
  std::vector<int64_t> covered_ns(buckets, 0);
  BusySweep sweep(lanes_, -kFarNs, kFarNs);
  for (Interval busy; sweep.Next(busy);)
    AddTo(covered_ns, {out.begin_ns, out.level, buckets}, busy);
  const double width_ns = static_cast<double>(int64_t{1} << out.level);
  out.shares.reserve(buckets);
  out.marks.reserve(buckets / kStride + 1);
  for (size_t i = 0; i < buckets; ++i) {
    if (i % kStride == 0) out.marks.push_back(out.total_ns);
    out.total_ns += covered_ns[i];
    out.shares.push_back(static_cast<uint16_t>(
        std::lround(static_cast<double>(covered_ns[i]) / width_ns * kFullShare)));
  }
  return out;
}

// Between two edges of the base the covered time is taken to be even.
int64_t Summary::Base::BeforeNs(int64_t t_ns) const {
  if (t_ns <= begin_ns) return 0;
  const auto offset_ns = static_cast<uint64_t>(t_ns) - static_cast<uint64_t>(begin_ns);
  const size_t bucket = static_cast<size_t>(offset_ns >> level);
  if (bucket >= shares.size()) return total_ns;
  const size_t mark = bucket / kStride;
  uint32_t before = 0;
  for (size_t i = mark * kStride; i < bucket; ++i) before += shares[i];
  const double width_ns = static_cast<double>(uint64_t{1} << level);
  const double part = static_cast<double>(offset_ns & ((uint64_t{1} << level) - 1)) / width_ns;
  const double sum = static_cast<double>(before) + part * static_cast<double>(shares[bucket]);
  const double covered_ns = sum / kFullShare * width_ns;        // never negative
  return marks[mark] + static_cast<int64_t>(covered_ns + 0.5);  // NOLINT: faster than llround
}

int64_t Summary::CoveredNs(int64_t t0_ns, int64_t t1_ns) const {
  if (t1_ns <= t0_ns) return 0;
  const Base& base = this->base();
  constexpr uint64_t kExactBuckets = 4096;
  const uint64_t length_ns = static_cast<uint64_t>(t1_ns) - static_cast<uint64_t>(t0_ns);
  if (length_ns >> base.level < kExactBuckets) return server::CoveredNs(lanes_, t0_ns, t1_ns);
  return std::max<int64_t>(0, base.BeforeNs(t1_ns) - base.BeforeNs(t0_ns));
}

uint64_t Summary::CountTouching(int64_t t0_ns, int64_t t1_ns) const {
  uint64_t count = 0;
  for (const LaneRows* lane : lanes_) count += lane->CountTouching(t0_ns, t1_ns);
  return count;
}

std::vector<int64_t> Summary::Covered(const TileSpan& span) const {
  const Base& base = this->base();
  if (base.shares.empty() || span.end_ns() <= base.begin_ns) return {};
  std::vector<int64_t> out(kTileBuckets, 0);
  // From 16 base buckets a tile bucket on, what a base bucket may be off is less than can be shown.
  if (span.level >= base.level + 4) {
    int64_t previous = base.BeforeNs(span.begin_ns);
    for (size_t b = 0; b < kTileBuckets; ++b) {
      const int64_t next = base.BeforeNs(span.edge_ns(b + 1));
      out[b] = std::max<int64_t>(0, next - previous);  // rounded, so it may go back by a little
      previous = next;
    }
    return out;
  }
  BusySweep sweep(lanes_, span.begin_ns, span.end_ns());
  for (Interval busy; sweep.Next(busy);)
    AddTo(out, {span.begin_ns, span.level, kTileBuckets}, busy);
  return out;
}

namespace {

constexpr uint16_t kHasWaits = 2;

// A run of buckets that look the same.
struct SummaryPiece {
  uint16_t x0;
  uint16_t x1;
  uint8_t share;
  uint8_t wait;
};

// 0 for nothing, else 1 to 255.
uint8_t ShareOf(int64_t covered_ns, int64_t bucket_ns) {
  if (covered_ns <= 0) return 0;
  const double share = 255.0 * static_cast<double>(covered_ns) / static_cast<double>(bucket_ns);
  return static_cast<uint8_t>(std::clamp(share + 0.5, 1.0, 255.0));
}

std::vector<SummaryPiece> PiecesOf(const std::vector<int64_t>& busy_ns,
                                   const std::vector<int64_t>& whole_ns, int64_t bucket_ns) {
  std::vector<SummaryPiece> out;
  for (size_t b = 0; b < kTileBuckets; ++b) {
    const int64_t busy = busy_ns.empty() ? 0 : busy_ns[b];
    const int64_t whole = whole_ns.empty() ? 0 : whole_ns[b];
    const SummaryPiece next{static_cast<uint16_t>(b), static_cast<uint16_t>(b + 1),
                            ShareOf(busy, bucket_ns), ShareOf(whole - busy, bucket_ns)};
    if (next.share == 0 && next.wait == 0) continue;
    SummaryPiece* last = out.empty() ? nullptr : &out.back();
    if (last != nullptr && last->x1 == next.x0 && last->share == next.share &&
        last->wait == next.wait) {
      last->x1 = next.x1;
    } else {
      out.push_back(next);
    }
  }
  return out;
}

}  // namespace

void AppendSummaryTile(std::string& out, const TileKey& key, const Summary& summary,
                       const Summary* with_waits, int64_t base_ns) {
  const TileSpan span = SpanOf(key, base_ns);
  const std::vector<int64_t> whole_ns =
      with_waits == nullptr ? std::vector<int64_t>() : with_waits->Covered(span);
  const std::vector<SummaryPiece> pieces =
      PiecesOf(summary.Covered(span), whole_ns, span.bucket_ns());
  if (pieces.empty()) return AppendBareTile(out, key, TileKind::kEmpty);
  TileWriter writer(out, key, TileKind::kSummary, with_waits == nullptr ? uint16_t{0} : kHasWaits);
  writer.Value(static_cast<uint32_t>(pieces.size()));
  for (const SummaryPiece& piece : pieces) writer.Value(piece.x0);
  writer.Align();
  for (const SummaryPiece& piece : pieces) writer.Value(piece.x1);
  writer.Align();
  for (const SummaryPiece& piece : pieces) writer.Value(piece.share);
  if (with_waits != nullptr) {
    writer.Align();
    for (const SummaryPiece& piece : pieces) writer.Value(piece.wait);
  }
  writer.Finish();
}

}  // namespace steplens::server
