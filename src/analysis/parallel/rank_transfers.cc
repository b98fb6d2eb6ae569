#include "analysis/parallel/rank_transfers.h"

#include <map>

#include "analysis/cluster/recipe_tables.h"

namespace steplens::analysis {

Result<std::vector<RankTransfer>> FindRankTransfers(const store::Job& job) {
  SL_ASSIGN_OR_RETURN(const cluster::Answer answer, AskRecipe("p2p_pairing", {}, job));
  struct End {
    int64_t rank;
    int64_t start_ns;
    bool is_source;
  };
  std::map<std::string_view, std::vector<End>> ends;
  for (const cluster::ResultTable& result : answer.tables) {
    const table::Table& pairs = result.table;
    const table::Column* starts = pairs.Find("startNs");
    const table::Column* ranks = pairs.Find("rank");
    const table::Column* sources = pairs.Find("srcRank");
    if (starts == nullptr || ranks == nullptr || sources == nullptr) continue;
    for (size_t i = 0; i < pairs.rows(); ++i) {
      ends[TextCell(pairs, "opConnectionId", i)].push_back(
          {ranks->ints[i], starts->ints[i], ranks->ints[i] == sources->ints[i]});
    }
  }
  std::vector<RankTransfer> out;
  for (const auto& [id, points] : ends) {
    if (points.size() != 2) continue;
    const End& from = points[0].is_source ? points[0] : points[1];
    const End& to = points[0].is_source ? points[1] : points[0];
    out.push_back({from.rank, from.start_ns, to.rank, to.start_ns, std::string(id)});
  }
  return out;
}

}  // namespace steplens::analysis
