#include "analysis/parallel/rl_config.h"

#include "base/json.h"

namespace steplens::analysis {
namespace {

Error Bad(std::string_view what) {
  return {ErrorCode::kInvalidArgument, "'config': " + std::string(what)};
}

// Megatron marks a forward pass as a block and the layers of both directions.
RlTask Megatron(std::string role, std::string name) {
  return {std::move(role), std::move(name), {"TransformerBlock"}, {"TransformerLayer"}};
}

std::string TextOf(JsonValue value) {
  return value.IsString() ? std::string(*value.AsString()) : std::string();
}

Result<RlTask> ParseTask(JsonValue value) {
  RlTask task{TextOf(value["roleName"]), TextOf(value["taskName"])};
  if (task.name.empty()) return Bad("a task has no 'taskName'");
  bool sound = true;
  value["microBatch"].ForEachElement([&](JsonValue batch) {
    const std::string type = TextOf(batch["type"]);
    const std::string name = TextOf(batch["batchName"]);
    sound = sound && (type == "FP" || type == "BP") && !name.empty();
    (type == "FP" ? task.forward : task.backward).push_back(name);
  });
  if (!sound) return Bad("a micro batch needs 'batchName' and 'type' FP or BP");
  return task;
}

}  // namespace

std::vector<RlFramework> KnownRlFrameworks() {
  return {
      {"verl",
       "GRPO",
       {Megatron("ActorRollout", "generate_sequences"), Megatron("Reward", "compute_log_prob"),
        Megatron("Actor", "update_actor"), Megatron("Reference", "compute_ref_log_prob")}},
      {"MindSpeed-RL",
       "GRPO",
       {Megatron("ActorRollout", "ActorHybridWorkerBase.generate_sequences"),
        Megatron("Reference", "IntegratedWorker.compute_ref_log_prob"),
        Megatron("Actor", "ActorRolloutHybrid.update_actor"),
        Megatron("Reward", "Reward.compute_rm_score")}},
  };
}

Result<std::vector<RlFramework>> ParseRlConfig(const std::string& json) {
  const Result<JsonDocument> document = JsonDocument::Parse(json, "config");
  if (!document.ok()) return Bad(document.error().message);
  std::vector<RlFramework> out;
  Status status;
  document->root()["config"].ForEachElement([&](JsonValue one) {
    RlFramework framework{TextOf(one["framework"]), TextOf(one["algorithm"]), {}};
    one["tasks"].ForEachElement([&](JsonValue value) {
      Result<RlTask> task = ParseTask(value);
      if (!task.ok()) {
        status = task.error();
      } else {
        framework.tasks.push_back(*std::move(task));
      }
    });
    out.push_back(std::move(framework));
  });
  SL_RETURN_IF_ERROR(status);
  if (out.empty()) return Bad("'config' lists no framework");
  return out;
}

}  // namespace steplens::analysis
