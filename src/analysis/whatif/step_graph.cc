#include "analysis/whatif/step_graph.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/collectives/job_call_times.h"
#include "analysis/time_math.h"
#include "analysis/whatif/graph_builder.h"
#include "analysis/whatif/rank_graph.h"

namespace steplens::analysis {
namespace {

// The calls of a job as its graph needs them: how each part divides, and which parts meet.
class CallBook {
 public:
  CallBook(const store::Job& job, std::span<const RankView> ranks) : times_(job) {
    for (const RankView& rank : ranks)
      job_index_.push_back(static_cast<uint32_t>(&rank.store() - job.ranks.data()));
    for (uint32_t r = 0; r < job_index_.size(); ++r) place_of_[job_index_[r]] = r;
  }

  // The parts of a call by the ranks of the graph; fewer than two do not meet.
  std::vector<CollectivePart> PartsOf(uint32_t rank, uint32_t comm_op) const {
    const CollectiveBook::Call* call = times_.book().Find(job_index_[rank], comm_op);
    std::vector<CollectivePart> out;
    if (call == nullptr) return out;
    for (CollectivePart part : call->parts) {
      const auto found = place_of_.find(part.rank_index);
      if (found == place_of_.end()) continue;
      part.rank_index = found->second;
      out.push_back(part);
    }
    return out;
  }

  CallDivision Divide(uint32_t rank, uint32_t comm_op) {
    const CallTimes own = times_.Of(job_index_[rank], comm_op);
    const std::vector<CollectivePart> parts = PartsOf(rank, comm_op);
    if (parts.size() < 2) return Divided(own, 0);
    const auto shortest =
        std::min_element(parts.begin(), parts.end(),
                         [](const auto& a, const auto& b) { return a.dur_ns < b.dur_ns; });
    // Until the last one was there; from then on all do what the last one did.
    const CallTimes last = times_.Of(job_index_[shortest->rank_index], shortest->row);
    return Divided(last, std::max<int64_t>(0, own.elapse_ns - shortest->dur_ns));
  }

 private:
  static CallDivision Divided(const CallTimes& times, int64_t meeting_ns) {
    CallDivision out;
    out.meeting_ns = meeting_ns;
    out.transfer_ns = times.elapse_ns;
    if (times.wait_ns != store::kNone)
      out.wait_ns = std::clamp<int64_t>(times.wait_ns, 0, out.transfer_ns);
    out.transfer_ns -= out.wait_ns;
    if (times.idle_ns != store::kNone)
      out.idle_ns = std::clamp<int64_t>(times.idle_ns, 0, out.transfer_ns);
    out.transfer_ns -= out.idle_ns;
    return out;
  }

  JobCallTimes times_;
  std::vector<uint32_t> job_index_;        // by rank of the graph
  std::map<uint32_t, uint32_t> place_of_;  // the other way
};

// The last rank that arrives lets all go on. Times of ranks are on clocks of their own; what is the
// same moment for all is when the call was ready.
void LetRanksMeet(GraphBuilder& out, const CallBook& book, const std::vector<RankGraph>& ranks) {
  std::vector<std::map<uint32_t, const CallNode*>> by_row(ranks.size());
  for (size_t r = 0; r < ranks.size(); ++r) {
    for (const CallNode& call : ranks[r].calls()) by_row[r][call.comm_op] = &call;
  }
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    for (const CallNode& call : ranks[r].calls()) {
      std::vector<const CallNode*> members;
      for (const CollectivePart& part : book.PartsOf(r, call.comm_op)) {
        const auto found = by_row[part.rank_index].find(part.row);
        if (found != by_row[part.rank_index].end()) members.push_back(found->second);
      }
      // Each call once, by the first of its members.
      if (members.size() < 2 || members.front() != &call) continue;
      const int64_t ready_ns = out.measured_ns(call.ready);
      const uint32_t meeting = out.AddPoint(ready_ns);
      for (const CallNode* member : members) {
        const int64_t apart_ns = ready_ns - out.measured_ns(member->ready);
        out.Fixed(member->begin, meeting, EdgeKind::kMeeting, member->node, apart_ns);
        out.Fixed(meeting, member->ready, EdgeKind::kMeeting, member->node, -apart_ns);
      }
    }
  }
}

}  // namespace

