#include <algorithm>
#include <map>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// What the experts of one rank computed.
struct Part {
  int64_t kernels = 0;  // GroupedMatmul kernels with usable shapes
  int64_t tokens = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(kernels, tokens);
  }
};

// The inputs of a kernel: "128,4096;8,4096,8192;8" -> three; empty ones are left out.
std::vector<std::string_view> SplitInputs(std::string_view shapes) {
  std::vector<std::string_view> inputs;
  while (!shapes.empty()) {
    const size_t end = std::min(shapes.find(';'), shapes.size());
    if (end > 0) inputs.push_back(shapes.substr(0, end));
    shapes.remove_prefix(std::min(end + 1, shapes.size()));
  }
  return inputs;
}

// The rows of the activations; weight and group list, the last two inputs, are not counted. Nothing
// if these are missing.
std::optional<int64_t> CountTokens(std::string_view shapes) {
  const std::vector<std::string_view> inputs = SplitInputs(shapes);
  if (inputs.size() < 2) return std::nullopt;
  int64_t tokens = 0;
  for (size_t i = 0; i + 2 < inputs.size(); ++i) {
    const auto rows = ParseInt64(inputs[i].substr(0, inputs[i].find(',')));
    tokens = AddSaturating(tokens, std::max<int64_t>(rows.value_or(0), 0));
  }
  return tokens;
}

class EpLoadBalance : public RecipeOf<Part> {
 public:
  explicit EpLoadBalance(const Options& options) : options_(options) {
    summary_.AddColumn("rank", CellType::kInt);
    summary_.AddColumn("epRanks", CellType::kText);
    summary_.AddColumn("inputShapesSummary", CellType::kInt);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.tables.push_back({std::move(summary_), "ep_tokens_summary.csv"});
    answer.tables.push_back({TopGroups(), "top_ep_tokens_info.csv"});
    answer.Note(silent_ranks_, "{ranks} ran no GroupedMatmul kernel whose shapes are recorded.");
    answer.Note(ranks_without_group_,
                "{ranks} {do} not say which expert group {they} {belong} to (group 'exp' "
                "of parallel_group_info).");
    answer.suggestion = Message{"suggestion.ep_load_balance"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const StepWindow window = FindStepWindow(rank, options_);
    const store::KernelTable& kernels = rank.kernels;
    Part part;
    const auto type = rank.strings.Find("GroupedMatmul");
    if (!type) return part;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (kernels.type[i] != *type || kernels.begin_ns[i] == store::kNone) continue;
      const int64_t end_ns =
          EndNs(kernels.begin_ns[i].value(), std::max<int64_t>(kernels.dur_ns[i], 0));
      if (!window.Contains(kernels.begin_ns[i]) || !window.Contains(end_ns)) continue;
      const auto tokens = CountTokens(rank.Text(kernels.input_shapes[i]));
      if (!tokens) continue;
      ++part.kernels;
      part.tokens = AddSaturating(part.tokens, *tokens);
    }
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (part.kernels == 0) {
      ++silent_ranks_;
      return;
    }
    const std::string members = ExpertGroup(facts);
    if (members.empty()) ++ranks_without_group_;
    summary_.AppendInt(0, facts.rank);
    summary_.AppendText(1, members);
    summary_.AppendInt(2, part.tokens);
    // The reference also compares the ranks that belong to no group with each other.
    if (members.empty() && !options_.compat) return;
    const auto [place, is_new] = groups_.try_emplace(members, Range{part.tokens, part.tokens});
    place->second.min_tokens = std::min(place->second.min_tokens, part.tokens);
    place->second.max_tokens = std::max(place->second.max_tokens, part.tokens);
  }

 private:
  struct Range {
    int64_t min_tokens = 0;
    int64_t max_tokens = 0;
    int64_t difference() const { return SubtractSaturating(max_tokens, min_tokens); }
  };

  // "0,2"; empty if the rank's metadata has no such group.
  static std::string ExpertGroup(const RankFacts& facts) {
    std::string members;
    const auto group = std::find_if(facts.groups.begin(), facts.groups.end(),
                                    [](const GroupFact& fact) { return fact.pg_name == "exp"; });
    if (group == facts.groups.end()) return members;
    for (const int64_t rank : group->ranks.ranks())
      members += (members.empty() ? "" : ",") + std::to_string(rank);
    return members;
  }

  table::Table TopGroups() const {
    constexpr size_t kTop = 20;
    std::vector<std::pair<std::string, Range>> order(groups_.begin(), groups_.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second.difference() > b.second.difference();
    });
    order.resize(std::min(order.size(), kTop));
    table::Table table("TopEPTokensInfo");
    table.AddColumn("epRanks", CellType::kText);
    table.AddColumn("tokensDiff", CellType::kInt);
    for (const auto& [members, range] : order) {
      table.AppendText(0, members);
      table.AppendInt(1, range.difference());
    }
    return table;
  }

  Options options_;
  table::Table summary_{"EPTokensSummary"};  // grows rank by rank
  std::map<std::string, Range> groups_;
  size_t silent_ranks_ = 0;
  size_t ranks_without_group_ = 0;
};

}  // namespace

RecipeSpec EpLoadBalanceRecipe() {
  RecipeSpec spec;
  spec.name = "ep_load_balance";
  spec.folder = "EPLoadBalance";
  spec.summary = "Tokens that the experts of each rank computed, and the differences in a group";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<EpLoadBalance>;
  return spec;
}

}  // namespace steplens::analysis::cluster
