// Single ops as VPU layers; see vpu_lower_ops.h.
#include "mapping/vpu_lower_ops.h"

#include <algorithm>
#include <utility>

#include "mapping/vpu_cut.h"
#include "timing/shave.h"

namespace cyclecast {
namespace {

constexpr std::int64_t kChannelStep = 16;  // channels of a workload round up to it

// Bytes of one element in memory, at least one.
Bytes ElementBytes(DType dtype) { return std::max(BytesOf(1, dtype), Bytes(1)); }

DpuTensor Tensor(std::int64_t w, std::int64_t h, std::int64_t c, DType dtype) {
  return {w, h, c, 1, ComputeType(dtype), Layout::kZxy, false};
}

std::int64_t Channels(std::int64_t c) { return RoundUp(c, kChannelStep); }

bool Knows(const VpuSpec& vpu, DpuOperation operation) {
  const auto& known = vpu.rules.operations;
  return known.empty() || std::find(known.begin(), known.end(), Name(operation)) != known.end();
}

bool IsBinaryArithmetic(const Elementwise& op) {
  return op.kind == ElementwiseKind::kAdd || op.kind == ElementwiseKind::kSub ||
         op.kind == ElementwiseKind::kMul;
}

// The hardware's window: the bottom and right padding that give exactly the output (a ceil_mode
// pool pads more, a floor leaves input rows unread).
void FitWindow(DpuWorkload* workload) {
  Window& window = workload->window;
  const auto fit = [](std::int64_t out, std::int64_t stride, std::int64_t reach,
                      std::int64_t before, std::int64_t* in, std::int64_t* after) {
    const std::int64_t needed = (out - 1) * stride + reach - before;
    *after = std::max<std::int64_t>(0, needed - *in);
    *in = std::max<std::int64_t>(1, std::min(*in, needed));
  };
  fit(workload->output.h, window.stride_h, (window.kernel_h - 1) * window.dilation_h + 1,
      window.pad_top, &workload->input.h, &window.pad_bottom);
  fit(workload->output.w, window.stride_w, (window.kernel_w - 1) * window.dilation_w + 1,
      window.pad_left, &workload->input.w, &window.pad_right);
}

bool WindowFits(const Window& window, const DpuRules& rules) {
  return std::max(window.kernel_h, window.kernel_w) <= rules.max_kernel &&
         std::max(window.stride_h, window.stride_w) <= rules.max_stride;
}

class OpLowering {
 public:
  OpLowering(const Workload& workload, const VpuSpec& vpu) : workload_(workload), vpu_(vpu) {}

  bool OnDpu(OpId id) const {
    const Op& op = workload_.op(id).op;
    if (std::holds_alternative<Matmul>(op) || std::holds_alternative<Conv2d>(op) ||
        std::holds_alternative<DepthwiseConv2d>(op) ||
        std::holds_alternative<TransposedConv2d>(op)) {
      return true;
    }
    if (const auto* pool = std::get_if<Pool>(&op)) return PoolOnDpu(id, *pool);
    if (const auto* elementwise = std::get_if<Elementwise>(&op)) {
      return EltwiseOnDpu(id, *elementwise);
    }
    return false;
  }

  Status Run(OpId id, VpuLayer* layer) const {
    return std::visit([&](const auto& op) { return Lower(op, id, layer); }, workload_.op(id).op);
  }

 private:
  const TensorType& Input(OpId id, std::size_t i = 0) const {
    return workload_.tensor(workload_.op(id).inputs[i]).type;
  }

  bool PoolOnDpu(OpId id, const Pool& pool) const {
    if (Input(id).shape.rank() != 4) return false;
    Window window = pool.window;
    if (pool.global) {
      window.kernel_h = Input(id).shape[2];
      window.kernel_w = Input(id).shape[3];
      window.stride_h = window.stride_w = 1;
    }
    return WindowFits(window, vpu_.rules);
  }

  // Two activations of one shape (no broadcast), and an operation the DPU has.
  bool EltwiseOnDpu(OpId id, const Elementwise& op) const {
    if (!IsBinaryArithmetic(op) || op.constant_elements > 0) return false;
    if (workload_.op(id).inputs.size() != 2) return false;
    if (Input(id, 0).shape.Elements() != Input(id, 1).shape.Elements()) return false;
    return Knows(vpu_, op.kind == ElementwiseKind::kMul ? DpuOperation::kEltwiseMul
                                                        : DpuOperation::kEltwise);
  }

  // --- Products -----------------------------------------------------------------------------

