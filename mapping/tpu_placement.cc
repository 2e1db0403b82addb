// Residency of tensors and weights; see tpu_placement.h.
#include "mapping/tpu_placement.h"

#include <algorithm>
#include <optional>

#include "mapping/tile_search.h"

namespace cyclecast {
namespace {

std::size_t At(std::int32_t id) { return static_cast<std::size_t>(id); }

// Of an on-chip memory, what tensors that stay may take; the rest is for the tiles of kernels.
constexpr double kTensorShare = 0.5;
constexpr double kWeightShare = 0.75;
// With `keep_on_chip: true` a user may take more.
constexpr double kPinnedShare = 0.9;

Bytes Share(Bytes capacity, double share) {
  return Bytes(static_cast<std::int64_t>(static_cast<double>(capacity.value()) * share));
}

// One on-chip memory over the groups in time.
class Occupancy {
 public:
  Occupancy(Bytes capacity, std::size_t groups) : capacity_(capacity), used_(groups) {}

  Bytes capacity() const { return capacity_; }
  bool Fits(Bytes size, std::size_t first, std::size_t last, double share) const {
    for (std::size_t i = first; i <= last; ++i) {
      if (used_[i] + size > Share(capacity_, share)) return false;
    }
    return true;
  }
  void Take(Bytes size, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last; ++i) used_[i] += size;
  }
  const std::vector<Bytes>& used() const { return used_; }

