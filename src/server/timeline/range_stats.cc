#include "server/timeline/range_stats.h"

#include <algorithm>

#include "server/percentiles.h"

namespace steplens::server {
namespace {

// A run of positions of one row.
struct Segment {
  const RangeLane* lane;
  size_t row;
  size_t first;
  size_t last;  // exclusive
  size_t size() const { return last - first; }
  std::span<const uint32_t> slices() const {
    return lane->rows->row(row).subspan(first, last - first);
  }
};

std::vector<Segment> FindSegments(const std::vector<RangeLane>& lanes,
                                  const RangeOptions& options) {
  std::vector<Segment> out;
  for (const RangeLane& lane : lanes) {
    const SliceColumns& columns = lane.rows->columns();
    for (size_t r = options.first_row; r < lane.rows->rows() && r <= options.last_row; ++r) {
      const auto row = lane.rows->row(r);
      const auto first = std::partition_point(
          row.begin(), row.end(), [&](uint32_t slice) { return columns.end(slice) < lane.t0_ns; });
      const auto last = std::partition_point(
          first, row.end(), [&](uint32_t slice) { return columns.begin(slice) <= lane.t1_ns; });
      if (first == last) continue;
      out.push_back({&lane, r, static_cast<size_t>(first - row.begin()),
                     static_cast<size_t>(last - row.begin())});
    }
  }
  return out;
}

// Divides the segments, in order, into `parts` lists of about equal length.
std::vector<std::vector<Segment>> Share(const std::vector<Segment>& segments, size_t parts) {
  size_t total = 0;
  for (const Segment& segment : segments) total += segment.size();
  const size_t each = total / parts + 1;
  std::vector<std::vector<Segment>> out(parts);
  size_t part = 0;
  size_t left = each;
  for (Segment segment : segments) {
    while (segment.size() > left) {
      Segment head = segment;
      head.last = head.first + left;
      if (left > 0) out[part].push_back(head);
      segment.first = head.last;
      ++part;
      left = each;
    }
    out[part].push_back(segment);
    left -= segment.size();
  }
  return out;
}

// What one thread adds up. First the slices of each name are counted, so that their durations have
// places; then they are measured.
class Part {
 public:
  Part(std::vector<Segment> segments, bool clip) : segments_(std::move(segments)), clip_(clip) {}

  void Count(size_t name_count) {
    counts_.assign(name_count, 0);
    for (const Segment& segment : segments_) {
      const SliceColumns columns = segment.lane->rows->columns();
      for (const uint32_t slice : segment.slices()) ++counts_[columns.name_of(slice)];
    }
  }
  uint32_t count(size_t name) const { return counts_[name]; }

  // `next` says for each slot where in `durations` its next one goes.
  void Measure(const std::vector<uint32_t>& slot_of_name, std::vector<size_t> next,
               std::vector<int64_t>& durations) {
    stats_.resize(next.size());
    next_ = std::move(next);
    for (const Segment& segment : segments_) MeasureSegment(segment, slot_of_name, durations);
  }
  const NameStats& stats(size_t slot) const { return stats_[slot]; }

 private:
  void MeasureSegment(const Segment& segment, const std::vector<uint32_t>& slot_of_name,
                      std::vector<int64_t>& durations) {
    const LaneRows& rows = *segment.lane->rows;
    const SliceColumns columns = rows.columns();  // a copy: what is written here cannot change it
    const auto slices = segment.slices();
    const auto below =
        segment.row + 1 < rows.rows() ? rows.row(segment.row + 1) : std::span<const uint32_t>();
    const int64_t from_ns = columns.begin(slices.front());
    auto child = std::partition_point(
        below.begin(), below.end(), [&](uint32_t slice) { return columns.begin(slice) < from_ns; });
    const auto length = [&](uint32_t slice) {
      if (!clip_) return columns.dur(slice);
      return SharedNs(columns.begin(slice), columns.end(slice), segment.lane->t0_ns,
                      segment.lane->t1_ns);
    };
    for (const uint32_t slice : slices) {
      const int64_t begin_ns = columns.begin(slice);
      const int64_t end_ns = columns.end(slice);
      int64_t inside_ns = 0;
      while (child != below.end() && columns.begin(*child) < begin_ns) ++child;
      for (; child != below.end() && columns.end(*child) <= end_ns; ++child)
        inside_ns = AddSaturating(inside_ns, length(*child));
      const int64_t dur_ns = length(slice);
      const uint32_t slot = slot_of_name[columns.name_of(slice)];
      Add(stats_[slot], dur_ns, std::max<int64_t>(0, dur_ns - inside_ns));
      durations[next_[slot]++] = dur_ns;
    }
  }

