// Search for the best tiling of a DPU layer; see vpu_search.h.
#include "mapping/vpu_search.h"

#include <algorithm>
#include <array>

#include "mapping/vpu_platform.h"
#include "mapping/vpu_rules.h"
#include "timing/dma.h"

namespace cyclecast {
namespace {

// The part of hidden traffic's time that counts: one in this many cycles.
constexpr std::int64_t kTrafficShare = 16;

// Slices tried along an axis: one, two, three, four, then by half octaves.
std::vector<std::int64_t> SliceSizes(std::int64_t extent, std::int64_t multiple) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t octave = 1; octave <= 2 * extent; octave *= 2) {
    for (const std::int64_t count : {octave, octave + octave / 2}) {
      const std::int64_t size = RoundUp(CeilDiv(extent, count), multiple);
      if (sizes.empty() || size < sizes.back()) sizes.push_back(size);
    }
    if (sizes.back() <= multiple) break;
  }
  return sizes;
}

// Sums over all slices of a kernel.
struct Totals {
  std::vector<Cycles> dpu;  // by tile and DPU
  Cycles load, store;
  Cycles first_load, last_store, last_compute;
  Bytes ddr;
};

class Estimator {
 public:
  Estimator(const VpuLayer& layer, const VpuTiling& tiling, const PlanRequest& request,
            const VpuSpec& vpu, const Platform& platform)
      : layer_(layer),
        tiling_(tiling),
        request_(request),
        vpu_(vpu),
        platform_(platform),
        slices_(layer, tiling, request.layer_case.stores, vpu) {
    totals_.dpu.resize(static_cast<std::size_t>(vpu.tiles * vpu.dpus_per_tile));
  }

  TilingEstimate Run() {
    for (const bool copy : {false, true}) {
      for (const bool row : {false, true}) {
        for (const bool channel : {false, true}) {
          for (const bool sum : {false, true}) AddCorner({copy, row, channel, sum});
        }
      }
    }
    TilingEstimate estimate;
    estimate.time = Combine();
    estimate.ddr = totals_.ddr;
    const Cycles traffic = CeilCycles(totals_.ddr, platform_.memories.front().bandwidth);
    estimate.cost = estimate.time + Cycles(traffic.value() / kTrafficShare);
    return estimate;
  }

 private:
  static std::int64_t Count(const TileAxis& axis, bool last) { return last ? 1 : axis.trips() - 1; }

  Cycles Move(DmaDirection direction, Bytes bytes, std::int64_t engines) const {
    if (bytes == Bytes(0)) return Cycles(0);
    const BytesPerCycle rate = TransferRate(direction, vpu_, platform_);
    const Bytes share(CeilDiv(bytes.value(), engines));
    return DmaCost(Contiguous(direction, share), rate, vpu_).occupancy;
  }

  void AddCorner(const SliceCorner& corner) {
    const std::int64_t copies = Count(slices_.copies(), corner.last_copy);
    const std::int64_t rows = Count(slices_.rows(), corner.last_row);
    const std::int64_t channels = Count(slices_.channels(), corner.last_channel);
    const std::int64_t count = copies * rows * channels * Count(slices_.sums(), corner.last_sum);
    if (count == 0) return;
    Cycles slowest;
    for (const DpuShare& share : slices_.Shares(corner)) {
      totals_.dpu[static_cast<std::size_t>(share.tile * vpu_.dpus_per_tile + share.dpu)] +=
          share.cost.occupancy * count;
      slowest = std::max(slowest, share.cost.occupancy);
    }
    const SliceBytes bytes = slices_.BytesOf(corner);
    const bool every_slice =
        slices_.input_follows_channels() || tiling_.channels_outer || tiling_.sums_in_time;
    const LayerCase& layer_case = request_.layer_case;
    if (layer_case.loads[0]) {
      Load(bytes.input, every_slice ? count : corner.last_channel ? copies * rows : 0);
    }
    if (slices_.has_operand() && layer_case.loads[1]) Load(bytes.operand, count);
    if (slices_.has_weights() && (!layer_.weights_are_input || layer_case.loads.back())) {
      Load(bytes.weights, WeightLoads(corner, copies, channels, count));
    }
    if (layer_case.stores && corner.last_sum) {
      const Cycles store = Move(DmaDirection::kCmxToDdr, bytes.output, 1);
      totals_.store += store * (copies * rows * channels);
      totals_.ddr += bytes.output * (copies * rows * channels);
      totals_.last_store = store;
    }
    totals_.last_compute = slowest;
  }

  std::int64_t WeightLoads(const SliceCorner& corner, std::int64_t copies, std::int64_t channels,
                           std::int64_t count) const {
    if (tiling_.sums_in_time) return count;
    if (slices_.channels().trips() == 1) {
      if (!corner.last_row) return 0;
      return layer_.shared_weights ? (corner.last_copy ? 1 : 0) : copies;
    }
    if (!tiling_.channels_outer) return count;
    return corner.last_row && corner.last_copy ? channels : 0;
  }

