// Slices of DPU layers; see vpu_tiling.h.
#include "mapping/vpu_tiling.h"

#include <algorithm>

#include "mapping/vpu_rules.h"
#include "timing/dpu.h"

namespace cyclecast {
namespace {

Bytes PageRounded(Bytes bytes, const VpuSpec& vpu) {
  return Bytes(RoundUp(bytes.value(), std::max<std::int64_t>(vpu.cmx.page.value(), 1)));
}

bool IsEltwise(DpuOperation operation) {
  return operation == DpuOperation::kEltwise || operation == DpuOperation::kEltwiseMul;
}

// Index of the slice that stands for those that are not the last: an inner one where there is one,
// as it has no padding.
std::int64_t TypicalIndex(const TileAxis& axis) { return axis.trips() > 2 ? 1 : 0; }

struct Range {
  std::int64_t begin = 0, end = 0;
};
Range RangeAt(const TileAxis& axis, bool last) {
  const std::int64_t index = last ? axis.trips() - 1 : TypicalIndex(axis);
  const std::int64_t begin = index * axis.tile();
  return {begin, std::min(begin + axis.tile(), axis.extent())};
}

void Add(const TaskCost& more, std::int64_t times, TaskCost* sum) {
  sum->occupancy += more.occupancy * times;
  sum->useful += more.useful * times;
}

}  // namespace

VpuSlices::VpuSlices(const VpuLayer& layer, const VpuTiling& tiling, bool stores,
                     const VpuSpec& vpu)
    : layer_(layer),
      tiling_(tiling),
      vpu_(vpu),
      stores_(stores),
      copies_(layer.copies, 1,
              tiling.strategy == VpuStrategy::kSplitBatch ? tiling.tiles : std::int64_t{1}),
      rows_(layer.whole.output.h, tiling.rows),
      channels_(layer.whole.output.c, tiling.channels),
      sums_(tiling.sums_in_time ? layer.sums : std::int64_t{1}, 1),
      sums_at_once_(tiling.sums_in_time ? std::int64_t{1} : layer.sums) {
  const DpuOperation operation = layer.whole.operation;
  input_follows_channels_ = KeepsChannels(operation);
  has_operand_ = IsEltwise(operation);
  has_weights_ = !has_operand_ && FootprintOf(layer.whole, vpu.rules).weights > Bytes(0);
}

DpuWorkload VpuSlices::SliceOf(const SliceCorner& corner) const {
  const Range rows = RangeAt(rows_, corner.last_row);
  const Range channels = RangeAt(channels_, corner.last_channel);
  DpuWorkload slice = layer_.whole;
  slice.mode = tiling_.mode;
  if (rows_.trips() > 1) slice = CutRows(slice, rows.begin, rows.end);
  if (channels_.trips() > 1) slice = CutChannels(slice, channels.begin, channels.end);
  return slice;
}

std::int64_t VpuSlices::CopiesAt(bool last) const {
  if (tiling_.strategy != VpuStrategy::kSplitBatch) return 1;
  if (!last) return std::min(copies_.parts(), copies_.extent());
  return copies_.extent() - (copies_.trips() - 1) * copies_.parts();
}

std::vector<DpuWorkload> VpuSlices::PartsOf(const DpuWorkload& slice) const {
  DpuRules rules = vpu_.rules;
  // Only an output that stays in CMX is written to all tiles.
  if (stores_) rules.max_output_write_tiles = 1;
  return SplitOverTiles(slice, tiling_.strategy, tiling_.tiles, rules);
}

TaskCost VpuSlices::CostOf(const DpuWorkload& part, bool last_sum, DpuWorkload* largest) const {
  // The channel class with the least sum; convolutions have one workload.
  std::vector<std::int64_t> classes{part.output.c};
  if (HasChannelClasses(part.operation) && !vpu_.rules.depthwise_channels.empty()) {
    classes = vpu_.rules.depthwise_channels;
    std::sort(classes.rbegin(), classes.rend());
  }
  TaskCost best;
  for (const std::int64_t chunk : classes) {
    TaskCost sum;
    const std::vector<DpuWorkload> pieces = SplitChannelClasses(part, chunk, vpu_.rules);
    for (std::size_t i = 0; i < pieces.size();) {
      std::size_t same = i + 1;
      while (same < pieces.size() && pieces[same].output.c == pieces[i].output.c) ++same;
      Add(DpuCost(pieces[i], vpu_), static_cast<std::int64_t>(same - i) * sums_at_once_, &sum);
      i = same;
    }
    if (best.occupancy == Cycles(0) || sum.occupancy < best.occupancy) {
      best = sum;
      *largest = pieces.front();
    }
  }
  // One addition less than there are parts: the loop's last iteration has none.
  const std::int64_t additions = tiling_.sums_in_time && !last_sum ? 1 : sums_at_once_ - 1;
  if (additions > 0) {
    DpuWorkload sum = part;
    sum.operation = DpuOperation::kEltwise;
    sum.input = part.output;
    sum.window = Window{};
    Add(DpuCost(sum, vpu_), additions, &best);
  }
  return best;
}

std::vector<DpuShare> VpuSlices::Shares(const SliceCorner& corner) const {
  const std::vector<DpuWorkload> parts = PartsOf(SliceOf(corner));
  std::vector<DpuShare> shares;
  const auto add_tile = [&](std::int64_t tile, const DpuWorkload& part) {
    // Several DPUs of a tile share its rows.
    const auto pieces =
        SplitOverTiles(part, VpuStrategy::kSplitHeight, vpu_.dpus_per_tile, vpu_.rules);
    for (std::size_t dpu = 0; dpu < pieces.size(); ++dpu) {
      DpuShare share;
      share.tile = tile;
      share.dpu = static_cast<std::int64_t>(dpu);
      const bool repeated = !shares.empty() &&
                            pieces[dpu].output == shares.back().workload.output &&
                            pieces[dpu].input.c == shares.back().workload.input.c &&
                            !HasChannelClasses(part.operation);
      if (repeated) {
        share.cost = shares.back().cost;
        share.workload = pieces[dpu];
      } else {
        share.cost = CostOf(pieces[dpu], corner.last_sum, &share.workload);
      }
      shares.push_back(std::move(share));
    }
  };
  if (tiling_.strategy == VpuStrategy::kSplitBatch) {
    for (std::int64_t tile = 0; tile < CopiesAt(corner.last_copy); ++tile) {
      add_tile(tile, parts.front());
    }
  } else {
    for (std::size_t tile = 0; tile < parts.size(); ++tile) {
      add_tile(static_cast<std::int64_t>(tile), parts[tile]);
    }
  }
  return shares;
}

SliceBytes VpuSlices::BytesOf(const SliceCorner& corner) const {
  const DpuWorkload slice = SliceOf(corner);
  const std::vector<DpuWorkload> parts = PartsOf(slice);
  SliceBytes bytes;
  for (const DpuWorkload& part : parts) {
    const DpuFootprint footprint = FootprintOf(part, vpu_.rules);
    const Bytes input = footprint.input * sums_at_once_;
    const Bytes weights = has_weights_ ? footprint.weights * sums_at_once_ : Bytes(0);
    bytes.tile_input = std::max(bytes.tile_input, PageRounded(input, vpu_));
    bytes.tile_weights = std::max(bytes.tile_weights, PageRounded(weights, vpu_));
    bytes.tile_output = std::max(bytes.tile_output, PageRounded(footprint.output, vpu_));
    bytes.input += input;
    bytes.weights += weights;
    bytes.output += footprint.output;
  }
  const bool by_channel = tiling_.strategy == VpuStrategy::kSplitChannel;
  // One read feeds all tiles that need the same data.
  const auto count = static_cast<std::int64_t>(parts.size());
  if (by_channel && !input_follows_channels_) bytes.input = Bytes(bytes.input.value() / count);
  if (!by_channel) bytes.weights = Bytes(bytes.weights.value() / count);
  // A split over channels leaves all channels in every tile.
  if (by_channel && !stores_) bytes.tile_output = PageRounded(bytes.output, vpu_);
  if (tiling_.strategy == VpuStrategy::kSplitBatch) {
    const std::int64_t active = CopiesAt(corner.last_copy);
    bytes.input = bytes.input * active;
    bytes.output = bytes.output * active;
    if (!layer_.shared_weights) bytes.weights = bytes.weights * active;
  }
  if (has_operand_) {
    bytes.operand = bytes.input;
    bytes.tile_operand = bytes.tile_input;
  }
  return bytes;
}

std::int64_t VpuSlices::WeightGenerations() const {
  const std::int64_t row_slices = copies_.trips() * rows_.trips();
  if (sums_.trips() > 1) return row_slices * channels_.trips() * sums_.trips();
  if (channels_.trips() == 1) return layer_.shared_weights ? 1 : copies_.trips();
  return tiling_.channels_outer ? channels_.trips() : row_slices * channels_.trips();
}

Bytes VpuSlices::Footprint(const LayerCase& layer_case) const {
  const SliceBytes slice = BytesOf({false, false, false});
  const SliceBytes last = BytesOf({true, true, true});
  const auto buffered = [&](Bytes one, Bytes other, std::int64_t generations) {
    return std::max(one, other) * std::min(tiling_.depth, generations);
  };
  const std::int64_t row_slices = copies_.trips() * rows_.trips();
  const std::int64_t slices = row_slices * channels_.trips();
  const bool every_slice =
      input_follows_channels_ || tiling_.channels_outer || tiling_.sums_in_time;
  Bytes sum;
  if (layer_case.loads[0]) {
    sum += buffered(slice.tile_input, last.tile_input,
                    every_slice ? slices * sums_.trips() : row_slices);
  }
  if (has_operand_ && layer_case.loads[1]) {
    sum += buffered(slice.tile_operand, last.tile_operand, slices);
  }
  const bool load_weights = !layer_.weights_are_input || layer_case.loads.back();
  if (has_weights_ && load_weights) {
    sum += buffered(slice.tile_weights, last.tile_weights, WeightGenerations());
  }
  if (tiling_.sums_in_time) sum += std::max(slice.tile_output, last.tile_output);  // so far
  if (layer_case.stores) {
    sum += buffered(slice.tile_output, last.tile_output, slices);
  } else {
    // All slices stay: what a tile holds of the whole output.
    sum += slice.tile_output * (slices - 1) + last.tile_output;
  }
  return sum;
}

Bytes VpuSlices::InputRun() const {
  const DpuTensor& in = layer_.whole.input;
  const std::int64_t channels =
      input_follows_channels_ && channels_.trips() > 1 ? tiling_.channels : in.c;
  if (channels < in.c) return cyclecast::BytesOf(channels, in.dtype);
  return cyclecast::BytesOf(in.w * in.c, in.dtype);
}

bool ModeFits(const VpuLayer& layer, const std::string& mode, const VpuSpec& vpu) {
  return std::any_of(vpu.dpu.modes.begin(), vpu.dpu.modes.end(), [&](const MpeMode& candidate) {
    return candidate.name == mode &&
           ModeFits(candidate, layer.whole.operation, layer.whole.input.dtype);
  });
}

}  // namespace cyclecast