std::string_view PathClassName(PathClass path_class) {
  constexpr std::array<std::string_view, kPathClasses> kNames{
      "host", "launch", "compute", "transfer", "wait for ranks", "copy", "sync", "idle"};
  return kNames[static_cast<size_t>(path_class)];
}

PathClass StepGraph::ClassOf(size_t edge) const {
  switch (edge_kind[edge]) {
    case EdgeKind::kTransfer:
      return PathClass::kTransfer;
    case EdgeKind::kRankWait:
    case EdgeKind::kMeeting:
      return PathClass::kRankWait;
    case EdgeKind::kSync:
    case EdgeKind::kEvent:
    case EdgeKind::kJoin:
      return PathClass::kSync;
    case EdgeKind::kLaunch:
    case EdgeKind::kStream:
    case EdgeKind::kInferred:
      return PathClass::kLaunch;
    case EdgeKind::kCallIdle:
    case EdgeKind::kStart:
      return PathClass::kIdle;
    case EdgeKind::kBackward:
    case EdgeKind::kQueue:
    case EdgeKind::kWake:
      return PathClass::kHost;
    case EdgeKind::kWork:
      break;
  }
  switch (nodes[edge_node[edge]].kind) {
    case NodeKind::kHost:
      return PathClass::kHost;
    case NodeKind::kLaunch:
      return PathClass::kLaunch;
    case NodeKind::kHostWait:
    case NodeKind::kEventWait:
    case NodeKind::kMark:
      return PathClass::kSync;
    case NodeKind::kCopy:
      return PathClass::kCopy;
    case NodeKind::kCompute:
    case NodeKind::kCollective:
      break;
  }
  return PathClass::kCompute;
}

int64_t StepGraph::FinishNs(const std::vector<int64_t>& at, size_t rank_index) const {
  int64_t last_ns = 0;
  for (const uint32_t point : finish[rank_index]) last_ns = std::max(last_ns, at[point]);
  return last_ns;
}

int64_t StepGraph::FinishNs(const std::vector<int64_t>& at) const {
  int64_t last_ns = 0;
  for (size_t r = 0; r < finish.size(); ++r) last_ns = std::max(last_ns, FinishNs(at, r));
  return last_ns;
}

int64_t StepGraph::MeasuredNs() const { return FinishNs(measured_ns); }

size_t StepGraph::steps() const {
  size_t most = 1;
  for (const GraphWindow& window : windows) most = std::max(most, window.steps);
  return most;
}

std::optional<GraphWindow> WindowOf(const RankView& rank, std::optional<int64_t> step) {
  GraphWindow out;
  for (const StepRange& range : rank.steps()) {
    if (step && range.step != *step) continue;
    if (out.steps == 0) {
      out.begin_ns = range.host_begin_ns;
      out.host_end_ns = range.host_end_ns;
      out.end_ns = range.end_ns;
    }
    out.host_end_ns = std::max(out.host_end_ns, range.host_end_ns);
    out.end_ns = std::max({out.end_ns, range.end_ns, range.host_end_ns});
    ++out.steps;
  }
  if (out.steps > 0) return out;
  if (step) return std::nullopt;
  const store::Extent extent = store::ComputeExtent(rank.store());
  if (extent.end_ns <= extent.begin_ns || !IsPlausible(extent.begin_ns, extent.end_ns))
    return std::nullopt;
  return GraphWindow{extent.begin_ns, extent.end_ns, extent.end_ns, 0};
}

StepGraph BuildStepGraph(const store::Job& job, std::span<const RankView> ranks,
                         std::optional<int64_t> step) {
  GraphBuilder out;
  CallBook book(job, ranks);
  std::vector<RankGraph> graphs;
  graphs.reserve(ranks.size());
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const std::optional<GraphWindow> window = WindowOf(ranks[r], step);
    graphs.emplace_back(out, ranks[r], r, window.value_or(GraphWindow{}));
    graphs.back().Build([&](uint32_t comm_op) { return book.Divide(r, comm_op); });
  }
  LetRanksMeet(out, book, graphs);
  return out.Finish();
}

}  // namespace steplens::analysis
