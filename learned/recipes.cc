// See recipes.h. Settings start from what docs/learning.md reports as measured.
#include "learned/recipes.h"

#include <algorithm>

namespace cyclecast {
namespace {

constexpr std::size_t kSmall = 6000;
constexpr std::size_t kMedium = 40000;

struct Variant {
  double huber_delta;
  int max_depth;
  double learning_rate;
  double min_child_weight;
};

std::vector<Variant> VariantsFor(std::size_t rows) {
  if (rows < kSmall) return {{0.1, 5, 0.1, 2.0}, {0.03, 6, 0.1, 1.0}};
  if (rows < kMedium) return {{0.1, 7, 0.1, 3.0}};
  return {{0.1, 8, 0.12, 10.0}};
}

}  // namespace

Result<std::vector<Recipe>> RecipesFor(std::size_t rows, const TrainOptions& options) {
  std::vector<FeatureSet> sets = {FeatureSet::kAll, FeatureSet::kScaleFree};
  if (options.features) sets = {*options.features};
  std::vector<Recipe> recipes;
  for (const FeatureSet set : sets) {
    for (const Variant& variant : VariantsFor(rows)) {
      Recipe recipe;
      recipe.features = set;
      recipe.huber_delta = options.huber_delta.value_or(variant.huber_delta);
      BoosterParams params;
      params.trees = 200;
      params.max_depth = variant.max_depth;
      params.learning_rate = variant.learning_rate;
      params.min_child_weight = variant.min_child_weight;
      params.row_share = 0.8;
      params.column_share = 0.7;
      const Result<BoosterParams> set_params = SetBoosterParams(options.params, params);
      if (!set_params.ok()) return set_params.error();
      recipe.params = *set_params;
      recipes.push_back(recipe);
    }
  }
  return recipes;
}

}  // namespace cyclecast