  // rows x k times k x n, once per copy. Input channels beyond the limit become partial sums.
  void Product(std::int64_t rows, std::int64_t k, std::int64_t n, DType in, DType weights,
               VpuLayer* layer) const {
    const std::int64_t limit = vpu_.rules.max_dimension;
    const ImageShape image = ImageOf(rows, vpu_.dpu.block_w, vpu_.dpu.block_h, limit);
    layer->engine = VpuEngine::kDpu;
    layer->sums = CeilDiv(k, limit);
    DpuWorkload& whole = layer->whole;
    whole.operation = DpuOperation::kConvolution;
    whole.input = Tensor(image.w, image.h, Channels(CeilDiv(k, layer->sums)), in);
    whole.output = Tensor(image.w, image.h, Channels(n), in);
    whole.weight_dtype = WeightType(weights);
    whole.window = Window{};
  }

  static DType WeightType(DType dtype) {
    return dtype == DType::kInt4 ? dtype : ComputeType(dtype);
  }

  Status Lower(const Matmul&, OpId id, VpuLayer* layer) const {
    const GemmView gemm =
        *AsGemm(workload_.op(id).op, workload_.InputTypes(id), workload_.OutputType(id));
    const DType in = Input(id).dtype;
    layer->copies = gemm.batch;
    layer->shared_weights = gemm.rhs_is_weight;
    layer->weights_are_input = !gemm.rhs_is_weight;
    const DType weights = gemm.rhs_is_weight ? workload_.op(id).weight_dtype : Input(id, 1).dtype;
    Product(gemm.m, gemm.k, gemm.n, in, weights, layer);
    return Unit{};
  }

  Status Lower(const Conv2d& conv, OpId id, VpuLayer* layer) const {
    const Shape& in = Input(id).shape;
    const Shape& out = workload_.OutputType(id).shape;
    const std::int64_t channels = in[1] / conv.groups, filters = conv.out_channels / conv.groups;
    const DType weights = workload_.op(id).weight_dtype;
    if (!WindowFits(conv.window, vpu_.rules)) {
      // Beyond the window limits the DMA lays each window out as a vector.
      Product(out[2] * out[3], channels * conv.window.kernel_h * conv.window.kernel_w, filters,
              Input(id).dtype, weights, layer);
      layer->unrolled = true;
    } else {
      layer->engine = VpuEngine::kDpu;
      DpuWorkload& whole = layer->whole;
      const bool few =
          channels < kChannelStep && Knows(vpu_, DpuOperation::kChannelMajorConvolution);
      whole.operation = few ? DpuOperation::kChannelMajorConvolution : DpuOperation::kConvolution;
      layer->sums = CeilDiv(channels, vpu_.rules.max_dimension);
      whole.input = Tensor(in[3], in[2], few ? channels : Channels(CeilDiv(channels, layer->sums)),
                           Input(id).dtype);
      whole.output = Tensor(out[3], out[2], Channels(filters), Input(id).dtype);
      whole.window = conv.window;
      whole.weight_dtype = WeightType(weights);
      FitWindow(&whole);
    }
    layer->copies = in[0] * conv.groups;
    layer->shared_weights = conv.groups == 1;
    return Unit{};
  }

  Status Lower(const DepthwiseConv2d& conv, OpId id, VpuLayer* layer) const {
    const Shape& in = Input(id).shape;
    const Shape& out = workload_.OutputType(id).shape;
    if (!WindowFits(conv.window, vpu_.rules)) {
      return Error("a depthwise window of " + std::to_string(conv.window.kernel_h) + "x" +
                   std::to_string(conv.window.kernel_w) + " with stride " +
                   std::to_string(conv.window.stride_h) + " exceeds the DPU's limits (kernel " +
                   std::to_string(vpu_.rules.max_kernel) + ", stride " +
                   std::to_string(vpu_.rules.max_stride) + "): use a smaller window");
    }
    PerChannel(DpuOperation::kDepthwiseConvolution, in, out, conv.window, id, layer);
    return Unit{};
  }

