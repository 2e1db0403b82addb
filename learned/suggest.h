// Which kernels to profile next.
//
// Candidates are sorted into regimes (machine, op class, what bounds the kernel), and every regime
// gets its turn, so that none is forgotten because another is large. Within a regime the next one
// is the one with the largest spread of the ensemble times distance, in the space of the features,
// to the nearest kernel that was measured or picked before. A share is drawn at random: it keeps
// the choice honest where the model is sure of itself and wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "learned/dataset.h"
#include "learned/residual.h"

namespace cyclecast {

struct SuggestOptions {
  std::size_t rows = 50;
  double random_share = 0.2;
  std::uint64_t seed = 1;
};

struct Suggestion {
  std::size_t sample = 0;  // index of the candidate
  std::string regime;      // "tpu_v4 matmul exposed_memory"
  double spread = 0;       // of the ensemble; 0 without a model
  double distance = 0;     // to the nearest kernel known before it
  bool at_random = false;
};

// `candidates` and `measured` hold the base's samples; rows of several kernels stand for their
// longest one. `model` may be null: then distance alone decides. The order is the order to profile
// in; fewer than asked for where there are fewer candidates. Errors: a sample without its base.
Result<std::vector<Suggestion>> Suggest(const std::vector<TraceSample>& candidates,
                                        const std::vector<TraceSample>& measured,
                                        std::string_view base, const ResidualModel* model,
                                        const SuggestOptions& options);

}  // namespace cyclecast
