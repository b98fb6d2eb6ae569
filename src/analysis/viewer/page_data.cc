#include "analysis/viewer/page_data.h"

#include <algorithm>

#include "analysis/classify/text_memo.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/viewer/rl_config.h"
#include "analysis/viewer/scope.h"

namespace steplens::analysis::viewer {

using store::TraceStore;

bool HasPasses(const TraceStore& store) {
  if (store.strings.Find("fwdbwd")) return true;
  TextMemo names_pass(store, [](std::string_view name) {
    return ContainsInAnyCase(name, "forward") || ContainsInAnyCase(name, "backward") ||
           ContainsInAnyCase(name, "weightgradstore_pop");
  });
  const auto slices = store.markers.slice.span();
  return std::any_of(slices.begin(), slices.end(), [&](const auto slice) {
    const auto at = static_cast<size_t>(slice);
    return at < store.slices.size() && names_pass(store.slices.name[at]);
  });
}

bool HasPipeline(const TraceStore& store) {
  const cluster::RankFacts facts = cluster::DescribeRank(store);
  for (const cluster::GroupFact& group : facts.groups) {
    if (group.pg_name == "pp" && group.ranks.size() > 1) return true;
  }
  for (size_t i = 0; i < store.comm_times.size(); ++i) {
    if (store.Text(store.comm_times.kind[i]) == "p2p") return true;
  }
  // NCCL's send and receive also carry out all-to-all.
  TextMemo is_all_to_all(store, [](std::string_view type) {
    return ContainsInAnyCase(type, "alltoall") || ContainsInAnyCase(type, "all_to_all");
  });
  TextMemo is_transfer(store, [](std::string_view name) { return cluster::IsP2pName(name); });
  for (size_t i = 0; i < store.comm_ops.size(); ++i) {
    if (is_transfer(store.comm_ops.name[i]) && !is_all_to_all(store.comm_ops.op_type[i]) &&
        !is_all_to_all(store.comm_ops.name[i]))
      return true;
  }
  return false;
}

bool HasRlTasks(const TraceStore& store) {
  for (const RlFramework& framework : KnownRlFrameworks()) {
    for (const RlTask& task : framework.tasks) {
      if (store.strings.Find(task.name)) return true;
    }
  }
  return false;
}

}  // namespace steplens::analysis::viewer
