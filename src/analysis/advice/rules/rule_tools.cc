#include "analysis/advice/rules/rule_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/launches/launches.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"
#include "analysis/whatif/call_sites.h"

namespace steplens::analysis {
namespace {

using store::SliceId;

// "ProfilerStep#3", "Optimizer.step#SGD.step", "enumerate(DataLoader)#...": ranges, though recorded
// as operators.
bool IsRange(std::string_view name) { return name.find('#') != std::string_view::npos; }

bool IsAmong(std::span<const SliceId> ascending, SliceId slice) {
  return std::binary_search(ascending.begin(), ascending.end(), slice);
}

Edit RemovalOf(const RankEvidence& rank, EditSelector::Part part) {
  Edit edit{.action = Edit::Action::kRemove, .factor = 0};
  edit.selector.part = part;
  edit.selector.rank = rank.rank();
  return edit;
}

}  // namespace

Cover HostSteps(const RankEvidence& rank) {
  std::vector<Interval> windows;
  for (const StepRange& step : rank.view().steps())
    windows.push_back({step.host_begin_ns, step.host_end_ns});
  if (windows.empty()) windows.push_back({INT64_MIN / 4, INT64_MAX / 4});
  return Cover(std::move(windows));
}

std::vector<uint32_t> OutermostOps(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const std::vector<HostOp>& ops = rank.host_ops().ops;
  const Cover steps = HostSteps(rank);
  std::vector<SliceId> ranges;
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const auto slice = static_cast<size_t>(ops[i].slice);
    if (IsRange(store.Text(store.slices.name[slice]))) ranges.push_back(ops[i].slice);
  }
  std::sort(ranges.begin(), ranges.end());
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (ops[i].parent != store::kNoSlice && !IsAmong(ranges, ops[i].parent)) continue;
    if (IsAmong(ranges, ops[i].slice)) continue;
    const int64_t begin_ns = store.slices.begin_ns[static_cast<size_t>(ops[i].slice)];
    if (steps.Within({begin_ns, AddNs(begin_ns, 1)}) > 0) out.push_back(i);
  }
  const auto track = [&](uint32_t i) {
    return store.slices.track[static_cast<size_t>(ops[i].slice)];
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](uint32_t a, uint32_t b) { return track(a) < track(b); });
  return out;
}

std::vector<OpRun> FindOpRuns(const RankEvidence& rank, const OpRunLimits& limits) {
  const store::TraceStore& store = rank.store();
  std::vector<SliceId> ops;
  for (const uint32_t i : OutermostOps(rank)) ops.push_back(rank.host_ops().ops[i].slice);
  const std::vector<std::vector<SliceId>> work = WorkOfEach(rank, ops);
  std::vector<OpRun> runs;
  OpRun run;
  store::TrackId track = store::kNoTrack;
  const auto finish = [&] {
    if (run.slices.size() >= limits.fewest_ops) runs.push_back(std::move(run));
    run = {};
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto slice = static_cast<size_t>(ops[i]);
    const Interval range{store.slices.begin_ns[slice],
                         EndNs(store.slices.begin_ns[slice], store.slices.dur_ns[slice])};
    const int64_t length_ns = range.end_ns - range.begin_ns;
    const std::string_view name = store.Text(store.slices.name[slice]);
    const bool is_long = length_ns > limits.longest_op_ns || TotalOf(store, work[i]) > length_ns;
    if (store.slices.track[slice] != track || is_long ||
        (!run.slices.empty() && range.begin_ns - run.range.end_ns > limits.longest_gap_ns)) {
      finish();
    }
    track = store.slices.track[slice];
    if (is_long) continue;
    if (std::find(run.names.begin(), run.names.end(), name) == run.names.end()) {
      if (run.names.size() == limits.most_names) finish();
      run.names.push_back(name);
    }
    if (run.slices.empty()) {
      run.range = range;
    } else {
      run.later_work.insert(run.later_work.end(), work[i].begin(), work[i].end());
    }
    run.range.end_ns = std::max(run.range.end_ns, range.end_ns);
    run.slices.push_back(ops[i]);
  }
  finish();
  return runs;
}