  void Load(Bytes bytes, std::int64_t times) {
    const Cycles once = Move(DmaDirection::kDdrToCmx, bytes, request_.layer_case.load_engines);
    totals_.load += once * times;
    totals_.ddr += bytes * times;
    if (times > 0) first_[first_count_++ % first_.size()] = once;
  }

  Cycles Combine() {
    Cycles head;
    for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
      if (request_.layer_case.loads[i]) continue;
      head += Move(DmaDirection::kCmxToCmx,
                   Redistribution(request_.inputs[i], tiling_, slices_.input_follows_channels(),
                                  request_.input_bytes[i]),
                   1);
    }
    const Cycles dpu = *std::max_element(totals_.dpu.begin(), totals_.dpu.end());
    if (tiling_.depth < 2) return head + dpu + totals_.load + totals_.store;
    // The loads that the first slice waits for.
    Cycles first;
    for (std::size_t i = 0; i < std::min(first_count_, first_.size()); ++i) first += first_[i];
    first = std::min(first, totals_.load);
    const Cycles by_dpu = first + dpu + totals_.last_store;
    const Cycles by_load = totals_.load + totals_.last_compute + totals_.last_store;
    const Cycles by_store = first + totals_.last_compute + totals_.store;
    const Cycles by_ddr = CeilCycles(totals_.ddr, platform_.memories.front().bandwidth);
    return head + std::max({by_dpu, by_load, by_store, by_ddr});
  }

  const VpuLayer& layer_;
  const VpuTiling& tiling_;
  const PlanRequest& request_;
  const VpuSpec& vpu_;
  const Platform& platform_;
  VpuSlices slices_;
  Totals totals_;
  std::array<Cycles, 2> first_{};
  std::size_t first_count_ = 0;
};

std::vector<VpuStrategy> Strategies(const VpuLayer& layer, const MappingPin& pin,
                                    const VpuSpec& vpu) {
  std::vector<VpuStrategy> strategies;
  const std::int64_t tiles = pin.units.value_or(vpu.tiles);
  for (const VpuStrategy strategy : {VpuStrategy::kSplitHeight, VpuStrategy::kSplitChannel,
                                     VpuStrategy::kSplitBatch, VpuStrategy::kClustering}) {
    if (pin.strategy && *pin.strategy != Name(strategy)) continue;
    const bool alone = strategy == VpuStrategy::kClustering;
    if (!pin.strategy) {
      if (alone != (tiles == 1) && pin.units) continue;
      if (!alone && vpu.tiles == 1) continue;
      if (strategy == VpuStrategy::kSplitHeight && layer.whole.output.h < 2) continue;
      if (strategy == VpuStrategy::kSplitChannel &&
          layer.whole.output.c <= vpu.rules.channel_multiple) {
        continue;
      }
      if (strategy == VpuStrategy::kSplitBatch && layer.copies < 2) continue;
    }
    strategies.push_back(strategy);
  }
  return strategies;
}

// Tiles that get work: fewer than the machine has where the split axis is short.
std::int64_t TilesFor(const VpuLayer& layer, VpuStrategy strategy, std::int64_t tiles,
                      const DpuRules& rules) {
  switch (strategy) {
    case VpuStrategy::kClustering:
      return 1;
    case VpuStrategy::kSplitHeight:
      return std::min(tiles, layer.whole.output.h);
    case VpuStrategy::kSplitChannel:
      return std::min(tiles, CeilDiv(layer.whole.output.c, rules.channel_multiple));
    case VpuStrategy::kSplitBatch:
      return std::min(tiles, layer.copies);
  }
  return tiles;
}

class Search {
 public:
  Search(const VpuLayer& layer, const PlanRequest& request, const VpuSpec& vpu,
         const Platform& platform)
      : layer_(layer), request_(request), vpu_(vpu), platform_(platform) {}

  // With double buffers; where none fit, with single ones.
  std::optional<LayerPlan> Run() {
    TryAll(request_.pin.buffer_depth.value_or(2));
    if (!best_ && !request_.pin.buffer_depth) TryAll(1);
    return best_;
  }

 private:
  void TryAll(std::int64_t depth) {
    const MappingPin& pin = request_.pin;
    for (const VpuStrategy strategy : Strategies(layer_, pin, vpu_)) {
      VpuTiling tiling;
      tiling.strategy = strategy;
      tiling.tiles = TilesFor(layer_, strategy, pin.units.value_or(vpu_.tiles), vpu_.rules);
      tiling.depth = depth;
      for (const MpeMode& mode : vpu_.dpu.modes) {
        if (pin.mpe_mode && *pin.mpe_mode != mode.name) continue;
        if (!ModeFits(mode, layer_.whole.operation, layer_.whole.input.dtype)) continue;
        tiling.mode = mode.name;
        tiling.sums_in_time = false;
        TrySlices(tiling);
        tiling.sums_in_time = true;
        if (layer_.sums > 1) TrySlices(tiling);
      }
    }
  }

