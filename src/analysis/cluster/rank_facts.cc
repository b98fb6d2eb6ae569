#include "analysis/cluster/rank_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/cluster/host_name.h"
#include "base/json.h"
#include "base/number.h"

namespace steplens::analysis::cluster {
namespace {

using store::IssueKind;
using store::kNone;
using store::TraceStore;

std::string Meta(const TraceStore& rank, std::string_view name) {
  return std::string(rank.FindMeta(name).value_or(""));
}

std::vector<GroupFact> ReadGroups(const TraceStore& rank) {
  std::vector<GroupFact> groups;
  const std::string text = Meta(rank, "parallel_group_info");
  if (text.empty()) return groups;
  const Result<JsonDocument> document = JsonDocument::Parse(text, "parallel_group_info");
  if (!document.ok()) return groups;
  document->root().ForEachMember([&](std::string_view id, JsonValue info) {
    GroupFact group;
    group.id = id;
    group.pg_name = info["group_name"].AsString().value_or("");
    group.group_rank = info["group_rank"].AsInt().value_or(kNone);
    std::vector<int64_t> ranks;
    info["global_ranks"].ForEachElement([&](JsonValue member) {
      if (const auto number = member.AsInt()) ranks.push_back(*number);
    });
    group.ranks = RankSet(std::move(ranks));
    groups.push_back(std::move(group));
  });
  return groups;
}

// "step50" -> 50
void AddStep(std::string_view text, std::set<int64_t>& steps) {
  if (text.starts_with("step")) text.remove_prefix(4);
  if (const auto number = ParseInt64(text)) steps.insert(*number);
}

std::vector<int64_t> StepNumbers(const TraceStore& rank) {
  std::set<int64_t> steps;
  for (const int64_t step : rank.steps.step) {
    if (step != kNone) steps.insert(step);
  }
  for (const int64_t step : rank.step_traces.step) {
    if (step != kNone) steps.insert(step);
  }
  StringId last = StringId::kEmpty;
  for (const StringId step : rank.comm_times.step) {
    if (step != last) AddStep(rank.Text(step), steps);
    last = step;
  }
  return {steps.begin(), steps.end()};
}

void CountLosses(const TraceStore& rank, RankFacts& facts) {
  for (size_t i = 0; i < static_cast<size_t>(IssueKind::kCount); ++i) {
    const auto kind = static_cast<IssueKind>(i);
    if (store::GetIssueInfo(kind).severity != store::Severity::kDataLoss) continue;
    const store::IssueLog::Entry& entry = rank.issues.entry(kind);
    if (entry.count > 0 && facts.first_loss.empty()) facts.first_loss = entry.example;
    facts.lost_records += entry.count;
  }
}

// One size of distributed_args: absent is 1, 0 counts as 1, anything that is not an integer is
// nothing.
std::optional<int64_t> SizeOf(JsonValue args, std::string_view key, std::string& problem) {
  const JsonValue value = args[key];
  if (!value.exists()) return 1;
  const auto size = value.AsInt();
  if (!size || *size < 0) {
    problem = fmt::format("distributed_args: {} is {}, a positive integer was expected", key,
                          value.ToText());
    return std::nullopt;
  }
  return *size == 0 ? 1 : *size;
}

// "tp-cp-dp-pp" -> its words.
std::vector<std::string_view> SplitOrder(std::string_view order) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin <= order.size();) {
    const size_t end = std::min(order.find('-', begin), order.size());
    words.push_back(order.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Whether each dimension that divides the job is named once, and nothing unknown is.
bool IsOrder(std::string_view order, const ParallelLayout& layout) {
  std::map<std::string_view, int64_t> sizes = {
      {"tp", layout.tp}, {"cp", layout.cp}, {"dp", layout.dp}, {"pp", layout.pp}, {"ep", 1}};
  for (const std::string_view word : SplitOrder(order)) {
    if (sizes.erase(word) == 0) return false;
  }
  return std::all_of(sizes.begin(), sizes.end(), [](const auto& left) { return left.second == 1; });
}

}  // namespace

RankFacts DescribeRank(const TraceStore& rank) {
  RankFacts facts;
  facts.rank = rank.info.rank;
  facts.path = rank.info.path;
  facts.source = rank.info.source;
  facts.format = rank.info.format;
  facts.level = rank.info.level;
  facts.device = rank.info.device;
  facts.host_uid = Meta(rank, "hostUid");
  facts.host_name = HostName(rank);
  facts.steps = StepNumbers(rank);
  facts.distributed_args = Meta(rank, "distributed_args");
  facts.pp_info = Meta(rank, "pp_info");
  facts.groups = ReadGroups(rank);
  facts.has_communication_results = rank.comm_times.size() > 0;
  CountLosses(rank, facts);
  return facts;
}

std::optional<ParallelLayout> ParseLayout(const std::string& distributed_args,
                                          std::string& problem) {
  const Result<JsonDocument> document = JsonDocument::Parse(distributed_args, "distributed_args");
  if (!document.ok() || !document->root().IsObject()) {
    problem = "distributed_args is not a JSON object";
    return std::nullopt;
  }
  ParallelLayout layout;
  const std::pair<std::string_view, int64_t*> sizes[] = {
      {"world_size", &layout.world},
      {"tensor_model_parallel_size", &layout.tp},
      {"context_parallel_size", &layout.cp},
      {"data_parallel_size", &layout.dp},
      {"pipeline_model_parallel_size", &layout.pp},
      {"expert_model_parallel_size", &layout.ep}};
  for (const auto& [key, size] : sizes) {
    const auto value = SizeOf(document->root(), key, problem);
    if (!value) return std::nullopt;
    *size = *value;
  }
  int64_t product = 1;
  for (const int64_t size : {layout.tp, layout.cp, layout.dp, layout.pp}) {
    if (!__builtin_mul_overflow(product, size, &product)) continue;
    product = -1;  // more than any world
    break;
  }
  if (layout.world != product) {
    const bool has_sizes =
        std::any_of(std::begin(sizes) + 1, std::end(sizes),
                    [&](const auto& size) { return document->root()[size.first].exists(); });
    if (!has_sizes) return std::nullopt;  // of a trainer that knows of ranks only
    problem =
        fmt::format("distributed_args: world_size is {}, but TP {} x CP {} x DP {} x PP {} is {}",
                    layout.world, layout.tp, layout.cp, layout.dp, layout.pp,
                    product < 0 ? "more than any job has" : std::to_string(product));
    return std::nullopt;
  }
  if ((layout.dp * layout.cp) % layout.ep != 0) {
    problem = fmt::format("distributed_args: DP {} x CP {} is not divisible by EP {}", layout.dp,
                          layout.cp, layout.ep);
    return std::nullopt;
  }
  if (const auto order = document->root()["order"].AsString(); order && !order->empty()) {
    if (!IsOrder(*order, layout)) {
      problem = fmt::format(
          "distributed_args: order is '{}', something like tp-cp-ep-dp-pp was expected", *order);
      return std::nullopt;
    }
    layout.order = *order;
  }
  return layout;
}

Coordinates CoordinatesOf(const ParallelLayout& layout, int64_t rank) {
  Coordinates at;
  const std::tuple<std::string_view, int64_t, int64_t*> dimensions[] = {{"tp", layout.tp, &at.tp},
                                                                        {"cp", layout.cp, &at.cp},
                                                                        {"dp", layout.dp, &at.dp},
                                                                        {"pp", layout.pp, &at.pp}};
  for (const std::string_view name : SplitOrder(layout.order)) {
    for (const auto& [dimension, size, index] : dimensions) {
      if (dimension != name) continue;
      *index = rank % size;
      rank /= size;
    }
  }
  at.ep = (at.dp * layout.cp + at.cp) % layout.ep;
  return at;
}

}  // namespace steplens::analysis::cluster
