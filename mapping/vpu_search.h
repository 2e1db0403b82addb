// Chooses how a DPU layer runs: of all strategies, MPE modes and slicings that fit CMX, the one
// with the least closed-form time; the first enumerated where several are equal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/mapping.h"
#include "core/schedule.h"
#include "mapping/vpu_tiling.h"

namespace cyclecast {

// Where an activation is while it waits for its readers.
enum class Spread {
  kOffChip,
  kOneTile,
  kByHeight,   // each tile has its rows
  kByBatch,    // each tile has its copies
  kByChannel,  // each tile has its channels
  kEverywhere  // every tile has all of it
};
struct Placement {
  Spread spread = Spread::kOffChip;
  std::int64_t tiles = 1;
  bool operator==(const Placement&) const = default;
};

// What a split leaves behind, and what a split needs: bytes the DMA moves between tiles before a
// layer of that strategy can read an input of `bytes`.
Placement OutputPlacement(const VpuTiling& tiling, const DpuRules& rules);
Bytes Redistribution(const Placement& have, const VpuTiling& tiling, bool follows_channels,
                     Bytes bytes);

struct PlanRequest {
  LayerCase layer_case;
  std::vector<Placement> inputs;  // of those that are not loaded
  std::vector<Bytes> input_bytes;
  MappingPin pin;
};

// The closed-form time of one tiling: the busiest of DPUs, loads, stores and DDR, plus the first
// load and the last store that nothing hides.
struct TilingEstimate {
  Cycles time;
  Bytes ddr;    // moved from and to DDR
  Cycles cost;  // what the search minimises
};

struct LayerPlan {
  VpuTiling tiling;
  TilingEstimate estimate;
  Bytes footprint;
};

TilingEstimate EstimateTiling(const VpuLayer& layer, const VpuTiling& tiling,
                              const PlanRequest& request, const VpuSpec& vpu,
                              const Platform& platform);

// Nothing when no tiling fits the room.
std::optional<LayerPlan> PlanLayer(const VpuLayer& layer, const PlanRequest& request,
                                   const VpuSpec& vpu, const Platform& platform);

}  // namespace cyclecast
