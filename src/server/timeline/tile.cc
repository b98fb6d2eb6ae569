#include "server/timeline/tile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace steplens::server {
namespace {

constexpr size_t kMaxTileRows = std::numeric_limits<uint16_t>::max();

// Walks the buckets of one row of one tile from left to right.
class RowWalk {
 public:
  RowWalk(const LaneRows& rows, size_t r, const TileSpan& span)
      : rows_(rows), columns_(rows.columns()), slices_(rows.row(r)), r_(r), span_(span) {
    std::tie(next_, end_) = rows.Touching(r, span.begin_ns, span.end_ns());
    runs_.reserve(std::min<size_t>(2 * (end_ - next_), kTileBuckets));
  }

  std::vector<TileRun> Walk() {
    size_t bucket = 0;
    if (next_ < end_ && Begin(next_) < span_.begin_ns) crossing_ = next_++;
    while (true) {
      if (crossing_ == kNone) {
        if (next_ == end_) return std::move(runs_);
        bucket = BucketOf(Begin(next_));
      }
      const bool starts = next_ < end_ && BucketOf(Begin(next_)) == bucket;
      bucket = starts ? TakeBucket(bucket) : Continue(bucket);
      if (bucket >= kTileBuckets) return std::move(runs_);
    }
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  int64_t Begin(size_t position) const { return columns_.begin(slices_[position]); }
  int64_t End(size_t position) const { return columns_.end(slices_[position]); }
  size_t BucketOf(int64_t t_ns) const {
    return static_cast<size_t>((t_ns - span_.begin_ns) >> span_.level);
  }
  // The last bucket that a slice touches, held to the tile.
  size_t LastBucket(size_t position) const {
    const int64_t last_ns = std::max(Begin(position), End(position) - 1);
    return last_ns >= span_.end_ns() ? kTileBuckets - 1 : BucketOf(last_ns);
  }
  int64_t Dur(size_t position) const { return columns_.dur(slices_[position]); }
  int64_t CoveredIn(size_t position, int64_t from_ns, int64_t to_ns) const {
    return SharedNs(Begin(position), End(position), from_ns, to_ns);
  }

  // The crossing slice alone, up to the bucket before the next begin. Returns the bucket behind.
  size_t Continue(size_t bucket) {
    size_t last = LastBucket(crossing_);
    const bool meets_next = next_ < end_ && BucketOf(Begin(next_)) <= last;
    if (meets_next) last = BucketOf(Begin(next_)) - 1;
    const int64_t covered_ns = CoveredIn(crossing_, span_.edge_ns(bucket), span_.edge_ns(last + 1));
    if (!runs_.empty() && runs_.back().is_pure && runs_.back().x1 == bucket &&
        runs_.back().slice == slices_[crossing_]) {
      runs_.back().x1 = static_cast<uint16_t>(last + 1);
      runs_.back().covered_ns += covered_ns;
    } else {
      Emit(bucket, last + 1, crossing_, 0, covered_ns, true);
    }
    if (!meets_next) crossing_ = kNone;
    return last + 1;
  }

  // A bucket in which slices begin. Returns the bucket behind.
  size_t TakeBucket(size_t bucket) {
    const int64_t from_ns = span_.edge_ns(bucket);
    const int64_t to_ns = span_.edge_ns(bucket + 1);
    const LaneRows::Stretch starts = rows_.StartingBefore(r_, next_, to_ns);
    const auto count = static_cast<uint32_t>(starts.end - next_);
    const size_t last = starts.end - 1;
    // All but the last end inside the bucket: slices of a row do not overlap.
    int64_t covered_ns = starts.sum_ns - Dur(last) + CoveredIn(last, from_ns, to_ns);
    size_t longest = starts.longest;
    if (crossing_ != kNone) {
      covered_ns += CoveredIn(crossing_, from_ns, to_ns);
      if (Dur(crossing_) >= starts.longest_ns) longest = crossing_;
    }
    Emit(bucket, bucket + 1, longest, count, covered_ns, count == 1 && longest == last);
    next_ = starts.end;
    crossing_ = End(last) > to_ns ? last : kNone;
    return bucket + 1;
  }

  void Emit(size_t x0, size_t x1, size_t position, uint32_t count, int64_t covered_ns, bool pure) {
    runs_.push_back({static_cast<uint16_t>(x0), static_cast<uint16_t>(x1), slices_[position], count,
                     covered_ns, pure});
  }

  const LaneRows& rows_;
  const SliceColumns columns_;  // copies: what is written in the walk cannot change them
  const std::span<const uint32_t> slices_;
  size_t r_;
  TileSpan span_;
  size_t next_ = 0;
  size_t end_ = 0;
  size_t crossing_ = kNone;  // began in an earlier bucket and reaches into the present one
  std::vector<TileRun> runs_;
};

uint8_t Share(const TileRun& run, const TileSpan& span) {
  const double width = static_cast<double>(run.x1 - run.x0) * static_cast<double>(span.bucket_ns());
  const double share = 255.0 * static_cast<double>(run.covered_ns) / width;
  return static_cast<uint8_t>(std::clamp(share + 0.5, 0.0, 255.0));
}

// One value a run, padded to 4 bytes. Written in place: a tile has some ten thousand values.
template <typename Function>
void AppendArray(std::string& out, const std::vector<TileRun>& runs, Function&& value_of) {
  using Value = decltype(value_of(runs.front()));
  const size_t start = out.size();
  out.resize(start + (runs.size() * sizeof(Value) + 3) / 4 * 4, '\0');
  char* at = out.data() + start;
  for (const TileRun& run : runs) {
    const Value value = value_of(run);
    std::memcpy(at, &value, sizeof(Value));
    at += sizeof(Value);
  }
}

void AppendRuns(std::string& out, const std::vector<TileRun>& runs, const LaneRows& rows,
                const TileSpan& span, const std::vector<bool>& has_flow,
                std::span<const uint8_t> shades) {
  const SliceColumns& columns = rows.columns();
  const auto count = static_cast<uint32_t>(runs.size());
  out.append(reinterpret_cast<const char*>(&count), sizeof(count));
  AppendArray(out, runs, [](const TileRun& run) { return run.x0; });
  AppendArray(out, runs, [](const TileRun& run) { return run.x1; });
  AppendArray(out, runs, [&](const TileRun& run) { return columns.name_of(run.slice); });
  AppendArray(out, runs, [](const TileRun& run) { return run.slice; });
  AppendArray(out, runs, [](const TileRun& run) {
    return static_cast<uint16_t>(std::min<uint32_t>(run.count, 65535));
  });
  AppendArray(out, runs, [&](const TileRun& run) { return Share(run, span); });
  AppendArray(out, runs, [&](const TileRun& run) {
    unsigned flags = 0;
    if (columns.begin(run.slice) < span.begin_ns) flags |= kClippedLeft;
    if (columns.end(run.slice) > span.end_ns()) flags |= kClippedRight;
    if (run.slice < has_flow.size() && has_flow[run.slice]) flags |= kHasFlow;
    return static_cast<uint8_t>(flags);
  });
  if (!shades.empty())
    AppendArray(out, runs, [&](const TileRun& run) { return shades[run.slice]; });
}

}  // namespace

int64_t TileSpan::edge_ns(size_t bucket) const {
  return AddSaturating(begin_ns, static_cast<int64_t>(bucket) << level);
}

TileSpan SpanOf(const TileKey& key, int64_t base_ns) {
  return {AddSaturating(base_ns, static_cast<int64_t>(uint64_t{key.index} << (key.level + 10))),
          key.level};
}

std::vector<TileRun> ComputeRuns(const LaneRows& rows, size_t r, const TileSpan& span) {
  return RowWalk(rows, r, span).Walk();
}

TileWriter::TileWriter(std::string& out, const TileKey& key, TileKind kind, uint16_t flags)
    : out_(out), start_(out.size()) {
  Value(uint32_t{0});
  Value(key.track);
  Value(static_cast<uint8_t>(key.level));
  Value(static_cast<uint8_t>(kind));
  Value(flags);
  Value(key.index);
}

void TileWriter::Finish() {
  Align();
  const auto bytes = static_cast<uint32_t>(out_.size() - start_);
  std::memcpy(out_.data() + start_, &bytes, sizeof(bytes));
}

void AppendSliceTile(std::string& out, const TileKey& key, const LaneRows& rows, int64_t base_ns,
                     const std::vector<bool>& has_flow, std::span<const uint8_t> shades) {
  const TileSpan span = SpanOf(key, base_ns);
  const size_t row_count = std::min(rows.rows(), kMaxTileRows);
  std::vector<std::vector<TileRun>> runs(row_count);
  bool is_empty = true;
  for (size_t r = 0; r < row_count; ++r) {
    runs[r] = ComputeRuns(rows, r, span);
    is_empty = is_empty && runs[r].empty();
  }
  if (is_empty) return AppendBareTile(out, key, TileKind::kEmpty);
  TileWriter writer(out, key, TileKind::kSlices, shades.empty() ? 0 : kTileHasShades);
  writer.Value(static_cast<uint16_t>(row_count));
  writer.Value(uint16_t{0});
  for (const auto& row : runs) AppendRuns(out, row, rows, span, has_flow, shades);
  writer.Finish();
}

void AppendBareTile(std::string& out, const TileKey& key, TileKind kind) {
  TileWriter(out, key, kind).Finish();
}

}  // namespace steplens::server
