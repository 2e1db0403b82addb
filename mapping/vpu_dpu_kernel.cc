// Kernels of DPU layers; see vpu_kernels.h.
#include <algorithm>
#include <map>

#include "mapping/vpu_kernels.h"
#include "mapping/vpu_rules.h"
#include "timing/dpu.h"

namespace cyclecast {
namespace {

class DpuKernel {
 public:
  DpuKernel(const VpuContext& context, const VpuLayer& layer, const VpuTiling& tiling,
            const KernelPlace& place)
      : context_(context),
        vpu_(context.vpu),
        layer_(layer),
        tiling_(tiling),
        place_(place),
        slices_(layer, tiling, place.stores, context.vpu) {}

  BuiltKernel Run() {
    AddLoops();
    AddRedistribution();
    AddLoads();
    AddWork();
    if (place_.stores) AddStore();
    BuiltKernel built;
    built.output = place_.stores ? Placement{} : OutputPlacement(tiling_, vpu_.rules);
    built.footprint = slices_.Footprint({place_.loads, place_.stores, place_.room, 1});
    built.uses_weights = slices_.has_weights() && !layer_.weights_are_input;
    built.kernel = std::move(nest_).Take();
    FillWork(&built);
    built.kernel.mapping = Describe();
    return built;
  }

 private:
  SliceCorner CornerOf(const NestBuilder::Corner& corner) const {
    return {corner.IsLast(copies_), corner.IsLast(rows_), corner.IsLast(channels_),
            corner.IsLast(sums_)};
  }

  void AddLoops() {
    if (tiling_.channels_outer) {
      channels_ = nest_.AddLoop(0, "channels", slices_.channels());
      copies_ = nest_.AddLoop(channels_.id, "copies", slices_.copies());
      rows_ = nest_.AddLoop(copies_.id, "rows", slices_.rows());
      inner_ = rows_.id;
    } else {
      copies_ = nest_.AddLoop(0, "copies", slices_.copies());
      rows_ = nest_.AddLoop(copies_.id, "rows", slices_.rows());
      channels_ = nest_.AddLoop(rows_.id, "channels", slices_.channels());
      inner_ = channels_.id;
    }
    slice_ = inner_;
    // The last iteration has no addition.
    sums_ = nest_.AddLoop(inner_, "partial sums", slices_.sums().trips(), true);
    inner_ = sums_.id;
  }

  // The loop whose iterations each load what it names.
  LoopId InputScope() const {
    const bool every_slice =
        slices_.input_follows_channels() || tiling_.channels_outer || tiling_.sums_in_time;
    return every_slice ? inner_ : rows_.id;
  }
  LoopId WeightScope() const {
    if (tiling_.sums_in_time) return inner_;
    if (slices_.channels().trips() > 1) return channels_.id;
    return layer_.shared_weights ? 0 : copies_.id;
  }

  template <class SizeOf>
  Bytes Largest(SizeOf size_of) const {
    return std::max(size_of(slices_.BytesOf({false, false, false})),
                    size_of(slices_.BytesOf({true, true, true})));
  }

  // Inputs that are in CMX but not where this split reads them.
  void AddRedistribution() {
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i) {
      if (place_.loads[i]) continue;
      const Bytes bytes =
          Redistribution(place_.inputs[i], tiling_, slices_.input_follows_channels(),
                         StoredBytes(context_.workload, layer_.inputs[i]));
      if (bytes == Bytes(0)) continue;
      const BufferId moved = nest_.AddBuffer("moved" + std::to_string(i), 0, 1, Bytes(0));
      TransferSpec spec;
      spec.name = "redistribute";
      spec.kind = TaskKind::kMove;
      spec.direction = DmaDirection::kCmxToCmx;
      spec.writes = {moved};
      AddTransfer(
          context_, spec, 0, [&](const NestBuilder::Corner&) { return bytes; }, &nest_);
      root_reads_.push_back(moved);
    }
  }

