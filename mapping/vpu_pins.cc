// Pin checks; see vpu_pins.h.
#include "mapping/vpu_pins.h"

#include <algorithm>
#include <map>
#include <string>

#include "mapping/vpu_cut.h"
#include "mapping/vpu_rules.h"

namespace cyclecast {
namespace {

constexpr std::int64_t kMaxDepth = 16;

std::string Text(std::int64_t value) { return std::to_string(value); }

class PinChecker {
 public:
  PinChecker(const Workload& workload, const VpuSpec& vpu) : workload_(workload), vpu_(vpu) {}

  // Of a pin for all ops: what no layer could have.
  void CheckAll(const MappingPin& pin) {
    pos_ = pin.pos;
    Common(pin);
    if (pin.mpe_mode) KnownMode(*pin.mpe_mode);
  }

  void CheckLayer(const VpuLayer& layer, const MappingPin& pin) {
    pos_ = pin.pos;
    Common(pin);
    switch (layer.engine) {
      case VpuEngine::kDpu:
        CheckDpu(layer, pin);
        break;
      case VpuEngine::kAttention:
        Inapplicable(pin.strategy, layer, "strategy", "attention deals its heads to the tiles");
        Inapplicable(pin.tile_n, layer, "tile_n", "attention takes all keys at once");
        Inapplicable(pin.tile_k, layer, "tile_k", "attention takes whole heads");
        if (pin.mpe_mode) KnownMode(*pin.mpe_mode);
        if (pin.tile_m) Range("tile_m", *pin.tile_m, 1, layer.attention.rows);
        break;
      case VpuEngine::kShave:
        NoDpu(layer, pin, "it runs on the SHAVEs");
        break;
      case VpuEngine::kDma:
        NoDpu(layer, pin, "it is moved by the DMA");
        Inapplicable(pin.units, layer, "units", "it is moved by the DMA");
        Inapplicable(pin.buffer_depth, layer, "buffer_depth", "it is moved by the DMA");
        break;
    }
  }

  void UnknownOp(const std::string& name, const MappingPin& pin) {
    pos_ = pin.pos;
    Add("a pin names '" + name + "', but the workload has no op of that name: use one of its ops");
  }
  void FusedOp(const std::string& name, const std::string& leader, const MappingPin& pin) {
    pos_ = pin.pos;
    Add("'" + name + "' runs inside the kernel of '" + leader +
        "': pin that one, or set 'fuse: false' here");
  }

  Status Take() && {
    if (found_.empty()) return Unit{};
    return Error(std::move(found_));
  }

 private:
  void Add(std::string message) { found_.push_back({pos_, std::move(message)}); }

  void Range(const std::string& what, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return;
    Add("'" + what + "' is " + Text(value) + ", allowed " + Text(low) + " to " + Text(high) +
        ": use " + Text(std::clamp(value, low, high)));
  }

  template <class T>
  void Inapplicable(const std::optional<T>& value, const VpuLayer& layer, const char* what,
                    const char* why) {
    if (!value) return;
    Add("'" + std::string(what) + "' means nothing to '" + layer.name + "', " + why +
        ": remove it");
  }
  void NoDpu(const VpuLayer& layer, const MappingPin& pin, const char* why) {
    Inapplicable(pin.strategy, layer, "strategy", why);
    Inapplicable(pin.mpe_mode, layer, "mpe_mode", why);
    Inapplicable(pin.tile_m, layer, "tile_m", why);
    Inapplicable(pin.tile_n, layer, "tile_n", why);
    Inapplicable(pin.tile_k, layer, "tile_k", why);
    Inapplicable(pin.prefetch_weights, layer, "prefetch_weights", why);
  }

  void Common(const MappingPin& pin) {
    if (pin.dataflow) {
      Add("'dataflow' is a choice of systolic arrays, a VPU has none: remove it, or pin "
          "'mpe_mode'");
    }
    if (pin.units) Range("units", *pin.units, 1, vpu_.tiles);
    if (pin.buffer_depth) Range("buffer_depth", *pin.buffer_depth, 1, kMaxDepth);
    if (pin.strategy) KnownStrategy(*pin.strategy, pin.units);
  }

