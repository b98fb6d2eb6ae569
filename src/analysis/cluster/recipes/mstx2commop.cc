#include <fmt/format.h>

#include "analysis/cluster/recipes/marked_comm_ops.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

struct Part {
  std::vector<MarkedCommOp> ops;
  bool has_recorded = false;  // the capture holds communication operators already

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(ops, has_recorded);
  }
};

class Mstx2Commop : public RecipeOf<Part> {
 public:
  explicit Mstx2Commop(const Options& options) : options_(options) {
    table_.AddColumn("rank", CellType::kInt);
    table_.AddColumn("opName", CellType::kText);
    table_.AddColumn("groupName", CellType::kText);
    table_.AddColumn("startNs", CellType::kInt);
    table_.AddColumn("endNs", CellType::kInt);
    table_.AddColumn("dataType", CellType::kText);
    table_.AddColumn("count", CellType::kInt);
    table_.AddColumn("opType", CellType::kText);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    if (!options_.compat) {
      answer.tables.push_back(
          {std::move(table_),
           "marked_comm_ops.csv",
           {"rank", "opName", "groupName", "startNs", "endNs", "dataType", "count", "opType"}});
    }
    answer.edits = std::move(edits_);
    answer.Note(recorded_,
                "{ranks} {have} recorded communication operators: nothing to do for them");
    answer.suggestion = Message{"suggestion.mstx2commop"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    return {FindMarkedCommOps(rank, options_), rank.comm_ops.size() > 0};
  }

  void AddRank(const RankFacts& facts, Part part) override {
    recorded_ += part.has_recorded ? 1 : 0;
    for (const MarkedCommOp& op : part.ops) {
      table_.AppendInt(0, facts.rank);
      table_.AppendText(1, op.name);
      table_.AppendText(2, op.group);
      table_.AppendInt(3, op.begin_ns);
      table_.AppendInt(4, op.end_ns);
      table_.AppendText(5, op.data_type);
      table_.AppendInt(6, op.count);
      table_.AppendText(7, op.type);
    }
    if (!part.ops.empty()) edits_.push_back(CommOpEdit(facts.rank, part.ops));
  }

 private:
  Options options_;
  table::Table table_{"MarkedCommunicationOp"};
  std::vector<RankEdit> edits_;
  size_t recorded_ = 0;
};

}  // namespace

RecipeSpec Mstx2CommopRecipe() {
  RecipeSpec spec;
  spec.name = "mstx2commop";
  spec.folder = "Mstx2Commop";
  spec.summary = "Communication operators from the framework's marks, for captures without them";
  spec.has_edits_only = true;
  spec.needs.timeline = true;
  spec.make = MakeRecipe<Mstx2Commop>;
  return spec;
}

}  // namespace steplens::analysis::cluster
