// Cutting a layer's workload: rows and channels in time (slices that fit CMX), then over tiles,
// then into the channel classes one DPU workload takes. The parts' outputs cover the layer's output
// exactly once; inputs overlap by the halo of the window.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/machine.h"
#include "core/npu_tasks.h"

namespace cyclecast {

// How a layer is shared by tiles.
enum class VpuStrategy {
  kClustering,    // one tile does it all
  kSplitHeight,   // output rows, the halo of the window recomputed or read twice
  kSplitChannel,  // output channels, each tile writes its channels to all tiles
  kSplitBatch     // whole images, groups or heads
};
std::string_view Name(VpuStrategy strategy);  // "clustering", "split_over_height", ...

// Output rows begin..end of `whole`: the input rows they need, padding only at the outer edges.
DpuWorkload CutRows(const DpuWorkload& whole, std::int64_t begin, std::int64_t end);

// Output channels begin..end of `whole`; operations that keep channels take the same input ones.
DpuWorkload CutChannels(const DpuWorkload& whole, std::int64_t begin, std::int64_t end);

// A slice shared by `tiles` tiles: one workload per tile that gets something (at most `tiles`).
// Rows are dealt in equal parts rounded up, channels likewise in multiples of `channel_multiple`.
std::vector<DpuWorkload> SplitOverTiles(const DpuWorkload& slice, VpuStrategy strategy,
                                        std::int64_t tiles, const DpuRules& rules);

// The workloads a DPU runs one after another for one tile's share: channel pieces of `chunk` and a
// remainder cut into the allowed classes, largest first. One workload when the operation has no
// classes (then `chunk` is ignored).
std::vector<DpuWorkload> SplitChannelClasses(const DpuWorkload& part, std::int64_t chunk,
                                             const DpuRules& rules);

// Sizes of the two-dimensional image that `rows` independent vectors are laid out as: width times
// height is at least `rows`, and little is wasted when both round up to blocks of `block_w` x
// `block_h`.
struct ImageShape {
  std::int64_t w = 1, h = 1;
};
ImageShape ImageOf(std::int64_t rows, std::int64_t block_w, std::int64_t block_h,
                   std::int64_t limit);

}  // namespace cyclecast