  template <class DdrBytes, class TileBytes>
  void AddLoad(const std::string& name, LoopId scope, Bytes run, bool prefetch, DdrBytes ddr,
               TileBytes tile) {
    const BufferId buffer = nest_.AddBuffer(name, scope, tiling_.depth, Largest(tile));
    TransferSpec spec;
    spec.name = "load " + name;
    spec.engines = place_.load_engines;
    spec.run = run;
    spec.writes = {buffer};
    spec.prefetch = prefetch;
    AddTransfer(
        context_, spec, scope,
        [&](const NestBuilder::Corner& corner) { return ddr(slices_.BytesOf(CornerOf(corner))); },
        &nest_);
    work_reads_.push_back(buffer);
  }

  // In program order outside in: what is loaded once comes first.
  void AddLoads() {
    const bool weights =
        slices_.has_weights() && (!layer_.weights_are_input || place_.loads.back());
    const bool weights_first = WeightScope() != inner_ || tiling_.channels_outer;
    const auto load_weights = [&] {
      AddLoad(
          "weights", WeightScope(), Bytes(0), place_.prefetch && !layer_.weights_are_input,
          [](const SliceBytes& b) { return b.weights; },
          [](const SliceBytes& b) { return b.tile_weights; });
    };
    if (weights && weights_first) load_weights();
    const Bytes run = InputRun();
    if (place_.loads[0]) {
      AddLoad(
          "input", InputScope(), run, false, [](const SliceBytes& b) { return b.input; },
          [](const SliceBytes& b) { return b.tile_input; });
    }
    if (slices_.has_operand() && place_.loads[1]) {
      AddLoad(
          "operand", InputScope(), run, false, [](const SliceBytes& b) { return b.operand; },
          [](const SliceBytes& b) { return b.tile_operand; });
    }
    if (weights && !weights_first) load_weights();
  }

  Bytes InputRun() const {
    const DpuTensor& in = layer_.whole.input;
    if (layer_.unrolled) {
      // One row of a window: the kernel's width times the image's channels.
      const OpId leader = layer_.ops.front();
      const auto& conv = std::get<Conv2d>(context_.workload.op(leader).op);
      return BytesOf(
          conv.window.kernel_w * context_.workload.InputTypes(leader)[0].shape[1] / conv.groups,
          in.dtype);
    }
    const bool sliced =
        slices_.input_follows_channels() &&
        (slices_.channels().trips() > 1 || tiling_.strategy == VpuStrategy::kSplitChannel);
    return sliced ? slices_.InputRun() : Bytes(0);
  }

  void AddWork() {
    std::vector<BufferId> reads = work_reads_;
    reads.insert(reads.end(), root_reads_.begin(), root_reads_.end());
    if (place_.stores) {
      output_ = nest_.AddBuffer("output", slice_, tiling_.depth,
                                Largest([](const SliceBytes& b) { return b.tile_output; }));
    }
    std::map<std::pair<std::int64_t, std::int64_t>, bool> units;
    for (const bool last : {false, true}) {
      for (const DpuShare& share : slices_.Shares({last, last, last})) {
        units[{share.tile, share.dpu}] = true;
      }
    }
    for (const auto& [unit, unused] : units) {
      const std::int64_t tile = unit.first, dpu = unit.second;
      Task task;
      task.name = std::string(Name(layer_.whole.operation));
      task.kind = TaskKind::kDpu;
      task.resource =
          context_.resources.dpu[static_cast<std::size_t>(tile)][static_cast<std::size_t>(dpu)];
      task.reads = reads;
      if (place_.stores) task.writes = {output_};
      task.costs = nest_.Costs(inner_, [&](const NestBuilder::Corner& corner) {
        TaskCost cost;
        for (const DpuShare& share : slices_.Shares(CornerOf(corner))) {
          if (share.tile == tile && share.dpu == dpu) cost = share.cost;
        }
        if (cost.occupancy > Cycles(0)) cost.latency = vpu_.barrier;
        return cost;
      });
      nest_.AddTask(inner_, std::move(task));
    }
  }

  void AddStore() {
    TransferSpec spec;
    spec.name = "store output";
    spec.kind = TaskKind::kStore;
    spec.direction = DmaDirection::kCmxToDdr;
    spec.first_engine = static_cast<std::int64_t>(context_.resources.dma.size()) - 1;
    spec.reads = {output_};
    const bool sliced =
        slices_.channels().trips() > 1 || tiling_.strategy == VpuStrategy::kSplitChannel;
    if (sliced) {
      std::int64_t channels = std::min(tiling_.channels, layer_.whole.output.c);
      if (tiling_.strategy == VpuStrategy::kSplitChannel) channels /= tiling_.tiles;
      spec.run = BytesOf(std::max<std::int64_t>(channels, 16), layer_.whole.output.dtype);
    }
    AddTransfer(
        context_, spec, slice_,
        [&](const NestBuilder::Corner& corner) { return slices_.BytesOf(CornerOf(corner)).output; },
        &nest_);
  }

