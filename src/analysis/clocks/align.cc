#include "analysis/clocks/align.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "analysis/classify/classify.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/collectives/collective_book.h"
#include "analysis/time_math.h"
#include "base/saturate.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

// offset[a] - offset[b] <= bound
struct Constraint {
  uint32_t a = 0;
  uint32_t b = 0;
  double bound_ns = 0;
};

// The clock each rank uses: one a host where hosts are known, else one a rank. Captures of a host
// that start with different shifts were not made at once: each has a clock of its own.
std::vector<uint32_t> ClocksOf(const store::Job& job, std::span<const int64_t> start_ns,
                               uint32_t& count) {
  std::map<std::pair<std::string, int64_t>, uint32_t> hosts;
  std::vector<uint32_t> clocks;
  count = 0;
  for (size_t r = 0; r < job.ranks.size(); ++r) {
    const cluster::RankFacts facts = cluster::DescribeRank(job.ranks[r]);
    const std::string host = facts.host_uid.empty() ? facts.host_name : facts.host_uid;
    if (host.empty()) {
      clocks.push_back(count++);
      continue;
    }
    const auto [place, is_new] = hosts.try_emplace({host, start_ns[r]}, count);
    if (is_new) ++count;
    clocks.push_back(place->second);
  }
  return clocks;
}

// The tightest bound between any two clocks.
class Bounds {
 public:
  void Add(uint32_t a, uint32_t b, int64_t bound_ns) {
    if (a == b) return;
    const auto [place, is_new] = bounds_.try_emplace({a, b}, bound_ns);
    place->second = std::min(place->second, bound_ns);
  }
  std::vector<Constraint> Take() const {
    std::vector<Constraint> out;
    for (const auto& [pair, bound_ns] : bounds_) {
      out.push_back({pair.first, pair.second, static_cast<double>(bound_ns)});
    }
    return out;
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, int64_t> bounds_;
};

// What one call says of each clock: latest start, earliest end.
struct ClockPart {
  uint32_t clock = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

void AddCall(const std::vector<ClockPart>& parts, Bounds& bounds) {
  constexpr size_t kAllPairs = 64;
  if (parts.size() <= kAllPairs) {
    for (const ClockPart& a : parts) {
      for (const ClockPart& b : parts)
        bounds.Add(a.clock, b.clock, SubtractSaturating(a.end_ns, b.begin_ns));
    }
    return;
  }
  // Of a large call, the constraints with its last starter and its first finisher.
  const auto last = std::max_element(parts.begin(), parts.end(), [](const auto& x, const auto& y) {
    return x.begin_ns < y.begin_ns;
  });
  const auto first = std::min_element(
      parts.begin(), parts.end(), [](const auto& x, const auto& y) { return x.end_ns < y.end_ns; });
  for (const ClockPart& part : parts) {
    bounds.Add(part.clock, last->clock, SubtractSaturating(part.end_ns, last->begin_ns));
    bounds.Add(first->clock, part.clock, SubtractSaturating(first->end_ns, part.begin_ns));
  }
}

// Between the clocks as `start_ns` shifts them.
std::vector<Constraint> CollectConstraints(const store::Job& job, std::span<const int64_t> start_ns,
                                           const std::vector<uint32_t>& clocks,
                                           std::vector<bool>& has_peers) {
  Bounds bounds;
  const CollectiveBook book(job);
  for (const CollectiveBook::Call& call : book.calls()) {
    if (call.parts.size() < 2) continue;
    std::map<uint32_t, ClockPart> by_clock;
    for (const CollectivePart& part : call.parts) {
      if (!IsPlausible(part.begin_ns, part.end_ns())) continue;
      has_peers[part.rank_index] = true;
      const uint32_t clock = clocks[part.rank_index];
      const int64_t begin_ns = SubtractSaturating(part.begin_ns, start_ns[part.rank_index]);
      const int64_t end_ns = SubtractSaturating(part.end_ns(), start_ns[part.rank_index]);
      const auto [place, is_new] = by_clock.try_emplace(clock, ClockPart{clock, begin_ns, end_ns});
      place->second.begin_ns = std::max(place->second.begin_ns, begin_ns);
      place->second.end_ns = std::min(place->second.end_ns, end_ns);
    }
    std::vector<ClockPart> parts;
    for (const auto& [clock, part] : by_clock) parts.push_back(part);
    AddCall(parts, bounds);
  }
  return bounds.Take();
}

// Projects onto one constraint after the other until all hold. Returns the largest violation left.
double Solve(const std::vector<Constraint>& constraints, std::vector<double>& offsets) {
  constexpr int kSweeps = 2000;
  constexpr double kGoodNs = 0.5;
  double worst_ns = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    worst_ns = 0;
    for (const Constraint& c : constraints) {
      const double violation_ns = offsets[c.a] - offsets[c.b] - c.bound_ns;
      if (violation_ns <= 0) continue;
      worst_ns = std::max(worst_ns, violation_ns);
      offsets[c.a] -= violation_ns / 2;
      offsets[c.b] += violation_ns / 2;
    }
    if (worst_ns <= kGoodNs) return 0;
  }
  return worst_ns;
}

// Half of the room each clock has while the others stay.
std::vector<double> Residuals(const std::vector<Constraint>& constraints,
                              const std::vector<double>& offsets) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> up(offsets.size(), kFar);
  std::vector<double> down(offsets.size(), kFar);
  for (const Constraint& c : constraints) {
    const double room_ns = std::max(0.0, c.bound_ns - (offsets[c.a] - offsets[c.b]));
    up[c.a] = std::min(up[c.a], room_ns);
    down[c.b] = std::min(down[c.b], room_ns);
  }
  std::vector<double> residuals(offsets.size());
  for (size_t i = 0; i < residuals.size(); ++i) residuals[i] = (up[i] + down[i]) / 2;
  return residuals;
}

