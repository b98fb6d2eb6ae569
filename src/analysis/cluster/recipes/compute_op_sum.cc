#include <array>
#include <map>

#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/classify/text_memo.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/stats_table.h"
#include "analysis/cluster/step_window.h"

namespace steplens::analysis::cluster {
namespace {

// What the db has where the level of the capture does not record a fact.
constexpr std::string_view kNotRecorded = "N/A";

struct OpType {
  std::string type;
  std::string core;
  auto operator<=>(const OpType&) const = default;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(type, core);
  }
};

// Kernels of one name, type and shape; name and shapes are empty with --exclude_op_name.
struct Op {
  OpType type;
  std::string name;
  std::string input_shapes;
  auto operator<=>(const Op&) const = default;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(type, name, input_shapes);
  }
};

struct Part {
  std::map<Op, Spread> ops;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(ops);
  }
};

class ComputeOpSum : public RecipeOf<Part> {
 public:
  explicit ComputeOpSum(const Options& options)
      : options_(options), has_names_(!options.values.contains("exclude_op_name")) {
    by_type_.AddRankColumn();
    by_name_.AddRankColumn();
  }

  Result<Answer> Finish(Form) override {
    StatsTable all("ComputeOpAllRankStats", {"OpType", "TaskType"});
    for (const auto* entry : BySum(types_))
      all.Append({entry->first.type, entry->first.core}, entry->second);
    Answer answer;
    answer.tables.push_back({all.Take(), "all_stats.csv"});
    answer.tables.push_back({by_type_.Take(), "rank_stats_by_optype.csv"});
    if (has_names_) answer.tables.push_back({by_name_.Take(), "rank_stats_by_opname.csv"});
    answer.Note(silent_ranks_, "{ranks} recorded no compute kernel in the time looked at.");
    answer.suggestion = Message{"suggestion.compute_op_sum"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const StepWindow window = FindStepWindow(rank, options_);
    const store::KernelTable& kernels = rank.kernels;
    TextMemo is_communication(rank, IsCommunicationCore);
    TextMemo runs_collective(rank, RunsCollective);
    std::map<std::array<StringId, 4>, Spread> by_ids;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (kernels.begin_ns[i] == store::kNone || kernels.dur_ns[i] == store::kNone) continue;
      if (!window.Contains(kernels.begin_ns[i]) || is_communication(kernels.core[i]) ||
          runs_collective(kernels.name[i]))
        continue;
      const std::array<StringId, 4> ids = {kernels.type[i], kernels.core[i],
                                           has_names_ ? kernels.name[i] : StringId::kEmpty,
                                           has_names_ ? kernels.input_shapes[i] : StringId::kEmpty};
      by_ids[ids].Add(kernels.dur_ns[i], rank.info.rank);
    }
    Part part;
    for (const auto& [ids, spread] : by_ids) {
      Op op;
      op.type = {Recorded(rank.Text(ids[0])), Recorded(rank.Text(ids[1]))};
      op.name = rank.Text(ids[2]);
      op.input_shapes = Shapes(rank.Text(ids[3]));
      part.ops[op].Merge(spread);
    }
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (part.ops.empty()) ++silent_ranks_;
    std::map<OpType, Spread> types;
    for (const auto& [op, spread] : part.ops) types[op.type].Merge(spread);
    for (const auto* entry : BySum(types)) {
      by_type_.Append({entry->first.type, entry->first.core}, entry->second, facts.rank);
      types_[entry->first].Merge(entry->second);
    }
    if (!has_names_) return;
    for (const auto* entry : BySum(part.ops)) {
      const Op& op = entry->first;
      by_name_.Append({op.name, op.type.type, op.type.core, op.input_shapes}, entry->second,
                      facts.rank);
    }
  }

 private:
  // Kernels that carry out a collective: hccl_sum counts them, or it is NCCL's.
  static bool RunsCollective(std::string_view name) {
    return IsDeviceSideOfCollective(name) || IsCommunicationKernel(name);
  }

  static std::string Recorded(std::string_view text) {
    return std::string(text.empty() ? kNotRecorded : text);
  }

  // The db has shapes in quotes, which the store leaves off.
  std::string Shapes(std::string_view text) const {
    if (text.empty() || !options_.compat) return Recorded(text);
    return '"' + std::string(text) + '"';
  }

  Options options_;
  bool has_names_;
  std::map<OpType, Spread> types_;
  StatsTable by_type_{"ComputeOpPerRankStatsByOpType", {"OpType", "TaskType"}};
  StatsTable by_name_{"ComputeOpPerRankStatsByOpName",
                      {"OpName", "OpType", "TaskType", "InputShapes"}};
  size_t silent_ranks_ = 0;
};

}  // namespace

RecipeSpec ComputeOpSumRecipe() {
  RecipeSpec spec;
  spec.name = "compute_op_sum";
  spec.folder = "ComputeOpSum";
  spec.summary = "Durations of compute kernels by type, rank, name and shape";
  spec.needs.timeline = true;
  spec.options = {"exclude_op_name"};
  spec.make = MakeRecipe<ComputeOpSum>;
  return spec;
}

}  // namespace steplens::analysis::cluster
