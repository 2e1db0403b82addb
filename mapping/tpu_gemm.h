// Matrix kernels of a TPU: a product, or a convolution as implicit GEMM, with what is fused after
// it. The search over tilings and the loop nest of the one chosen.
//
//   loop batch
//     [load inner operand]               whole: kept for all tiles of the batch entry
//     loop m                             or n outside, m inside
//       [load outer operand]             panel: kept for all inner tiles
//       loop n
//         loop k                         products accumulate in place
//           [load lhs] [load rhs] multiply
//         [load extras] [epilogue] [store]
//
// Tiles of the axis that is split are dealt to the cores in turn; every core runs the same loops.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/mapping.h"
#include "core/schedule.h"
#include "mapping/tile_axis.h"
#include "mapping/tpu_context.h"
#include "timing/vector_unit.h"

namespace cyclecast {

// An operand of fused ops with one element per element of the result.
struct ExtraOperand {
  Place place = Place::kOffChip;
  std::int64_t bits = 16;
  bool operator==(const ExtraOperand&) const = default;
};

// What is done to every element of a result before it is stored.
struct Epilogue {
  ElementOps ops;
  std::vector<ExtraOperand> extras;
  Bytes constants;  // bias, per-channel factors, broadcast operands: read once per kernel
  Place constants_at = Place::kOffChip;
  bool constants_are_weights = true;  // all of them, so that they may be loaded early
  bool empty() const { return ops == ElementOps{} && extras.empty(); }
  bool operator==(const Epilogue&) const = default;
};

// How output positions of a windowed op map to the input rows they need.
struct InputWindow {
  std::int64_t images = 1;
  std::int64_t in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  Window window;
  // Input positions that `outputs` consecutive output positions need, halo included; the gaps a
  // stride leaves are read too, since rows are read whole.
  std::int64_t Positions(std::int64_t outputs) const;
  bool operator==(const InputWindow&) const = default;
};

struct GemmProblem {
  std::int64_t batch = 1, m = 1, k = 1, n = 1;
  // Groups of a convolution that share the array block-diagonally: 1/pack of the k x n weights of a
  // batch entry exist, the rest are zeros that are never loaded.
  std::int64_t pack = 1;
  std::int64_t taps = 1;              // k = channels x taps; tiles of k hold whole channels
  std::optional<InputWindow> window;  // of convolutions: the lhs is the image
  std::int64_t out_elements = 0;      // of the whole result; 0: batch x m x n
  DType dtype = DType::kBf16;         // decides the passes
  std::int64_t lhs_bits = 16, rhs_bits = 16, out_bits = 16;
  bool rhs_is_weight = true;
  Place lhs = Place::kOffChip, rhs = Place::kOffChip, out = Place::kOffChip;
  Epilogue epilogue;
  Bytes budget;  // of VMEM per core, for this kernel's buffers
  // Pinned choices.
  std::optional<std::int64_t> tile_m, tile_n, tile_k, depth, units;
  Dataflow dataflow = Dataflow::kWeightStationary;
  bool operator==(const GemmProblem&) const = default;
};

enum class SplitAxis { kNone, kBatch, kM, kN };

struct GemmTiling {
  std::int64_t tile_m = 1, tile_n = 1, tile_k = 1;
  bool n_outside = false;  // loop n around loop m
  bool panel = false;      // the outer loop's operand is loaded once per outer tile, all of K
  bool whole = false;      // the inner loop's operand is loaded once per batch entry, all of it
  std::int64_t depth = 2;
  SplitAxis split = SplitAxis::kNone;
  std::int64_t parts = 1;
  std::int64_t block = 1;  // batch entries done at a time; divides the batch
  bool operator==(const GemmTiling&) const = default;
};

// Costs that were asked for before. Tiles of an axis have two sizes, a whole axis is the third.
template <std::size_t kSlots>
class CostCache {
 public:
  // What axis size `items` is: 0 a full tile, 1 the last one, 2 everything.
  static std::size_t SizeOf(const TileAxis& axis, std::int64_t items) {
    return items == axis.tile() ? 0 : items == axis.extent() ? 2 : 1;
  }
  template <class Make>
  const TaskCost& Get(std::size_t slot, Make make) {
    if (!known_[slot]) {
      costs_[slot] = make();
      known_[slot] = true;
    }
    return costs_[slot];
  }

 private:
  std::array<TaskCost, kSlots> costs_;
  std::array<bool, kSlots> known_{};
};

// Sizes and costs of the pieces of a tiled problem: the search and the nest both ask here.
class GemmPieces {
 public:
  GemmPieces(const TpuContext& context, const GemmProblem& problem, const GemmTiling& tiling);

