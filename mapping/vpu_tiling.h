// One way to run a DPU layer: strategy over tiles, MPE mode, and slices of rows and channels in
// time; and what follows from it: the cost of every slice, the bytes it moves and keeps in CMX.
//
// Slices are loops over copies, output rows and output channels. Weights of all channels are loaded
// once; otherwise slices of them are loaded again for every slice of rows, or, where the channels
// are the outer loop, input slices again for every slice of channels. A layer with more input
// channels than a workload takes is a chain of partial sums: either all parts of a slice are in CMX
// at once, or the parts are the innermost loop and each brings its own inputs and weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/machine.h"
#include "core/schedule.h"
#include "mapping/tile_axis.h"
#include "mapping/vpu_cut.h"
#include "mapping/vpu_layer.h"

namespace cyclecast {

struct VpuTiling {
  VpuStrategy strategy = VpuStrategy::kClustering;
  std::int64_t tiles = 1;  // that take part
  std::string mode;
  std::int64_t rows = 1, channels = 1;  // of a slice
  bool channels_outer = false;
  bool sums_in_time = false;  // partial sums are the innermost loop
  std::int64_t depth = 2;     // of the buffers; 2 = double buffering
};

// Where a layer's data are and what is left for it.
struct LayerCase {
  std::vector<bool> loads;  // by input: comes from DDR
  bool stores = true;       // the output goes to DDR
  Bytes room;               // CMX per tile
  // DMA engines that share the loads; the others are kept free for stores.
  std::int64_t load_engines = 1;
};

// One DPU's share of a slice.
struct DpuShare {
  std::int64_t tile = 0, dpu = 0;
  TaskCost cost;
  DpuWorkload workload;  // the first (largest) of the workloads it runs
};

// Bytes of one slice; `tile` figures are the largest of any tile, page-rounded.
struct SliceBytes {
  Bytes input, operand, weights, output;                      // moved from and to DDR
  Bytes tile_input, tile_operand, tile_weights, tile_output;  // kept in CMX
};

// Which iteration: the last of each axis, or any other.
struct SliceCorner {
  bool last_copy = true, last_row = true, last_channel = true, last_sum = true;
};

class VpuSlices {
 public:
  VpuSlices(const VpuLayer& layer, const VpuTiling& tiling, bool stores, const VpuSpec& vpu);

  const TileAxis& copies() const { return copies_; }
  const TileAxis& rows() const { return rows_; }
  const TileAxis& channels() const { return channels_; }
  const TileAxis& sums() const { return sums_; }  // one trip unless they are a loop
  // Operations that keep channels read only those of their slice.
  bool input_follows_channels() const { return input_follows_channels_; }
  bool has_weights() const { return has_weights_; }
  // The second input of an eltwise, sliced like the first.
  bool has_operand() const { return has_operand_; }

  std::vector<DpuShare> Shares(const SliceCorner& corner) const;
  SliceBytes BytesOf(const SliceCorner& corner) const;
  // CMX per tile with all buffers, for data that is loaded or stored as the case says.
  Bytes Footprint(const LayerCase& layer_case) const;
  // How often weights are loaded.
  std::int64_t WeightGenerations() const;
  // Line of an input transfer: a row of the image, or all of it when rows are whole.
  Bytes InputRun() const;

  // The workload of a slice before it is split over tiles.
  DpuWorkload SliceOf(const SliceCorner& corner) const;

 private:
  std::int64_t CopiesAt(bool last) const;  // active tiles when copies are dealt over tiles
  TaskCost CostOf(const DpuWorkload& part, bool last_sum, DpuWorkload* largest) const;
  std::vector<DpuWorkload> PartsOf(const DpuWorkload& slice) const;

  const VpuLayer& layer_;
  const VpuTiling& tiling_;
  const VpuSpec& vpu_;
  bool stores_;
  TileAxis copies_, rows_, channels_, sums_;
  std::int64_t sums_at_once_ = 1;
  bool input_follows_channels_ = false, has_weights_ = false, has_operand_ = false;
};

// Whether an MPE mode may run the layer.
bool ModeFits(const VpuLayer& layer, const std::string& mode, const VpuSpec& vpu);

}  // namespace cyclecast
