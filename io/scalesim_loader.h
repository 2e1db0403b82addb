// SCALE-Sim topology files: one layer per row, as a convolution
//   name, ifmap height, ifmap width, filter height, filter width, channels, filters, stride[,
//   stride_w]
// or as a matrix product
//   name, M, N, K
// with or without a header, a trailing comma, comment lines (#) and further columns. Every row is
// an op with an input of its own, as in SCALE-Sim.
//
// Two differences to SCALE-Sim are stated in the workload's notes where they matter: it has no
// padding (a header may name a column "padding" here), and its output extent is
// ceil((in - filter + stride) / stride) where this one is floor((in - filter) / stride) + 1.
#pragma once

#include <string>

#include "core/error.h"
#include "core/workload.h"
#include "io/workload_options.h"

namespace cyclecast {

// Settings: batch (images of a convolution, repetitions of the rows of a product), dtype.
Result<Workload> LoadScaleSim(const std::string& path, const WorkloadOptions& options);
Result<Workload> LoadScaleSimText(const std::string& text, const std::string& file,
                                  const WorkloadOptions& options);

}  // namespace cyclecast
