#include "analysis/cluster/registry.h"

#include "analysis/cluster/recipes/op_duration.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {

const std::vector<RecipeSpec>& Recipes() {
  static const std::vector<RecipeSpec> kRecipes = {
      CommunicationGroupMapRecipe(),
      CommunicationTimeSumRecipe(),
      CommunicationMatrixSumRecipe(),
      StepTraceRecipe(),
      HostInfoRecipe(),
      SummaryRecipe(),
      CannApiSumRecipe(),
      ComputeOpSumRecipe(),
      FreqAnalysisRecipe(),
      EpLoadBalanceRecipe(),
      ComputationalOpMaskingRecipe(),
      FreeAnalysisRecipe(),
      MstxSumRecipe(),
      HcclSumRecipe(),
      ModuleStatisticRecipe(),
      OperatorMfuRecipe(),
      ExportSummaryRecipe(),
      CalibrateNpuGpuRecipe(),
      ClusterTimeSummaryRecipe(),
      ClusterTimeCompareSummaryRecipe(),
      SlowRankRecipe(),
      SlowLinkRecipe(),
      CommunicationBottleneckRecipe(),
      P2PPairingRecipe(),
      PpChartRecipe(),
      Mstx2CommopRecipe(),
      OpDurationRecipe(),
  };
  return kRecipes;
}

std::vector<std::string_view> ModeNames() {
  std::vector<std::string_view> names = {"all", "communication_time", "communication_matrix"};
  for (const RecipeSpec& recipe : Recipes()) {
    if (!recipe.is_part_of_mode) names.push_back(recipe.name);
  }
  return names;
}

std::vector<std::string_view> RecipesOfMode(std::string_view mode, bool compat) {
  constexpr std::string_view kTime = "communication_time_sum";
  constexpr std::string_view kMatrix = "communication_matrix_sum";
  if (mode == "all" && compat)
    return {"communication_group_map", kTime, kMatrix, "step_trace", "host_info"};
  if (mode == "all")
    return {"communication_group_map", kTime, kMatrix, "step_trace", "host_info", "summary"};
  if (mode == "communication_time")
    return {"communication_group_map", kTime, "step_trace", "host_info"};
  if (mode == "communication_matrix")
    return {"communication_group_map", kMatrix, "step_trace", "host_info"};
  if (mode == kTime) return {"communication_group_map", kTime};
  const RecipeSpec* recipe = FindRecipe(mode);
  if (recipe == nullptr || recipe->is_part_of_mode) return {};
  return {recipe->name};
}

const RecipeSpec* FindRecipe(std::string_view name) {
  for (const RecipeSpec& recipe : Recipes()) {
    if (recipe.name == name) return &recipe;
  }
  return nullptr;
}

}  // namespace steplens::analysis::cluster
