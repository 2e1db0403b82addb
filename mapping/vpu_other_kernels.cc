// Kernels of SHAVE and DMA layers; see vpu_kernels.h.
#include <algorithm>

#include "mapping/vpu_kernels.h"
#include "timing/dma.h"
#include "timing/shave.h"

namespace cyclecast {
namespace {

Bytes PageRounded(Bytes bytes, const VpuSpec& vpu) {
  return Bytes(RoundUp(bytes.value(), std::max<std::int64_t>(vpu.cmx.page.value(), 1)));
}

std::int64_t LastEngine(const VpuContext& context) {
  return static_cast<std::int64_t>(context.resources.dma.size()) - 1;
}

// A SHAVE layer cut into equal slices of its elements, each shared by the tiles.
class ShaveKernel {
 public:
  ShaveKernel(const VpuContext& context, const VpuLayer& layer, const MappingPin& pin,
              const KernelPlace& place)
      : context_(context),
        layer_(layer),
        place_(place),
        tiles_(pin.units.value_or(context.vpu.tiles)),
        depth_(pin.buffer_depth.value_or(2)) {
    for (TensorId input : layer.inputs) inputs_.push_back(StoredBytes(context.workload, input));
    output_ = StoredBytes(context.workload, layer.output);
  }

  std::optional<BuiltKernel> Run() {
    std::optional<std::int64_t> best;
    Cycles best_time;
    for (std::int64_t slices = 1, tried = 0; slices <= layer_.elements && tried < 4; slices *= 2) {
      if (Footprint(slices) > place_.room) continue;
      ++tried;
      const Cycles time = Estimate(slices);
      if (!best || time < best_time) {
        best = slices;
        best_time = time;
      }
    }
    if (!best) return std::nullopt;
    return Build(*best);
  }

 private:
  TileAxis Axis(std::int64_t slices) const {
    return TileAxis(layer_.elements, CeilDiv(layer_.elements, slices));
  }
  // The part of `bytes` that belongs to `elements` of the layer's.
  Bytes Part(Bytes bytes, std::int64_t elements) const {
    const double share = static_cast<double>(elements) / static_cast<double>(layer_.elements);
    return Bytes(std::min(bytes.value(), static_cast<std::int64_t>(
                                             static_cast<double>(bytes.value()) * share + 1.0)));
  }
  Bytes TilePart(Bytes bytes, std::int64_t elements) const {
    return PageRounded(Bytes(CeilDiv(Part(bytes, elements).value(), tiles_)), context_.vpu);
  }

  Bytes Footprint(std::int64_t slices) const {
    const TileAxis axis = Axis(slices);
    const std::int64_t buffers = std::min(depth_, axis.trips());
    Bytes sum;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (place_.loads[i]) sum += TilePart(inputs_[i], axis.tile()) * buffers;
    }
    sum += place_.stores ? TilePart(output_, axis.tile()) * buffers
                         : PageRounded(Bytes(CeilDiv(output_.value(), tiles_)), context_.vpu);
    return sum;
  }

  TaskCost WorkCost(std::int64_t elements) const {
    TaskCost cost = ShaveElementsCost(layer_.shave, CeilDiv(elements, tiles_), context_.vpu);
    cost.latency = context_.vpu.barrier;
    return cost;
  }

  Cycles Estimate(std::int64_t slices) const {
    const TileAxis axis = Axis(slices);
    const auto move = [&](DmaDirection direction, Bytes bytes) {
      TransferSpec spec;
      spec.direction = direction;
      return TransferCost(context_, spec, bytes).occupancy;
    };
    Cycles load, store;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (place_.loads[i]) load += move(DmaDirection::kDdrToCmx, Part(inputs_[i], axis.tile()));
    }
    if (place_.stores) store = move(DmaDirection::kCmxToDdr, Part(output_, axis.tile()));
    const Cycles work = WorkCost(axis.tile()).occupancy;
    if (depth_ < 2) return (load + work + store) * axis.trips();
    return std::max({load, work, store}) * (axis.trips() - 1) + load + work + store;
  }

