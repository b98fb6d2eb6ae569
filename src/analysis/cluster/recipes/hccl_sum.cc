#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/cluster/group_name.h"
#include "analysis/cluster/recipes/comm_calls.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/stats_table.h"
#include "analysis/cluster/step_window.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// The durations of one rank's communication operators.
struct Part {
  std::map<std::string, Spread> by_type;
  std::map<std::pair<std::string, std::string>, Spread> by_op;  // (name, group id)
  std::vector<std::string> groups;                              // ids

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(by_type, by_op, groups);
  }
};

class HcclSum : public RecipeOf<Part> {
 public:
  explicit HcclSum(const Options& options) : options_(options) { per_rank_.AddRankColumn(); }

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.tables.push_back({AllRanks(), "all_stats.csv"});
    answer.tables.push_back({per_rank_.Take(), "rank_stats.csv"});
    answer.tables.push_back({TopOps(), "top_op_stats.csv"});
    answer.tables.push_back({Groups(), "group_name_map.csv"});
    answer.suggestion = Message{"suggestion.hccl_sum"};
    return answer;
  }

 protected:
  Part MapWithFacts(const store::TraceStore& rank, const RankFacts& facts) const override {
    const StepWindow window = FindStepWindow(rank, options_);
    Part part;
    const GroupIds ids(facts);
    std::set<std::string> groups;
    const auto add = [&](std::string_view type, std::string_view name, const std::string& group,
                         int64_t dur_ns) {
      part.by_type[std::string(type)].Add(dur_ns, rank.info.rank);
      // The reference takes operators of different groups for one when their names are equal.
      part.by_op[{std::string(name), options_.compat ? "" : group}].Add(dur_ns, rank.info.rank);
      groups.insert(group);
    };
    const store::CommOpTable& ops = rank.comm_ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!window.Contains(ops.begin_ns[i])) continue;
      const std::string group(rank.Text(ops.group_name[i]));
      add(rank.Text(ops.op_type[i]), rank.Text(ops.name[i]),
          options_.compat ? group : ids.Find(group), ops.dur_ns[i]);
    }
    if (ops.size() == 0 && !options_.compat) {
      for (const CommCall& call : CommCallsOfResults(rank, facts, options_))
        add(call.name.substr(0, call.name.find("__")) + "_", call.name, call.group, call.dur_ns);
    }
    part.groups.assign(groups.begin(), groups.end());
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    for (const auto& [type, spread] : part.by_type) {
      by_type_[type].Merge(spread);
      per_rank_.Append({type}, spread, facts.rank);
    }
    for (const auto& [op, spread] : part.by_op) by_op_[op].Merge(spread);
    for (const std::string& group : part.groups) ranks_of_group_[group].push_back(facts.rank);
  }

 private:
  table::Table AllRanks() const {
    StatsTable table("HcclAllRankStats", {"OpType"});
    for (const auto& [type, spread] : by_type_) table.Append({type}, spread);
    return table.Take();
  }

  table::Table TopOps() const {
    constexpr int64_t kDefaultTop = 15;
    using Op = decltype(by_op_)::value_type;
    std::vector<const Op*> order;
    for (const Op& op : by_op_) order.push_back(&op);
    std::stable_sort(order.begin(), order.end(), [](const Op* a, const Op* b) {
      return a->second.mean_ns() > b->second.mean_ns();
    });
    const auto top = static_cast<size_t>(options_.PositiveOr("top_num", kDefaultTop));
    order.resize(std::min(order.size(), top));

    table::Table table("HcclTopOpStats");
    table.AddColumn("OpName", CellType::kText);
    SpreadColumns stats(table);
    const size_t min_rank = table.AddColumn("MinRank", CellType::kInt);
    const size_t max_rank = table.AddColumn("MaxRank", CellType::kInt);
    const size_t group = options_.compat ? 0 : table.AddColumn("GroupName", CellType::kText);
    for (const Op* op : order) {
      table.AppendText(0, op->first.first);
      stats.Append(op->second);
      table.AppendInt(min_rank, op->second.min_rank());
      table.AppendInt(max_rank, op->second.max_rank());
      if (!options_.compat) table.AppendText(group, op->first.second);
    }
    return table;
  }

  table::Table Groups() const {
    std::vector<std::tuple<std::string, std::string, std::string>> rows;
    for (const auto& [id, ranks] : ranks_of_group_) {
      std::string joined;
      for (const int64_t rank : ranks) joined += (joined.empty() ? "" : ";") + std::to_string(rank);
      rows.emplace_back(GroupSuffix(GroupName(id)), id, joined);
    }
    std::sort(rows.begin(), rows.end());
    table::Table table("HcclGroupNameMap");
    for (const char* name : {"GroupName", "GroupId", "Ranks"})
      table.AddColumn(name, CellType::kText);
    for (const auto& [suffix, id, ranks] : rows) {
      table.AppendText(0, id);
      table.AppendText(1, suffix);
      table.AppendText(2, ranks);
    }
    return table;
  }

  Options options_;
  std::map<std::string, Spread> by_type_;
  std::map<std::pair<std::string, std::string>, Spread> by_op_;
  std::map<std::string, std::vector<int64_t>> ranks_of_group_;
  StatsTable per_rank_{"HcclPerRankStats", {"OpType"}};
};

}  // namespace

RecipeSpec HcclSumRecipe() {
  RecipeSpec spec;
  spec.name = "hccl_sum";
  spec.folder = "HcclSum";
  spec.summary = "Durations of communication operators by type, rank and operator";
  spec.needs.timeline = true;
  spec.needs.calls = true;
  spec.options = {"top_num"};
  spec.make = MakeRecipe<HcclSum>;
  return spec;
}

}  // namespace steplens::analysis::cluster
