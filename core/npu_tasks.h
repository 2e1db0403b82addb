// The lowest-level tasks of an NPU, as its compiler and its traces describe them: a DPU workload
// (one variant on one DPU), a DMA transfer, a SHAVE call. Field meanings follow the public VPUNN
// descriptor (intel/npu-nn-cost-model, include/vpu/dpu_workload.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine.h"
#include "core/op.h"
#include "core/tensor.h"

namespace cyclecast {

enum class DpuOperation {
  kConvolution,
  kDepthwiseConvolution,
  kChannelMajorConvolution,
  kEltwise,
  kEltwiseMul,
  kMaxPool,
  kAveragePool,
  kLayerNorm,
  kReduceMeanSquare,
  kReduceSumSquares
};
std::string_view Name(DpuOperation operation);  // "CONVOLUTION", "DW_CONVOLUTION", ...
std::optional<DpuOperation> ParseDpuOperation(std::string_view text);

enum class IsiStrategy { kClustering, kSplitOverHeight, kSplitOverChannel };
std::string_view Name(IsiStrategy strategy);  // "Clustering", "SplitOverH", "SplitOverK"
std::optional<IsiStrategy> ParseIsiStrategy(std::string_view text);

struct DpuTensor {
  std::int64_t w = 1, h = 1, c = 1, b = 1;
  DType dtype = DType::kUint8;
  Layout layout = Layout::kZxy;
  bool sparse = false;
  std::int64_t Elements() const { return w * h * c * b; }
  bool operator==(const DpuTensor&) const = default;
};

struct DpuWorkload {
  DpuOperation operation = DpuOperation::kConvolution;
  DpuTensor input, output;
  Window window;
  std::string mode;  // MPE mode, a name of DpuSpec::modes
  std::string activation = "NONE";
  DType weight_dtype = DType::kUint8;
  double activation_sparsity = 0.0;
  double weight_sparsity = 0.0;
  bool weight_sparse = false;
  std::int64_t swizzle_in0 = 0, swizzle_in1 = 0, swizzle_out = 0;
  std::int64_t output_write_tiles = 1;
  IsiStrategy isi = IsiStrategy::kClustering;
  std::int64_t halo_top = 0, halo_bottom = 0;  // input halo
  std::int64_t inbound_top = 0, inbound_bottom = 0, inbound_front = 0, inbound_back = 0;
  bool superdense = false, in_place_output = false, weightless = false;
  bool operator==(const DpuWorkload&) const = default;
};

// Dense MACs of the matrix kind, or elementary operations for the others (k*k*out for depthwise
// and pools, elements for eltwise).
Macs DpuOperations(const DpuWorkload& workload);
// Bytes a workload keeps in CMX: input, weights with their table, output (no page rounding).
struct DpuFootprint {
  Bytes input, weights, output;
};
DpuFootprint FootprintOf(const DpuWorkload& workload, const DpuRules& rules);

struct DmaTransfer {
  DmaDirection direction = DmaDirection::kDdrToCmx;
  Bytes bytes;
  std::int64_t dimensions = 1;
  Bytes line_bytes;  // contiguous run; bytes when 1-D
  std::int64_t lines = 1, planes = 1;
  std::int64_t source_line_stride = 0, destination_line_stride = 0;
  std::int64_t source_plane_stride = 0, destination_plane_stride = 0;
  std::int64_t engines = 1;
};

struct ShaveCall {
  std::string operation;  // as in the machine's table
  std::int64_t inputs = 1;
  DpuTensor input, output;
  double parameter = 0.0;
};

}  // namespace cyclecast