  void TrySlices(VpuTiling tiling) {
    const DpuTensor& out = layer_.whole.output;
    const MappingPin& pin = request_.pin;
    const std::int64_t step = tiling.strategy == VpuStrategy::kSplitChannel
                                  ? tiling.tiles * vpu_.rules.channel_multiple
                                  : vpu_.rules.channel_multiple;
    std::vector<std::int64_t> rows = SliceSizes(out.h, 1);
    std::vector<std::int64_t> channels = SliceSizes(out.c, step);
    if (pin.tile_m) rows = {std::min(*pin.tile_m / out.w, out.h)};
    if (pin.tile_n) channels = {std::min(*pin.tile_n, out.c)};
    int fitting_rows = 0;
    for (const std::int64_t r : rows) {
      tiling.rows = r;
      int fitting = 0;
      for (const std::int64_t c : channels) {
        tiling.channels = std::min(c, out.c);
        for (const bool outer : {false, true}) {
          const bool meaningful = c < out.c && layer_.shared_weights &&
                                  (r < out.h || layer_.copies > 1) &&
                                  !KeepsChannels(layer_.whole.operation);
          if (outer && (!meaningful || tiling.sums_in_time)) continue;
          tiling.channels_outer = outer;
          if (Try(tiling)) ++fitting;
        }
        // Ever smaller slices only add start-ups once some fit.
        if (fitting >= kFittingSlices) break;
      }
      if (fitting > 0 && ++fitting_rows >= kFittingSlices) break;
    }
  }

  bool Try(const VpuTiling& tiling) {
    const VpuSlices slices(layer_, tiling, request_.layer_case.stores, vpu_);
    const Bytes footprint = slices.Footprint(request_.layer_case);
    if (footprint > request_.layer_case.room) return false;
    const TilingEstimate estimate = EstimateTiling(layer_, tiling, request_, vpu_, platform_);
    if (!best_ || estimate.cost < best_->estimate.cost) {
      best_ = LayerPlan{tiling, estimate, footprint};
    }
    return true;
  }

  static constexpr int kFittingSlices = 4;
  const VpuLayer& layer_;
  const PlanRequest& request_;
  const VpuSpec& vpu_;
  const Platform& platform_;
  std::optional<LayerPlan> best_;
};

}  // namespace

Placement OutputPlacement(const VpuTiling& tiling, const DpuRules& rules) {
  switch (tiling.strategy) {
    case VpuStrategy::kClustering:
      return {Spread::kOneTile, 1};
    case VpuStrategy::kSplitHeight:
      return {Spread::kByHeight, tiling.tiles};
    case VpuStrategy::kSplitChannel:
      return {
          rules.max_output_write_tiles >= tiling.tiles ? Spread::kEverywhere : Spread::kByChannel,
          tiling.tiles};
    case VpuStrategy::kSplitBatch:
      return {Spread::kByBatch, tiling.tiles};
  }
  return {};
}

Bytes Redistribution(const Placement& have, const VpuTiling& tiling, bool follows_channels,
                     Bytes bytes) {
  if (have.spread == Spread::kOffChip) return Bytes(0);
  const std::int64_t n = tiling.tiles;
  if (have.spread == Spread::kEverywhere && have.tiles >= n) return Bytes(0);
  const Bytes away(bytes.value() - bytes.value() / n);  // what is not where it is needed
  const bool everywhere = tiling.strategy == VpuStrategy::kSplitChannel && !follows_channels;
  switch (tiling.strategy) {
    case VpuStrategy::kClustering:
      if (have.spread == Spread::kOneTile) return Bytes(0);
      return Bytes(bytes.value() - bytes.value() / std::max<std::int64_t>(have.tiles, 1));
    case VpuStrategy::kSplitHeight:
      return have.spread == Spread::kByHeight && have.tiles == n ? Bytes(0) : away;
    case VpuStrategy::kSplitBatch:
      return have.spread == Spread::kByBatch && have.tiles == n ? Bytes(0) : away;
    case VpuStrategy::kSplitChannel:
      // The DMA writes one source to all tiles at once.
      if (everywhere) return bytes;
      return have.spread == Spread::kByChannel && have.tiles == n ? Bytes(0) : away;
  }
  return bytes;
}

TilingEstimate EstimateTiling(const VpuLayer& layer, const VpuTiling& tiling,
                              const PlanRequest& request, const VpuSpec& vpu,
                              const Platform& platform) {
  return Estimator(layer, tiling, request, vpu, platform).Run();
}

std::optional<LayerPlan> PlanLayer(const VpuLayer& layer, const PlanRequest& request,
                                   const VpuSpec& vpu, const Platform& platform) {
  return Search(layer, request, vpu, platform).Run();
}

}  // namespace cyclecast
