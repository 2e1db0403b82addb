// What a matrix product costs on the systolic arrays of one core.
//
// A product [m,k] x [k,n] is cut into folds: in each, one operand stays in the array of R rows and
// C columns while another streams through it.
//
//   dataflow           rows hold  columns hold  streamed  load  folds
//   weight stationary  K          N             M         R     ceil(K/R) * ceil(N/C)
//   output stationary  M          N             K         0     ceil(M/R) * ceil(N/C)
//   input stationary   K          M             N         R     ceil(K/R) * ceil(M/C)
//
// Without overlap a fold takes load + stream + skew cycles, skew = R + C - 2 (the closed forms of
// SCALE-Sim: scalesim/compute/systolic_compute_{ws,os,is}.py). With double-buffered weight
// registers the next fold's load runs under the present stream and folds follow each other without
// draining (Jouppi et al., ISCA 2017, section 2: the tile kept for double buffering hides the shift
// of 256 cycles): a product takes load + (folds - 1) max(load, stream) + stream + skew.
#pragma once

#include <cstdint>

#include "core/machine.h"
#include "core/schedule.h"
#include "core/units.h"

namespace cyclecast {

// A product [m,k] x [k,n].
struct MatrixTile {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t whole_k = 0;  // of the kernel this is a tile of; 0: k is all there is
  std::int64_t Macs() const { return m * n * k; }
  std::int64_t Contraction() const { return whole_k > 0 ? whole_k : k; }
};

// One stay of the stationary operand in an array.
struct ArrayFold {
  Cycles load;    // the stationary operand enters
  Cycles stream;  // the moving operand enters, `passes` times
  Cycles skew;    // until the last product has left
};

// The fold of a product on one array whose moving operand has `streamed` vectors of `contraction`
// elements. Where a kernel's whole contraction fits one group of rows (MatrixUnitSpec::row_groups;
// a remainder that would fit still takes all rows), every group holds the
// stationary operand and takes its part of the stream, and sums pass only its rows.
ArrayFold FoldOf(const MatrixUnitSpec& unit, Dataflow dataflow, DType dtype, std::int64_t streamed,
                 std::int64_t contraction);

// How a product is shared by the arrays of a core: every array does `folds` folds of `streamed`
// vectors, the busiest one counted.
struct ArrayShare {
  std::int64_t folds = 1;
  std::int64_t streamed = 1;
  std::int64_t arrays = 1;  // arrays that have work
};

// The share with the least time: the arrays split the streamed or the stationary extent, or both.
ArrayShare BestShare(const MatrixUnitSpec& unit, Dataflow dataflow, DType dtype,
                     const MatrixTile& tile);

// Cost of the product on all arrays of a core. With double-buffered weights the occupancy is what
// repeats from task to task, folds x max(load, stream), and the rest of a lone product's time is
// latency; without, the folds take their full length. `weight_load` is what streams wait for loads,
// `useful` = ceil(MACs x passes / (R x C x arrays x rows per cycle)).
TaskCost MatrixTaskCost(const MatrixUnitSpec& unit, Dataflow dataflow, DType dtype,
                        const MatrixTile& tile);

// MACs a product costs once its extents are padded to whole folds and to `row_align` rows.
Macs PaddedMacs(const MatrixUnitSpec& unit, Dataflow dataflow, const MatrixTile& tile);

}  // namespace cyclecast