  void FillWork(BuiltKernel* built) const {
    KernelWork& work = built->kernel.work;
    work = LayerWork(context_, layer_, place_);
    work.window = layer_.whole.window;
    work.tile_m = slices_.rows().tile() * layer_.whole.output.w;
    work.tile_n = slices_.channels().tile();
    work.tile_k = layer_.whole.input.c * layer_.sums * layer_.whole.window.kernel_h *
                  layer_.whole.window.kernel_w;
    work.footprint = built->footprint;
    work.parallel_units = tiling_.tiles;
    work.contiguous_bytes = (InputRun() > Bytes(0) ? InputRun() : slices_.InputRun()).value();
    const double rate = static_cast<double>(vpu_.dpu.macs_per_cycle) /
                        ForDType(vpu_.dpu.passes, layer_.whole.input.dtype);
    double padded = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const SliceCorner at{(corner & 1) != 0, (corner & 2) != 0, (corner & 4) != 0, true};
      const std::int64_t count = Count(slices_.copies(), at.last_copy) *
                                 Count(slices_.rows(), at.last_row) *
                                 Count(slices_.channels(), at.last_channel);
      if (count == 0) continue;
      for (const DpuShare& share : slices_.Shares(at)) {
        padded += DpuStagesOf(share.workload, vpu_).compute * rate *
                  static_cast<double>(count * layer_.sums);
        if (!work.dpu || share.workload.output.Elements() > work.dpu->output.Elements()) {
          work.dpu = share.workload;
        }
      }
      const SliceBytes bytes = slices_.BytesOf(at);
      const Bytes read = (bytes.input + bytes.operand + bytes.weights) * slices_.sums().trips();
      work.on_chip_bytes += (read + bytes.output) * count;
    }
    if (!KeepsChannels(layer_.whole.operation)) {
      work.padded_macs = Macs(std::max(static_cast<std::int64_t>(padded), work.macs.value()));
    }
  }

  static std::int64_t Count(const TileAxis& axis, bool last) { return last ? 1 : axis.trips() - 1; }

  std::string Describe() const {
    std::string text(Name(tiling_.strategy));
    text += " on " + std::to_string(tiling_.tiles) + (tiling_.tiles == 1 ? " tile" : " tiles");
    text += ", " + tiling_.mode;
    const auto axis = [&](const TileAxis& slices, const char* what) {
      if (slices.trips() == 1) return;
      text += ", " + std::to_string(slices.trips()) + " slices of " +
              std::to_string(slices.tile()) + " " + what;
    };
    if (slices_.copies().trips() > 1) {
      text += ", " + std::to_string(layer_.copies) + " copies";
    }
    axis(slices_.rows(), "rows");
    axis(slices_.channels(), "channels");
    if (layer_.sums > 1) {
      text += ", " + std::to_string(layer_.sums) + " partial sums";
      if (tiling_.sums_in_time) text += " one after another";
    }
    if (!place_.stores) text += ", output kept in CMX";
    return text;
  }

  const VpuContext& context_;
  const VpuSpec& vpu_;
  const VpuLayer& layer_;
  const VpuTiling& tiling_;
  const KernelPlace& place_;
  VpuSlices slices_;
  NestBuilder nest_;
  AxisLoop copies_, rows_, channels_, sums_;
  LoopId slice_ = 0, inner_ = 0;  // the loop of slices; the one whose iterations compute
  BufferId output_ = -1;
  std::vector<BufferId> work_reads_, root_reads_;
};

}  // namespace

BuiltKernel BuildDpuKernel(const VpuContext& context, const VpuLayer& layer,
                           const VpuTiling& tiling, const KernelPlace& place) {
  return DpuKernel(context, layer, tiling, place).Run();
}

}  // namespace cyclecast
