#include "analysis/parallel/pipeline_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/cells.h"
#include "analysis/overlap/overlap.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

// The passes of a rank: where any of them runs, by time, disjoint.
std::map<int64_t, std::vector<Interval>> BusyByRank(std::vector<Pass> passes) {
  std::sort(passes.begin(), passes.end(),
            [](const Pass& a, const Pass& b) { return a.begin_ns < b.begin_ns; });
  std::map<int64_t, std::vector<Interval>> out;
  for (const Pass& pass : passes) {
    std::vector<Interval>& busy = out[pass.rank];
    if (!busy.empty() && pass.begin_ns <= busy.back().end_ns) {
      busy.back().end_ns = std::max(busy.back().end_ns, pass.end_ns);
    } else {
      busy.push_back({pass.begin_ns, pass.end_ns});
    }
  }
  return out;
}

// Ranks in the order of their first forward pass: the stages of the pipeline.
std::vector<int64_t> StageOrder(const std::vector<Pass>& passes) {
  std::map<int64_t, int64_t> first_ns;
  for (const Pass& pass : passes) {
    if (!pass.is_forward) continue;
    const auto [at, is_new] = first_ns.try_emplace(pass.rank, pass.begin_ns);
    if (!is_new) at->second = std::min(at->second, pass.begin_ns);
  }
  std::vector<int64_t> out;
  for (const auto& [rank, ns] : first_ns) out.push_back(rank);
  std::stable_sort(out.begin(), out.end(),
                   [&](int64_t a, int64_t b) { return first_ns[a] < first_ns[b]; });
  return out;
}

std::string_view CauseOf(const Interval& gap, int64_t rank, const std::vector<P2pSpan>& p2p) {
  int64_t receive_ns = 0;
  int64_t send_ns = 0;
  for (const P2pSpan& span : p2p) {
    if (span.rank != rank) continue;
    const int64_t shared_ns =
        std::min(gap.end_ns, span.end_ns) - std::max(gap.begin_ns, span.begin_ns);
    if (shared_ns > 0) (span.is_receive ? receive_ns : send_ns) += shared_ns;
  }
  if (receive_ns == 0 && send_ns == 0) return "idle";
  return receive_ns >= send_ns ? "receive" : "send";
}

int64_t MedianNs(const std::vector<Pass>& passes, bool is_forward) {
  std::vector<int64_t> durations;
  for (const Pass& pass : passes) {
    if (pass.is_forward == is_forward) durations.push_back(pass.end_ns - pass.begin_ns);
  }
  const auto middle = durations.begin() + std::ssize(durations) / 2;
  std::nth_element(durations.begin(), middle, durations.end());
  return *middle;
}

// Passes of each rank; 0 if ranks differ, or have not as many of both kinds.
size_t EqualBatches(const std::vector<Pass>& passes) {
  std::map<int64_t, std::pair<size_t, size_t>> counts;
  for (const Pass& pass : passes)
    ++(pass.is_forward ? counts[pass.rank].first : counts[pass.rank].second);
  const size_t batches = counts.empty() ? 0 : counts.begin()->second.first;
  for (const auto& [rank, count] : counts) {
    if (count.first != batches || count.second != batches) return 0;
  }
  return batches;
}

// One step of a stage's schedule.
struct Turn {
  bool is_forward;
  size_t batch;
};

// Stage s starts with as many forward passes as there are stages behind it; then forward and
// backward alternate; the rest of the backward passes follows.
std::vector<Turn> TurnsOf(size_t stage, size_t stages, size_t batches) {
  std::vector<Turn> out;
  const size_t warm_up = std::min(stages - 1 - stage, batches);
  size_t forward = 0;
  size_t backward = 0;
  while (forward < warm_up) out.push_back({true, forward++});
  while (forward < batches) {
    out.push_back({true, forward++});
    out.push_back({false, backward++});
  }
  while (backward < batches) out.push_back({false, backward++});
  return out;
}

}  // namespace

