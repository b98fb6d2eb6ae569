#pragma once

#include "analysis/cluster/recipe.h"

namespace steplens::analysis::cluster {

// How the durations of the same operator differ between the devices of a cluster.
RecipeSpec OpDurationRecipe();

}  // namespace steplens::analysis::cluster
