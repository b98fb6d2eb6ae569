#include "analysis/whatif/whatif_tables.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/time_math.h"
#include "analysis/whatif/call_sites.h"

namespace steplens::analysis {
namespace {

using table::CellType;
using table::Table;

double PercentOf(int64_t part_ns, int64_t whole_ns) {
  return whole_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(whole_ns) * 100 : 0;
}

// One per rank of a replay.
std::vector<CallSites> MakeCallSites(const StepReplay& replay) {
  std::vector<CallSites> out;
  out.reserve(replay.ranks().size());
  for (const RankView& rank : replay.ranks()) out.emplace_back(rank);
  return out;
}

std::string LaneName(const StepGraph& graph, uint32_t lane, std::span<const RankView> ranks) {
  const GraphLane& one = graph.lanes[lane];
  const store::TraceStore& store = ranks[one.rank_index].store();
  const auto track = static_cast<size_t>(one.track);
  return track < store.tracks.size() ? std::string(store.Text(store.tracks.name[track])) : "";
}

}  // namespace

std::string NodeName(const StepGraph&, const GraphNode& node, const RankView& rank) {
  const store::TraceStore& store = rank.store();
  if (node.comm_op != kNoIndex) return std::string(store.Text(store.comm_ops.name[node.comm_op]));
  if (node.slice == store::kNoSlice) return "(between operators)";
  return std::string(store.Text(store.slices.name[static_cast<size_t>(node.slice)]));
}

Table PathShareTable(const StepReplay& replay) {
  const StepGraph& graph = replay.graph();
  const auto steps = static_cast<int64_t>(graph.steps());
  std::array<int64_t, kPathClasses> all_ns{};
  for (size_t e = 0; e < graph.weight_ns.size(); ++e) {
    const EdgeKind kind = graph.edge_kind[e];
    if (kind != EdgeKind::kWork && kind != EdgeKind::kTransfer && kind != EdgeKind::kRankWait)
      continue;
    // A thread without an operator may do nothing at all.
    const GraphNode& node = graph.nodes[graph.edge_node[e]];
    if (node.kind == NodeKind::kHost && node.slice == store::kNoSlice) continue;
    const auto c = static_cast<size_t>(graph.ClassOf(e));
    all_ns[c] = AddNs(all_ns[c], graph.weight_ns[e]);
  }
  Table out("critical_path");
  const size_t name = out.AddColumn("Class", CellType::kText);
  const size_t time = out.AddColumn("On Path per Step(us)", CellType::kTimeUs);
  const size_t share = out.AddColumn("Share(%)", CellType::kDouble, 2);
  const size_t all = out.AddColumn("All per Step(us)", CellType::kTimeUs);
  out.MarkShare(share);
  for (size_t c = 0; c < kPathClasses; ++c) {
    out.AppendText(name, PathClassName(static_cast<PathClass>(c)));
    out.AppendInt(time, DivideNs(replay.path().class_ns[c], steps));
    out.AppendDouble(share, PercentOf(replay.path().class_ns[c], replay.path().total_ns));
    out.AppendInt(all,
                  std::max(DivideNs(all_ns[c], steps), DivideNs(replay.path().class_ns[c], steps)));
  }
  return out;
}

Table PathPartTable(const StepReplay& replay, size_t top) {
  struct Part {
    int64_t ns = 0;
    int64_t count = 0;
  };
  const StepGraph& graph = replay.graph();
  const auto steps = static_cast<int64_t>(graph.steps());
  std::vector<CallSites> sites = MakeCallSites(replay);
  using Key = std::tuple<PathClass, std::string, std::string, std::string>;
  std::map<Key, Part> parts;
  for (const PathPiece& piece : replay.path().pieces) {
    const GraphNode& node = graph.nodes[piece.node];
    const uint32_t rank = graph.lanes[node.lane].rank_index;
    const CallSite site = sites[rank].Of(node);
    Part& part =
        parts[{piece.path_class, NodeName(graph, node, replay.ranks()[rank]), site.op, site.code}];
    part.ns = AddNs(part.ns, piece.dur_ns);
    ++part.count;
  }
  std::vector<std::pair<Key, Part>> rows(parts.begin(), parts.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  if (rows.size() > top) rows.resize(top);
  Table out("parts");
  const size_t class_name = out.AddColumn("Class", CellType::kText);
  const size_t name = out.AddColumn("Name", CellType::kText);
  const size_t count = out.AddColumn("Count", CellType::kInt);
  const size_t time = out.AddColumn("On Path per Step(us)", CellType::kTimeUs);
  const size_t share = out.AddColumn("Share(%)", CellType::kDouble, 2);
  const size_t op = out.AddColumn("Operator", CellType::kText);
  const size_t code = out.AddColumn("Call Site", CellType::kText);
  out.MarkShare(share);
  for (const auto& [key, part] : rows) {
    out.AppendText(class_name, PathClassName(std::get<0>(key)));
    out.AppendText(name, std::get<1>(key));
    out.AppendInt(count, part.count);
    out.AppendInt(time, DivideNs(part.ns, steps));
    out.AppendDouble(share, PercentOf(part.ns, replay.path().total_ns));
    out.AppendText(op, std::get<2>(key));
    out.AppendText(code, std::get<3>(key));
  }
  return out;
}

Table PathPieceTable(const StepReplay& replay) {
  const StepGraph& graph = replay.graph();
  Table out("pieces");
  const size_t rank_column = out.AddColumn("rank", CellType::kInt);
  const size_t class_name = out.AddColumn("class", CellType::kText);
  const size_t name = out.AddColumn("name", CellType::kText);
  const size_t begin = out.AddColumn("begin_ns", CellType::kInt);
  const size_t time = out.AddColumn("dur_ns", CellType::kInt);
  for (const PathPiece& piece : replay.path().pieces) {
    const GraphNode& node = graph.nodes[piece.node];
    const uint32_t rank = graph.lanes[node.lane].rank_index;
    out.AppendInt(rank_column, replay.ranks()[rank].rank());
    out.AppendText(class_name, PathClassName(piece.path_class));
    out.AppendText(name, NodeName(graph, node, replay.ranks()[rank]));
    out.AppendInt(begin, AddNs(graph.windows[rank].begin_ns, piece.begin_ns));
    out.AppendInt(time, piece.dur_ns);
  }
  return out;
}

Table PathChainTable(const StepReplay& replay, size_t top) {
  const StepGraph& graph = replay.graph();
  std::vector<PathChain> chains = replay.path().chains();
  std::stable_sort(chains.begin(), chains.end(),
                   [](const PathChain& a, const PathChain& b) { return a.dur_ns > b.dur_ns; });
  if (chains.size() > top) chains.resize(top);
  std::vector<CallSites> sites = MakeCallSites(replay);
  Table out("chains");
  const size_t rank_column = out.AddColumn("Rank", CellType::kInt);
  const size_t lane = out.AddColumn("Lane", CellType::kText);
  const size_t begin = out.AddColumn("Start(us)", CellType::kTimeUs);
  const size_t time = out.AddColumn("Duration(us)", CellType::kTimeUs);
  const size_t share = out.AddColumn("Share(%)", CellType::kDouble, 2);
  const size_t pieces = out.AddColumn("Parts", CellType::kInt);
  const size_t class_name = out.AddColumn("Largest Class", CellType::kText);
  const size_t name = out.AddColumn("Largest Part", CellType::kText);
  const size_t code = out.AddColumn("Call Site", CellType::kText);
  out.MarkShare(share);
  for (const PathChain& chain : chains) {
    const auto first = replay.path().pieces.begin() + static_cast<int64_t>(chain.first);
    const auto last = replay.path().pieces.begin() + static_cast<int64_t>(chain.last) + 1;
    const auto largest = std::max_element(
        first, last, [](const PathPiece& a, const PathPiece& b) { return a.dur_ns < b.dur_ns; });
    const GraphNode& node = graph.nodes[largest->node];
    const uint32_t rank = graph.lanes[chain.lane].rank_index;
    const CallSite site = sites[rank].Of(node);
    out.AppendInt(rank_column, replay.ranks()[rank].rank());
    out.AppendText(lane, LaneName(graph, chain.lane, replay.ranks()));
    out.AppendInt(begin, chain.begin_ns);
    out.AppendInt(time, chain.dur_ns);
    out.AppendDouble(share, PercentOf(chain.dur_ns, replay.path().total_ns));
    out.AppendInt(pieces, static_cast<int64_t>(chain.last - chain.first + 1));
    out.AppendText(class_name, PathClassName(largest->path_class));
    out.AppendText(name, NodeName(graph, node, replay.ranks()[rank]));
    out.AppendText(code, site.code.empty() ? site.op : site.code);
  }
  return out;
}

Table SlackTable(const StepReplay& replay, size_t top) {
  const StepGraph& graph = replay.graph();
  const std::vector<int64_t> slack_ns = SlackOf(graph, graph.weight_ns, replay.at());
  std::vector<uint32_t> rows;
  const auto length_ns = [&](uint32_t node) {
    return replay.at()[graph.nodes[node].end] - replay.at()[graph.nodes[node].begin];
  };
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const NodeKind kind = graph.nodes[n].kind;
    const bool works =
        kind == NodeKind::kCompute || kind == NodeKind::kCopy || kind == NodeKind::kCollective;
    if (works && slack_ns[n] > 0 && length_ns(n) > 0) rows.push_back(n);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return length_ns(a) > length_ns(b); });
  if (rows.size() > top) rows.resize(top);
  std::vector<CallSites> sites = MakeCallSites(replay);
  Table out("slack");
  const size_t rank_column = out.AddColumn("Rank", CellType::kInt);
  const size_t lane = out.AddColumn("Lane", CellType::kText);
  const size_t name = out.AddColumn("Name", CellType::kText);
  const size_t begin = out.AddColumn("Start(us)", CellType::kTimeUs);
  const size_t time = out.AddColumn("Duration(us)", CellType::kTimeUs);
  const size_t slack = out.AddColumn("Slack(us)", CellType::kTimeUs);
  const size_t code = out.AddColumn("Call Site", CellType::kText);
  for (const uint32_t n : rows) {
    const GraphNode& node = graph.nodes[n];
    const uint32_t rank = graph.lanes[node.lane].rank_index;
    const CallSite site = sites[rank].Of(node);
    out.AppendInt(rank_column, replay.ranks()[rank].rank());
    out.AppendText(lane, LaneName(graph, node.lane, replay.ranks()));
    out.AppendText(name, NodeName(graph, node, replay.ranks()[rank]));
    out.AppendInt(begin, replay.at()[node.begin]);
    out.AppendInt(time, length_ns(n));
    out.AppendInt(slack, slack_ns[n]);
    out.AppendText(code, site.code.empty() ? site.op : site.code);
  }
  return out;
}

