#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/cells.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/recipe_tables.h"
#include "analysis/flows/flow_ends.h"
#include "analysis/nesting/nesting.h"
#include "analysis/parallel/pipeline_stages.h"
#include "analysis/parallel/rank_transfers.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// The Pipeline page: forward and backward passes of the ranks, their sends and receives.

namespace steplens::analysis::viewer {
namespace {

using store::kNoSlice;
using store::TraceStore;

// A forward operator and its backward one.
struct OpPair {
  int64_t forward_begin_ns = 0;
  int64_t forward_end_ns = 0;
  int64_t backward_begin_ns = 0;
  int64_t backward_end_ns = 0;
  int64_t batch = 0;
};

std::vector<OpPair> FindPairs(const TraceStore& store) {
  const auto kind = store.strings.Find("fwdbwd");
  if (!kind) return {};
  const TrackIndex index = BuildTrackIndex(store);
  const Nesting nesting = ComputeNesting(store, index);
  const FlowEnds ends = ResolveFlowEnds(store, index, nesting);
  std::vector<OpPair> pairs;
  for (size_t i = 0; i < store.flows.size(); ++i) {
    if (store.flows.kind[i] != *kind) continue;
    if (ends.from_slice[i] == kNoSlice || ends.to_slice[i] == kNoSlice) continue;
    const auto from = static_cast<size_t>(ends.from_slice[i]);
    const auto to = static_cast<size_t>(ends.to_slice[i]);
    const store::SliceTable& s = store.slices;
    pairs.push_back({s.begin_ns[from], EndNs(s.begin_ns[from], s.dur_ns[from]), s.begin_ns[to],
                     EndNs(s.begin_ns[to], s.dur_ns[to])});
  }
  return pairs;
}

// Inside a micro batch backward operators run in the opposite order of their forward ones: where
// one starts later than that of the operator before, the next batch begins. The same holds the
// other way round.
void NumberBatches(std::vector<OpPair>& pairs) {
  const auto by_forward = [](const OpPair& a, const OpPair& b) {
    return a.forward_begin_ns < b.forward_begin_ns;
  };
  std::stable_sort(pairs.begin(), pairs.end(), [](const OpPair& a, const OpPair& b) {
    return a.backward_begin_ns < b.backward_begin_ns;
  });
  std::vector<int64_t> run(pairs.size(), 0);
  for (size_t i = 1; i < pairs.size(); ++i) {
    run[i] = run[i - 1] + (pairs[i].forward_begin_ns > pairs[i - 1].forward_begin_ns ? 1 : 0);
  }
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i].batch = run[i];
  std::stable_sort(pairs.begin(), pairs.end(), by_forward);
  int64_t batch = 0;
  int64_t last_run = pairs.empty() ? 0 : pairs[0].batch;
  int64_t last_backward_ns = pairs.empty() ? 0 : pairs[0].backward_begin_ns;
  for (OpPair& pair : pairs) {
    if (pair.backward_begin_ns > last_backward_ns || pair.batch != last_run) ++batch;
    last_run = pair.batch;
    last_backward_ns = pair.backward_begin_ns;
    pair.batch = batch;
  }
}

std::vector<Pass> PassesOf(int64_t rank, std::vector<OpPair> pairs) {
  NumberBatches(pairs);
  std::vector<Pass> passes;
  for (size_t begin = 0; begin < pairs.size();) {
    Pass forward{rank, fmt::format("FP{}", pairs[begin].batch), true, pairs[begin].forward_begin_ns,
                 pairs[begin].forward_end_ns};
    Pass backward{rank, fmt::format("BP{}", pairs[begin].batch), false,
                  pairs[begin].backward_begin_ns, pairs[begin].backward_end_ns};
    size_t end = begin;
    for (; end < pairs.size() && pairs[end].batch == pairs[begin].batch; ++end) {
      forward.end_ns = std::max(forward.end_ns, pairs[end].forward_end_ns);
      backward.begin_ns = std::min(backward.begin_ns, pairs[end].backward_begin_ns);
      backward.end_ns = std::max(backward.end_ns, pairs[end].backward_end_ns);
    }
    passes.push_back(std::move(forward));
    passes.push_back(std::move(backward));
    begin = end;
  }
  std::stable_sort(passes.begin(), passes.end(),
                   [](const Pass& a, const Pass& b) { return a.begin_ns < b.begin_ns; });
  return passes;
}

table::Table P2pTable(const MetricCall& call, const std::set<int64_t>& wanted, int64_t origin_ns) {
  TableRows rows("p2p", {IntColumn("rank"), TextColumn("name"), TextColumn("group"),
                         IntColumn("start_ns"), IntColumn("dur_ns")});
  for (const TraceStore& rank : call.job.ranks) {
    if (!wanted.empty() && !wanted.contains(rank.info.rank)) continue;
    for (size_t i = 0; i < rank.comm_ops.size(); ++i) {
      const std::string_view name = rank.Text(rank.comm_ops.name[i]);
      if (!cluster::IsP2pName(name)) continue;
      rows.Add(rank.info.rank, name, rank.Text(rank.comm_ops.group_name[i]),
               AddNs(rank.comm_ops.begin_ns[i], -origin_ns), rank.comm_ops.dur_ns[i]);
    }
  }
  return rows.Take();
}

// Sends and receives that are the two ends of one transfer.
Result<table::Table> ArrowTable(const MetricCall& call, const std::set<int64_t>& wanted,
                                int64_t origin_ns) {
  SL_ASSIGN_OR_RETURN(const std::vector<RankTransfer> transfers, FindRankTransfers(call.job));
  TableRows rows("arrows", {IntColumn("from_rank"), IntColumn("from_ns"), IntColumn("to_rank"),
                            IntColumn("to_ns"), TextColumn("id")});
  for (const RankTransfer& one : transfers) {
    if (!wanted.empty() && (!wanted.contains(one.from_rank) || !wanted.contains(one.to_rank)))
      continue;
    rows.Add(one.from_rank, AddNs(one.from_ns, -origin_ns), one.to_rank,
             AddNs(one.to_ns, -origin_ns), one.id);
  }
  return rows.Take();
}

using Wanted = std::set<int64_t>;  // ranks; none: all

bool IsWanted(const Wanted& wanted, int64_t rank) {
  return wanted.empty() || wanted.contains(rank);
}

// Marks that name passes come first; without them the arrows from forward to backward operators.
Result<std::vector<Pass>> FindPasses(const MetricCall& call, const Wanted& wanted) {
  SL_ASSIGN_OR_RETURN(const cluster::Answer marked, AskRecipe("pp_chart", {}, call.job));
  const table::Table* tasks = FindTable(marked, "StepTaskInfo");
  std::vector<Pass> passes;
  std::set<int64_t> done;
  for (size_t i = 0; tasks != nullptr && i < tasks->rows(); ++i) {
    const int64_t rank = tasks->Find("rank")->ints[i];
    if (!IsWanted(wanted, rank)) continue;
    done.insert(rank);
    const std::string_view name = TextCell(*tasks, "name", i);
    const bool is_forward = StartsInAnyCase(name, "fp") || ContainsInAnyCase(name, "forward") ||
                            (name.starts_with('F') && !name.starts_with("FB"));
    passes.push_back({rank, std::string(name), is_forward, tasks->Find("startNs")->ints[i],
                      tasks->Find("endNs")->ints[i]});
  }
  for (const TraceStore& rank : call.job.ranks) {
    SL_RETURN_IF_ERROR(StillWanted());
    if (!IsWanted(wanted, rank.info.rank) || done.contains(rank.info.rank)) continue;
    for (Pass& pass : PassesOf(rank.info.rank, FindPairs(rank))) passes.push_back(std::move(pass));
  }
  return passes;
}

table::Table BlockTable(const std::vector<Pass>& passes, int64_t origin_ns) {
  TableRows rows("blocks", {IntColumn("rank"), TextColumn("name"), TextColumn("type"),
                            IntColumn("start_ns"), IntColumn("end_ns")});
  for (const Pass& pass : passes) {
    rows.Add(pass.rank, pass.name, pass.is_forward ? "FP" : "BP", AddNs(pass.begin_ns, -origin_ns),
             AddNs(pass.end_ns, -origin_ns));
  }
  return rows.Take();
}

std::vector<P2pSpan> FindP2p(const MetricCall& call, const Wanted& wanted) {
  std::vector<P2pSpan> out;
  for (const TraceStore& rank : call.job.ranks) {
    if (!IsWanted(wanted, rank.info.rank)) continue;
    for (size_t i = 0; i < rank.comm_ops.size(); ++i) {
      const std::string_view name = rank.Text(rank.comm_ops.name[i]);
      if (!cluster::IsP2pName(name)) continue;
      out.push_back(
          {rank.info.rank, ContainsInAnyCase(name, "recv") || ContainsInAnyCase(name, "receive"),
           rank.comm_ops.begin_ns[i], EndNs(rank.comm_ops.begin_ns[i], rank.comm_ops.dur_ns[i])});
    }
  }
  return out;
}

}  // namespace

Result<MetricAnswer> Pipeline(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> listed, call.args.IntList("ranks"));
  const Wanted wanted(listed.begin(), listed.end());
  SL_ASSIGN_OR_RETURN(const std::vector<Pass> passes, FindPasses(call, wanted));
  MetricAnswer answer;
  answer.definition = "insight.pipeline";
  answer.query = "SELECT * FROM flows WHERE kind = 'fwdbwd'";
  answer.tables.push_back(BlockTable(passes, origin_ns));
  answer.tables.push_back(P2pTable(call, wanted, origin_ns));
  SL_ASSIGN_OR_RETURN(table::Table arrows, ArrowTable(call, wanted, origin_ns));
  answer.tables.push_back(std::move(arrows));
  answer.tables.push_back(BubbleTable(passes, FindP2p(call, wanted), origin_ns));
  answer.tables.push_back(StageTable(passes));
  answer.tables.push_back(IdealTable(passes, origin_ns));
  if (passes.empty()) {
    answer.warnings.push_back(Message{"warning.no_passes"});
  }
  return answer;
}

}  // namespace steplens::analysis::viewer