// --- by a slice ------------------------------------------------------------------------------

enum class Lane : uint8_t { kUnfit, kHost, kDevice };

Lane LaneOf(TrackKind kind) {
  switch (kind) {
    case TrackKind::kHost:
    case TrackKind::kCann:
      return Lane::kHost;
    case TrackKind::kDevice:
    case TrackKind::kCommGroup:
    case TrackKind::kCommPlane:
      return Lane::kDevice;
    default:
      return Lane::kUnfit;
  }
}

struct Occurrence {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  size_t row = 0;
};

// Slices of the name on the lanes of one side, by start.
std::vector<Occurrence> Occurrences(const TraceStore& store, std::string_view name, Lane lane) {
  std::vector<Occurrence> out;
  const auto id = store.strings.Find(name);
  if (!id) return out;
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto t = static_cast<size_t>(store.slices.track[i]);
    if (store.slices.name[i] != *id || t >= kinds.size() || LaneOf(kinds[t]) != lane) continue;
    const int64_t begin_ns = store.slices.begin_ns[i];
    out.push_back({begin_ns, EndNs(begin_ns, store.slices.dur_ns[i]), i});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  return out;
}

RankOffsets Unshifted(size_t ranks) {
  return {std::vector<int64_t>(ranks, 0), std::vector<int64_t>(ranks, kNone),
          std::vector<std::string>(ranks), 0};
}

int64_t Anchor(int64_t begin_ns, int64_t end_ns, AlignSide side) {
  return side == AlignSide::kLeft ? begin_ns : end_ns;
}

RankOffsets AlignByCall(const store::Job& job, const CollectiveBook::Call& call,
                        int64_t base_anchor_ns, AlignSide side, int64_t base_offset_ns) {
  RankOffsets out = Unshifted(job.ranks.size());
  for (std::string& reason : out.failed) reason = "Slice not found";
  for (const CollectivePart& part : call.parts) {
    const int64_t anchor_ns = Anchor(part.begin_ns, part.end_ns(), side);
    out.offset_ns[part.rank_index] = AddNs(AddNs(anchor_ns, -base_anchor_ns), base_offset_ns);
    out.residual_ns[part.rank_index] = 0;
    out.failed[part.rank_index].clear();
  }
  return out;
}

}  // namespace

