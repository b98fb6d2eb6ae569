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
  kLacks,      // does not contain the value
  kIs,         // is the value
};

struct EnvRule {
  std::string_view name;
  EnvTest test;
  std::string_view value;
  std::string_view advice;  // key of the catalogue
};
constexpr std::array<EnvRule, 8> kEnvRules{{
    {"ASCEND_GLOBAL_LOG_LEVEL", EnvTest::kSetAndNot, "3", "env.log_level"},
    {"HCCL_RDMA_TC", EnvTest::kSet, "", "env.rdma_tc"},
    {"HCCL_RDMA_SL", EnvTest::kSet, "", "env.rdma_sl"},
    {"ACLNN_CACHE_LIMIT", EnvTest::kBelow, "", "env.aclnn_cache"},
    {"HOST_CACHE_CAPACITY", EnvTest::kBelow, "1", "env.host_cache"},
    {"PYTORCH_NPU_ALLOC_CONF", EnvTest::kLacks, "expandable_segments:True", "env.alloc_conf"},
    {"ASCEND_LAUNCH_BLOCKING", EnvTest::kIs, "1", "env.launch_blocking"},
    {"HCCL_ALGO", EnvTest::kSet, "", "env.hccl_algo"},
}};

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
    is_blocking = is_blocking || rule.test == EnvTest::kIs;
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

}  // namespace steplens::analysis
