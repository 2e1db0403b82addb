// Tasks of an NPU; see sampler.h. Weights are choices of ours, after the workloads that compilers
// make of public networks.
#include <algorithm>
#include <utility>

#include "mapping/vpu_rules.h"
#include "traces/sampler.h"

namespace cyclecast {
namespace {

constexpr int kTries = 200;

// Kernel extents and how often they occur.
std::int64_t DrawWindowExtent(Random* random, std::int64_t most) {
  static const std::vector<std::int64_t> kExtents = {1, 3, 5, 7, 2, 4, 9, 11};
  return std::min(most, kExtents[random->PickWeighted({45, 40, 6, 3, 2, 1, 1, 1})]);
}

std::int64_t DrawStride(Random* random, std::int64_t most) {
  static const std::vector<std::int64_t> kStrides = {1, 2, 3, 4};
  return std::min(most, kStrides[random->PickWeighted({76, 21, 2, 1})]);
}

// The input extent that gives exactly `out` positions.
std::int64_t InputExtent(std::int64_t out, std::int64_t kernel, std::int64_t stride,
                         std::int64_t pads) {
  return (out - 1) * stride + kernel - pads;
}

DpuOperation DrawOperation(const DpuRules& rules, Random* random) {
  static const std::vector<std::pair<DpuOperation, double>> kWeights = {
      {DpuOperation::kConvolution, 48}, {DpuOperation::kDepthwiseConvolution, 26},
      {DpuOperation::kEltwise, 9},      {DpuOperation::kMaxPool, 8},
      {DpuOperation::kAveragePool, 4},  {DpuOperation::kChannelMajorConvolution, 3},
      {DpuOperation::kEltwiseMul, 1},   {DpuOperation::kLayerNorm, 1}};
  std::vector<double> weights;
  for (const auto& [operation, weight] : kWeights) {
    const auto& known = rules.operations;
    const bool allowed =
        std::find(known.begin(), known.end(), std::string(Name(operation))) != known.end();
    weights.push_back(allowed ? weight : 0.0);
  }
  return kWeights[random->PickWeighted(weights)].first;
}

std::int64_t DrawChannels(const DpuRules& rules, DpuOperation operation, Random* random) {
  if (operation == DpuOperation::kChannelMajorConvolution) return random->Between(1, 4);
  if (HasChannelClasses(operation) && !rules.depthwise_channels.empty()) {
    return random->Pick(rules.depthwise_channels);
  }
  return RoundUp(random->LogBetween(rules.channel_multiple, 1024), rules.channel_multiple);
}

// Fills the window and the input extents from the output's.
void DrawWindow(const DpuRules& rules, Random* random, DpuWorkload* work) {
  Window& window = work->window;
  const bool eltwise = work->operation == DpuOperation::kEltwise ||
                       work->operation == DpuOperation::kEltwiseMul ||
                       work->operation == DpuOperation::kLayerNorm;
  if (!eltwise) {
    window.kernel_h = DrawWindowExtent(random, rules.max_kernel);
    window.kernel_w =
        random->Chance(0.92) ? window.kernel_h : DrawWindowExtent(random, rules.max_kernel);
    window.stride_h = window.stride_w = DrawStride(random, rules.max_stride);
  }
  // Pieces cut from the middle of a layer have no padding on the cut sides.
  const auto pad = [&](std::int64_t extent) {
    return random->Chance(0.6) ? extent / 2 : std::int64_t{0};
  };
  window.pad_top = pad(window.kernel_h);
  window.pad_bottom = pad(window.kernel_h);
  window.pad_left = window.pad_right = pad(window.kernel_w);
  work->input.w = InputExtent(work->output.w, window.kernel_w, window.stride_w,
                              window.pad_left + window.pad_right);
  work->input.h = InputExtent(work->output.h, window.kernel_h, window.stride_h,
                              window.pad_top + window.pad_bottom);
}

void DrawDistribution(const DpuRules& rules, Random* random, DpuWorkload* work) {
  const std::int64_t most = rules.max_output_write_tiles;
  const auto& known = rules.isi_strategies;
  const std::string split(Name(IsiStrategy::kSplitOverChannel));
  const bool may_split = std::find(known.begin(), known.end(), split) != known.end();
  if (most < 2 || !random->Chance(0.3)) return;
  work->output_write_tiles = random->Between(2, most);
  if (may_split && random->Chance(0.7)) work->isi = IsiStrategy::kSplitOverChannel;
}

bool DrawMode(const DpuSpec& dpu, Random* random, DpuWorkload* work) {
  std::vector<std::string> fitting;
  for (const MpeMode& mode : dpu.modes) {
    if (ModeFits(mode, work->operation, work->input.dtype)) fitting.push_back(mode.name);
  }
  if (fitting.empty()) return false;
  work->mode = random->Pick(fitting);
  return true;
}

}  // namespace

// Half of the convolutions are layers of networks cut into pieces, the rest swept.
DpuWorkload Sampler::DrawDpuShape(Random* random, std::string* family) const {
  const DpuRules& rules = machine_->vpu()->rules;
  DpuWorkload work;
  work.operation = DrawOperation(rules, random);
  work.output.w = random->LogBetween(1, 256);
  work.output.h = random->LogBetween(1, 256);
  work.input.c = DrawChannels(rules, work.operation, random);
  work.output.c = work.input.c;
  const bool product = !KeepsChannels(work.operation);
  if (product) {
    work.output.c = DrawChannels(rules, DpuOperation::kConvolution, random);
  }
  *family = "sweep";
  if (product && !networks_.empty() && random->Chance(0.5)) {
    const Network& network = random->Pick(networks_);
    const OpKernel& kernel = random->Pick(network.layers);
    const std::int64_t multiple = rules.channel_multiple;
    if (kernel.op == "conv2d" || kernel.op == "matmul") {
      const bool conv = kernel.op == "conv2d";
      // A product is a convolution over a column of M positions.
      const std::int64_t rows = conv ? *kernel.Dim("H") / *kernel.Dim("stride") : *kernel.Dim("M");
      work.operation = DpuOperation::kConvolution;
      work.output.w =
          conv ? std::max<std::int64_t>(1, *kernel.Dim("W") / *kernel.Dim("stride")) : 1;
      work.output.h = CeilDiv(std::max<std::int64_t>(1, rows), random->LogBetween(1, 16));
      work.input.c = RoundUp(*kernel.Dim(conv ? "C" : "K"), multiple);
      const std::int64_t out = *kernel.Dim(conv ? "K" : "N");
      work.output.c = RoundUp(CeilDiv(out, random->LogBetween(1, 16)), multiple);
      *family = network.family;
    }
  }
  DrawWindow(rules, random, &work);
  return work;
}

Draw Sampler::DrawDpu(Random* random) const {
  const VpuSpec& vpu = *machine_->vpu();
  Draw draw;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    DpuWorkload work = DrawDpuShape(random, &draw.family);
    work.input.dtype = DrawType(random);
    work.output.dtype = random->Chance(0.92) ? work.input.dtype : DrawType(random);
    work.weight_dtype = work.input.dtype;
    DrawDistribution(vpu.rules, random, &work);
    if (!DrawMode(vpu.dpu, random, &work)) continue;
    const bool product = !KeepsChannels(work.operation);
    if (product && random->Chance(0.06)) {
      work.weight_sparse = true;
      work.weight_sparsity = static_cast<double>(random->Between(2, 18)) / 20.0;
    }
    draw.kernel = work;
    if (ValidateDpuWorkload(work, vpu).ok()) return draw;
  }
  return draw;  // the mapping says what is wrong with it
}

