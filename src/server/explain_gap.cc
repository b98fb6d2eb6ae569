#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "server/api/flow_ends.h"
#include "server/explain.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxHostItems = 5;

struct Gap {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint32_t next = store::kNoId;  // the slice that ends it
  int64_t ns() const { return SubtractSaturating(end_ns, begin_ns); }
};

Result<Gap> FindGap(const LaneRows& rows, int64_t t_ns) {
  const SliceColumns& columns = rows.columns();
  Gap gap{INT64_MIN, INT64_MAX};
  for (size_t r = 0; r < rows.rows(); ++r) {
    const auto slices = rows.row(r);
    const auto at = std::partition_point(
        slices.begin(), slices.end(), [&](uint32_t slice) { return columns.begin(slice) <= t_ns; });
    if (at != slices.begin()) {
      const int64_t end_ns = columns.end(*(at - 1));
      if (end_ns > t_ns)
        return Error{ErrorCode::kInvalidArgument, "there is no gap here: a slice is running"};
      gap.begin_ns = std::max(gap.begin_ns, end_ns);
    }
    if (at != slices.end() && columns.begin(*at) < gap.end_ns) {
      gap.end_ns = columns.begin(*at);
      gap.next = *at;
    }
  }
  if (gap.next == store::kNoId)
    return Error{ErrorCode::kInvalidArgument, "nothing follows here: the lane has ended"};
  if (gap.begin_ns == INT64_MIN)
    return Error{ErrorCode::kInvalidArgument, "nothing is before this: the lane has not begun"};
  return gap;
}

std::string Us(int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1000); }

double ShareOf(int64_t ns, int64_t whole_ns) {
  return whole_ns <= 0 ? 0 : static_cast<double>(ns) / static_cast<double>(whole_ns);
}

int64_t Overlap(const std::vector<const LaneRows*>& lanes, int64_t from_ns, int64_t to_ns) {
  int64_t sum_ns = 0;
  for (const analysis::Interval& busy : BusyIntervals(lanes, from_ns, to_ns))
    sum_ns += SharedNs(busy.begin_ns, busy.end_ns, from_ns, to_ns);
  return sum_ns;
}

// What kind of host work a name stands for, where it is known to stall the device.
std::string_view HostKind(std::string_view name) {
  for (const std::string_view word :
       {"ynchronize", "aten::item", "_local_scalar_dense", "StreamSync"}) {
    if (name.find(word) != std::string_view::npos) return "synchronise";
  }
  if (name.find("DataLoader") != std::string_view::npos) return "data loading";
  if (name == "gc" || name.find("garbage") != std::string_view::npos) return "garbage collection";
  if (name.find("ompile") != std::string_view::npos) return "compilation";
  return "host work";
}

// The innermost slices of a lane that took most of [from, to).
void AddHostWork(const Dataset::View& view, const Lane& lane, int64_t from_ns, int64_t to_ns,
                 int64_t gap_ns, std::vector<ExplainItem>& items) {
  const LaneRows& rows = lane.rows;
  const SliceColumns& columns = rows.columns();
  struct Candidate {
    int64_t self_ns;
    uint32_t slice;
  };
  std::vector<Candidate> candidates;
  const auto clipped = [&](uint32_t slice) {
    return SharedNs(columns.begin(slice), columns.end(slice), from_ns, to_ns);
  };
  for (size_t r = 0; r < rows.rows(); ++r) {
    const auto [lo, hi] = rows.Touching(r, from_ns, to_ns);
    for (const uint32_t slice : rows.row(r).subspan(lo, hi - lo)) {
      int64_t self_ns = clipped(slice);
      if (r + 1 < rows.rows()) {
        const auto [first, last] = rows.Touching(r + 1, std::max(columns.begin(slice), from_ns),
                                                 std::min(columns.end(slice), to_ns));
        for (const uint32_t child : rows.row(r + 1).subspan(first, last - first))
          self_ns -= clipped(child);
      }
      if (self_ns > 0) candidates.push_back({self_ns, slice});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.self_ns != b.self_ns ? a.self_ns > b.self_ns : a.slice < b.slice;
  });
  candidates.resize(std::min(candidates.size(), kMaxHostItems));
  for (const Candidate& one : candidates) {
    const std::string name(view.names().Text(columns.name_of(one.slice)));
    const std::string kind(HostKind(name));
    ExplainItem item;
    item.wording = {
        "explain.gap.host_op",
        {{"name", name}, {"kind", kind}, {"us", Us(one.self_ns)}},
        fmt::format("{} ({}) took {} us of it on the host", name, kind, Us(one.self_ns))};
    item.share = ShareOf(one.self_ns, gap_ns);
    item.ns = one.self_ns;
    item.lane = &lane;
    item.slice = one.slice;
    item.begin_ns = columns.begin(one.slice);
    item.end_ns = columns.end(one.slice);
    items.push_back(std::move(item));
  }
}

// The host slice that launched a device slice, through any kind of arrow.
std::optional<FlowNeighbour> LauncherOf(const Dataset::View& view, const Lane& lane,
                                        uint32_t slice) {
  std::optional<FlowNeighbour> out;
  for (const FlowNeighbour& other : FlowNeighbours(view, lane, slice)) {
    if (!other.is_incoming || (other.lane->flags & kHostLane) == 0) continue;
    // The latest caller is the one that made the device start.
    if (!out ||
        other.lane->rows.columns().begin(other.slice) > out->lane->rows.columns().begin(out->slice))
      out = other;
  }
  return out;
}