Table WhatIfTable(const StepReplay& replay, std::span<const Edit> edits) {
  const auto steps = static_cast<int64_t>(replay.graph().steps());
  Table out("whatif");
  const size_t name = out.AddColumn("Change", CellType::kText);
  const size_t parts = out.AddColumn("Changed Parts", CellType::kInt);
  const size_t before = out.AddColumn("Measured per Step(us)", CellType::kTimeUs);
  const size_t after = out.AddColumn("Replayed per Step(us)", CellType::kTimeUs);
  const size_t saving = out.AddColumn("Saving per Step(us)", CellType::kTimeUs);
  const size_t bound = out.AddColumn("Bound per Step(us)", CellType::kTimeUs);
  const size_t share = out.AddColumn("Saving(%)", CellType::kDouble, 2);
  const auto add = [&](const std::string& text, std::span<const Edit> applied) {
    const StepReplay::Outcome outcome = replay.Run(applied);
    const int64_t measured_ns = replay.measured_ns();
    const int64_t saving_ns = outcome.saving_ns < 0 ? -DivideNs(-outcome.saving_ns, steps)
                                                    : DivideNs(outcome.saving_ns, steps);
    out.AppendText(name, text);
    out.AppendInt(parts, static_cast<int64_t>(outcome.changed_edges));
    out.AppendInt(before, DivideNs(measured_ns, steps));
    out.AppendInt(after, DivideNs(measured_ns, steps) - saving_ns);
    out.AppendInt(saving, saving_ns);
    out.AppendInt(bound, DivideNs(outcome.bound_ns, steps));
    out.AppendDouble(share, static_cast<double>(outcome.saving_ns) /
                                static_cast<double>(std::max<int64_t>(measured_ns, 1)) * 100);
  };
  for (size_t i = 0; i < edits.size(); ++i) add(edits[i].text, edits.subspan(i, 1));
  if (edits.size() > 1) add("all together", edits);
  return out;
}

Table ReplayTable(const StepReplay& replay) {
  const StepGraph& graph = replay.graph();
  Table out("replay");
  const size_t rank_column = out.AddColumn("Rank", CellType::kInt);
  const size_t steps = out.AddColumn("Steps", CellType::kInt);
  const size_t measured = out.AddColumn("Measured(us)", CellType::kTimeUs);
  const size_t replayed = out.AddColumn("Replayed(us)", CellType::kTimeUs);
  const size_t nodes = out.AddColumn("Nodes", CellType::kInt);
  std::vector<int64_t> counts(replay.ranks().size(), 0);
  for (const GraphNode& node : graph.nodes) ++counts[graph.lanes[node.lane].rank_index];
  for (size_t r = 0; r < replay.ranks().size(); ++r) {
    out.AppendInt(rank_column, replay.ranks()[r].rank());
    out.AppendInt(steps, static_cast<int64_t>(graph.windows[r].steps));
    out.AppendInt(measured, graph.FinishNs(graph.measured_ns, r));
    out.AppendInt(replayed, graph.FinishNs(replay.at(), r));
    out.AppendInt(nodes, counts[r]);
  }
  return out;
}

}  // namespace steplens::analysis
