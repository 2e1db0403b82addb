// DPU stage times; see dpu.h.
#include "timing/dpu.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cyclecast {
namespace {

// Channels a word of the sparsity map covers, and what channels of a tensor are rounded to.
constexpr std::int64_t kChannelWindow = 16;

// `count` passes of one extent along an axis of the grid.
struct Run {
  std::int64_t extent = 0, count = 0;
};

// An axis of `size` in steps of `grid`: the full steps and the remainder.
std::array<Run, 2> Split(std::int64_t size, std::int64_t grid) {
  return {Run{grid, size / grid}, Run{size % grid, size % grid > 0 ? 1 : 0}};
}

double BytesPerElement(DType dtype) { return BitsOf(dtype) / 8.0; }

// Bytes per DPU cycle that CMX delivers to one DPU.
double ReadRate(const VpuSpec& vpu) {
  const double peak = static_cast<double>(vpu.cmx.word_bytes * vpu.cmx.read_ports) *
                      (vpu.cmx_clock / vpu.dpu_clock);
  return peak * vpu.dpu.read_efficiency;
}

const MpeMode& ModeOf(const DpuWorkload& workload, const DpuSpec& dpu) {
  for (const MpeMode& mode : dpu.modes) {
    if (mode.name == workload.mode) return mode;
  }
  static const MpeMode kNoMode;
  return dpu.modes.empty() ? kNoMode : dpu.modes.front();
}

bool UsesMacs(DpuOperation operation) {
  return operation == DpuOperation::kConvolution ||
         operation == DpuOperation::kChannelMajorConvolution;
}

bool IsEltwise(DpuOperation operation) {
  return operation == DpuOperation::kEltwise || operation == DpuOperation::kEltwiseMul;
}

bool Fits(const DpuRate& rate, DpuOperation operation, const DpuWorkload& workload) {
  return rate.operation == Name(operation) && (rate.mode.empty() || rate.mode == workload.mode) &&
         (rate.bits == 0 || rate.bits == BitsOf(workload.input.dtype)) &&
         (rate.max_channels == 0 || workload.output.c <= rate.max_channels) &&
         (rate.kernel_w == 0 || rate.kernel_w == workload.window.kernel_w) &&
         (rate.stride_w == 0 || rate.stride_w == workload.window.stride_w);
}

const DpuRate* RateFor(DpuOperation operation, const DpuWorkload& workload, const DpuSpec& dpu) {
  for (const DpuRate& rate : dpu.rates) {
    if (Fits(rate, operation, workload)) return &rate;
  }
  return nullptr;
}

// The measured rate of the operation, else of what it is run as: an average pool as a depthwise
// convolution with constant weights, a product of two tensors like their sum.
const DpuRate* MeasuredRate(const DpuWorkload& workload, const DpuSpec& dpu) {
  const DpuRate* rate = RateFor(workload.operation, workload, dpu);
  if (rate == nullptr && workload.operation == DpuOperation::kAveragePool) {
    rate = RateFor(DpuOperation::kDepthwiseConvolution, workload, dpu);
  }
  if (rate == nullptr && workload.operation == DpuOperation::kEltwiseMul) {
    rate = RateFor(DpuOperation::kEltwise, workload, dpu);
  }
  return rate;
}

// The rate where none was measured for this class of workload.
DpuRate GeneralRate(const DpuWorkload& workload, const DpuSpec& dpu) {
  DpuRate rate;
  const double passes = ForDType(dpu.passes, workload.input.dtype);
  if (IsEltwise(workload.operation)) {
    rate.per_cycle = dpu.eltwise_elements_per_cycle;
  } else if (workload.operation == DpuOperation::kMaxPool ||
             workload.operation == DpuOperation::kAveragePool) {
    rate.per_cycle = dpu.pool_ops_per_cycle / passes;
  } else {
    rate.per_cycle = dpu.depthwise_ops_per_cycle / passes;
  }
  return rate;
}

// Share of the multiplications that sparsity leaves. Of two sparse operands the sparser counts, as
// the hardware skips by either.
double SkippedTo(const DpuWorkload& workload, const DpuSpec& dpu) {
  double sparsity = workload.weight_sparse ? workload.weight_sparsity : 0.0;
  if (workload.input.sparse) sparsity = std::max(sparsity, workload.activation_sparsity);
  return sparsity > 0 ? SparseShare(sparsity, dpu.input_channel_macs) : 1.0;
}

// Bytes a weight takes on the way from CMX: sparse filters come with a bit per element.
double WeightBytesPerElement(const DpuWorkload& workload) {
  const double dense = BytesPerElement(workload.weight_dtype);
  return workload.weight_sparse ? dense * (1.0 - workload.weight_sparsity) + 1.0 / 8.0 : dense;
}

void AddMatrixPasses(const DpuWorkload& workload, const VpuSpec& vpu, DpuStages* stages) {
  const DpuSpec& dpu = vpu.dpu;
  const MpeMode& mode = ModeOf(workload, dpu);
  const DpuTensor& out = workload.output;
  const double taps = static_cast<double>(RoundUp(workload.input.c, kChannelWindow) *
                                          workload.window.kernel_w * workload.window.kernel_h);
  const double rate = static_cast<double>(dpu.macs_per_cycle) * dpu.mac_efficiency /
                      ForDType(dpu.passes, workload.input.dtype);
  const double compute_per_output = taps * SkippedTo(workload, dpu) / rate;
  const double read_per_pixel =
      taps * BytesPerElement(workload.input.dtype) / (ReadRate(vpu) * mode.read_efficiency);
  const double read_per_filter = taps * WeightBytesPerElement(workload) / ReadRate(vpu);
  const std::int64_t block_w = mode.block_w > 0 ? mode.block_w : dpu.block_w;
  const std::int64_t block_h = mode.block_h > 0 ? mode.block_h : dpu.block_h;
  for (const Run& w : Split(out.w, mode.grid_w)) {
    for (const Run& h : Split(out.h, mode.grid_h)) {
      const double pixels =
          static_cast<double>(RoundUp(w.extent, block_w) * RoundUp(h.extent, block_h));
      for (const Run& c : Split(RoundUp(out.c, kChannelWindow), mode.channels)) {
        const double passes = static_cast<double>(w.count * h.count * c.count * out.b);
        const double filters = static_cast<double>(c.extent);
        const double compute = pixels * filters * compute_per_output;
        const double read = pixels * read_per_pixel + filters * read_per_filter;
        stages->compute += passes * compute;
        stages->read += passes * read;
        stages->passes += passes * (std::max(compute, read) + dpu.pass_cycles);
      }
    }
  }
}

// Operations at `rate`, outputs rounded up to its block and to 16 channels.
void AddMeasured(const DpuWorkload& workload, const VpuSpec& vpu, const DpuRate& rate,
                 DpuStages* stages) {
  const DpuTensor& out = workload.output;
  const std::int64_t block_w = rate.block_w > 0 ? rate.block_w : vpu.dpu.block_w;
  const std::int64_t block_h = rate.block_h > 0 ? rate.block_h : vpu.dpu.block_h;
  const std::int64_t blocks =
      CeilDiv(out.w, block_w) * CeilDiv(out.h, block_h) * CeilDiv(out.c, kChannelWindow) * out.b;
  const double outputs = static_cast<double>(blocks * block_w * block_h * kChannelWindow);
  const double positions = static_cast<double>(workload.window.kernel_w * workload.window.kernel_h);
  const bool depthwise = workload.operation == DpuOperation::kDepthwiseConvolution ||
                         workload.operation == DpuOperation::kAveragePool;
  const double mode = depthwise ? ModeOf(workload, vpu.dpu).depthwise_efficiency : 1.0;
  stages->compute = outputs * positions / (rate.per_cycle * mode);
  const std::int64_t operands = IsEltwise(workload.operation) && !workload.weightless ? 2 : 1;
  stages->read = static_cast<double>(workload.input.Elements() * operands) *
                 BytesPerElement(workload.input.dtype) / ReadRate(vpu);
  stages->passes =
      std::max(stages->compute, stages->read) + static_cast<double>(blocks) * rate.block_cycles;
  stages->startup += rate.setup;
}

// The writer puts out one element per post-processing element and cycle, and one pixel's channels
// into whole CMX words.
double WriteCycles(const DpuWorkload& workload, const VpuSpec& vpu) {
  const DpuSpec& dpu = vpu.dpu;
  const DpuTensor& out = workload.output;
  double cycles = static_cast<double>(out.Elements()) / static_cast<double>(dpu.ppe);
  const double words_per_cycle =
      workload.output_write_tiles > 1 ? dpu.broadcast_words_per_cycle : dpu.write_words_per_cycle;
  if (words_per_cycle > 0) {
    const std::int64_t pixel = BytesOf(out.c, out.dtype).value();
    const std::int64_t words = out.w * out.h * out.b * CeilDiv(pixel, vpu.cmx.word_bytes);
    cycles = std::max(cycles, static_cast<double>(words) / words_per_cycle);
  }
  return cycles;
}

// Occupancy without what a better fitting shape or a faster memory would save.
double UsefulCycles(const DpuWorkload& workload, const DpuSpec& dpu) {
  const double operations = static_cast<double>(DpuOperations(workload).value());
  if (IsEltwise(workload.operation)) return operations / static_cast<double>(dpu.ppe);
  double rate =
      static_cast<double>(dpu.macs_per_cycle) / ForDType(dpu.passes, workload.input.dtype);
  if (!UsesMacs(workload.operation)) rate /= static_cast<double>(dpu.input_channel_macs);
  return operations * (UsesMacs(workload.operation) ? SkippedTo(workload, dpu) : 1.0) / rate;
}

}  // namespace

