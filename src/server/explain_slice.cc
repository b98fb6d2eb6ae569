#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "server/align_ranks.h"
#include "server/explain.h"
#include "server/percentiles.h"

namespace steplens::server {
namespace {

std::string Us(int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1000); }

double ShareOf(int64_t ns, int64_t whole_ns) {
  return whole_ns <= 0 ? 0 : static_cast<double>(ns) / static_cast<double>(whole_ns);
}

// The same collective on every rank that shows it, with its times as shown.
struct Member {
  size_t slot = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

std::vector<Member> MembersOf(const Dataset::View& view, const Lane& lane, uint32_t slice,
                              const std::vector<int64_t>& base_ns) {
  const store::TraceStore& own = *view.RankOf(lane).store;
  const int64_t begin_ns = own.slices.begin_ns[slice];
  std::vector<RankCollectives> ranks;
  for (const auto& rank : view.ranks()) ranks.push_back(CollectivesOf(*rank->store));
  const RankCollectives& mine = ranks[lane.rank_slot];
  const auto self = std::find_if(mine.begin(), mine.end(), [&](const auto& entry) {
    return entry.second.begin_ns == begin_ns;
  });
  std::vector<Member> out;
  if (self == mine.end()) return out;
  for (size_t slot = 0; slot < ranks.size(); ++slot) {
    const auto found = ranks[slot].find(self->first);
    if (found == ranks[slot].end()) continue;
    out.push_back({slot, SubtractSaturating(found->second.begin_ns, base_ns[slot]),
                   SubtractSaturating(found->second.end_ns, base_ns[slot])});
  }
  return out;
}

// The lane and slice of a rank that begins a collective at a time.
std::pair<const Lane*, uint32_t> FindBegin(const ShownRank& rank, int64_t begin_ns) {
  for (const auto& lane : rank.timeline->lanes()) {
    if (lane->kind != LaneKind::kSlices || (lane->flags & kDeviceLane) == 0) continue;
    if ((lane->flags & kCommPlaneLane) != 0) continue;
    for (size_t r = 0; r < lane->rows.rows(); ++r) {
      const auto [lo, hi] = lane->rows.Touching(r, begin_ns, begin_ns + 1);
      for (const uint32_t slice : lane->rows.row(r).subspan(lo, hi - lo)) {
        if (lane->rows.columns().begin(slice) == begin_ns) return {lane.get(), slice};
      }
    }
  }
  return {nullptr, store::kNoId};
}

// What the rank's device did last before a time.
std::pair<const Lane*, uint32_t> LastBefore(const ShownRank& rank, int64_t t_ns) {
  std::pair<const Lane*, uint32_t> out{nullptr, store::kNoId};
  int64_t latest_ns = INT64_MIN;
  for (const auto& lane : rank.timeline->lanes()) {
    if (lane->kind != LaneKind::kSlices || lane->is_derived()) continue;
    if ((lane->flags & kDeviceLane) == 0 || (lane->flags & (kCommGroupLane | kCommPlaneLane)) != 0)
      continue;
    for (size_t r = 0; r < lane->rows.rows(); ++r) {
      const auto slices = lane->rows.row(r);
      const auto at = std::partition_point(slices.begin(), slices.end(), [&](uint32_t slice) {
        return lane->rows.columns().end(slice) <= t_ns;
      });
      if (at == slices.begin()) continue;
      const int64_t end_ns = lane->rows.columns().end(*(at - 1));
      if (end_ns > latest_ns) {
        latest_ns = end_ns;
        out = {lane.get(), *(at - 1)};
      }
    }
  }
  return out;
}

ExplainItem ItemAt(Wording wording, int64_t ns, int64_t whole_ns, const Lane* lane,
                   uint32_t slice) {
  ExplainItem item;
  item.wording = std::move(wording);
  item.ns = ns;
  item.share = ShareOf(ns, whole_ns);
  item.lane = lane;
  item.slice = slice;
  if (lane != nullptr && slice != store::kNoId) {
    item.begin_ns = lane->rows.columns().begin(slice);
    item.end_ns = lane->rows.columns().end(slice);
  }
  return item;
}

}  // namespace

Result<Explanation> ExplainWait(const Dataset::View& view, const Lane& lane, uint32_t slice,
                                const std::vector<int64_t>& base_ns) {
  if (lane.is_derived())
    return Error{ErrorCode::kInvalidArgument, "this lane is derived; choose a collective"};
  const std::vector<Member> members = MembersOf(view, lane, slice, base_ns);
  if (members.empty()) return Error{ErrorCode::kInvalidArgument, "this slice is not a collective"};
  const SliceColumns& columns = lane.rows.columns();
  const std::string name(view.names().Text(columns.name_of(slice)));
  const int64_t dur_ns = columns.dur_ns[slice];
  Explanation out;
  out.title = {"explain.wait.title",
               {{"name", name}, {"us", Us(dur_ns)}, {"ranks", std::to_string(members.size())}},
               fmt::format("{} took {} us; {} ranks show it", name, Us(dur_ns), members.size())};
  if (members.size() == 1) {
    out.verdict = {
        "explain.wait.alone",
        {},
        "No other rank that is open shows this collective, so waiting and transfer cannot "
        "be told apart."};
    return out;
  }
  const auto last =
      std::max_element(members.begin(), members.end(),
                       [](const Member& a, const Member& b) { return a.begin < b.begin; });
  const ShownRank& last_rank = *view.ranks()[last->slot];
  const std::string last_name = std::to_string(last_rank.rank);
  const int64_t own_begin = SubtractSaturating(columns.begin(slice), base_ns[lane.rank_slot]);
  const int64_t skew_ns =
      std::clamp<int64_t>(SubtractSaturating(last->begin, own_begin), 0, dur_ns);
  const auto [last_lane, last_slice] =
      FindBegin(last_rank, AddSaturating(last->begin, base_ns[last->slot]));
  out.items.push_back(ItemAt(
      {"explain.wait.skew",
       {{"us", Us(skew_ns)}, {"rank", last_name}},
       fmt::format("Waiting for rank {}, the last to arrive: {} us", last_name, Us(skew_ns))},
      skew_ns, dur_ns, last_lane, last_slice));
  out.items.push_back(ItemAt({"explain.wait.transfer",
                              {{"us", Us(dur_ns - skew_ns)}},
                              fmt::format("Transfer: {} us", Us(dur_ns - skew_ns))},
                             dur_ns - skew_ns, dur_ns, &lane, slice));
  if (last->slot != lane.rank_slot) {
    const auto [before_lane, before] =
        LastBefore(last_rank, AddSaturating(last->begin, base_ns[last->slot]));
    if (before_lane != nullptr) {
      const std::string before_name(view.names().Text(before_lane->rows.columns().name_of(before)));
      out.items.push_back(
          ItemAt({"explain.wait.before",
                  {{"rank", last_name}, {"name", before_name}},
                  fmt::format("Rank {} ran {} before it arrived", last_name, before_name)},
                 0, dur_ns, before_lane, before));
    }
  }
  out.verdict = skew_ns * 2 > dur_ns ? out.items[0].wording : out.items[1].wording;
  return out;
}

namespace {

// The kernel row of a device slice; the number of rows if there is none.
size_t KernelRow(const store::TraceStore& store, uint32_t slice) {
  const auto begins = store.kernels.begin_ns.span();
  for (size_t row = 0; row < begins.size(); ++row) {
    if (begins[row] == store.slices.begin_ns[slice] &&
        store.kernels.name[row] == store.slices.name[slice])
      return row;
  }
  return begins.size();
}

// Least value of a counter during a time, and its greatest over all.
void CompareFrequency(const ShownRank& rank, int64_t begin_ns, int64_t end_ns, Explanation& out) {
  for (const auto& lane : rank.timeline->lanes()) {
    if (lane->kind != LaneKind::kCounter || lane->name.find("Freq") == std::string::npos) continue;
    double greatest = 0;
    for (size_t i = 0; i < lane->counter.size(); ++i)
      greatest = std::max(greatest, lane->counter.value(i));
    size_t at = lane->counter.LowerBound(begin_ns);
    double least = at > 0 ? lane->counter.value(at - 1) : greatest;
    for (; at < lane->counter.size() && lane->counter.ts_ns(at) < end_ns; ++at)
      least = std::min(least, lane->counter.value(at));
    if (greatest <= 0 || least >= greatest * 0.95) return;
    ExplainItem item;
    item.wording = {
        "explain.slice.frequency",
        {{"least", fmt::format("{:.0f}", least)}, {"most", fmt::format("{:.0f}", greatest)}},
        fmt::format("The core ran at {:.0f} MHz, elsewhere at up to {:.0f} MHz", least, greatest)};
    item.share = 1 - least / greatest;
    item.lane = lane.get();
    item.begin_ns = begin_ns;
    item.end_ns = end_ns;
    out.items.push_back(std::move(item));
    return;
  }
}

void CompareContention(const ShownRank& rank, const Lane& lane, int64_t begin_ns, int64_t end_ns,
                       Explanation& out) {
  if ((lane.flags & (kCommGroupLane | kCommPlaneLane)) != 0) return;
  int64_t overlap_ns = 0;
  const Lane* where = nullptr;
  for (const auto& other : rank.timeline->lanes()) {
    if (other->kind != LaneKind::kSlices || (other->flags & kCommGroupLane) == 0) continue;
    int64_t here_ns = 0;
    for (const analysis::Interval& busy : BusyIntervals({&other->rows}, begin_ns, end_ns))
      here_ns += SharedNs(busy.begin_ns, busy.end_ns, begin_ns, end_ns);
    if (here_ns > overlap_ns) {
      overlap_ns = here_ns;
      where = other.get();
    }
  }
  if (overlap_ns == 0) return;
  ExplainItem item = ItemAt({"explain.slice.contention",
                             {{"us", Us(overlap_ns)}},
                             fmt::format("A collective ran beside it for {} us", Us(overlap_ns))},
                            overlap_ns, end_ns - begin_ns, where, store::kNoId);
  item.begin_ns = begin_ns;
  item.end_ns = end_ns;
  out.items.push_back(std::move(item));
}

}  // namespace

Result<Explanation> ExplainSlice(const Dataset::View& view, const Lane& lane, uint32_t slice) {
  if (lane.is_derived())
    return Error{ErrorCode::kInvalidArgument, "this lane is derived; choose a task or operator"};
  const ShownRank& rank = view.RankOf(lane);
  const store::TraceStore& store = *rank.store;
  const SliceColumns& columns = lane.rows.columns();
  const std::string name(view.names().Text(columns.name_of(slice)));
  const size_t kernel = KernelRow(store, slice);
  std::vector<int64_t> siblings;
  if (kernel < store.kernels.size()) {
    for (size_t row = 0; row < store.kernels.size(); ++row) {
      if (store.kernels.type[row] == store.kernels.type[kernel] &&
          store.kernels.input_shapes[row] == store.kernels.input_shapes[kernel])
        siblings.push_back(store.kernels.dur_ns[row]);
    }
  } else {
    for (size_t i = 0; i < columns.name.size(); ++i) {
      if (columns.name[i] == columns.name[slice]) siblings.push_back(columns.dur_ns[i]);
    }
  }
  const int64_t own_ns = columns.dur_ns[slice];
  const int64_t median_ns = Percentile(siblings, 50);
  const double ratio =
      median_ns == 0 ? 1 : static_cast<double>(own_ns) / static_cast<double>(median_ns);
  Explanation out;
  out.title = {"explain.slice.title",
               {{"name", name},
                {"us", Us(own_ns)},
                {"median", Us(median_ns)},
                {"count", std::to_string(siblings.size())}},
               fmt::format("{} took {} us; the median of {} like it is {} us", name, Us(own_ns),
                           siblings.size(), Us(median_ns))};
  CompareFrequency(rank, columns.begin(slice), columns.end(slice), out);
  CompareContention(rank, lane, columns.begin(slice), columns.end(slice), out);
  if (kernel < store.kernels.size()) {
    const std::string core(store.Text(store.kernels.core[kernel]));
    out.items.push_back(
        ItemAt({"explain.slice.core",
                {{"core", core}},
                fmt::format("It ran on {}", core.empty() ? "an unknown core" : core)},
               0, own_ns, &lane, slice));
  }
  const std::string times = fmt::format("{:.2f}", ratio);
  if (ratio < 1.2) {
    out.verdict = {"explain.slice.usual",
                   {{"ratio", times}},
                   fmt::format("It is as fast as the others ({} times the median)", times)};
  } else if (!out.items.empty() && out.items.front().wording.key != "explain.slice.core") {
    out.verdict = out.items.front().wording;
  } else {
    out.verdict = {
        "explain.slice.unknown",
        {{"ratio", times}},
        fmt::format("It took {} times the median; the capture does not show why", times)};
  }
  return out;
}

}  // namespace steplens::server
