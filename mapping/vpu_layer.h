// Layers: what a VPU runs as one unit before it is split over tiles and time. A fused group of ops
// becomes a layer on the DPUs, on the SHAVEs, on the DMA engines, or an attention that uses DPUs
// and SHAVEs in turn; views (reshapes) become nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/machine.h"
#include "core/mapping.h"
#include "core/npu_tasks.h"
#include "core/workload.h"

namespace cyclecast {

enum class VpuEngine { kDpu, kShave, kDma, kAttention };

// softmax(Q K^T) V for `copies` pairs of (batch entry, key/value head).
struct AttentionShape {
  std::int64_t copies = 1;
  std::int64_t rows = 1;   // query rows of a copy: positions x query heads per key/value head
  std::int64_t group = 1;  // query heads per key/value head
  std::int64_t keys = 1;   // positions attended to
  std::int64_t head_dim = 1;
  DType dtype = DType::kFp16;
  bool cached = false;  // keys and values come from a cache off chip
};

struct VpuLayer {
  std::string name;
  std::vector<OpId> ops;  // the leading op first
  OpClass op_class = OpClass::kNotModelled;
  VpuEngine engine = VpuEngine::kDma;
  std::vector<TensorId> inputs;  // activations, views resolved to the tensor that holds the data
  TensorId output = -1;

  // DPU. `whole` is one copy's whole workload, without a mode; extents are those of the hardware
  // (channels rounded up, vectors laid out as an image).
  DpuWorkload whole;
  std::int64_t copies = 1;         // images, groups, heads
  bool shared_weights = true;      // all copies use the same weights
  bool weights_are_input = false;  // the last input takes the weights' place
  std::int64_t sums = 1;           // input channels beyond the limit: partial sums added up
  bool unrolled = false;           // the DMA lays windows out as vectors (window beyond the limits)

  // SHAVE: one call per tile and slice.
  std::string shave;
  std::int64_t elements = 0;  // that the cost counts
  DType dtype = DType::kFp16;

  // DMA: bytes moved and the contiguous run.
  Bytes run;

  AttentionShape attention;
  std::vector<std::string> notes;
};

// What follows from the tensors alone.
struct LoweredWorkload {
  std::vector<VpuLayer> layers;   // in an order in which they can run
  std::vector<TensorId> storage;  // by tensor: itself, or the tensor a view shows
  std::vector<std::string> notes;
};

// Ops as layers of the machine; see docs/model.md for which op goes where. An error where a tensor
// does not fit the hardware's limits in any form.
Result<LoweredWorkload> LowerForVpu(const Workload& workload, const VpuSpec& vpu,
                                    const MappingPins& pins);

// The element type the hardware computes in: 32-bit floats become 16-bit ones, wide integers bytes.
DType ComputeType(DType dtype);

}  // namespace cyclecast
