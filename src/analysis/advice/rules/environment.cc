#include <fmt/format.h>

#include <array>
#include <map>

#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"
#include "base/json.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

// When a recorded variable is worth a row.
enum class EnvTest : uint8_t {
  kSetAndNot,  // set to something else than the value
  kSet,        // set at all
  kBelow,      // empty or a smaller number
  kSmaller,    // a smaller number
  kLacks,      // does not contain the value
  kIs,         // is the value
};

constexpr std::string_view kBlocking = "ASCEND_LAUNCH_BLOCKING";

struct EnvRule {
  std::string_view name;
  EnvTest test;
  std::string_view value;
  std::string_view advice;  // key of the catalogue
};
constexpr std::array<EnvRule, 13> kEnvRules{{
    {"ASCEND_GLOBAL_LOG_LEVEL", EnvTest::kSetAndNot, "3", "env.log_level"},
    {"HCCL_RDMA_TC", EnvTest::kSet, "", "env.rdma_tc"},
    {"HCCL_RDMA_SL", EnvTest::kSet, "", "env.rdma_sl"},
    {"ACLNN_CACHE_LIMIT", EnvTest::kBelow, "", "env.aclnn_cache"},
    {"HOST_CACHE_CAPACITY", EnvTest::kBelow, "1", "env.host_cache"},
    {"PYTORCH_NPU_ALLOC_CONF", EnvTest::kLacks, "expandable_segments:True", "env.alloc_conf"},
    {kBlocking, EnvTest::kIs, "1", "env.launch_blocking"},
    {"HCCL_ALGO", EnvTest::kSet, "", "env.hccl_algo"},
    {"TASK_QUEUE_ENABLE", EnvTest::kIs, "0", "env.task_queue"},
    {"CPU_AFFINITY_CONF", EnvTest::kIs, "0", "env.cpu_affinity"},
    {"HCCL_BUFFSIZE", EnvTest::kSmaller, "200", "env.hccl_buffer"},
    {"MULTI_STREAM_MEMORY_REUSE", EnvTest::kIs, "0", "env.stream_memory"},
    {"INF_NAN_MODE_ENABLE", EnvTest::kIs, "0", "env.inf_nan"},
}};
// Besides these, what all ranks should have alike.
constexpr std::array<std::string_view, 1> kAlikeToo{"OMP_NUM_THREADS"};
// May differ: each rank has cores of its own.
constexpr std::string_view kOwnCores = "CPU_AFFINITY_CONF";

bool IsReported(const EnvRule& rule, std::string_view value, double aclnn_cache) {
  switch (rule.test) {
    case EnvTest::kSetAndNot:
      return !value.empty() && value != rule.value;
    case EnvTest::kSet:
      return !value.empty();
    case EnvTest::kBelow: {
      const double least = rule.value.empty() ? aclnn_cache : 1;
      const auto number = ParseDouble(value);
      return value.empty() || (number && *number < least);
    }
    case EnvTest::kSmaller: {
      const auto number = ParseDouble(value);
      const auto least = ParseDouble(rule.value);
      return number && least && *number < *least;
    }
    case EnvTest::kLacks:
      return value.find(rule.value) == value.npos;
    case EnvTest::kIs:
      return value == rule.value;
  }
  return false;
}

}  // namespace

std::vector<Finding> CheckEnvironment(const RankEvidence& rank) {
  const auto recorded = rank.store().FindMeta("ENV_VARIABLES");
  if (!recorded) return {};
  const Result<JsonDocument> document = JsonDocument::Parse(*recorded, "ENV_VARIABLES");
  if (!document.ok()) return {};
  TableRows rows(rank.DetailName(RuleId::kEnvironment),
                 {TextColumn("Environment"), TextColumn("Value"), TextColumn("Suggestion"),
                  TextColumn("SuggestionZh")});
  std::string names;
  bool is_blocking = false;
  size_t count = 0;
  for (const EnvRule& rule : kEnvRules) {
    const JsonValue value = document->root()[rule.name];
    if (!value.exists()) continue;
    const std::string text = value.ToText();
    if (!IsReported(rule, text, rank.thresholds().environment_aclnn_cache)) continue;
    const Message advice{std::string(rule.advice)};
    rows.Add(rule.name, text, English(advice), Chinese(advice));
    names +=
        fmt::format("{}{}{}{}", count++ == 0 ? "" : ", ", rule.name, text.empty() ? "" : "=", text);
    is_blocking = is_blocking || rule.name == kBlocking;
  }
  if (count == 0) return {};
  Finding finding =
      rank.Make(RuleId::kEnvironment, {"finding.environment", {{"count", std::to_string(count)}}},
                {"finding.environment.reason", {{"names", names}}},
                {is_blocking ? "finding.environment.blocking" : "finding.environment.advice"});
  finding.effort = Effort::kSetting;
  if (is_blocking) finding.least_priority = Priority::kMedium;
  finding.details = {rows.Take()};
  finding.evidence = {
      {{"evidence.environment"},
       fmt::format("SELECT value FROM meta WHERE rank = {} AND name = 'ENV_VARIABLES'",
                   rank.rank())}};
  return {finding};
}

// A setting that one rank has and another has not makes ranks wait for each other, or disagree.
std::vector<Finding> CompareEnvironments(std::span<const RankEvidence> ranks) {
  std::vector<std::string_view> names(kAlikeToo.begin(), kAlikeToo.end());
  for (const EnvRule& rule : kEnvRules) {
    if (rule.name != kOwnCores) names.push_back(rule.name);
  }
  std::map<std::string_view, std::map<std::string, std::vector<int64_t>>> by_value;
  for (const RankEvidence& rank : ranks) {
    const auto recorded = rank.store().FindMeta("ENV_VARIABLES");
    if (!recorded) continue;
    const Result<JsonDocument> document = JsonDocument::Parse(*recorded, "ENV_VARIABLES");
    if (!document.ok()) continue;
    for (const std::string_view name : names) {
      const JsonValue value = document->root()[name];
      if (value.exists()) by_value[name][value.ToText()].push_back(rank.rank());
    }
  }
  std::vector<Finding> findings;
  for (const auto& [name, values] : by_value) {
    if (values.size() < 2) continue;
    std::string said;
    const std::vector<int64_t>* fewest = nullptr;
    for (const auto& [value, of] : values) {
      said += fmt::format("{}'{}' on {}", said.empty() ? "" : ", ", value, ShortRanks(of));
      if (fewest == nullptr || of.size() <= fewest->size()) fewest = &of;
    }
    Finding finding;
    finding.rule = RuleId::kEnvironment;
    finding.subject = {"finding.name", {{"name", std::string(name)}}};
    finding.reason = {"finding.environment.differs", {{"values", said}}};
    finding.advice = {"finding.environment.differs.advice", {{"name", std::string(name)}}};
    finding.ranks = *fewest;
    finding.effort = Effort::kSetting;
    finding.least_priority = Priority::kHigh;
    finding.evidence = {
        {{"evidence.environment"},
         "SELECT rank, value FROM meta WHERE name = 'ENV_VARIABLES' ORDER BY rank"}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
