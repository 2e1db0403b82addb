// What a user may pin of the mapping; everything unset is the mapper's choice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/machine.h"

namespace cyclecast {

// Choices for one op (and the kernel it leads). An impossible choice is an Error at `pos`.
struct MappingPin {
  std::optional<std::int64_t> tile_m, tile_n, tile_k;
  std::optional<Dataflow> dataflow;          // TPU
  std::optional<std::int64_t> buffer_depth;  // 1 = no double buffering
  std::optional<std::int64_t> units;         // cores or tiles the kernel is split over
  std::optional<std::string> strategy;       // VPU: "clustering", "split_over_height", ...
  std::optional<std::string> mpe_mode;       // VPU
  std::optional<bool> fuse;                  // false: never fused into its producer
  std::optional<bool> keep_on_chip;          // false: output always goes off chip
  std::optional<bool> prefetch_weights;      // of this kernel, during the one before
  SourcePos pos;
};

struct MappingPins {
  MappingPin all;                           // for every op
  std::map<std::string, MappingPin> by_op;  // by op name; wins over `all` field by field
  // The pin in force for an op: `all` overlaid with its own.
  MappingPin For(const std::string& op) const;
};

}  // namespace cyclecast
