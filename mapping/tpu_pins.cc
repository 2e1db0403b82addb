// Pin checks; see tpu_pins.h.
#include "mapping/tpu_pins.h"

#include <map>
#include <string>

namespace cyclecast {
namespace {

bool PinsTiles(const MappingPin& pin) {
  return pin.tile_m || pin.tile_n || pin.tile_k || pin.dataflow || pin.buffer_depth || pin.units ||
         pin.prefetch_weights;
}

bool UsesArray(const Op& op) {
  const OpClass op_class = ClassOf(op);
  return op_class == OpClass::kMatmul || op_class == OpClass::kConv ||
         op_class == OpClass::kDepthwise || op_class == OpClass::kAttention;
}

class Checker {
 public:
  Checker(const Workload& workload, const std::vector<FusedGroup>& groups) {
    for (const FusedGroup& group : groups) {
      for (OpId op : group.ops) places_[workload.op(op).name] = {&workload.op(op), &group};
    }
    for (const FusedGroup& group : groups) {
      leaders_[&group] = workload.op(group.leader()).name;
    }
  }

  void CheckAny(const MappingPin& pin) {
    if (pin.strategy) Add(pin, "strategy is a choice of NPUs; TPU kernels are split by 'units'");
    if (pin.mpe_mode) Add(pin, "mpe_mode is a choice of NPUs; leave it out for a TPU");
  }

  void CheckOp(const std::string& name, const MappingPin& pin) {
    CheckAny(pin);
    const auto found = places_.find(name);
    if (found == places_.end()) {
      Add(pin, "mapping of '" + name + "': the workload has no op of that name");
      return;
    }
    const WorkloadOp& op = *found->second.op;
    const FusedGroup& group = *found->second.group;
    const bool leads = leaders_[&group] == name;
    if (!leads && PinsTiles(pin)) {
      Add(pin, "'" + name + "' runs inside the kernel of '" + leaders_[&group] +
                   "': pin that one, or give '" + name + "' fuse: false");
    }
    if (leads && pin.fuse.value_or(false)) {
      Add(pin, "'" + name +
                   "' cannot run inside another kernel: its input has other readers, is "
                   "an output, or is made by an op that takes nothing in");
    }
    if (leads && pin.dataflow && !UsesArray(op.op)) {
      Add(pin, "dataflow: '" + name + "' does not use the matrix unit");
    }
    if (leads && (pin.tile_n || pin.tile_k) && !UsesArray(op.op)) {
      Add(pin, "'" + name + "' runs on the vector unit and is tiled by tile_m alone");
    }
    if (leads && pin.tile_k && ClassOf(op.op) == OpClass::kAttention) {
      Add(pin, "tile_k: attention is tiled by tile_m (queries) and tile_n (keys)");
    }
  }

  Status Result() && {
    if (diagnostics_.empty()) return Unit{};
    return Error(std::move(diagnostics_));
  }

 private:
  struct OpPlace {
    const WorkloadOp* op = nullptr;
    const FusedGroup* group = nullptr;
  };
  void Add(const MappingPin& pin, std::string message) {
    diagnostics_.push_back({pin.pos, std::move(message)});
  }

  std::map<std::string, OpPlace> places_;
  std::map<const FusedGroup*, std::string> leaders_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

Status CheckTpuPins(const Workload& workload, const MappingPins& pins,
                    const std::vector<FusedGroup>& groups) {
  if (pins.by_op.empty() && !pins.all.strategy && !pins.all.mpe_mode) return Unit{};
  Checker checker(workload, groups);
  checker.CheckAny(pins.all);
  for (const auto& [name, pin] : pins.by_op) checker.CheckOp(name, pin);
  return std::move(checker).Result();
}

}  // namespace cyclecast
