#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/cells.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"
#include "analysis/viewer/rank_loads.h"

// The Summary page: the job in numbers, and the times of its ranks.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr std::array<std::string_view, 6> kCores{"AI_CPU",  "AI_CORE", "AI_VECTOR_CORE",
                                                 "MIX_AIC", "MIX_AIV", "FFTS_PLUS"};

// Σ duration of a rank's kernels by core, with shares.
table::Table ComputingDetail(const TraceStore& rank, std::optional<int64_t> step) {
  std::map<std::string_view, std::pair<int64_t, int64_t>> cores;  // duration, kernels
  int64_t all_ns = 0;
  for (size_t i = 0; i < rank.kernels.size(); ++i) {
    const std::string_view core = rank.Text(rank.kernels.core[i]);
    const bool is_listed = std::find(kCores.begin(), kCores.end(), core) != kCores.end();
    if (!is_listed || rank.kernels.dur_ns[i] == store::kNone) continue;
    if (step && rank.kernels.step[i] != *step) continue;
    auto& [dur_ns, count] = cores[core];
    dur_ns = AddNs(dur_ns, rank.kernels.dur_ns[i].value());
    all_ns = AddNs(all_ns, rank.kernels.dur_ns[i].value());
    ++count;
  }
  TableRows rows("computing_detail", {TextColumn("Accelerator Core"), TimeColumn("Duration(us)"),
                                      NumberColumn("Ratio(%)", 2), IntColumn("Count")});
  for (const auto& [core, use] : cores) {
    rows.Add(core, use.first, RoundTo(100 * Share(NsToUs(use.first), NsToUs(all_ns)), 2),
             use.second);
  }
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> SummaryBase(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::vector<RankLoad> loads, ReadRankLoads(call.job, {}));
  std::set<int64_t> steps;
  uint64_t size_bytes = 0;
  int64_t first_ns = store::kNone;
  int64_t last_ns = store::kNone;
  for (const TraceStore& rank : call.job.ranks) {
    SL_RETURN_IF_ERROR(StillWanted());
    for (const int64_t step : cluster::DescribeRank(rank).steps) steps.insert(step);
    for (const store::InputFile& file : rank.info.files) {
      if (file.used) size_bytes += file.size_bytes;
    }
    const store::Extent extent = store::ComputeExtent(rank);
    if (extent.end_ns <= extent.begin_ns) continue;
    if (first_ns == store::kNone || extent.begin_ns < first_ns) first_ns = extent.begin_ns;
    if (last_ns == store::kNone || extent.end_ns > last_ns) last_ns = extent.end_ns;
  }
  double duration_us = first_ns == store::kNone ? 0 : NsToUs(AddNs(last_ns, -first_ns));
  for (const RankLoad& load : loads) duration_us = std::max(duration_us, load.total_us());
  TableRows rows("base", {IntColumn("ranks"), IntColumn("steps"), IntColumn("size_bytes"),
                          TextColumn("start_ns"), NumberColumn("duration_us", 3)});
  rows.Add(call.job.ranks.size(), steps.size(), size_bytes,
           first_ns == store::kNone ? "" : std::to_string(first_ns), RoundTo(duration_us, 3));
  TableRows numbers("steps", {IntColumn("step")});
  for (const int64_t step : steps) numbers.Add(step);
  MetricAnswer answer;
  answer.definition = "insight.summary";
  answer.query = "SELECT * FROM step_traces";
  answer.tables.push_back(rows.Take());
  answer.tables.push_back(numbers.Take());
  return answer;
}

Result<MetricAnswer> SummaryRanks(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> step, StepOf(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> of_rank, call.args.Int("rank"));
  SL_ASSIGN_OR_RETURN(const std::vector<RankLoad> loads, ReadRankLoads(call.job, step));
  TableRows rows("ranks", {IntColumn("rank")});
  for (const char* name :
       {"Computing(us)", "Communication(us)", "Communication(Not Overlapped)(us)", "Overlapped(us)",
        "Free(us)", "Preparing(us)", "Stage(us)", "Bubble(us)",
        "Communication(Not Overlapped and Exclude Receive)(us)", "Computing(Not Overlapped)(us)",
        "Total(us)"}) {
    rows.Column(NumberColumn(name, 3));
  }
  for (const char* name :
       {"Computing Ratio(%)", "Communication Ratio(%)", "Not Overlapped Ratio(%)"}) {
    rows.Column(NumberColumn(name, 2));
  }
  for (const RankLoad& load : loads) {
    const double total_us = load.total_us();
    rows.Add(load.rank, RoundTo(load.computing_us, 3), RoundTo(load.communication_us, 3),
             RoundTo(load.not_overlapped_us, 3), RoundTo(load.overlapped_us, 3),
             RoundTo(load.free_us, 3), RoundTo(load.preparing_us, 3), RoundTo(load.stage_us, 3),
             RoundTo(load.bubble_us, 3), RoundTo(load.exclude_receive_us, 3),
             RoundTo(load.computing_us - load.overlapped_us, 3), RoundTo(total_us, 3),
             RoundTo(100 * Share(load.computing_us, total_us), 2),
             RoundTo(100 * Share(load.communication_us, total_us), 2),
             RoundTo(100 * Share(load.not_overlapped_us, total_us), 2));
  }
  TableRows domains("domains",
                    {IntColumn("rank"), TextColumn("parallel"), NumberColumn("elapse_ms", 4)});
  for (const auto& [rank, times] : DomainTimes(call.job, step)) {
    for (const auto& [name, elapse_ms] : times) domains.Add(rank, name, RoundTo(elapse_ms, 4));
  }
  MetricAnswer answer;
  answer.definition = "insight.summary_ranks";
  answer.query = "SELECT * FROM step_traces";
  answer.tables.push_back(rows.Take());
  answer.tables.push_back(domains.Take());
  if (loads.empty()) answer.warnings.push_back(Message{"warning.no_steps"});
  if (!of_rank) return answer;
  SL_ASSIGN_OR_RETURN(const TraceStore* const rank, RankOf(call));
  answer.tables.push_back(ComputingDetail(*rank, step));
  return answer;
}

}  // namespace steplens::analysis::viewer
