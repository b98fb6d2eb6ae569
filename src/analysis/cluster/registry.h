#pragma once

#include <string_view>
#include <vector>

#include "analysis/cluster/recipe.h"

namespace steplens::analysis::cluster {

// Every recipe of the cluster command. A new one is a line in registry.cc.
const std::vector<RecipeSpec>& Recipes();

// What --mode takes: the three communication modes, then the recipes people ask for by name.
std::vector<std::string_view> ModeNames();
// The recipes behind a mode; empty if there is no such mode. The summary is ours, so `all` is
// without it in compat mode.
std::vector<std::string_view> RecipesOfMode(std::string_view mode, bool compat);

const RecipeSpec* FindRecipe(std::string_view name);  // nullptr if there is none

}  // namespace steplens::analysis::cluster