RankOffsets AlignByCollectives(const store::Job& job, std::span<const int64_t> start_ns) {
  RankOffsets out = Unshifted(job.ranks.size());
  std::copy(start_ns.begin(), start_ns.end(), out.offset_ns.begin());
  const std::vector<int64_t> start = out.offset_ns;
  uint32_t count = 0;
  const std::vector<uint32_t> clocks = ClocksOf(job, start, count);
  std::vector<bool> has_peers(job.ranks.size(), false);
  const std::vector<Constraint> constraints = CollectConstraints(job, start, clocks, has_peers);
  std::vector<double> offsets(count, 0);
  out.violation_ns = std::llround(Solve(constraints, offsets));
  const std::vector<double> residuals = Residuals(constraints, offsets);
  for (size_t r = 0; r < job.ranks.size(); ++r) {
    if (!has_peers[r]) {
      out.failed[r] = "no collective that another captured rank took part in";
      continue;
    }
    out.offset_ns[r] = AddNs(start[r], std::llround(offsets[clocks[r]] - offsets[clocks[0]]));
    const double residual_ns = residuals[clocks[r]];
    // Ranks of one host only: there is nothing to be wrong about.
    out.residual_ns[r] = std::isfinite(residual_ns) ? std::llround(residual_ns) : 0;
  }
  return out;
}

Result<RankOffsets> AlignBySlice(const store::Job& job, uint32_t base_rank_index,
                                 store::SliceId slice, AlignSide side, int64_t base_offset_ns) {
  const auto row = static_cast<size_t>(slice);
  if (base_rank_index >= job.ranks.size() || row >= job.ranks[base_rank_index].slices.size()) {
    return Error{ErrorCode::kNotFound, "there is no such slice"};
  }
  const TraceStore& base = job.ranks[base_rank_index];
  const std::vector<TrackKind> kinds = ClassifyTracks(base);
  const auto track = static_cast<size_t>(base.slices.track[row]);
  const Lane lane = track < kinds.size() ? LaneOf(kinds[track]) : Lane::kUnfit;
  if (lane == Lane::kUnfit) {
    return Error{ErrorCode::kInvalidArgument,
                 "slices of this lane cannot align ranks; choose one on a host thread, a stream or "
                 "a communication group"};
  }
  const int64_t begin_ns = base.slices.begin_ns[row];
  const int64_t anchor_ns = Anchor(begin_ns, EndNs(begin_ns, base.slices.dur_ns[row]), side);
  if (const auto comm_op = CommOpOf(base, slice); comm_op && lane == Lane::kDevice) {
    const CollectiveBook book(job);
    const CollectiveBook::Call* call = book.Find(base_rank_index, *comm_op);
    if (call != nullptr) return AlignByCall(job, *call, anchor_ns, side, base_offset_ns);
  }
  const std::string_view name = base.Text(base.slices.name[row]);
  const std::vector<Occurrence> own = Occurrences(base, name, lane);
  const auto k = static_cast<size_t>(
      std::find_if(own.begin(), own.end(), [&](const Occurrence& o) { return o.row == row; }) -
      own.begin());
  RankOffsets out = Unshifted(job.ranks.size());
  for (size_t r = 0; r < job.ranks.size(); ++r) {
    const std::vector<Occurrence> found =
        r == base_rank_index ? own : Occurrences(job.ranks[r], name, lane);
    if (found.empty()) {
      out.failed[r] = "Slice not found";
    } else if (found.size() <= k) {
      out.failed[r] = fmt::format("Insufficient slices: has {}, need {}", found.size(), k + 1);
    } else {
      const int64_t target_ns = Anchor(found[k].begin_ns, found[k].end_ns, side);
      out.offset_ns[r] = AddNs(AddNs(target_ns, -anchor_ns), base_offset_ns);
      out.residual_ns[r] = 0;
    }
  }
  return out;
}

}  // namespace steplens::analysis