double SparseShare(double sparsity, std::int64_t lanes) {
  const double density = std::clamp(1.0 - sparsity, 0.0, 1.0);
  if (density >= 1.0) return 1.0;
  const auto cycles = [&](std::int64_t elements) {
    return static_cast<double>(CeilDiv(elements, lanes));
  };
  // Sum of C(16, n) d^n (1-d)^(16-n) * ceil(n / lanes), the coefficient by recurrence.
  double coefficient = 1.0, expected = 0.0;
  for (std::int64_t n = 1; n <= kChannelWindow; ++n) {
    coefficient *= static_cast<double>(kChannelWindow - n + 1) / static_cast<double>(n);
    expected += coefficient * std::pow(density, static_cast<double>(n)) *
                std::pow(1.0 - density, static_cast<double>(kChannelWindow - n)) * cycles(n);
  }
  return expected / cycles(kChannelWindow);
}

DpuStages DpuStagesOf(const DpuWorkload& workload, const VpuSpec& vpu) {
  DpuStages stages;
  stages.startup = vpu.dpu.startup;
  const DpuRate* measured = MeasuredRate(workload, vpu.dpu);
  if (measured != nullptr) {
    AddMeasured(workload, vpu, *measured, &stages);
  } else if (UsesMacs(workload.operation)) {
    AddMatrixPasses(workload, vpu, &stages);
  } else {
    AddMeasured(workload, vpu, GeneralRate(workload, vpu.dpu), &stages);
  }
  stages.write = WriteCycles(workload, vpu);
  return stages;
}

TaskCost DpuCost(const DpuWorkload& workload, const VpuSpec& vpu) {
  TaskCost cost;
  cost.occupancy = std::max(CeilCycles(DpuStagesOf(workload, vpu).Total()), Cycles(1));
  const Cycles useful = CeilCycles(UsefulCycles(workload, vpu.dpu));
  cost.useful = std::min(useful, cost.occupancy);
  return cost;
}

Cycles DpuIdealCycles(const DpuWorkload& workload, const VpuSpec& vpu) {
  const double rate =
      static_cast<double>(vpu.dpu.macs_per_cycle) / ForDType(vpu.dpu.passes, workload.input.dtype);
  return CeilCycles(static_cast<double>(DpuOperations(workload).value()) / rate);
}

}  // namespace cyclecast