  // The outputs of a transposed convolution as a convolution over the input spread out by the
  // stride: every kernel position is computed, also those that meet an inserted zero.
  Status Lower(const TransposedConv2d& conv, OpId id, VpuLayer* layer) const {
    const Shape& in = Input(id).shape;
    const Shape& out = workload_.OutputType(id).shape;
    layer->engine = VpuEngine::kDpu;
    layer->copies = in[0] * conv.groups;
    layer->shared_weights = conv.groups == 1;
    DpuWorkload& whole = layer->whole;
    whole.operation = DpuOperation::kConvolution;
    const std::int64_t reach_h = conv.window.kernel_h, reach_w = conv.window.kernel_w;
    if (std::max(reach_h, reach_w) > vpu_.rules.max_kernel) {
      return Error("a transposed convolution with a kernel of " + std::to_string(reach_h) + "x" +
                   std::to_string(reach_w) + " exceeds the DPU's " +
                   std::to_string(vpu_.rules.max_kernel) + ": use a smaller kernel");
    }
    whole.window = Window{};
    whole.window.kernel_h = reach_h;
    whole.window.kernel_w = reach_w;
    whole.output =
        Tensor(out[3], out[2], Channels(conv.out_channels / conv.groups), Input(id).dtype);
    whole.input = Tensor(out[3] + reach_w - 1, out[2] + reach_h - 1, Channels(in[1] / conv.groups),
                         Input(id).dtype);
    whole.weight_dtype = WeightType(workload_.op(id).weight_dtype);
    layer->notes.push_back(layer->name +
                           ": transposed convolution computed over the input spread out by its "
                           "stride, inserted zeros included");
    return Unit{};
  }

  // --- One multiplier per output ------------------------------------------------------------

  void PerChannel(DpuOperation operation, const Shape& in, const Shape& out, const Window& window,
                  OpId id, VpuLayer* layer) const {
    layer->engine = VpuEngine::kDpu;
    layer->copies = in[0];
    DpuWorkload& whole = layer->whole;
    whole.operation = operation;
    whole.input = Tensor(in[3], in[2], Channels(out[1]), Input(id).dtype);
    whole.output = Tensor(out[3], out[2], Channels(out[1]), Input(id).dtype);
    whole.window = window;
    whole.weight_dtype = WeightType(workload_.op(id).weight_dtype);
    FitWindow(&whole);
  }

  Status Lower(const Pool& pool, OpId id, VpuLayer* layer) const {
    const Shape& in = Input(id).shape;
    if (!PoolOnDpu(id, pool)) {
      Shave("reduce", in.Elements(), layer);
      return Unit{};
    }
    Window window = pool.window;
    if (pool.global) {
      window = Window{};
      window.kernel_h = in[2];
      window.kernel_w = in[3];
    }
    DpuOperation operation = DpuOperation::kMaxPool;
    if (pool.kind == PoolKind::kAverage) {
      operation = Knows(vpu_, DpuOperation::kAveragePool) ? DpuOperation::kAveragePool
                                                          : DpuOperation::kDepthwiseConvolution;
    }
    PerChannel(operation, in, workload_.OutputType(id).shape, window, id, layer);
    return Unit{};
  }

  // An activation as an image: its own when it is one, else the innermost extent as channels.
  DpuTensor ImageTensor(const TensorType& type) const {
    const Shape& shape = type.shape;
    if (shape.rank() == 4 && shape[0] == 1 && shape[1] > 1) {
      return Tensor(shape[3], shape[2], Channels(shape[1]), type.dtype);
    }
    const std::int64_t channels = shape.rank() > 0 ? shape.FromEnd(0) : 1;
    const std::int64_t kept = std::min(channels, vpu_.rules.max_dimension);
    const std::int64_t rows = CeilDiv(shape.Elements(), kept);
    const ImageShape image =
        ImageOf(rows, vpu_.dpu.block_w, vpu_.dpu.block_h, vpu_.rules.max_dimension);
    return Tensor(image.w, image.h, Channels(kept), type.dtype);
  }

  Status Lower(const Elementwise& op, OpId id, VpuLayer* layer) const {
    const TensorType& out = workload_.OutputType(id);
    if (!EltwiseOnDpu(id, op)) {
      Shave(std::string(Name(op.kind)), out.shape.Elements(), layer);
      return Unit{};
    }
    layer->engine = VpuEngine::kDpu;
    layer->whole.operation =
        op.kind == ElementwiseKind::kMul ? DpuOperation::kEltwiseMul : DpuOperation::kEltwise;
    layer->whole.input = ImageTensor(TensorType{out.shape, Input(id).dtype, out.layout});
    layer->whole.output = layer->whole.input;
    layer->whole.window = Window{};
    layer->whole.weight_dtype = ComputeType(Input(id, 1).dtype);
    return Unit{};
  }

  // --- SHAVE ------------------------------------------------------------------------------

