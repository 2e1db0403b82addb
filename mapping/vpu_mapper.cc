// Mapping for VPUs; see vpu_mapper.h.
#include "mapping/vpu_mapper.h"

#include <algorithm>
#include <map>
#include <set>

#include "mapping/platform.h"
#include "mapping/vpu_kernels.h"
#include "mapping/vpu_pins.h"

namespace cyclecast {
namespace {

// An activation in CMX.
struct Resident {
  Placement placement;
  Bytes per_tile;
  std::size_t last_use = 0;  // index of the last layer that reads it
};

Bytes PerTile(Bytes bytes, const Placement& placement, const VpuSpec& vpu) {
  const bool whole =
      placement.spread == Spread::kEverywhere || placement.spread == Spread::kOneTile;
  const std::int64_t share = whole ? bytes.value() : CeilDiv(bytes.value(), placement.tiles);
  return Bytes(RoundUp(share, std::max<std::int64_t>(vpu.cmx.page.value(), 1)));
}

// What a plan depends on, as numbers: layers of the same shape in the same place share it.
std::vector<std::int64_t> PlanKey(const VpuLayer& layer, const PlanRequest& request,
                                  const VpuSpec& vpu) {
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  const DpuWorkload& w = layer.whole;
  std::vector<std::int64_t> key{number(w.operation),
                                w.input.w,
                                w.input.h,
                                w.input.c,
                                number(w.input.dtype),
                                w.output.w,
                                w.output.h,
                                w.output.c,
                                number(w.output.dtype),
                                number(w.weight_dtype),
                                w.window.kernel_h,
                                w.window.kernel_w,
                                w.window.stride_h,
                                w.window.stride_w,
                                w.window.pad_top,
                                w.window.pad_bottom,
                                w.window.pad_left,
                                w.window.pad_right,
                                w.window.dilation_h,
                                w.window.dilation_w,
                                layer.copies,
                                layer.sums,
                                number(layer.shared_weights),
                                number(layer.weights_are_input),
                                number(request.layer_case.stores),
                                request.layer_case.load_engines};
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    key.push_back(number(request.layer_case.loads[i]));
    key.push_back(number(request.inputs[i].spread));
    key.push_back(request.inputs[i].tiles);
    key.push_back(request.input_bytes[i].value());
  }
  key.push_back(request.layer_case.room.value() / std::max<std::int64_t>(vpu.cmx.page.value(), 1));
  return key;
}

bool HasChoices(const MappingPin& pin) {
  return pin.tile_m || pin.tile_n || pin.buffer_depth || pin.units || pin.strategy || pin.mpe_mode;
}

class Mapper {
 public:
  Mapper(const Workload& workload, const Machine& machine, const MappingPins& pins,
         const MapOptions& options, LoweredWorkload lowered)
      : vpu_(*machine.vpu()),
        pins_(pins),
        options_(options),
        lowered_(std::move(lowered)),
        platform_(options.platform ? options.platform : MakeVpuPlatform(machine)),
        context_{workload, vpu_, *platform_, VpuResources(vpu_)} {
    for (std::size_t i = 0; i < lowered_.layers.size(); ++i) {
      for (TensorId input : lowered_.layers[i].inputs) last_use_[input] = i;
    }
    for (std::size_t t = 0; t < workload.tensors().size(); ++t) {
      if (workload.tensors()[t].is_output) must_store_.insert(lowered_.storage[t]);
    }
  }

  // Maps all layers; an activation that leaves a later layer no room is sent off chip and
  // everything is mapped again, which ends as there are finitely many.
  Result<Schedule> Run() {
    for (;;) {
      Status status = MapAll();
      if (status.ok()) break;
      if (!evicted_) return status.error();
      off_chip_.insert(*evicted_);
    }
    Schedule schedule;
    schedule.workload = context_.workload.name();
    schedule.platform = platform_;
    schedule.kernels = std::move(kernels_);
    schedule.first_launch = CeilCycles(vpu_.launch.first, vpu_.dpu_clock);
    Explain(&schedule);
    return schedule;
  }

