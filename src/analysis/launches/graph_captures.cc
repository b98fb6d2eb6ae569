#include "analysis/launches/graph_captures.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/classify/text_memo.h"
#include "analysis/launches/launches.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

constexpr std::string_view kBeginCapture = "StreamBeginCapture";
constexpr std::string_view kEndCapture = "StreamEndCapture";

auto Holding(std::string_view part) {
  return [part](std::string_view name) { return name.find(part) != std::string_view::npos; };
}

bool HasCaptures(const TraceStore& store) {
  const auto begins = Holding(kBeginCapture);
  for (size_t i = 0; i < store.strings.size(); ++i) {
    if (begins(store.Text(StringId{static_cast<uint32_t>(i)}))) return true;
  }
  return false;
}

// What a call records into a graph, or a piece of work is: 'k'ernel, 'c'opy, mem's'et; 0 for
// others.
char KindOfCall(std::string_view call) {
  const auto holds = [&](std::string_view part) { return call.find(part) != call.npos; };
  if (holds("Launch")) return holds("GraphLaunch") || holds("LaunchHostFunc") ? '\0' : 'k';
  if (holds("Memcpy")) return 'c';
  return holds("Memset") ? 's' : '\0';
}
char KindOfWork(SliceKind kind) {
  if (kind == SliceKind::kKernel) return 'k';
  if (kind == SliceKind::kMemcpy) return 'c';
  return kind == SliceKind::kMemset ? 's' : '\0';
}

// Work or calls in their order, and the kinds of them as one text.
struct Sequence {
  std::string kinds;
  std::vector<SliceId> slices;
  int64_t end_ns = 0;  // of a capture
};

// By start.
void SortByStart(const TraceStore& store, std::vector<SliceId>& slices) {
  std::sort(slices.begin(), slices.end(), [&](SliceId a, SliceId b) {
    return std::pair(store.slices.begin_ns[static_cast<size_t>(a)], a) <
           std::pair(store.slices.begin_ns[static_cast<size_t>(b)], b);
  });
}

// The calls of each capture that launched no work themselves.
std::vector<Sequence> CapturedCalls(const TraceStore& store, const SliceKinds& kinds,
                                    const std::vector<SliceId>& launch_of) {
  const store::SliceTable& slices = store.slices;
  const std::vector<Interval> times = GraphCaptureTimes(store, kinds);
  std::vector<bool> has_work(slices.size(), false);
  for (const SliceId call : launch_of) {
    if (call != kNoSlice) has_work[static_cast<size_t>(call)] = true;
  }
  std::vector<std::vector<SliceId>> calls(times.size());
  TextMemo records(store, [](std::string_view name) { return KindOfCall(name) != '\0'; });
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!IsGpuApi(kinds[slices.category[i]]) || has_work[i] || !records(slices.name[i])) continue;
    const auto next = std::upper_bound(
        times.begin(), times.end(), slices.begin_ns[i],
        [](int64_t at_ns, const Interval& capture) { return at_ns < capture.begin_ns; });
    if (next == times.begin() || slices.begin_ns[i] >= std::prev(next)->end_ns) continue;
    calls[static_cast<size_t>(std::prev(next) - times.begin())].push_back(
        SliceId{static_cast<uint32_t>(i)});
  }
  std::vector<Sequence> out(times.size());
  for (size_t c = 0; c < calls.size(); ++c) {
    SortByStart(store, calls[c]);
    std::map<store::TrackId, int64_t> inside_until_ns;  // a runtime call may make a driver call
    for (const SliceId call : calls[c]) {
      const auto i = static_cast<size_t>(call);
      int64_t& until_ns = inside_until_ns.try_emplace(slices.track[i], INT64_MIN).first->second;
      if (slices.begin_ns[i] < until_ns) continue;
      until_ns = EndNs(slices.begin_ns[i], slices.dur_ns[i]);
      out[c].kinds += KindOfCall(store.Text(slices.name[i]));
      out[c].slices.push_back(call);
    }
    out[c].end_ns = times[c].end_ns;
  }
  return out;
}

