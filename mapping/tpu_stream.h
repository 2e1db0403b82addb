// Vector and data movement kernels of a TPU: blocks of rows or elements stream through VMEM.
//
//   [load constants]
//   [loop tile: load inputs, statistics]      rows too long for VMEM are read twice; where the
//                                             compiler makes a kernel of each, more often
//   loop tile: [load inputs] [vector] [store]
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/schedule.h"
#include "mapping/tpu_context.h"
#include "mapping/tpu_gemm.h"
#include "timing/vector_unit.h"

namespace cyclecast {

struct StreamOperand {
  Bytes bytes;  // all of it
  Place place = Place::kOffChip;
  Bytes run;                 // contiguous bytes; 0: each tile is one run
  Bytes per_descriptor;      // bytes one descriptor moves (a gathered row); 0: a tile
  bool is_constant = false;  // needed whole by every tile: loaded once
  bool is_weight = false;    // of the model, so it may be loaded before the launch
  bool operator==(const StreamOperand&) const = default;
};

// Cost of `items` items on the vector unit; empty where nothing is computed.
using BlockWork = std::function<VectorWork(std::int64_t items)>;

struct StreamProblem {
  std::int64_t items = 1;    // rows, elements or output positions
  std::int64_t granule = 1;  // tiles are multiples of it
  std::vector<StreamOperand> inputs;
  StreamOperand output;
  std::optional<InputWindow> window;  // of the first input, whose items are output positions
  BlockWork work;
  BlockWork statistics;  // readings of the inputs before the one that makes the result
  std::int64_t statistics_readings = 1;
  std::int64_t launches = 1;  // kernels it is on the machine
  DType dtype = DType::kBf16;
  Bytes budget;
  std::optional<std::int64_t> tile_m, depth, units;
};

struct StreamTiling {
  std::int64_t tile = 1;
  std::int64_t depth = 2;
  std::int64_t parts = 1;
};

// Bytes of all buffers of one core.
Bytes StreamFootprint(const TpuContext& context, const StreamProblem& problem,
                      const StreamTiling& tiling);

// As GemmTime, for a stream kernel.
Cycles StreamTime(const TpuContext& context, const StreamProblem& problem,
                  const StreamTiling& tiling);

// The tiling with the least time that fits; errors as SearchGemm.
Result<StreamTiling> SearchStream(const TpuContext& context, const StreamProblem& problem);

// The nest and its buffers; of the work only bytes, tile and footprint are filled in.
TpuKernel BuildStream(const TpuContext& context, const StreamProblem& problem,
                      const StreamTiling& tiling);

}  // namespace cyclecast