  BuiltKernel Build(std::int64_t slices) {
    const TileAxis axis = Axis(slices);
    NestBuilder nest;
    const AxisLoop loop = nest.AddLoop(0, "slices", axis);
    const auto elements = [&](const NestBuilder::Corner& corner) {
      return axis.At(corner.IsLast(loop));
    };
    std::vector<BufferId> reads;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Add(i, loop, axis, elements, &nest, &reads);
    }
    std::vector<BufferId> writes;
    if (place_.stores) {
      writes = {nest.AddBuffer("output", loop.id, depth_, TilePart(output_, axis.tile()))};
    }
    for (std::int64_t tile = 0; tile < tiles_; ++tile) {
      Task task;
      task.name = layer_.shave;
      task.kind = TaskKind::kShave;
      task.resource = context_.resources.shave[static_cast<std::size_t>(tile)];
      task.reads = reads;
      task.writes = writes;
      task.costs = nest.Costs(
          loop.id, [&](const NestBuilder::Corner& corner) { return WorkCost(elements(corner)); });
      nest.AddTask(loop.id, std::move(task));
    }
    if (place_.stores) {
      TransferSpec spec;
      spec.name = "store output";
      spec.kind = TaskKind::kStore;
      spec.direction = DmaDirection::kCmxToDdr;
      spec.first_engine = LastEngine(context_);
      spec.reads = writes;
      AddTransfer(
          context_, spec, loop.id,
          [&](const NestBuilder::Corner& corner) { return Part(output_, elements(corner)); },
          &nest);
    }
    return Finish(axis, std::move(nest).Take());
  }

  // The load of an input from DDR, or its move to the tiles that use it.
  template <class Elements>
  void Add(std::size_t input, const AxisLoop& loop, const TileAxis& axis, Elements elements,
           NestBuilder* nest, std::vector<BufferId>* reads) const {
    TransferSpec spec;
    LoopId scope = loop.id;
    Bytes bytes = inputs_[input];
    if (place_.loads[input]) {
      spec.name = "load input";
      spec.engines = place_.load_engines;
    } else {
      // Any even split will do; one tile's data go to the others.
      if (place_.inputs[input].spread != Spread::kOneTile || tiles_ == 1) return;
      bytes = Bytes(bytes.value() - bytes.value() / tiles_);
      spec.name = "redistribute";
      spec.kind = TaskKind::kMove;
      spec.direction = DmaDirection::kCmxToCmx;
      scope = 0;
    }
    const Bytes slot = place_.loads[input] ? TilePart(bytes, axis.tile()) : Bytes(0);
    spec.writes = {nest->AddBuffer("input" + std::to_string(input), scope, depth_, slot)};
    AddTransfer(
        context_, spec, scope,
        [&](const NestBuilder::Corner& corner) {
          return scope == loop.id && place_.loads[input] ? Part(bytes, elements(corner)) : bytes;
        },
        nest);
    reads->push_back(spec.writes.front());
  }

  BuiltKernel Finish(const TileAxis& axis, Kernel kernel) const {
    BuiltKernel built;
    built.kernel = std::move(kernel);
    built.footprint = Footprint(axis.trips());
    if (!place_.stores) built.output = {Spread::kByHeight, tiles_};
    KernelWork& work = built.kernel.work;
    work = LayerWork(context_, layer_, place_);
    work.footprint = built.footprint;
    work.parallel_units = tiles_;
    ShaveCall call;
    call.operation = layer_.shave;
    call.inputs = static_cast<std::int64_t>(layer_.inputs.size());
    call.output = {CeilDiv(axis.tile(), tiles_), 1, 1, 1, layer_.dtype, Layout::kZxy, false};
    call.input = call.output;
    work.shave = call;
    for (const Bytes bytes : inputs_) work.on_chip_bytes += bytes;
    work.on_chip_bytes += output_;
    std::string& text = built.kernel.mapping;
    text = layer_.shave + " on " + std::to_string(tiles_) + (tiles_ == 1 ? " tile" : " tiles");
    if (axis.trips() > 1) text += ", " + std::to_string(axis.trips()) + " slices";
    if (!place_.stores) text += ", output kept in CMX";
    return built;
  }

  const VpuContext& context_;
  const VpuLayer& layer_;
  const KernelPlace& place_;
  std::int64_t tiles_, depth_;
  std::vector<Bytes> inputs_;
  Bytes output_;
};

}  // namespace

std::optional<BuiltKernel> BuildShaveKernel(const VpuContext& context, const VpuLayer& layer,
                                            const MappingPin& pin, const KernelPlace& place) {
  return ShaveKernel(context, layer, pin, place).Run();
}

// What is moved is the output, except where an operator is not modelled: that reads its inputs too.
std::optional<BuiltKernel> BuildDmaKernel(const VpuContext& context, const VpuLayer& layer,
                                          const KernelPlace& place) {
  const VpuSpec& vpu = context.vpu;
  const Bytes output = StoredBytes(context.workload, layer.output);
  const Bytes kept = PageRounded(Bytes(CeilDiv(output.value(), vpu.tiles)), vpu);
  if (!place.stores && kept > place.room) return std::nullopt;
  const bool from_ddr =
      std::any_of(place.loads.begin(), place.loads.end(), [](bool load) { return load; });
  const bool declared =
      std::holds_alternative<DeclaredMovement>(context.workload.op(layer.ops.front()).op);
  TransferSpec spec;
  spec.name = "move";
  spec.kind = TaskKind::kMove;
  spec.run = layer.run;
  spec.engines = place.load_engines;
  if (from_ddr) {
    spec.direction = place.stores ? DmaDirection::kDdrToDdr : DmaDirection::kDdrToCmx;
  } else {
    spec.direction = place.stores ? DmaDirection::kCmxToDdr : DmaDirection::kCmxToCmx;
  }
  Bytes bytes = output;
  if (declared) {
    for (TensorId input : layer.inputs) bytes += StoredBytes(context.workload, input);
  }
  NestBuilder nest;
  AddTransfer(
      context, spec, 0, [&](const NestBuilder::Corner&) { return bytes; }, &nest);
  BuiltKernel built;
  built.kernel = std::move(nest).Take();
  built.footprint = place.stores ? Bytes(0) : kept;
  if (!place.stores) built.output = {Spread::kByHeight, vpu.tiles};
  KernelWork& work = built.kernel.work;
  work = LayerWork(context, layer, place);
  work.footprint = built.footprint;
  work.contiguous_bytes = layer.run > Bytes(0) ? layer.run.value() : bytes.value();
  DmaTransfer transfer = Contiguous(spec.direction, bytes);
  if (layer.run > Bytes(0) && layer.run < bytes) {
    transfer.dimensions = 2;
    transfer.line_bytes = layer.run;
    transfer.lines = CeilDiv(bytes.value(), layer.run.value());
  }
  work.dma = transfer;
  built.kernel.mapping = std::string(Name(spec.direction)) + " by DMA";
  return built;
}

}  // namespace cyclecast