Draw Sampler::DrawDma(Random* random) const {
  Draw draw;
  draw.family = "dma";
  DmaTransfer transfer;
  transfer.direction = static_cast<DmaDirection>(random->Between(0, 3));
  transfer.dimensions = 1 + static_cast<std::int64_t>(random->PickWeighted({55, 30, 15}));
  const std::int64_t largest = machine_->vpu()->cmx.memory.capacity.value();
  std::int64_t line = DrawExtent(random, 1, transfer.dimensions == 1 ? largest : 16384);
  if (transfer.dimensions >= 2) transfer.lines = random->LogBetween(2, 512);
  if (transfer.dimensions == 3) transfer.planes = random->LogBetween(2, 64);
  line = std::max<std::int64_t>(1, std::min(line, largest / (transfer.lines * transfer.planes)));
  transfer.line_bytes = Bytes(line);
  transfer.bytes = Bytes(line * transfer.lines * transfer.planes);
  const auto stride = [&](std::int64_t contiguous) {
    return random->Chance(0.4) ? contiguous : contiguous + random->LogBetween(1, 16384);
  };
  if (transfer.dimensions >= 2) {
    transfer.source_line_stride = stride(line);
    transfer.destination_line_stride = stride(line);
  }
  if (transfer.dimensions == 3) {
    transfer.source_plane_stride = stride(transfer.source_line_stride * transfer.lines);
    transfer.destination_plane_stride = stride(transfer.destination_line_stride * transfer.lines);
  }
  draw.kernel = transfer;
  return draw;
}

Draw Sampler::DrawShave(Random* random) const {
  Draw draw;
  draw.family = "shave";
  const VpuSpec& vpu = *machine_->vpu();
  std::vector<std::string> names;
  for (const auto& [name, rate] : vpu.shave) names.push_back(name);
  ShaveCall call;
  call.operation = random->Pick(names);
  call.inputs = random->Chance(0.15) ? 2 : 1;
  call.input.dtype = DType::kFp16;
  call.input.w = random->LogBetween(1, 256);
  call.input.h = random->LogBetween(1, 256);
  const std::int64_t room = vpu.cmx.memory.capacity.value() / 4 / (call.input.w * call.input.h);
  call.input.c =
      random->LogBetween(1, std::max<std::int64_t>(1, std::min<std::int64_t>(room, 2048)));
  call.output = call.input;
  draw.kernel = std::move(call);
  return draw;
}

}  // namespace cyclecast