// The work of a replay in its order; empty if pieces of it ran at once.
Sequence ReplayOf(const TraceStore& store, const SliceKinds& kinds, std::vector<SliceId> work) {
  SortByStart(store, work);
  // Older traces have times in whole microseconds.
  const bool is_coarse = std::all_of(work.begin(), work.end(), [&](SliceId slice) {
    return store.slices.begin_ns[static_cast<size_t>(slice)] % 1000 == 0;
  });
  const int64_t resolution_ns = is_coarse ? 1000 : 0;
  Sequence out;
  int64_t end_ns = INT64_MIN;
  for (const SliceId slice : work) {
    const auto i = static_cast<size_t>(slice);
    const int64_t begin_ns = store.slices.begin_ns[i];
    if (end_ns > AddNs(begin_ns, resolution_ns)) return {};
    end_ns = std::max(end_ns, EndNs(begin_ns, store.slices.dur_ns[i]));
    out.kinds += KindOfWork(kinds[store.slices.category[i]]);
  }
  out.slices = std::move(work);
  return out;
}

// The replays of graphs, by the calls that launched them.
std::vector<std::pair<SliceId, Sequence>> Replays(const TraceStore& store, const SliceKinds& kinds,
                                                  const std::vector<SliceId>& launch_of) {
  TextMemo is_graph(store, IsGraphLaunch);
  std::map<SliceId, std::vector<SliceId>> work;
  for (size_t i = 0; i < launch_of.size(); ++i) {
    const SliceId call = launch_of[i];
    if (call != kNoSlice && is_graph(store.slices.name[static_cast<size_t>(call)]))
      work[call].push_back(SliceId{static_cast<uint32_t>(i)});
  }
  std::vector<std::pair<SliceId, Sequence>> out;
  for (auto& [call, slices] : work)
    out.emplace_back(call, ReplayOf(store, kinds, std::move(slices)));
  return out;
}

// Everything known of graphs whose work is of the same kinds in the same order.
struct SameKinds {
  std::vector<const Sequence*> captures;
  std::vector<std::pair<SliceId, const Sequence*>> replays;
};

// Whether all replays run the same kernels, after the only capture.
bool LeavesNoDoubt(const TraceStore& store, const SameKinds& same) {
  if (same.captures.size() != 1) return false;
  const auto names = [&](const Sequence& replay) {
    std::vector<StringId> out;
    for (const SliceId slice : replay.slices)
      out.push_back(store.slices.name[static_cast<size_t>(slice)]);
    return out;
  };
  const std::vector<StringId> first =
      same.replays.empty() ? std::vector<StringId>() : names(*same.replays.front().second);
  return std::all_of(same.replays.begin(), same.replays.end(), [&](const auto& replay) {
    return store.slices.begin_ns[static_cast<size_t>(replay.first)] >=
               same.captures.front()->end_ns &&
           names(*replay.second) == first;
  });
}

}  // namespace

std::vector<Interval> GraphCaptureTimes(const TraceStore& store, const SliceKinds& kinds) {
  const store::SliceTable& slices = store.slices;
  TextMemo begins(store, Holding(kBeginCapture));
  TextMemo ends(store, Holding(kEndCapture));
  std::vector<std::pair<int64_t, int>> edges;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!IsGpuApi(kinds[slices.category[i]])) continue;
    if (begins(slices.name[i])) edges.emplace_back(slices.begin_ns[i], 1);
    if (ends(slices.name[i])) edges.emplace_back(EndNs(slices.begin_ns[i], slices.dur_ns[i]), -1);
  }
  std::sort(edges.begin(), edges.end());
  std::vector<Interval> captures;
  int depth = 0;
  for (const auto& [ts_ns, step] : edges) {
    if (step > 0 && depth == 0) captures.push_back({ts_ns, std::numeric_limits<int64_t>::max()});
    depth = std::max(0, depth + step);
    if (step < 0 && depth == 0 && !captures.empty()) captures.back().end_ns = ts_ns;
  }
  return captures;
}

GraphRecords::GraphRecords(const TraceStore& store, const SliceKinds& kinds,
                           const std::vector<SliceId>& launch_of) {
  if (!HasCaptures(store)) return;
  const std::vector<Sequence> captures = CapturedCalls(store, kinds, launch_of);
  const auto replays = Replays(store, kinds, launch_of);
  std::map<std::string_view, SameKinds> by_kinds;
  for (const Sequence& capture : captures) {
    if (!capture.slices.empty()) by_kinds[capture.kinds].captures.push_back(&capture);
  }
  for (const auto& [call, replay] : replays) {
    if (!replay.slices.empty()) by_kinds[replay.kinds].replays.emplace_back(call, &replay);
  }
  for (const auto& [text, same] : by_kinds) {
    if (!LeavesNoDoubt(store, same)) continue;
    for (const auto& [call, replay] : same.replays) {
      for (size_t i = 0; i < replay->slices.size(); ++i)
        calls_.emplace(static_cast<uint32_t>(replay->slices[i]), same.captures.front()->slices[i]);
    }
  }
}

}  // namespace steplens::analysis