struct Part {
  std::string_view key;
  std::string_view label;
  int64_t ns = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

void AddPart(const Part& part, const Lane& lane, int64_t gap_ns, std::vector<ExplainItem>& items) {
  if (part.ns <= 0) return;
  ExplainItem item;
  item.wording = {std::string(part.key),
                  {{"us", Us(part.ns)}},
                  fmt::format("{}: {} us", part.label, Us(part.ns))};
  item.share = ShareOf(part.ns, gap_ns);
  item.ns = part.ns;
  item.lane = &lane;
  item.begin_ns = part.begin_ns;
  item.end_ns = part.end_ns;
  items.push_back(std::move(item));
}

// The part of a gap in which the task was launched already: others kept it from starting.
void AddDeviceParts(const Dataset::View& view, const Lane& lane, int64_t from_ns, int64_t to_ns,
                    int64_t gap_ns, std::vector<ExplainItem>& items) {
  std::vector<const LaneRows*> communication;
  std::vector<const LaneRows*> streams;
  for (const auto& other : view.RankOf(lane).timeline->lanes()) {
    if (other->kind != LaneKind::kSlices || other.get() == &lane || other->is_derived()) continue;
    if ((other->flags & kCommGroupLane) != 0) {
      communication.push_back(&other->rows);
    } else if ((other->flags & (kDeviceLane | kCommPlaneLane)) == kDeviceLane) {
      streams.push_back(&other->rows);
    }
  }
  const int64_t comm_ns = Overlap(communication, from_ns, to_ns);
  std::vector<const LaneRows*> both = communication;
  both.insert(both.end(), streams.begin(), streams.end());
  const int64_t other_ns = Overlap(both, from_ns, to_ns) - comm_ns;
  AddPart({"explain.gap.communication", "Waiting for communication", comm_ns, from_ns, to_ns}, lane,
          gap_ns, items);
  AddPart(
      {"explain.gap.dependency", "Waiting for work on another stream", other_ns, from_ns, to_ns},
      lane, gap_ns, items);
  AddPart({"explain.gap.latency", "Launched but not started (launch latency)",
           to_ns - from_ns - comm_ns - other_ns, from_ns, to_ns},
          lane, gap_ns, items);
}

}  // namespace

Result<Explanation> ExplainGap(const Dataset::View& view, const Lane& lane, int64_t t_ns) {
  if (lane.kind != LaneKind::kSlices)
    return Error{ErrorCode::kInvalidArgument, "only lanes with slices have gaps"};
  SL_ASSIGN_OR_RETURN(const Gap gap, FindGap(lane.rows, t_ns));
  Explanation out;
  out.title = {"explain.gap.title",
               {{"us", Us(gap.ns())}},
               fmt::format("Nothing ran for {} us", Us(gap.ns()))};
  const auto launcher = LauncherOf(view, lane, gap.next);
  const std::string next(view.names().Text(lane.rows.columns().name_of(gap.next)));
  if (!launcher) {
    AddDeviceParts(view, lane, gap.begin_ns, gap.end_ns, gap.ns(), out.items);
    for (ExplainItem& item : out.items) {
      if (item.wording.key != "explain.gap.latency") continue;
      item.wording = {"explain.gap.unknown",
                      {{"us", Us(item.ns)}},
                      fmt::format("Idle for {} us; the capture does not say who launched what "
                                  "follows",
                                  Us(item.ns))};
    }
  } else {
    const SliceColumns& host = launcher->lane->rows.columns();
    const int64_t launch_ns = std::clamp(host.begin(launcher->slice), gap.begin_ns, gap.end_ns);
    AddPart({"explain.gap.host", "Host-bound: not launched yet", launch_ns - gap.begin_ns,
             gap.begin_ns, launch_ns},
            lane, gap.ns(), out.items);
    if (launch_ns > gap.begin_ns)
      AddHostWork(view, *launcher->lane, gap.begin_ns, launch_ns, gap.ns(), out.items);
    AddDeviceParts(view, lane, launch_ns, gap.end_ns, gap.ns(), out.items);
    ExplainItem launch;
    launch.wording = {
        "explain.gap.launch",
        {{"name", next}, {"host", std::string(view.names().Text(host.name_of(launcher->slice)))}},
        fmt::format("{} follows, launched by {}", next,
                    view.names().Text(host.name_of(launcher->slice)))};
    launch.lane = launcher->lane;
    launch.slice = launcher->slice;
    launch.begin_ns = host.begin(launcher->slice);
    launch.end_ns = host.end(launcher->slice);
    out.items.push_back(std::move(launch));
  }
  const auto largest = std::max_element(
      out.items.begin(), out.items.end(), [](const ExplainItem& a, const ExplainItem& b) {
        const auto weight = [](const ExplainItem& item) {
          return item.wording.key == "explain.gap.host_op" ? -1.0 : item.share;
        };
        return weight(a) < weight(b);
      });
  if (largest != out.items.end()) {
    out.verdict = largest->wording;
  } else {
    out.verdict = out.title;
  }
  return out;
}

}  // namespace steplens::server
