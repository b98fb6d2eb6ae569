#include "analysis/cluster/recipes/p2p_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/cluster/group_name.h"
#include "analysis/cluster/recipes/comm_calls.h"
#include "analysis/cluster/recipes/host_calls.h"
#include "analysis/cluster/step_window.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using store::TraceStore;

// What "hcom_receive__169_0_1" says.
struct P2PName {
  bool is_receive = false;
  std::string_view group_suffix;  // "169"
};
std::optional<P2PName> ParseName(std::string_view name) {
  constexpr std::string_view kPrefix = "hcom_";
  constexpr std::pair<std::string_view, bool> kWords[] = {{"send__", false},   {"Send__", false},
                                                          {"recv__", true},    {"Recv__", true},
                                                          {"receive__", true}, {"Receive__", true}};
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  for (const auto& [word, is_receive] : kWords) {
    if (!name.starts_with(word)) continue;
    name.remove_prefix(word.size());
    const bool is_numbered = name.find_first_not_of("0123456789_") == name.npos &&
                             std::count(name.begin(), name.end(), '_') == 2;
    if (!is_numbered) return std::nullopt;
    return P2PName{is_receive, name.substr(0, name.find('_'))};
  }
  return std::nullopt;
}

// The ends that the notify tasks of each (operator, group) name.
using Ends = std::pair<int64_t, int64_t>;
using EndsByOp = std::map<std::pair<StringId, StringId>, std::set<Ends>>;
EndsByOp CollectEnds(const TraceStore& rank) {
  EndsByOp ends;
  const store::CommTaskTable& tasks = rank.comm_tasks;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::string_view kind = rank.Text(tasks.name[i]);
    if (kind != "Notify_Record" && kind != "Notify_Wait") continue;
    if (!ParseName(rank.Text(tasks.op_name[i]))) continue;
    ends[{tasks.op_name[i], tasks.group_name[i]}].insert({tasks.src_rank[i], tasks.dst_rank[i]});
  }
  return ends;
}

const GroupFact* FindGroup(const RankFacts& facts, const std::string& id) {
  for (const GroupFact& group : facts.groups) {
    if (group.id == id) return &group;
  }
  return nullptr;
}

// In a group of two there is only one peer.
void FillEndsOfTwo(const RankFacts& facts, P2POp& op) {
  const GroupFact* group = FindGroup(facts, op.group);
  if (op.src != kNone || group == nullptr || group->ranks.size() != 2) return;
  const int64_t own = group->ranks.ranks()[0] == facts.rank ? 0 : 1;
  op.src = op.is_receive ? 1 - own : own;
  op.dst = 1 - op.src;
}

int64_t GlobalRank(const GroupFact* group, int64_t local) {
  if (group == nullptr || local < 0 || static_cast<size_t>(local) >= group->ranks.size())
    return kNone;
  return group->ranks.ranks()[static_cast<size_t>(local)];
}

}  // namespace

P2POps FindP2POps(const TraceStore& rank, const Options& options) {
  P2POps found;
  const HostCalls host(rank);
  const StepWindow window = FindStepWindow(rank, options);
  const EndsByOp ends = CollectEnds(rank);
  const store::CommOpTable& ops = rank.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::optional<P2PName> name = ParseName(rank.Text(ops.name[i]));
    if (!name) continue;
    int64_t launch_ns = host.StartOf(ops.correlation[i]);
    if (launch_ns == kNone && !options.compat) launch_ns = ops.begin_ns[i];
    if (launch_ns == kNone || !window.Contains(launch_ns)) continue;
    P2POp op{std::string(rank.Text(ops.name[i])), std::string(rank.Text(ops.group_name[i])),
             ops.begin_ns[i], ops.correlation[i], name->is_receive};
    if (const auto place = ends.find({ops.name[i], ops.group_name[i]}); place != ends.end()) {
      if (place->second.size() > 1) {
        ++found.ambiguous;
        continue;
      }
      std::tie(op.src, op.dst) = *place->second.begin();
      // Tasks name the own rank first, on both sides.
      if (op.is_receive) std::swap(op.src, op.dst);
    }
    found.ops.push_back(std::move(op));
  }
  std::stable_sort(found.ops.begin(), found.ops.end(),
                   [](const P2POp& a, const P2POp& b) { return a.begin_ns < b.begin_ns; });
  return found;
}

std::vector<P2PPair> PairP2POps(const RankFacts& facts, std::vector<P2POp> ops, bool compat) {
  std::vector<P2PPair> pairs;
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> counters;
  const GroupIds ids(facts);
  for (P2POp& op : ops) {
    op.group = ids.Find(op.group);
    if (!compat) FillEndsOfTwo(facts, op);
    if (op.src == kNone || op.dst == kNone) continue;
    // The reference counts over all groups together.
    const int64_t number = counters[{compat ? "" : op.group, op.src, op.dst}]++;
    const std::string name = GroupName(op.group);
    const GroupFact* group = FindGroup(facts, op.group);
    P2PPair& pair = pairs.emplace_back();
    pair.id = fmt::format("{}_{}_{}_{}", compat ? GroupSuffix(name) : name, op.src, op.dst, number);
    pair.src_rank = GlobalRank(group, op.src);
    pair.dst_rank = GlobalRank(group, op.dst);
    pair.op = std::move(op);
  }
  return pairs;
}

RankEdit P2PEdit(int64_t rank, const std::vector<P2PPair>& pairs) {
  RankEdit edit{rank, RankEdit::Kind::kColumn, table::Table("COMMUNICATION_OP")};
  edit.table.AddColumn("startNs", table::CellType::kInt);
  edit.table.AddColumn("connectionId", table::CellType::kInt);
  edit.table.AddColumn("opConnectionId", table::CellType::kText);
  for (const P2PPair& pair : pairs) {
    edit.table.AppendInt(0, pair.op.begin_ns);
    edit.table.AppendInt(1, pair.op.correlation);
    edit.table.AppendText(2, pair.id);
  }
  return edit;
}

}  // namespace steplens::analysis::cluster
