#include "analysis/cluster/communication/link_part.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;

double Bandwidth(const LinkRow& row) { return row.time_ms > 0 ? row.size_mb / row.time_ms : 0; }

bool HasKinds(const TraceStore& rank) {
  for (const StringId op : rank.comm_links.op_name) {
    const std::string_view text = rank.Text(op);
    if (text.ends_with("-total") || text.ends_with("-top1")) return true;
  }
  return rank.comm_links.size() == 0;
}

// Matrices of msprof, of MindSpore's databases and of early profilers have one row per operation
// and no kinds ("-top1"): they are condensed. The reference keeps what early profilers wrote.
bool IsCondensed(const TraceStore& rank, bool compat) {
  const bool is_db = rank.info.format == store::Format::kDb;
  const bool is_kept = compat && rank.info.source != store::Source::kMsprof &&
                       !(is_db && store::IsMindSpore(rank.info.source));
  return !is_kept && !HasKinds(rank);
}

// The operation's type as the matrix names it: the longest known word in the name. The reference
// takes the first of its list, and of databases the whole name: "hcom_allReduce".
std::string OpType(std::string_view op_name, bool compat, bool is_db) {
  std::string name(op_name);
  if (compat && is_db) return name.substr(0, name.find("__"));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view kTypes[] = {"send",         "reduce",   "invalid",   "broadcast",
                                         "allreduce",    "receive",  "allgather", "reducescatter",
                                         "scatter",      "alltoall", "alltoallv", "alltoallvc",
                                         "batchsendrecv"};
  std::string_view best;
  size_t best_at = std::string::npos;
  for (const std::string_view type : kTypes) {
    const size_t at = name.find(type);
    if (at == std::string::npos) continue;
    const bool is_better =
        compat ? at < best_at : at < best_at || (at == best_at && type.size() > best.size());
    if (!is_better) continue;
    best = type;
    best_at = at;
  }
  if (!best.empty()) return std::string(best);
  return name.substr(0, name.find("__"));
}

// One row an operation -> top1, middle, bottom1-3 and total of each (type, group, link).
class Condenser {
 public:
  Condenser(LinkPart& part, bool compat, bool is_db)
      : part_(part), compat_(compat), is_db_(is_db) {}

  void Run() {
    std::map<std::tuple<uint32_t, bool, std::string, uint32_t, int64_t, int64_t>,
             std::vector<LinkRow>>
        by_link;
    for (LinkRow& row : part_.links) {
      const std::string type = OpType(part_.Text(row.op), compat_, is_db_);
      row.picked_op = row.op;
      by_link[{row.step, row.is_p2p, type, row.group, row.src, row.dst}].push_back(row);
    }
    part_.links.clear();
    for (auto& [key, rows] : by_link) Condense(std::get<2>(key), rows);
  }

 private:
  void Condense(const std::string& type, std::vector<LinkRow>& rows) {
    std::stable_sort(rows.begin(), rows.end(), [&](const LinkRow& a, const LinkRow& b) {
      // The reference sorts databases the wrong way round.
      return compat_ && is_db_ ? Bandwidth(a) < Bandwidth(b) : Bandwidth(a) > Bandwidth(b);
    });
    const size_t n = rows.size();
    Emit(type, "-top1", rows[0]);
    Emit(type, "-middle", rows[n / 2]);
    Emit(type, "-bottom1", rows[n - 1]);
    if (n >= 2) Emit(type, "-bottom2", rows[n - 2]);
    if (n >= 3) Emit(type, "-bottom3", rows[n - 3]);
    LinkRow total = rows[0];
    total.size_mb = total.time_ms = 0;
    total.picked_op = 0;
    for (const LinkRow& row : rows) {
      total.size_mb += row.size_mb;
      total.time_ms += row.time_ms;
    }
    Emit(type, "-total", total);
  }

  void Emit(const std::string& type, const char* kind, LinkRow row) {
    const auto [place, is_new] =
        names_.try_emplace(type + kind, static_cast<uint32_t>(part_.texts.size()));
    if (is_new) part_.texts.push_back(type + kind);
    row.op = place->second;
    part_.links.push_back(row);
  }

