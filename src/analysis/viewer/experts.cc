#include <algorithm>

#include "analysis/cells.h"
#include "analysis/kernels/kernel_rows.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"
#include "base/number.h"

// The experts of a mixture (MoE): how much their matrix products take, by layer and rank.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

// Rows of the first input: the tokens that came to the experts of the rank.
int64_t TokensOf(std::string_view shapes) {
  const std::string_view first = shapes.substr(0, shapes.find_first_of(",;"));
  return std::max<int64_t>(0, ParseInt64(first).value_or(0));
}

std::vector<uint32_t> ExpertKernels(const TraceStore& store) {
  std::vector<uint32_t> rows = SelectKernels(store, {}, [&](size_t row) {
    return ContainsInAnyCase(store.Text(store.kernels.type[row]), "groupedmatmul") ||
           ContainsInAnyCase(store.Text(store.kernels.name[row]), "groupedmatmul");
  });
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return store.kernels.begin_ns[a] < store.kernels.begin_ns[b];
  });
  return rows;
}

// What one layer of a rank did.
struct Load {
  int64_t kernels = 0;
  int64_t time_ns = 0;
  int64_t tokens = 0;
};

// The kernels of each step, in order, are as many equal parts as there are layers.
std::vector<Load> LoadsOf(const TraceStore& store, size_t layers) {
  const std::vector<StepRange> steps = ComputeStepRanges(store);
  StepFinder finder(steps);
  std::vector<std::vector<uint32_t>> of_step(steps.size() + 1);
  for (const uint32_t row : ExpertKernels(store))
    of_step[finder.IndexOf(store.kernels.begin_ns[row])].push_back(row);
  std::vector<Load> out(layers);
  for (const std::vector<uint32_t>& rows : of_step) {
    for (size_t k = 0; k < rows.size(); ++k) {
      Load& load = out[k * layers / rows.size()];
      ++load.kernels;
      load.time_ns = AddNs(load.time_ns, store.kernels.dur_ns[rows[k]].value());
      load.tokens = AddNs(load.tokens, TokensOf(store.Text(store.kernels.input_shapes[rows[k]])));
    }
  }
  return out;
}

}  // namespace

Result<MetricAnswer> Experts(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const int64_t layers, call.args.IntOr("layers", 1));
  if (layers < 1 || layers > 500)
    return Error{ErrorCode::kInvalidArgument, "argument 'layers' must be from 1 to 500"};
  TableRows rows("load", {IntColumn("layer"), IntColumn("rank"), IntColumn("kernels"),
                          TimeColumn("time_us"), IntColumn("tokens")});
  TableRows balance("balance", {IntColumn("layer"), TimeColumn("max_us"), TimeColumn("mean_us"),
                                NumberColumn("imbalance", 3), IntColumn("slowest_rank")});
  std::vector<std::pair<int64_t, std::vector<Load>>> ranks;
  for (const TraceStore& store : call.job.ranks) {
    SL_RETURN_IF_ERROR(StillWanted());
    std::vector<Load> loads = LoadsOf(store, static_cast<size_t>(layers));
    const bool has_any =
        std::any_of(loads.begin(), loads.end(), [](const Load& load) { return load.kernels > 0; });
    if (has_any) ranks.emplace_back(store.info.rank, std::move(loads));
  }
  for (int64_t layer = 0; layer < layers && !ranks.empty(); ++layer) {
    int64_t sum_ns = 0;
    int64_t most_ns = -1;
    int64_t slowest = 0;
    for (const auto& [rank, loads] : ranks) {
      const Load& load = loads[static_cast<size_t>(layer)];
      rows.Add(layer, rank, load.kernels, load.time_ns, load.tokens);
      sum_ns = AddNs(sum_ns, load.time_ns);
      if (load.time_ns <= most_ns) continue;
      most_ns = load.time_ns;
      slowest = rank;
    }
    const int64_t mean_ns = sum_ns / static_cast<int64_t>(ranks.size());
    balance.Add(layer, most_ns, mean_ns, RoundTo(Share(NsToUs(most_ns), NsToUs(mean_ns)), 3),
                slowest);
  }
  MetricAnswer answer;
  answer.definition = "insight.experts";
  answer.query = "SELECT * FROM kernels WHERE type LIKE '%GroupedMatmul%'";
  answer.tables.push_back(rows.Take());
  answer.tables.push_back(balance.Take());
  if (ranks.empty()) answer.warnings.push_back(Message{"warning.no_experts"});
  return answer;
}

}  // namespace steplens::analysis::viewer