  void KnownStrategy(const std::string& strategy, const std::optional<std::int64_t>& units) {
    std::string known;
    for (int i = 0; i <= static_cast<int>(VpuStrategy::kSplitBatch); ++i) {
      const std::string_view name = Name(static_cast<VpuStrategy>(i));
      if (name == strategy) {
        if (name == Name(VpuStrategy::kClustering) && units.value_or(1) > 1) {
          Add("'strategy: clustering' uses one tile, 'units' is " + Text(*units) +
              ": use units 1, or split_over_height");
        }
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    Add("'strategy' is '" + strategy + "': use one of " + known);
  }

  void KnownMode(const std::string& mode) {
    std::string known;
    for (const MpeMode& candidate : vpu_.dpu.modes) {
      if (candidate.name == mode) return;
      known += (known.empty() ? "" : ", ") + candidate.name;
    }
    Add("'mpe_mode' is '" + mode + "', which this machine does not have: use one of " + known);
  }

  void CheckDpu(const VpuLayer& layer, const MappingPin& pin) {
    const DpuTensor& out = layer.whole.output;
    if (pin.mpe_mode) ModeFitsLayer(layer, *pin.mpe_mode);
    if (pin.strategy == Name(VpuStrategy::kSplitBatch) && layer.copies < 2) {
      Add("'strategy: split_over_batch' needs several images, groups or heads, '" + layer.name +
          "' has one: use split_over_height or split_over_channel");
    }
    if (pin.tile_m) {
      // Rows of the image are not cut.
      const std::int64_t low = out.w, high = out.w * out.h;
      if (*pin.tile_m < low || *pin.tile_m > high || *pin.tile_m % out.w != 0) {
        const std::int64_t rows =
            std::clamp((*pin.tile_m + out.w / 2) / out.w, std::int64_t{1}, out.h);
        Add("'tile_m' is " + Text(*pin.tile_m) + ", but a slice of '" + layer.name +
            "' takes whole rows of " + Text(out.w) + " outputs, " + Text(low) + " to " +
            Text(high) + ": use " + Text(rows * out.w));
      }
    }
    if (pin.tile_n) {
      const std::int64_t step = vpu_.rules.channel_multiple;
      const std::int64_t nearest = std::clamp(RoundUp(*pin.tile_n, step), step, out.c);
      if (*pin.tile_n < 1 || *pin.tile_n > out.c || *pin.tile_n % step != 0) {
        Add("'tile_n' is " + Text(*pin.tile_n) + ", allowed multiples of " + Text(step) + " to " +
            Text(out.c) + " output channels: use " + Text(nearest));
      }
    }
    if (pin.tile_k) {
      const std::int64_t whole = layer.whole.input.c * layer.sums * layer.whole.window.kernel_h *
                                 layer.whole.window.kernel_w;
      const auto gemm =
          AsGemm(workload_.op(layer.ops.front()).op, workload_.InputTypes(layer.ops.front()),
                 workload_.OutputType(layer.ops.front()));
      const bool exact = gemm && *pin.tile_k == gemm->k;
      if (*pin.tile_k != whole && !exact) {
        Add("'tile_k' is " + Text(*pin.tile_k) +
            ", but a DPU sums over all input channels and kernel positions: use " + Text(whole));
      }
    }
  }

  void ModeFitsLayer(const VpuLayer& layer, const std::string& name) {
    std::string fitting;
    bool known = false;
    for (const MpeMode& mode : vpu_.dpu.modes) {
      known = known || mode.name == name;
      if (!ModeFits(mode, layer.whole.operation, layer.whole.input.dtype)) continue;
      if (mode.name == name) return;
      fitting += (fitting.empty() ? "" : ", ") + mode.name;
    }
    Add("'mpe_mode' is '" + name + "', which " +
        (known ? "does not run '" + layer.name + "'" : std::string("this machine does not have")) +
        ": use one of " + fitting);
  }

  const Workload& workload_;
  const VpuSpec& vpu_;
  SourcePos pos_;
  std::vector<Diagnostic> found_;
};

bool OnlyFusion(const MappingPin& pin) {
  return !pin.tile_m && !pin.tile_n && !pin.tile_k && !pin.dataflow && !pin.buffer_depth &&
         !pin.units && !pin.strategy && !pin.mpe_mode && !pin.keep_on_chip && !pin.prefetch_weights;
}

}  // namespace

Status CheckPins(const Workload& workload, const LoweredWorkload& lowered, const MappingPins& pins,
                 const VpuSpec& vpu) {
  PinChecker checker(workload, vpu);
  checker.CheckAll(pins.all);
  std::map<std::string, const VpuLayer*> layer_of;
  for (const VpuLayer& layer : lowered.layers) {
    for (OpId op : layer.ops) layer_of[workload.op(op).name] = &layer;
  }
  for (const auto& [name, pin] : pins.by_op) {
    const auto found = layer_of.find(name);
    if (found == layer_of.end()) {
      const bool view =
          std::any_of(workload.ops().begin(), workload.ops().end(),
                      [&, &op_name = name](const WorkloadOp& op) { return op.name == op_name; });
      if (!view) checker.UnknownOp(name, pin);
      continue;
    }
    if (found->second->name != name) {
      if (!OnlyFusion(pin)) checker.FusedOp(name, found->second->name, pin);
      continue;
    }
    checker.CheckLayer(*found->second, pin);
  }
  return std::move(checker).Take();
}

}  // namespace cyclecast