 private:
  Status MapAll() {
    kernels_.clear();
    residents_.clear();
    producer_.clear();
    evicted_.reset();
    previous_ = {};
    kept_ = 0;
    for (std::size_t i = 0; i < lowered_.layers.size(); ++i) {
      const Status status = MapLayer(i);
      if (!status.ok()) return status;
    }
    return Unit{};
  }

  Bytes InUse(std::size_t layer) const {
    Bytes sum;
    for (const auto& [tensor, resident] : residents_) {
      if (resident.last_use >= layer) sum += resident.per_tile;
    }
    return sum;
  }

  KernelPlace PlaceOf(const VpuLayer& layer, std::size_t index, bool keep) const {
    KernelPlace place;
    for (TensorId input : layer.inputs) {
      const auto found = residents_.find(input);
      const bool on_chip = found != residents_.end();
      place.loads.push_back(!on_chip);
      place.inputs.push_back(on_chip ? found->second.placement : Placement{});
    }
    place.stores = !keep;
    const Bytes used = InUse(index);
    place.room = used < vpu_.cmx.memory.capacity ? vpu_.cmx.memory.capacity - used : Bytes(0);
    // Stores wait for results; loads queue behind them only where there is one engine.
    const auto engines = static_cast<std::int64_t>(context_.resources.dma.size());
    const bool stores_near = place.stores || previous_.stored;
    place.load_engines = std::max<std::int64_t>(1, stores_near ? engines - 1 : engines);
    return place;
  }

  std::optional<BuiltKernel> Build(const VpuLayer& layer, std::size_t index, bool keep) {
    KernelPlace place = PlaceOf(layer, index, keep);
    const MappingPin pin = PinOf(layer);
    switch (layer.engine) {
      case VpuEngine::kDpu:
        return BuildDpu(layer, pin, &place);
      case VpuEngine::kShave:
        return BuildShaveKernel(context_, layer, pin, place);
      case VpuEngine::kDma:
        return BuildDmaKernel(context_, layer, place);
      case VpuEngine::kAttention:
        return BuildAttentionKernel(context_, layer, pin, place);
    }
    return std::nullopt;
  }

  // The pin in force, without what a pin for all ops cannot mean here.
  MappingPin PinOf(const VpuLayer& layer) const {
    MappingPin pin = pins_.For(layer.name);
    const auto own = pins_.by_op.find(layer.name);
    const MappingPin none;
    const MappingPin& named = own == pins_.by_op.end() ? none : own->second;
    // Tile sizes for all ops hold where they are possible.
    const DpuTensor& out = layer.whole.output;
    if (layer.engine == VpuEngine::kDpu) {
      if (!named.tile_m && pin.tile_m && (*pin.tile_m % out.w != 0 || *pin.tile_m < out.w)) {
        pin.tile_m.reset();
      }
      if (!named.tile_n && pin.tile_n && *pin.tile_n % vpu_.rules.channel_multiple != 0) {
        pin.tile_n.reset();
      }
      if (!named.mpe_mode && pin.mpe_mode && !ModeFits(layer, *pin.mpe_mode, vpu_)) {
        pin.mpe_mode.reset();
      }
      if (!named.strategy && pin.strategy == Name(VpuStrategy::kSplitBatch) && layer.copies < 2) {
        pin.strategy.reset();
      }
    } else if (!named.tile_m) {
      pin.tile_m.reset();
    }
    return pin;
  }

  std::optional<BuiltKernel> BuildDpu(const VpuLayer& layer, const MappingPin& pin,
                                      KernelPlace* place) {
    PlanRequest request;
    request.layer_case = {place->loads, place->stores, place->room, place->load_engines};
    request.inputs = place->inputs;
    for (TensorId input : layer.inputs) {
      request.input_bytes.push_back(StoredBytes(context_.workload, input));
    }
    request.pin = pin;
    const std::optional<LayerPlan> plan = Plan(layer, request);
    if (!plan) return std::nullopt;
    place->prefetch = MayPrefetch(layer, plan->tiling, *place, pin);
    return BuildDpuKernel(context_, layer, plan->tiling, *place);
  }

