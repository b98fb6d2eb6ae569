#include <fmt/format.h>

#include "analysis/cluster/recipes/p2p_pairs.h"
#include "analysis/cluster/recipes/recipes.h"
#include "base/saturate.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

class P2PPairing : public RecipeOf<P2POps> {
 public:
  explicit P2PPairing(const Options& options) : options_(options) {
    table_.AddColumn("rank", CellType::kInt);
    table_.AddColumn("opName", CellType::kText);
    table_.AddColumn("groupName", CellType::kText);
    table_.AddColumn("startNs", CellType::kInt);
    table_.AddColumn("opConnectionId", CellType::kText);
    table_.AddColumn("srcRank", CellType::kInt);
    table_.AddColumn("dstRank", CellType::kInt);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.tables.push_back(
        {std::move(table_),
         "p2p_pairing.csv",
         {"rank", "opName", "groupName", "startNs", "opConnectionId", "srcRank", "dstRank"}});
    answer.edits = std::move(edits_);
    if (unpaired_ > 0) {
      answer.notes.push_back(fmt::format(
          "{} sends and receives have no id: their tasks do not name one peer", unpaired_));
    }
    answer.suggestion = Message{"suggestion.p2p_pairing"};
    return answer;
  }

 protected:
  P2POps MapRank(const store::TraceStore& rank) const override {
    return FindP2POps(rank, options_);
  }

  void AddRank(const RankFacts& facts, P2POps part) override {
    const size_t count = part.ops.size();
    const std::vector<P2PPair> pairs = PairP2POps(facts, std::move(part.ops), options_.compat);
    unpaired_ = AddSaturating(unpaired_, part.ambiguous);
    unpaired_ = AddSaturating(unpaired_, static_cast<int64_t>(count - pairs.size()));
    for (const P2PPair& pair : pairs) {
      table_.AppendInt(0, facts.rank);
      table_.AppendText(1, pair.op.name);
      table_.AppendText(2, pair.op.group);
      table_.AppendInt(3, pair.op.begin_ns);
      table_.AppendText(4, pair.id);
      table_.AppendInt(5, pair.src_rank);
      table_.AppendInt(6, pair.dst_rank);
    }
    if (!pairs.empty()) edits_.push_back(P2PEdit(facts.rank, pairs));
  }

 private:
  Options options_;
  table::Table table_{"P2PPairing"};
  std::vector<RankEdit> edits_;
  int64_t unpaired_ = 0;
};

}  // namespace

RecipeSpec P2PPairingRecipe() {
  RecipeSpec spec;
  spec.name = "p2p_pairing";
  spec.folder = "P2PPairing";
  spec.summary = "Ids that join a send with its receive";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<P2PPairing>;
  return spec;
}

}  // namespace steplens::analysis::cluster
