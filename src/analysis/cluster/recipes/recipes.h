#pragma once

#include "analysis/cluster/recipe.h"

namespace steplens::analysis::cluster {

// One function a recipe, each in the file of its name; registry.cc lists them.
RecipeSpec CommunicationGroupMapRecipe();
RecipeSpec CommunicationMatrixSumRecipe();
RecipeSpec CommunicationTimeSumRecipe();
RecipeSpec HostInfoRecipe();
RecipeSpec StepTraceRecipe();
RecipeSpec SummaryRecipe();
RecipeSpec CannApiSumRecipe();
RecipeSpec ComputeOpSumRecipe();
RecipeSpec FreqAnalysisRecipe();
RecipeSpec EpLoadBalanceRecipe();
RecipeSpec ComputationalOpMaskingRecipe();
RecipeSpec FreeAnalysisRecipe();
RecipeSpec MstxSumRecipe();
RecipeSpec HcclSumRecipe();
RecipeSpec CalibrateNpuGpuRecipe();
RecipeSpec ExportSummaryRecipe();
RecipeSpec ModuleStatisticRecipe();
RecipeSpec OperatorMfuRecipe();
RecipeSpec ClusterTimeSummaryRecipe();
RecipeSpec ClusterTimeCompareSummaryRecipe();
RecipeSpec SlowRankRecipe();
RecipeSpec SlowLinkRecipe();
RecipeSpec CommunicationBottleneckRecipe();
RecipeSpec P2PPairingRecipe();
RecipeSpec PpChartRecipe();
RecipeSpec Mstx2CommopRecipe();

}  // namespace steplens::analysis::cluster