  std::optional<LayerPlan> Plan(const VpuLayer& layer, const PlanRequest& request) {
    if (HasChoices(request.pin)) return PlanLayer(layer, request, vpu_, *platform_);
    const auto key = PlanKey(layer, request, vpu_);
    const auto known = plans_.find(key);
    if (known != plans_.end()) return known->second;
    const auto plan = PlanLayer(layer, request, vpu_, *platform_);
    plans_.emplace(key, plan);
    return plan;
  }

  // The first weights need room beside what the kernel before holds.
  bool MayPrefetch(const VpuLayer& layer, const VpuTiling& tiling, const KernelPlace& place,
                   const MappingPin& pin) {
    prefetch_refused_ = false;
    if (!options_.overlap_kernels || kernels_.empty() || !pin.prefetch_weights.value_or(true)) {
      return false;
    }
    const VpuSlices slices(layer, tiling, place.stores, vpu_);
    const Bytes weights = slices.BytesOf({false, false, false}).tile_weights *
                          std::min(tiling.depth, slices.WeightGenerations());
    const bool fits = previous_.footprint + previous_.in_use + weights <= vpu_.cmx.memory.capacity;
    prefetch_refused_ = !fits;
    return fits;
  }

  Status MapLayer(std::size_t index) {
    const VpuLayer& layer = lowered_.layers[index];
    const MappingPin pin = pins_.For(layer.name);
    const bool used_later = last_use_.count(layer.output) != 0;
    const bool may_keep = used_later && must_store_.count(layer.output) == 0 &&
                          pin.keep_on_chip.value_or(true) && off_chip_.count(layer.output) == 0;
    std::optional<BuiltKernel> built;
    bool kept = false;
    if (may_keep) {
      built = Build(layer, index, true);
      kept = built.has_value();
    }
    if (!built && pin.keep_on_chip.value_or(false) && Named(layer)) {
      return Error(pin.pos, KeepMessage(layer, index));
    }
    if (!built) built = Build(layer, index, false);
    if (!built) return NoRoom(layer, index, pin);
    if (pin.prefetch_weights.value_or(false) && prefetch_refused_ && Named(layer) &&
        layer.engine == VpuEngine::kDpu) {
      return Error(pin.pos, "'prefetch_weights: true' of '" + layer.name +
                                "' needs room beside the kernel before it, which leaves too "
                                "little CMX: use false, or smaller tiles there");
    }
    Finish(layer, index, kept, std::move(*built));
    return Unit{};
  }

  bool Named(const VpuLayer& layer) const { return pins_.by_op.count(layer.name) != 0; }

  std::string KeepMessage(const VpuLayer& layer, std::size_t index) const {
    const Bytes room = PlaceOf(layer, index, true).room;
    std::string why = "the room left in CMX is " + std::to_string(room.value()) +
                      " B per tile, its output takes " +
                      std::to_string(StoredBytes(context_.workload, layer.output).value()) +
                      " B over all";
    if (last_use_.count(layer.output) == 0) why = "nobody reads its output";
    if (must_store_.count(layer.output) != 0) why = "its output leaves the chip";
    return "'keep_on_chip: true' of '" + layer.name + "' is impossible, " + why +
           ": use keep_on_chip false";
  }

  // Nothing fits: make room by sending the largest activation off chip, unless there is none or a
  // pin holds it.
  Status NoRoom(const VpuLayer& layer, std::size_t index, const MappingPin& pin) {
    const Resident* largest = nullptr;
    for (const auto& [tensor, resident] : residents_) {
      if (resident.last_use < index) continue;
      if (largest == nullptr || resident.per_tile > largest->per_tile) {
        largest = &resident;
        evicted_ = tensor;
      }
    }
    if (largest != nullptr) return Error("retry");
    std::string message = "'" + layer.name + "' does not fit CMX (" +
                          std::to_string(vpu_.cmx.memory.capacity.value()) + " B per tile) ";
    message += HasChoices(pin) ? "with the mapping pinned: loosen the pins, for example smaller "
                                 "tile_m and tile_n or buffer_depth 1"
                               : "in slices of one row and 16 channels: use a machine with more "
                                 "CMX or a smaller layer";
    const SourcePos& pos = HasChoices(pin) ? pin.pos : context_.workload.op(layer.ops.front()).pos;
    return Error(pos, std::move(message));
  }

