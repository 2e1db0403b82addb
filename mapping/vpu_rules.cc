// Workload rules; see vpu_rules.h.
#include "mapping/vpu_rules.h"

#include <algorithm>
#include <cstdlib>

namespace cyclecast {
namespace {

std::string Text(std::int64_t value) { return std::to_string(value); }

bool IsEltwise(DpuOperation operation) {
  return operation == DpuOperation::kEltwise || operation == DpuOperation::kEltwiseMul;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Checker {
 public:
  Checker(const DpuWorkload& workload, const VpuSpec& vpu) : workload_(workload), vpu_(vpu) {}

  std::vector<DpuFinding> Run() && {
    if (CheckExtents()) {
      CheckOperation();
      CheckMode();
      CheckWindow();
      CheckOutput();
      CheckChannels();
      CheckPlacement();
      CheckHalo();
      CheckSparsity();
      CheckFit();
    }
    return std::move(findings_);
  }

 private:
  void Add(bool hard, std::string message) { findings_.push_back({hard, std::move(message)}); }

  // `value` must lie in low..high; says the nearest that does.
  void Range(bool hard, const std::string& what, std::int64_t value, std::int64_t low,
             std::int64_t high) {
    if (value >= low && value <= high) return;
    Add(hard, what + " is " + Text(value) + ", allowed " + Text(low) + " to " + Text(high) +
                  ": use " + Text(std::clamp(value, low, high)));
  }

  bool CheckExtents() {
    const std::int64_t limit = vpu_.rules.max_dimension;
    const auto check = [&](const char* name, const DpuTensor& tensor) {
      Range(true, std::string(name) + " width", tensor.w, 1, limit);
      Range(true, std::string(name) + " height", tensor.h, 1, limit);
      Range(true, std::string(name) + " channels", tensor.c, 1, limit);
      Range(true, std::string(name) + " batch", tensor.b, 1, limit);
    };
    check("input", workload_.input);
    check("output", workload_.output);
    return findings_.empty();
  }

  void CheckOperation() {
    const auto& known = vpu_.rules.operations;
    const std::string name(Name(workload_.operation));
    if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
    const bool rewritten = workload_.operation == DpuOperation::kAveragePool ||
                           workload_.operation == DpuOperation::kChannelMajorConvolution;
    const char* instead = workload_.operation == DpuOperation::kAveragePool
                              ? "DW_CONVOLUTION with constant weights"
                              : "CONVOLUTION with 16 input channels";
    Add(!rewritten, "operation " + name + " is not known to this generation: use " +
                        (rewritten ? instead : "one of " + Listed(known)));
  }

  void CheckMode() {
    std::vector<std::string> fitting;
    for (const MpeMode& mode : vpu_.dpu.modes) {
      if (ModeFits(mode, workload_.operation, workload_.input.dtype)) fitting.push_back(mode.name);
    }
    if (std::find(fitting.begin(), fitting.end(), workload_.mode) != fitting.end()) return;
    const bool known = std::any_of(vpu_.dpu.modes.begin(), vpu_.dpu.modes.end(),
                                   [&](const MpeMode& m) { return m.name == workload_.mode; });
    Add(!known, "MPE mode '" + workload_.mode + "' " +
                    (known ? "does not run " + std::string(Name(workload_.operation)) + " on " +
                                 std::string(Name(workload_.input.dtype))
                           : std::string("does not exist")) +
                    ": use one of " + Listed(fitting));
  }

  void CheckWindow() {
    const Window& window = workload_.window;
    const bool plain = IsEltwise(workload_.operation);
    const std::int64_t kernel = plain ? 1 : vpu_.rules.max_kernel;
    const std::int64_t stride = plain ? 1 : vpu_.rules.max_stride;
    Range(true, "kernel width", window.kernel_w, 1, kernel);
    Range(true, "kernel height", window.kernel_h, 1, kernel);
    Range(true, "stride along width", window.stride_w, 1, stride);
    Range(true, "stride along height", window.stride_h, 1, stride);
    Range(false, "top padding", window.pad_top, 0, window.kernel_h / 2);
    Range(false, "bottom padding", window.pad_bottom, 0, window.kernel_h / 2);
    Range(false, "left padding", window.pad_left, 0, window.kernel_w / 2);
    Range(false, "right padding", window.pad_right, 0, window.kernel_w / 2);
  }

  // The window must give the output extent. A height split with halo may ask for up to a kernel
  // more per side that has no padding (those rows come from the neighbour).
  void CheckOutput() {
    const Window& window = workload_.window;
    if (window.stride_w < 1 || window.stride_h < 1) return;
    const std::int64_t width =
        WindowOutput(workload_.input.w, window.kernel_w, window.stride_w,
                     window.pad_left + window.pad_right, window.dilation_w, false);
    const std::int64_t height =
        WindowOutput(workload_.input.h, window.kernel_h, window.stride_h,
                     window.pad_top + window.pad_bottom, window.dilation_h, false);
    if (workload_.output.w != width) {
      Add(true, "output width is " + Text(workload_.output.w) + ", the window gives " +
                    Text(width) + ": use that");
    }
    std::int64_t slack = 0;
    if (workload_.isi == IsiStrategy::kSplitOverHeight) {
      slack = (window.pad_top == 0 ? window.kernel_h : 0) +
              (window.pad_bottom == 0 ? window.kernel_h : 0);
    }
    if (workload_.output.h < height || workload_.output.h > height + slack) {
      Add(true, "output height is " + Text(workload_.output.h) + ", the window gives " +
                    Text(height) + ": use that");
    }
  }

  void Multiple(const char* what, std::int64_t channels) {
    const std::int64_t step = vpu_.rules.channel_multiple;
    if (step <= 1 || channels % step == 0) return;
    Add(false, std::string(what) + " channels are " + Text(channels) + ", not a multiple of " +
                   Text(step) + ": use " + Text(RoundUp(channels, step)));
  }

  void CheckChannels() {
    const std::int64_t in = workload_.input.c, out = workload_.output.c;
    if (workload_.operation == DpuOperation::kChannelMajorConvolution) {
      Range(false, "input channels of a channel-major convolution", in, 1,
            vpu_.rules.channel_multiple);
    } else {
      Multiple("input", in);
    }
    Multiple("output", out);
    if (KeepsChannels(workload_.operation) && in != out) {
      Add(true, "this operation keeps the channels, but the input has " + Text(in) +
                    " and the output " + Text(out) + ": use " + Text(out) + " for both");
    }
    if (workload_.input.b != workload_.output.b) {
      Add(true, "input batch is " + Text(workload_.input.b) + ", output batch " +
                    Text(workload_.output.b) + ": use " + Text(workload_.output.b));
    }
    const auto& classes = vpu_.rules.depthwise_channels;
    if (!HasChannelClasses(workload_.operation) || classes.empty()) return;
    if (std::find(classes.begin(), classes.end(), out) != classes.end()) return;
    std::int64_t nearest = classes.front();
    std::string list;
    for (const std::int64_t channels : classes) {
      list += (list.empty() ? "" : ", ") + Text(channels);
      if (std::abs(channels - out) < std::abs(nearest - out)) nearest = channels;
    }
    Add(false, "a depthwise or pooling workload takes " + list + " channels, not " + Text(out) +
                   ": use " + Text(nearest) + " and more workloads");
  }

  void CheckPlacement() {
    Range(false, "output write tiles", workload_.output_write_tiles, 1,
          vpu_.rules.max_output_write_tiles);
    const auto& strategies = vpu_.rules.isi_strategies;
    const std::string isi(Name(workload_.isi));
    if (!strategies.empty() &&
        std::find(strategies.begin(), strategies.end(), isi) == strategies.end()) {
      Add(false,
          "strategy " + isi + " is not known to this generation: use one of " + Listed(strategies));
    }
    if (workload_.isi == IsiStrategy::kSplitOverChannel && workload_.output_write_tiles < 2) {
      Add(false, "SplitOverK writes its output to several tiles, output write tiles is " +
                     Text(workload_.output_write_tiles) + ": use 2");
    }
  }

  void CheckHalo() {
    const auto exclusive = [&](const char* side, std::int64_t halo, std::int64_t pad) {
      if (halo <= 0 || pad <= 0) return;
      Add(false, "input halo and padding exclude each other at the " + std::string(side) +
                     ", there are " + Text(halo) + " halo rows and " + Text(pad) +
                     " of padding: use padding 0");
    };
    exclusive("top", workload_.halo_top, workload_.window.pad_top);
    exclusive("bottom", workload_.halo_bottom, workload_.window.pad_bottom);
    const auto positive = [&](const char* what, std::int64_t halo) {
      if (halo < 0) Add(false, std::string(what) + " is " + Text(halo) + ": use 0 or more");
    };
    positive("inbound halo at the top", workload_.inbound_top);
    positive("inbound halo at the bottom", workload_.inbound_bottom);
    positive("inbound halo at the front", workload_.inbound_front);
    positive("inbound halo at the back", workload_.inbound_back);
  }

  void CheckSparsity() {
    const auto share = [&](const char* what, double value) {
      if (value >= 0.0 && value <= 1.0) return;
      Add(true, std::string(what) + " sparsity is " + std::to_string(value) +
                    ", allowed 0 to 1: use " + Text(value < 0.0 ? 0 : 1));
    };
    share("weight", workload_.weight_sparsity);
    share("activation", workload_.activation_sparsity);
  }

  void CheckFit() {
    const Bytes needed = CmxBytes(workload_, vpu_);
    if (needed <= vpu_.cmx.memory.capacity) return;
    Add(false, "the workload needs " + Text(needed.value()) + " B of CMX and a tile has " +
                   Text(vpu_.cmx.memory.capacity.value()) + " B: split it into " +
                   Text(CeilDiv(needed.value(), vpu_.cmx.memory.capacity.value())) + " or more");
  }

  const DpuWorkload& workload_;
  const VpuSpec& vpu_;
  std::vector<DpuFinding> findings_;
};

}  // namespace

std::vector<DpuFinding> CheckDpuWorkload(const DpuWorkload& workload, const VpuSpec& vpu) {
  return Checker(workload, vpu).Run();
}

Status ValidateDpuWorkload(const DpuWorkload& workload, const VpuSpec& vpu) {
  std::vector<Diagnostic> diagnostics;
  for (DpuFinding& finding : CheckDpuWorkload(workload, vpu)) {
    diagnostics.push_back({SourcePos{}, std::move(finding.message)});
  }
  if (diagnostics.empty()) return Unit{};
  return Error(std::move(diagnostics));
}

Bytes CmxBytes(const DpuWorkload& workload, const VpuSpec& vpu) {
  const DpuFootprint footprint = FootprintOf(workload, vpu.rules);
  const std::int64_t page = std::max<std::int64_t>(vpu.cmx.page.value(), 1);
  return Bytes(RoundUp(footprint.input.value(), page) + RoundUp(footprint.weights.value(), page) +
               RoundUp(footprint.output.value(), page));
}

bool ModeFits(const MpeMode& mode, DpuOperation operation, DType dtype) {
  if (mode.bits != 0 && mode.bits != BitsOf(dtype)) return false;
  return mode.operations.empty() || std::find(mode.operations.begin(), mode.operations.end(),
                                              Name(operation)) != mode.operations.end();
}

bool KeepsChannels(DpuOperation operation) {
  return IsEltwise(operation) || HasChannelClasses(operation);
}

bool HasChannelClasses(DpuOperation operation) {
  return operation == DpuOperation::kDepthwiseConvolution || operation == DpuOperation::kMaxPool ||
         operation == DpuOperation::kAveragePool;
}

}  // namespace cyclecast