 private:
  Bytes capacity_;
  std::vector<Bytes> used_;
};

class Placer {
 public:
  Placer(const TpuContext& context, const Workload& workload, const MappingPins& pins,
         const std::vector<FusedGroup>& groups)
      : context_(context),
        workload_(workload),
        pins_(pins),
        groups_(groups),
        group_of_(workload.ops().size()),
        vmem_(context.spec().vmem.capacity, groups.size()),
        cmem_(context.spec().cmem ? context.spec().cmem->capacity : Bytes(0), groups.size()) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (OpId op : groups[g].ops) group_of_[At(op)] = g;
    }
    const std::size_t tensors = workload.tensors().size();
    placement_.tensors.assign(tensors, Place::kOffChip);
    placement_.weights.assign(workload.ops().size(), Place::kOffChip);
    placement_.alias_of.resize(tensors);
    for (std::size_t t = 0; t < tensors; ++t) placement_.alias_of[t] = static_cast<TensorId>(t);
  }

  Result<Placement> Run() {
    FindAliases();
    if (context_.options().operands_on_chip) {
      placement_.tensors.assign(placement_.tensors.size(), Place::kVmem);
      placement_.weights.assign(placement_.weights.size(), Place::kVmem);
      placement_.resident.assign(groups_.size(), Bytes(0));
      return std::move(placement_);
    }
    if (Status status = PlaceWeights(); !status.ok()) return status.error();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (IsAlias(workload_, groups_[g])) continue;
      if (Status status = PlaceOutput(g); !status.ok()) return status.error();
    }
    placement_.resident = vmem_.used();
    return std::move(placement_);
  }

 private:
  void FindAliases() {
    for (const FusedGroup& group : groups_) {
      if (!IsAlias(workload_, group)) continue;
      const TensorId root = placement_.alias_of[At(group.inputs[0])];
      for (OpId op : group.ops) placement_.alias_of[At(workload_.op(op).output)] = root;
    }
  }

  // Weights that stay from one execution to the next.
  Status PlaceWeights() {
    const std::optional<bool>& asked = context_.options().weights_resident;
    const bool cached = context_.spec().dram.technology == MemoryTechnology::kHostLink;
    if (!asked.value_or(cached)) return Unit{};
    const std::size_t last = groups_.size() - 1;
    for (const FusedGroup& group : groups_) {
      for (OpId op : group.ops) {
        const Bytes size = workload_.Work(op).weight_bytes;
        // Caches of keys and values grow with every execution; they are not weights.
        if (size == Bytes(0) || std::holds_alternative<Attention>(workload_.op(op).op)) continue;
        if (vmem_.Fits(size, 0, last, kWeightShare)) {
          vmem_.Take(size, 0, last);
          placement_.weights[At(op)] = Place::kVmem;
        } else if (asked.value_or(false)) {
          return Error("weights cannot stay on chip: '" + workload_.op(op).name + "' adds " +
                       SizeText(size) + " to " + SizeText(vmem_.used()[0]) +
                       ", VMEM has room for " + SizeText(Share(vmem_.capacity(), kWeightShare)));
        }
      }
    }
    return Unit{};
  }

  // The last group that reads the storage of `tensor`, through aliases; nothing when it leaves the
  // workload.
  std::optional<std::size_t> LastReader(TensorId tensor, std::size_t producer) const {
    if (workload_.tensor(tensor).is_output) return std::nullopt;
    std::size_t last = producer;
    for (OpId consumer : workload_.tensor(tensor).consumers) {
      const std::size_t group = group_of_[At(consumer)];
      if (IsAlias(workload_, groups_[group])) {
        const auto further = LastReader(groups_[group].output, producer);
        if (!further) return std::nullopt;
        last = std::max(last, *further);
      } else {
        last = std::max(last, group);
      }
    }
    return last;
  }

  // The pin that says whether the group's result stays: of the last op that has one, else of all.
  struct Keep {
    std::optional<bool> value;
    SourcePos pos;
    std::string op;
  };
  Keep KeepPin(const FusedGroup& group) const {
    for (auto op = group.ops.rbegin(); op != group.ops.rend(); ++op) {
      const std::string& name = workload_.op(*op).name;
      const auto own = pins_.by_op.find(name);
      if (own != pins_.by_op.end() && own->second.keep_on_chip) {
        return {own->second.keep_on_chip, own->second.pos, name};
      }
    }
    return {pins_.all.keep_on_chip, pins_.all.pos, ""};
  }

  Status PlaceOutput(std::size_t g) {
    const FusedGroup& group = groups_[g];
    const Keep pin = KeepPin(group);
    // Asked for one op it must be possible; asked for all, where it is.
    const bool must = pin.value.value_or(false) && !pin.op.empty();
    const auto last = LastReader(group.output, g);
    const Bytes size = workload_.tensor(group.output).type.Size();
    if (!last) {
      if (!must) return Unit{};
      return Error(pin.pos, "keep_on_chip: the result of '" + pin.op +
                                "' is an output of the workload and has to leave the chip");
    }
    ++placement_.passed;
    if (!pin.value.value_or(true)) return Unit{};
    const double share = pin.value ? kPinnedShare : kTensorShare;
    Place& place = placement_.tensors[At(group.output)];
    if (context_.cores() == 1 && vmem_.Fits(size, g, *last, share)) {
      vmem_.Take(size, g, *last);
      place = Place::kVmem;
    } else if (context_.spec().cmem && cmem_.Fits(size, g, *last, share)) {
      cmem_.Take(size, g, *last);
      place = Place::kCmem;
    } else if (must) {
      return Error(pin.pos, "keep_on_chip: " + WhyNot(pin.op, size, g, *last));
    }
    if (place != Place::kOffChip) ++placement_.kept;
    return Unit{};
  }

  std::string WhyNot(const std::string& op, Bytes size, std::size_t first, std::size_t last) const {
    const bool cmem = context_.spec().cmem.has_value();
    if (!cmem && context_.cores() > 1) {
      return "cores do not share VMEM and the machine has no CMEM to keep the result of '" + op +
             "' in";
    }
    const Occupancy& memory = cmem ? cmem_ : vmem_;
    Bytes taken;
    for (std::size_t i = first; i <= last; ++i) taken = std::max(taken, memory.used()[i]);
    return "the result of '" + op + "' takes " + SizeText(size) + ", " + (cmem ? "CMEM" : "VMEM") +
           " keeps at most " + SizeText(Share(memory.capacity(), kPinnedShare)) + " of which " +
           SizeText(taken) + " are taken";
  }

  const TpuContext& context_;
  const Workload& workload_;
  const MappingPins& pins_;
  const std::vector<FusedGroup>& groups_;
  std::vector<std::size_t> group_of_;
  Occupancy vmem_, cmem_;
  Placement placement_;
};

}  // namespace

Result<Placement> PlaceTensors(const TpuContext& context, const Workload& workload,
                               const MappingPins& pins, const std::vector<FusedGroup>& groups) {
  return Placer(context, workload, pins, groups).Run();
}

}  // namespace cyclecast