  TileAxis batch, m, n, k;  // batch counts blocks of entries

  // How an operand gets to the array: not at all when it is there, per product, per outer tile,
  // per batch entry.
  enum class Mode { kThere, kStream, kPanel, kWhole };
  Mode lhs_mode() const { return lhs_mode_; }
  Mode rhs_mode() const { return rhs_mode_; }
  bool HasEpilogue() const { return !problem_.epilogue.empty(); }
  bool Stores() const { return problem_.out != Place::kVmem; }
  // Products go through a buffer, unless they are written where the result stays.
  bool HasAccumulator() const { return HasEpilogue() || Stores(); }
  bool LoadsConstants() const {
    return problem_.epilogue.constants > Bytes(0) && problem_.epilogue.constants_at != Place::kVmem;
  }

  // Of a block of batch entries.
  Bytes LhsBytes(std::int64_t items_m, std::int64_t items_k) const;
  Bytes RhsBytes(std::int64_t items_k, std::int64_t items_n) const;
  // All of an operand that one core needs for a block of batch entries.
  Bytes WholeLhsBytes(std::int64_t part) const;
  Bytes WholeRhsBytes(std::int64_t part) const;
  Bytes OutBytes(std::int64_t items_m, std::int64_t items_n) const;
  // Of all batch entries; an image counts once, without the overlap of its tiles.
  Bytes AllLhsBytes() const;
  Bytes AllRhsBytes() const;
  Bytes AllOutBytes() const;
  Bytes ExtraBytes(const ExtraOperand& extra, std::int64_t items_m, std::int64_t items_n) const;
  // One slot of each buffer, the size of the largest tile.
  Bytes LhsSlot() const;
  Bytes RhsSlot() const;
  Bytes AccumulatorSlot() const;

  TaskCost LoadLhs(std::int64_t items_m, std::int64_t items_k) const;
  TaskCost LoadRhs(std::int64_t items_k, std::int64_t items_n) const;
  TaskCost LoadWholeLhs(std::int64_t part) const;
  TaskCost LoadWholeRhs(std::int64_t part) const;
  TaskCost LoadExtra(const ExtraOperand& extra, std::int64_t items_m, std::int64_t items_n) const;
  TaskCost LoadConstants() const;
  TaskCost Multiply(std::int64_t items_m, std::int64_t items_n, std::int64_t items_k) const;
  TaskCost Finish(std::int64_t items_m, std::int64_t items_n) const;
  TaskCost Store(std::int64_t items_m, std::int64_t items_n) const;

  // Bytes of all buffers of one core.
  Bytes Footprint() const;
  Bytes WholeSlots() const;   // of the footprint, operands held whole
  Bytes WeightSlots() const;  // of those, the buffers of weights

 private:
  std::int64_t OutElements(std::int64_t items_m, std::int64_t items_n) const;
  std::int64_t RunOf(std::int64_t items, std::int64_t all, std::int64_t bits) const;
  TaskCost MultiplyAnew(std::int64_t items_m, std::int64_t items_n, std::int64_t items_k) const;
  TaskCost FinishAnew(std::int64_t items_m, std::int64_t items_n) const;

  const TpuContext& context_;
  const GemmProblem& problem_;
  GemmTiling tiling_;
  Mode lhs_mode_ = Mode::kStream, rhs_mode_ = Mode::kStream;
  mutable CostCache<27> products_;
  mutable CostCache<9> lhs_loads_, rhs_loads_, epilogues_, stores_;
};

// Time of a tiled problem without its launch: the longest path through first fill, busiest resource
// and last drain, the bytes over each memory's bandwidth, and the turn-around of each buffer. The
// same the analytical model finds for the nest, in O(1). Where it is sure to be above `limit`, some
// number above `limit` will do.
Cycles GemmTime(const TpuContext& context, const GemmProblem& problem, const GemmTiling& tiling,
                Cycles limit = Cycles(std::numeric_limits<std::int64_t>::max()));

// The tiling with the least time that fits `problem.budget`; ties go to the smaller footprint, then
// to the one tried first. Errors name the limit: an impossible pin, or what the op needs at least.
Result<GemmTiling> SearchGemm(const TpuContext& context, const GemmProblem& problem);

// The kernel's nest, buffers and work; name, ops, launch and dependencies are the caller's.
TpuKernel BuildGemm(const TpuContext& context, const GemmProblem& problem,
                    const GemmTiling& tiling);

}  // namespace cyclecast