table::Table BubbleTable(const std::vector<Pass>& passes, const std::vector<P2pSpan>& p2p,
                         int64_t origin_ns) {
  TableRows rows("bubbles", {IntColumn("rank"), IntColumn("start_ns"), IntColumn("end_ns"),
                             TextColumn("cause")});
  for (const auto& [rank, busy] : BusyByRank(passes)) {
    for (size_t i = 1; i < busy.size(); ++i) {
      const Interval gap{busy[i - 1].end_ns, busy[i].begin_ns};
      rows.Add(rank, AddNs(gap.begin_ns, -origin_ns), AddNs(gap.end_ns, -origin_ns),
               CauseOf(gap, rank, p2p));
    }
  }
  return rows.Take();
}

table::Table StageTable(const std::vector<Pass>& passes) {
  TableRows rows(
      "stages", {IntColumn("rank"), IntColumn("stage"), IntColumn("batches"), TimeColumn("busy_us"),
                 TimeColumn("bubble_us"), NumberColumn("bubble_ratio", 2)});
  auto busy = BusyByRank(passes);
  Interval hull{INT64_MAX, INT64_MIN};
  std::map<int64_t, int64_t> batches;
  for (const Pass& pass : passes) {
    hull = {std::min(hull.begin_ns, pass.begin_ns), std::max(hull.end_ns, pass.end_ns)};
    if (pass.is_forward) ++batches[pass.rank];
  }
  int64_t stage = 0;
  for (const int64_t rank : StageOrder(passes)) {
    int64_t busy_ns = 0;
    for (const Interval& one : busy[rank])
      busy_ns = AddNs(busy_ns, SubtractSaturating(one.end_ns, one.begin_ns));
    const int64_t whole_ns = hull.end_ns - hull.begin_ns;
    rows.Add(
        rank, stage++, batches[rank], busy_ns, whole_ns - busy_ns,
        RoundTo(100 * Share(static_cast<double>(whole_ns - busy_ns), static_cast<double>(whole_ns)),
                2));
  }
  return rows.Take();
}

table::Table IdealTable(const std::vector<Pass>& passes, int64_t origin_ns) {
  TableRows rows("ideal", {IntColumn("rank"), TextColumn("name"), TextColumn("type"),
                           IntColumn("start_ns"), IntColumn("end_ns")});
  const size_t batches = EqualBatches(passes);
  const std::vector<int64_t> ranks = StageOrder(passes);
  if (batches == 0 || ranks.empty()) return rows.Take();
  const size_t stages = ranks.size();
  const int64_t forward_ns = MedianNs(passes, true);
  const int64_t backward_ns = MedianNs(passes, false);
  int64_t begin_ns = INT64_MAX;
  for (const Pass& pass : passes) begin_ns = std::min(begin_ns, pass.begin_ns);
  // When each pass ends; a stage takes its next turn as soon as what it needs is there.
  std::vector<std::vector<int64_t>> forward_end(stages, std::vector<int64_t>(batches, -1));
  std::vector<std::vector<int64_t>> backward_end = forward_end;
  std::vector<int64_t> free_ns(stages, begin_ns);
  std::vector<size_t> next(stages, 0);
  std::vector<std::vector<Turn>> turns;
  for (size_t s = 0; s < stages; ++s) turns.push_back(TurnsOf(s, stages, batches));
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (size_t s = 0; s < stages; ++s) {
      for (; next[s] < turns[s].size(); ++next[s], has_moved = true) {
        const auto [is_forward, batch] = turns[s][next[s]];
        const bool is_edge = is_forward ? s == 0 : s + 1 == stages;
        const int64_t ready_ns = is_edge      ? begin_ns
                                 : is_forward ? forward_end[s - 1][batch]
                                              : backward_end[s + 1][batch];
        if (ready_ns < 0) break;
        const int64_t start_ns = std::max(free_ns[s], ready_ns);
        free_ns[s] = AddNs(start_ns, is_forward ? forward_ns : backward_ns);
        (is_forward ? forward_end : backward_end)[s][batch] = free_ns[s];
        rows.Add(ranks[s], fmt::format("{}{}", is_forward ? "FP" : "BP", batch),
                 is_forward ? "FP" : "BP", AddNs(start_ns, -origin_ns),
                 AddNs(free_ns[s], -origin_ns));
      }
    }
  }
  return rows.Take();
}

}  // namespace steplens::analysis
