#include <algorithm>
#include <map>

#include "analysis/cluster/device_time.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/rounding.h"
#include "analysis/overlap/overlap.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

constexpr std::string_view kDefaultTypes = "dp,edp;edp;dp;ep;pp;mp;tp";

// Kinds of groups that are looked at together: {dp, edp}.
using TypeSet = std::vector<std::string>;

// The pieces between separators, empty ones included.
std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

// "tp;tp,dp" -> {{tp}, {tp, dp}}
Result<std::vector<TypeSet>> ParseTypes(const std::string& text) {
  std::vector<TypeSet> sets;
  for (const std::string& set : Split(text, ';')) {
    sets.push_back(Split(set, ','));
    if (std::find(sets.back().begin(), sets.back().end(), "") == sets.back().end()) continue;
    return Error{ErrorCode::kInvalidArgument,
                 "--parallel_types: '" + text +
                     "' has an empty name; sets separated by ';' of names separated by ',' were "
                     "expected, e.g. 'edp;dp,edp'"};
  }
  return sets;
}

std::string Joined(const TypeSet& types) {
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : "+") + type;
  return text;
}

// Communication of one set of groups in one step of a rank.
struct Row {
  int64_t step = 0;
  size_t type_set = 0;
  Interval window;
  int64_t total_ns = 0;
  int64_t uncovered_ns = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, type_set, window.begin_ns, window.end_ns, total_ns, uncovered_ns);
  }
};

struct Part {
  std::vector<Row> rows;
  bool has_steps = false;
  bool has_groups = false;  // operators of groups whose kind is known

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rows, has_steps, has_groups);
  }
};

// Group name of each operator as communication.json has it; where the trace only numbers groups.
std::map<std::string_view, std::string_view> GroupsOfOps(const store::TraceStore& rank) {
  std::map<std::string_view, std::string_view> groups;
  for (size_t i = 0; i < rank.comm_times.size(); ++i) {
    groups.try_emplace(rank.Text(rank.comm_times.op_name[i]),
                       rank.Text(rank.comm_times.group_name[i]));
  }
  return groups;
}

// The operators of a rank by the kind of their group, sorted.
std::map<std::string, std::vector<Interval>> CollectByKind(const store::TraceStore& rank) {
  std::map<std::string, std::string> kinds;  // by group name
  for (const GroupFact& group : DescribeRank(rank).groups)
    kinds.try_emplace(GroupName(group.id), group.pg_name);
  const auto groups_of_ops = GroupsOfOps(rank);
  std::map<std::string, std::vector<Interval>> ops;
  for (size_t i = 0; i < rank.comm_ops.size(); ++i) {
    const Interval in{rank.comm_ops.begin_ns[i],
                      EndNs(rank.comm_ops.begin_ns[i], rank.comm_ops.dur_ns[i])};
    auto kind = kinds.find(GroupName(rank.Text(rank.comm_ops.group_name[i])));
    if (kind == kinds.end()) {
      const auto known = groups_of_ops.find(rank.Text(rank.comm_ops.name[i]));
      if (known != groups_of_ops.end()) kind = kinds.find(GroupName(known->second));
    }
    if (kind != kinds.end() && IsPlausible(in.begin_ns, in.end_ns)) ops[kind->second].push_back(in);
  }
  return ops;
}

bool Overlaps(const Interval& in, const Interval& window) {
  return in.begin_ns <= window.end_ns && in.end_ns >= window.begin_ns;
}
bool IsInside(const Interval& in, const Interval& window) {
  return in.begin_ns >= window.begin_ns && in.end_ns <= window.end_ns;
}

