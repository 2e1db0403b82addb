// Names, work and footprint of NPU tasks; see npu_tasks.h.
#include "core/npu_tasks.h"

#include <algorithm>
#include <array>

namespace cyclecast {
namespace {

constexpr std::array<std::string_view, 10> kOperations = {
    "CONVOLUTION", "DW_CONVOLUTION", "CM_CONVOLUTION", "ELTWISE",   "ELTWISE_MUL",
    "MAXPOOL",     "AVEPOOL",        "LAYER_NORM",     "REDUCE_MS", "REDUCE_SUMSQUARES"};
constexpr std::array<std::string_view, 3> kIsiStrategies = {"Clustering", "SplitOverH",
                                                            "SplitOverK"};

// The entry of a weight table: data pointer, sparsity pointer, scale, bias, 4 bytes each.
constexpr std::int64_t kWeightTableBytes = 16;
// A sparsity map has a bit per element and is aligned to this.
constexpr std::int64_t kMapAlign = 16;

std::int64_t MapBytes(std::int64_t elements) { return RoundUp(CeilDiv(elements, 8), kMapAlign); }

// What an activation takes in CMX. `height` and `channels` are those of the memory tensor, which
// the halo makes differ from the compute tensor's.
Bytes ActivationBytes(const DpuTensor& tensor, std::int64_t height, std::int64_t channels) {
  Bytes bytes = BytesOf(tensor.w * height * channels * tensor.b, tensor.dtype);
  if (tensor.sparse) bytes += Bytes(MapBytes(tensor.Elements()));
  return bytes;
}

// Filters of `taps` elements each, aligned, and their table.
Bytes WeightBytes(const DpuWorkload& workload, std::int64_t taps, const DpuRules& rules) {
  const std::int64_t filters = workload.output.c;
  const Bytes filter = BytesOf(RoundUp(taps, rules.weight_align), workload.weight_dtype);
  Bytes data = filter * filters;
  if (workload.weight_sparse) {
    const double kept = static_cast<double>(data.value()) * (1.0 - workload.weight_sparsity);
    data = Bytes(static_cast<std::int64_t>(kept) + filters * MapBytes(taps));
  }
  return data + Bytes(kWeightTableBytes * filters);
}

}  // namespace

std::string_view Name(DpuOperation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

std::optional<DpuOperation> ParseDpuOperation(std::string_view text) {
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (kOperations[i] == text) return static_cast<DpuOperation>(i);
  }
  return std::nullopt;
}

std::string_view Name(IsiStrategy strategy) {
  return kIsiStrategies[static_cast<std::size_t>(strategy)];
}

std::optional<IsiStrategy> ParseIsiStrategy(std::string_view text) {
  for (std::size_t i = 0; i < kIsiStrategies.size(); ++i) {
    if (kIsiStrategies[i] == text) return static_cast<IsiStrategy>(i);
  }
  return std::nullopt;
}

Macs DpuOperations(const DpuWorkload& workload) {
  const std::int64_t positions = workload.window.kernel_h * workload.window.kernel_w;
  const std::int64_t outputs = workload.output.Elements();
  switch (workload.operation) {
    case DpuOperation::kConvolution:
    case DpuOperation::kChannelMajorConvolution:
      return Macs(outputs * positions * workload.input.c);
    case DpuOperation::kDepthwiseConvolution:
    case DpuOperation::kMaxPool:
    case DpuOperation::kAveragePool:
      return Macs(outputs * positions);
    case DpuOperation::kEltwise:
    case DpuOperation::kEltwiseMul:
      return Macs(outputs);
    case DpuOperation::kLayerNorm:
    case DpuOperation::kReduceMeanSquare:
    case DpuOperation::kReduceSumSquares:
      return Macs(workload.input.Elements());
  }
  return Macs(0);
}

// Sizes follow the vendor's memory calculator (intel/npu-nn-cost-model, memory_calculator.h and
// dpu_operations_valid_behaviours.h).
DpuFootprint FootprintOf(const DpuWorkload& workload, const DpuRules& rules) {
  const DpuTensor& in = workload.input;
  const DpuTensor& out = workload.output;
  const std::int64_t positions = workload.window.kernel_h * workload.window.kernel_w;
  // Rows that a neighbour's CMX holds are not in this one; rows and channels that neighbours write
  // here are.
  const std::int64_t in_rows = in.h - std::max<std::int64_t>(workload.halo_top, 0) -
                               std::max<std::int64_t>(workload.halo_bottom, 0);
  const std::int64_t out_rows = out.h + workload.inbound_top + workload.inbound_bottom;
  const std::int64_t out_channels = out.c + workload.inbound_front + workload.inbound_back;

  DpuFootprint footprint;
  footprint.input = ActivationBytes(in, in_rows, in.c);
  footprint.output = ActivationBytes(out, out_rows, out_channels);
  switch (workload.operation) {
    case DpuOperation::kConvolution:
    case DpuOperation::kChannelMajorConvolution:
      footprint.weights = WeightBytes(workload, positions * in.c, rules);
      break;
    case DpuOperation::kDepthwiseConvolution:
      footprint.weights = WeightBytes(workload, positions, rules);
      break;
    case DpuOperation::kAveragePool: {
      // A generation without the operation runs it as a depthwise convolution.
      const auto& known = rules.operations;
      const bool native = std::find(known.begin(), known.end(), "AVEPOOL") != known.end();
      if (!native) footprint.weights = WeightBytes(workload, positions, rules);
      break;
    }
    case DpuOperation::kEltwise:
    case DpuOperation::kEltwiseMul:
      if (!workload.weightless) footprint.weights = footprint.input;  // the second operand
      break;
    case DpuOperation::kMaxPool:
    case DpuOperation::kLayerNorm:
    case DpuOperation::kReduceMeanSquare:
    case DpuOperation::kReduceSumSquares:
      break;
  }
  if (workload.in_place_output) footprint.output = Bytes(0);
  return footprint;
}

}  // namespace cyclecast
