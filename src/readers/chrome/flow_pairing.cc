#include "readers/chrome/flow_pairing.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <tuple>

namespace steplens::readers {
namespace {

using store::IssueKind;

struct KeyHash {
  size_t operator()(const std::pair<uint64_t, uint64_t>& key) const {
    return key.first;
  }  // hashed already
};

// Starts of one key: a run in the sorted array.
struct Run {
  uint32_t first = 0;
  uint32_t count = 0;
  bool used = false;
};

void CountLeftOver(store::TraceStore& out, IssueKind kind, uint64_t count, const FlowEnd& example) {
  out.issues.Add(kind, fmt::format("flow '{}' at {} ns", out.Text(example.kind), example.ts_ns),
                 count);
}

}  // namespace

void PairFlows(std::vector<FlowEnd> starts, const std::vector<FlowEnd>& ends,
               store::TraceStore& out) {
  // Runs of equal keys, each sorted by time. Keys are mostly unique: one map look-up per end.
  std::stable_sort(starts.begin(), starts.end(), [](const FlowEnd& a, const FlowEnd& b) {
    return std::tie(a.key_high, a.key_low, a.ts_ns) < std::tie(b.key_high, b.key_low, b.ts_ns);
  });
  tsl::robin_map<std::pair<uint64_t, uint64_t>, Run, KeyHash> runs;
  runs.reserve(starts.size());
  for (uint32_t i = 0; i < starts.size(); ++i) {
    const auto [found, is_new] =
        runs.insert({{starts[i].key_high, starts[i].key_low}, Run{i, 0, false}});
    ++found.value().count;
  }

  uint64_t without_start = 0;
  const FlowEnd* example = nullptr;
  out.flows.Reserve(out.flows.size() + ends.size());
  for (const FlowEnd& end : ends) {
    const auto found = runs.find({end.key_high, end.key_low});
    if (found == runs.end()) {
      if (without_start++ == 0) example = &end;
      continue;
    }
    Run& run = found.value();
    run.used = true;
    const auto first = starts.begin() + run.first;
    auto start = std::upper_bound(first, first + run.count, end.ts_ns,
                                  [](int64_t ts, const FlowEnd& s) { return ts < s.ts_ns; });
    if (start != first) --start;
    out.flows.Append({end.kind, start->track, start->ts_ns, end.track, end.ts_ns});
  }
  if (without_start > 0) CountLeftOver(out, IssueKind::kFlowWithoutStart, without_start, *example);

  uint64_t without_end = 0;
  example = nullptr;
  for (const FlowEnd& start : starts) {
    const auto found = runs.find({start.key_high, start.key_low});
    if (found->second.used) continue;
    if (without_end++ == 0 || start.ts_ns < example->ts_ns) example = &start;
  }
  if (without_end > 0) CountLeftOver(out, IssueKind::kFlowWithoutEnd, without_end, *example);
}

}  // namespace steplens::readers