std::vector<std::vector<SliceId>> WorkOfEach(const RankEvidence& rank,
                                             std::span<const SliceId> host) {
  constexpr int64_t kNotAsked = -1;
  constexpr int64_t kOutside = -2;
  const RankView& view = rank.view();
  const store::TraceStore& store = rank.store();
  std::vector<int64_t> owner(store.slices.size(), kNotAsked);  // by slice: a row of `host`
  for (size_t i = 0; i < host.size(); ++i)
    owner[static_cast<size_t>(host[i])] = static_cast<int64_t>(i);
  std::vector<size_t> path;
  const auto owner_of = [&](SliceId at) {
    path.clear();
    int64_t answer = kOutside;
    for (; at != store::kNoSlice; at = view.nesting().parent[static_cast<size_t>(at)]) {
      if (owner[static_cast<size_t>(at)] != kNotAsked) {
        answer = owner[static_cast<size_t>(at)];
        break;
      }
      path.push_back(static_cast<size_t>(at));
    }
    for (const size_t slice : path) owner[slice] = answer;
    return answer;
  };
  std::vector<std::vector<SliceId>> out(host.size());
  ForEachOperatorLaunch(store, view.tracks(), [&](const Launch& launch) {
    const SliceId from = launch.call != store::kNoSlice
                             ? launch.call
                             : view.nesting().InnermostAt(store, view.track_index(),
                                                          launch.host_track, launch.host_ns);
    const int64_t row = owner_of(from);
    if (row >= 0) out[static_cast<size_t>(row)].push_back(launch.device);
  });
  return out;
}

std::vector<SliceId> LaunchedBy(const RankEvidence& rank, std::span<const SliceId> host) {
  std::vector<SliceId> out;
  for (const std::vector<SliceId>& work : WorkOfEach(rank, host))
    out.insert(out.end(), work.begin(), work.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Edit> RemoveWork(const RankEvidence& rank, std::vector<SliceId> host,
                             std::vector<SliceId> device) {
  std::vector<Edit> out;
  if (!device.empty()) {
    out.push_back(RemovalOf(rank, EditSelector::Part::kKernel));
    out.back().selector.slices = device;
    out.push_back(RemovalOf(rank, EditSelector::Part::kCopy));
    out.back().selector.slices = std::move(device);
  }
  if (!host.empty()) {
    out.push_back(RemovalOf(rank, EditSelector::Part::kHost));
    out.back().selector.slices = std::move(host);
  }
  return out;
}

Edit RemoveHostTime(const RankEvidence& rank, std::vector<Interval> ranges) {
  Edit edit = RemovalOf(rank, EditSelector::Part::kHost);
  edit.selector.ranges = std::move(ranges);
  return edit;
}

int64_t TotalOf(const store::TraceStore& store, std::span<const SliceId> slices) {
  int64_t sum_ns = 0;
  for (const SliceId slice : slices)
    sum_ns = AddNs(sum_ns, store.slices.dur_ns[static_cast<size_t>(slice)]);
  return sum_ns;
}

void AddCallSite(const RankEvidence& rank, SliceId slice, Finding& finding) {
  const CallSite site = CallSites(rank.view()).OfHost(slice);
  const std::string& where = site.code.empty() ? site.op : site.code;
  if (where.empty()) return;
  finding.evidence.push_back(
      {{"evidence.call_site", {{"where", where}}},
       fmt::format(
           "SELECT name, begin_ns, dur_ns FROM slices WHERE rank = {} AND name = '{}'", rank.rank(),
           SqlText(rank.store().Text(rank.store().slices.name[static_cast<size_t>(slice)])))});
}

std::string ShortNames(std::span<const std::string_view> names) {
  constexpr size_t kShown = 3;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    out += (i == 0 ? "" : ", ") + std::string(names[i]);
  return out + (names.size() > kShown ? ", ..." : "");
}

}  // namespace steplens::analysis