  void Finish(const VpuLayer& layer, std::size_t index, bool kept, BuiltKernel built) {
    const auto id = static_cast<KernelId>(kernels_.size());
    Kernel& kernel = built.kernel;
    kernel.name = layer.name;
    kernel.op_class = layer.op_class;
    kernel.ops = layer.ops;
    kernel.sequencer = context_.resources.sequencer;
    if (options_.launch_kernels) {
      kernel.launch = CeilCycles(vpu_.launch.overhead, vpu_.dpu_clock) + vpu_.barrier;
    }
    std::set<KernelId> after;
    for (TensorId input : layer.inputs) {
      const auto found = producer_.find(input);
      if (found != producer_.end()) after.insert(found->second);
    }
    if (!options_.overlap_kernels && id > 0) after.insert(id - 1);
    kernel.after.assign(after.begin(), after.end());
    previous_ = {built.footprint, InUse(index), !kept};
    producer_[layer.output] = id;
    if (kept) {
      const Bytes bytes = StoredBytes(context_.workload, layer.output);
      residents_[layer.output] = {built.output, PerTile(bytes, built.output, vpu_),
                                  last_use_.at(layer.output)};
      ++kept_;
    }
    kernels_.push_back(std::move(kernel));
  }

  void Explain(Schedule* schedule) const {
    auto& assumptions = schedule->assumptions;
    assumptions.push_back(std::to_string(vpu_.tiles) + " tile(s), strategy, MPE mode and slices " +
                          "per layer by least closed-form time");
    assumptions.push_back(std::to_string(kept_) + " of " + std::to_string(lowered_.layers.size()) +
                          " layer outputs stay in CMX, the others go through DDR");
    assumptions.push_back(options_.overlap_kernels
                              ? "layers wait only for their data; weights are fetched ahead"
                              : "layers run one after another");
    assumptions.push_back("slices double buffered: DMA, DPU and SHAVE overlap");
    schedule->notes = context_.workload.notes();
    const auto append = [&](const std::vector<std::string>& notes) {
      for (const std::string& note : notes) {
        const auto& known = schedule->notes;
        if (std::find(known.begin(), known.end(), note) == known.end()) {
          schedule->notes.push_back(note);
        }
      }
    };
    append(lowered_.notes);
    for (const VpuLayer& layer : lowered_.layers) append(layer.notes);
  }

  // The kernel before: what it holds in CMX per tile, and whether it stores.
  struct Previous {
    Bytes footprint, in_use;
    bool stored = false;
  };

  const VpuSpec& vpu_;
  const MappingPins& pins_;
  const MapOptions& options_;
  LoweredWorkload lowered_;
  std::shared_ptr<const Platform> platform_;
  VpuContext context_;
  std::map<TensorId, std::size_t> last_use_;
  std::set<TensorId> must_store_, off_chip_;
  std::map<std::vector<std::int64_t>, std::optional<LayerPlan>> plans_;
  // State of one attempt.
  std::vector<Kernel> kernels_;
  std::map<TensorId, Resident> residents_;
  std::map<TensorId, KernelId> producer_;
  std::optional<TensorId> evicted_;
  Previous previous_;
  std::int64_t kept_ = 0;
  bool prefetch_refused_ = false;
};

}  // namespace

Result<Schedule> MapForVpu(const Workload& workload, const Machine& machine,
                           const MappingPins& pins, const MapOptions& options) {
  const VpuSpec* vpu = machine.vpu();
  CYCLECAST_CHECK(vpu != nullptr);
  Result<LoweredWorkload> lowered = LowerForVpu(workload, *vpu, pins);
  if (!lowered.ok()) return lowered.error();
  const Status pins_fit = CheckPins(workload, *lowered, pins, *vpu);
  if (!pins_fit.ok()) return pins_fit.error();
  return Mapper(workload, machine, pins, options, std::move(*lowered)).Run();
}

}  // namespace cyclecast