  void Shave(std::string operation, std::int64_t elements, VpuLayer* layer) const {
    if (FindShaveRate(operation, vpu_) == nullptr) {
      layer->notes.push_back("SHAVE operation '" + operation +
                             "' is not in the machine's table: priced at its default rate");
    }
    layer->engine = VpuEngine::kShave;
    layer->shave = std::move(operation);
    layer->elements = elements;
  }
  Status Lower(const Softmax&, OpId id, VpuLayer* layer) const {
    Shave("softmax", Input(id).shape.Elements(), layer);
    return Unit{};
  }
  Status Lower(const Norm&, OpId id, VpuLayer* layer) const {
    Shave("norm", Input(id).shape.Elements(), layer);
    return Unit{};
  }
  Status Lower(const Reduce&, OpId id, VpuLayer* layer) const {
    Shave("reduce", Input(id).shape.Elements(), layer);
    return Unit{};
  }
  Status Lower(const Convert&, OpId id, VpuLayer* layer) const {
    Shave("convert", Input(id).shape.Elements(), layer);
    return Unit{};
  }
  Status Lower(const Resize& resize, OpId id, VpuLayer* layer) const {
    if (resize.bilinear) {
      Shave("resize", workload_.OutputType(id).shape.Elements(), layer);
    } else {
      Move(InnermostRun(Input(id)), layer);
    }
    return Unit{};
  }

  // --- DMA --------------------------------------------------------------------------------

  static void Move(Bytes run, VpuLayer* layer) {
    layer->engine = VpuEngine::kDma;
    layer->run = run;
  }
  // The contiguous run of an untouched tensor: channels are innermost in images.
  static Bytes InnermostRun(const TensorType& type) {
    const Shape& shape = type.shape;
    if (shape.rank() == 0) return ElementBytes(type.dtype);
    return BytesOf(shape.rank() == 4 ? shape[1] : shape.FromEnd(0), type.dtype);
  }
  Status Lower(const Transpose& transpose, OpId id, VpuLayer* layer) const {
    const std::size_t rank = transpose.permutation.size();
    const bool innermost_stays =
        rank > 0 && transpose.permutation.back() == static_cast<std::int64_t>(rank) - 1;
    Move(innermost_stays ? InnermostRun(Input(id)) : ElementBytes(Input(id).dtype), layer);
    return Unit{};
  }
  Status Lower(const Reshape&, OpId, VpuLayer*) const { return Unit{}; }
  Status Lower(const Concat&, OpId id, VpuLayer* layer) const {
    Bytes run = InnermostRun(Input(id));
    for (std::size_t i = 1; i < workload_.op(id).inputs.size(); ++i) {
      run = std::min(run, InnermostRun(Input(id, i)));
    }
    Move(run, layer);
    return Unit{};
  }
  Status Lower(const Slice&, OpId id, VpuLayer* layer) const {
    Move(InnermostRun(workload_.OutputType(id)), layer);
    return Unit{};
  }
  Status Lower(const Pad&, OpId id, VpuLayer* layer) const {
    Move(InnermostRun(Input(id)), layer);
    return Unit{};
  }
  Status Lower(const Embedding& embedding, OpId id, VpuLayer* layer) const {
    Move(BytesOf(embedding.width, workload_.OutputType(id).dtype), layer);
    return Unit{};
  }
  Status Lower(const Gather&, OpId id, VpuLayer* layer) const {
    Move(InnermostRun(workload_.OutputType(id)), layer);
    return Unit{};
  }
  Status Lower(const DeclaredMovement& movement, OpId, VpuLayer* layer) const {
    Move(Bytes(0), layer);
    layer->notes.push_back(layer->name + ": '" + movement.what +
                           "' is not modelled, priced as reading its inputs and writing its "
                           "output");
    return Unit{};
  }

  // --- Attention --------------------------------------------------------------------------

  Status Lower(const Attention& attention, OpId id, VpuLayer* layer) const {
    const Shape& queries = Input(id).shape;
    const bool cached = workload_.op(id).inputs.size() == 1;
    layer->engine = VpuEngine::kAttention;
    AttentionShape& shape = layer->attention;
    shape.copies = queries[0] * attention.kv_heads;
    shape.group = attention.heads / attention.kv_heads;
    shape.rows = queries[1] * shape.group;
    shape.keys = attention.cache_length + (cached ? queries[1] : Input(id, 1).shape[1]);
    shape.head_dim = attention.head_dim;
    shape.dtype = ComputeType(Input(id).dtype);
    shape.cached = cached;
    if (attention.causal) {
      layer->notes.push_back(layer->name +
                             ": causal attention computes all scores, the masked ones too");
    }
    return Unit{};
  }

  const Workload& workload_;
  const VpuSpec& vpu_;
};

}  // namespace

bool RunsOnDpu(const Workload& workload, OpId op, const VpuSpec& vpu) {
  return OpLowering(workload, vpu).OnDpu(op);
}

Status LowerOp(const Workload& workload, OpId op, const VpuSpec& vpu, VpuLayer* layer) {
  return OpLowering(workload, vpu).Run(op, layer);
}

}  // namespace cyclecast