  LinkPart& part_;
  bool compat_;
  bool is_db_;
  std::map<std::string, uint32_t> names_;
};

std::vector<GroupSight> Sights(const std::vector<LinkRow>& links) {
  std::map<uint32_t, GroupSight> by_group;
  for (const LinkRow& row : links) {
    GroupSight& sight = by_group[row.group];
    sight.group = row.group;
    sight.largest = std::max({sight.largest, row.src, row.dst});
    std::vector<int64_t>& selves = sight.selves;
    if (row.src == row.dst && std::find(selves.begin(), selves.end(), row.src) == selves.end())
      selves.push_back(row.src);
  }
  std::vector<GroupSight> sights;
  for (auto& [group, sight] : by_group) sights.push_back(std::move(sight));
  return sights;
}

// Keeps, of groups that are too large, sums and the slowest links.
class Thinner {
 public:
  Thinner(LinkPart& part, const RankFacts& facts) : part_(part) {
    for (const GroupFact& group : facts.groups)
      members_[GroupName(group.id)] = static_cast<int64_t>(group.ranks.size());
    for (const LinkRow& row : part.links) {
      int64_t& size = members_[part.Text(row.group)];
      size = std::max({size, row.src + 1, row.dst + 1});
    }
  }

  void Run() {
    std::vector<LinkRow> kept;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<LinkRow>> large;
    for (const LinkRow& row : part_.links) {
      const bool says_rank = row.src == row.dst && part_.Text(row.op).ends_with("top1");
      if (says_rank || members_[part_.Text(row.group)] <= kFullMatrixRanks) {
        kept.push_back(row);
      } else if (part_.Text(row.op).ends_with("total")) {
        large[{row.step, row.group, row.transport}].push_back(row);
      }
    }
    for (auto& [key, rows] : large) Thin(rows, kept);
    part_.links = std::move(kept);
  }

 private:
  void Thin(std::vector<LinkRow>& rows, std::vector<LinkRow>& kept) {
    LinkSum sum{rows[0].step, rows[0].group, rows[0].transport, 0, 0, 0, 0};
    std::stable_sort(rows.begin(), rows.end(), [](const LinkRow& a, const LinkRow& b) {
      return Bandwidth(a) < Bandwidth(b);
    });
    sum.min_gbps = Bandwidth(rows[0]);
    for (const LinkRow& row : rows) {
      ++sum.links;
      sum.size_mb += row.size_mb;
      sum.time_ms += row.time_ms;
    }
    part_.sums.push_back(sum);
    kept.insert(kept.end(), rows.begin(),
                rows.begin() + static_cast<int64_t>(std::min(rows.size(), kWorstLinks)));
  }

  LinkPart& part_;
  std::map<std::string, int64_t> members_;
};

}  // namespace

LinkPart ReadLinks(const TraceStore& rank, const RankFacts& facts, const Options& options,
                   bool all_links) {
  LinkPart part;
  TextNumbers number(rank, part.texts);
  number(StringId::kEmpty);
  if (!(options.compat && rank.comm_times.size() == 0)) part.used = UsedGroups(rank);
  const store::CommLinkTable& links = rank.comm_links;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string_view op = rank.Text(links.op_name[i]);
    if (op.starts_with("Total") || !IsWantedStep(rank.Text(links.step[i]), options)) continue;
    const std::string_view kind = rank.Text(links.kind[i]);
    part.links.push_back({number.Step(links.step[i]), number(links.op_name[i]),
                          number(links.group_name[i]), number(links.transport[i]),
                          number(links.picked_op[i]), kind.empty() ? IsP2pName(op) : kind == "p2p",
                          links.src_rank[i], links.dst_rank[i],
                          KnownOrZero(links.transit_size_mb[i]), KnownOrZero(links.transit_ms[i])});
  }
  part.sights = Sights(part.links);
  if (IsCondensed(rank, options.compat))
    Condenser(part, options.compat, rank.info.format == store::Format::kDb).Run();
  if (!all_links) Thinner(part, facts).Run();
  return part;
}

}  // namespace steplens::analysis::cluster
