// Which ways to train are tried. Private to learned/.
#pragma once

#include <vector>

#include "learned/learner.h"
#include "learned/train.h"

namespace cyclecast {

// The recipes that inner cross-validation chooses from, best guess first: fewer the more rows there
// are. What `options` fixes (features, loss, booster parameters) is fixed in all of them.
Result<std::vector<Recipe>> RecipesFor(std::size_t rows, const TrainOptions& options);

}  // namespace cyclecast