class ComputationalOpMasking : public RecipeOf<Part> {
 public:
  ComputationalOpMasking(const Options& options, std::vector<TypeSet> types)
      : options_(options), types_(std::move(types)) {
    if (!options_.compat) table_.AddColumn("rank", CellType::kInt);
    table_.AddColumn("stepId", CellType::kInt);
    table_.AddColumn("parallelType", CellType::kText);
    table_.AddColumn("stepStartTime", CellType::kInt);
    table_.AddColumn("stepEndTime", CellType::kInt);
    table_.AddColumn("totalCommunicationOperatorTime", CellType::kInt);
    table_.AddColumn("timeRatioOfStepCommunicationOperator", CellType::kDouble, 5);
    table_.AddColumn("totalTimeWithoutCommunicationBlackout", CellType::kInt);
    table_.AddColumn("ratioOfUnmaskedCommunication", CellType::kDouble, 5);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.tables.push_back({std::move(table_), "computational_operator_masking_linearity.csv"});
    answer.Note(ranks_without_steps_, "{ranks} marked no step, so there is nothing to relate to.");
    answer.Note(ranks_without_groups_,
                "{ranks} {have} no communication whose group is named in "
                "parallel_group_info.");
    answer.suggestion = Message{"suggestion.computational_op_masking"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const auto by_kind = CollectByKind(rank);
    const std::vector<Interval> compute = ComputingTimes(rank);
    Part part;
    part.has_groups = !by_kind.empty();
    for (size_t i = 0; i < rank.steps.size(); ++i) {
      Row row;
      row.step = rank.steps.step[i];
      row.window = {rank.steps.begin_ns[i], rank.steps.end_ns[i]};
      if (options_.step && *options_.step != row.step) continue;
      if (!IsPlausible(row.window.begin_ns, row.window.end_ns)) continue;
      part.has_steps = true;
      for (row.type_set = 0; row.type_set < types_.size(); ++row.type_set) {
        std::vector<Interval> ops;
        for (const std::string& kind : types_[row.type_set]) AddOps(by_kind, kind, row.window, ops);
        if (ops.empty()) continue;
        SortIntervals(ops);
        Measure(compute, ops, row);
        part.rows.push_back(row);
      }
    }
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (!part.has_steps) ++ranks_without_steps_;
    if (!part.has_groups) ++ranks_without_groups_;
    for (const Row& row : part.rows) AppendRow(facts.rank, row);
  }

 private:
  // The reference, asked for one step, takes only what lies inside it.
  bool OnlyInside() const { return options_.compat && options_.step; }

  void AddOps(const std::map<std::string, std::vector<Interval>>& by_kind, const std::string& kind,
              Interval window, std::vector<Interval>& ops) const {
    const auto found = by_kind.find(kind);
    if (found == by_kind.end()) return;
    for (const Interval& op : found->second) {
      if (OnlyInside() ? IsInside(op, window) : Overlaps(op, window)) ops.push_back(op);
    }
  }

  // The reference counts operators that reach beyond the step in full.
  void Measure(const std::vector<Interval>& compute, const std::vector<Interval>& ops,
               Row& row) const {
    OverlapParts parts;
    if (!options_.compat) {
      parts = ComputeOverlap(compute, ops, row.window);
    } else {
      std::vector<Interval> covering;
      for (const Interval& in : compute) {
        if (!OnlyInside() || IsInside(in, row.window)) covering.push_back(in);
      }
      parts = ComputeOverlap(covering, ops, {-kLatestNs, kLatestNs});
    }
    row.total_ns = parts.comm_only_ns + parts.overlapped_ns;
    row.uncovered_ns = parts.comm_only_ns;
  }

  void AppendRow(int64_t rank, const Row& row) {
    const auto step_ns = static_cast<double>(row.window.end_ns - row.window.begin_ns);
    const auto share = [&](int64_t ns) {
      return step_ns > 0 ? static_cast<double>(ns) / step_ns : 0;
    };
    constexpr int kDecimals = 5;
    size_t column = 0;
    if (!options_.compat) table_.AppendInt(column++, rank);
    table_.AppendInt(column++, row.step);
    table_.AppendText(column++, Joined(types_[std::min(row.type_set, types_.size() - 1)]));
    table_.AppendInt(column++, row.window.begin_ns);
    table_.AppendInt(column++, row.window.end_ns);
    table_.AppendInt(column++, row.total_ns);
    table_.AppendDouble(column++, share(row.total_ns));
    table_.AppendInt(column++, row.uncovered_ns);
    table_.AppendDouble(column, RoundTo(share(row.uncovered_ns), kDecimals));
  }

  Options options_;
  std::vector<TypeSet> types_;
  table::Table table_{"ComputationalOperatorMaskingLinearity"};  // grows rank by rank
  size_t ranks_without_steps_ = 0;
  size_t ranks_without_groups_ = 0;
};

Result<std::unique_ptr<Recipe>> Make(const Options& options) {
  SL_ASSIGN_OR_RETURN(std::vector<TypeSet> types,
                      ParseTypes(options.Value("parallel_types", kDefaultTypes)));
  return std::unique_ptr<Recipe>(
      std::make_unique<ComputationalOpMasking>(options, std::move(types)));
}

}  // namespace

RecipeSpec ComputationalOpMaskingRecipe() {
  RecipeSpec spec;
  spec.name = "computational_op_masking";
  spec.folder = "ComputationalOpMasking";
  spec.summary = "Communication that no computation covers, by step and kind of group";
  spec.needs.timeline = true;
  spec.needs.communication = true;
  spec.options = {"parallel_types"};
  spec.make = Make;
  return spec;
}

}  // namespace steplens::analysis::cluster