  static void Add(NameStats& stats, int64_t dur_ns, int64_t self_ns) {
    stats.wall_ns = AddSaturating(stats.wall_ns, dur_ns);
    stats.self_ns = AddSaturating(stats.self_ns, self_ns);
    stats.min_ns = std::min(stats.min_ns, dur_ns);
    stats.max_ns = std::max(stats.max_ns, dur_ns);
  }

  std::vector<Segment> segments_;
  bool clip_;
  std::vector<uint32_t> counts_;  // by name
  std::vector<size_t> next_;      // by slot
  std::vector<NameStats> stats_;  // by slot
};

void Merge(NameStats& into, const NameStats& part) {
  into.wall_ns = AddSaturating(into.wall_ns, part.wall_ns);
  into.self_ns = AddSaturating(into.self_ns, part.self_ns);
  into.min_ns = std::min(into.min_ns, part.min_ns);
  into.max_ns = std::max(into.max_ns, part.max_ns);
}

}  // namespace

std::vector<NameStats> ComputeRangeStats(const std::vector<RangeLane>& lanes,
                                         const RangeOptions& options, size_t name_count,
                                         ThreadPool& pool) {
  std::vector<Part> parts;
  for (auto& segments : Share(FindSegments(lanes, options), pool.threads()))
    parts.emplace_back(std::move(segments), options.clip);
  pool.ParallelFor(parts.size(), [&](size_t i) { parts[i].Count(name_count); });

  std::vector<NameStats> out;
  std::vector<uint32_t> slot_of_name(name_count, 0);
  std::vector<size_t> begin_of_slot;  // in durations
  std::vector<std::vector<size_t>> next(parts.size());
  size_t total = 0;
  for (uint32_t name = 0; name < name_count; ++name) {
    const size_t begin = total;
    for (const Part& part : parts) total += part.count(name);
    if (total == begin) continue;
    slot_of_name[name] = static_cast<uint32_t>(out.size());
    out.push_back({.name = name, .count = static_cast<int64_t>(total - begin)});
    begin_of_slot.push_back(begin);
    size_t at = begin;
    for (size_t i = 0; i < parts.size(); ++i) {
      next[i].push_back(at);
      at += parts[i].count(name);
    }
  }

  std::vector<int64_t> durations(total);
  pool.ParallelFor(parts.size(), [&](size_t i) {
    parts[i].Measure(slot_of_name, std::move(next[i]), durations);
  });
  constexpr size_t kSlotsATask = 16;
  pool.ParallelFor((out.size() + kSlotsATask - 1) / kSlotsATask, [&](size_t task) {
    const size_t end = std::min(out.size(), (task + 1) * kSlotsATask);
    for (size_t slot = task * kSlotsATask; slot < end; ++slot) {
      NameStats& stats = out[slot];
      for (const Part& part : parts) Merge(stats, part.stats(slot));
      const Percentiles spread = PercentilesOf(
          std::span(durations).subspan(begin_of_slot[slot], static_cast<size_t>(stats.count)));
      stats.p50_ns = spread.p50;
      stats.p90_ns = spread.p90;
      stats.p99_ns = spread.p99;
    }
  });
  return out;
}

}  // namespace steplens::server
