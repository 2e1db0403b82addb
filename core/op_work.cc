// MACs, vector operations and compulsory bytes of operators; see WorkOf and AsGemm in op.h.
#include "core/op.h"

namespace cyclecast {
namespace {

using Inputs = std::vector<TensorType>;

struct Counts {
  std::int64_t macs = 0;
  double vector_ops = 0;
  double transcendental_ops = 0;
  std::int64_t weight_elements = 0;
  Bytes cache;
};

double Elements(const TensorType& type) { return static_cast<double>(type.shape.Elements()); }

// Output positions times window positions; every window position is computed, padding included, as
// the published MAC counts of networks do.
std::int64_t WindowMacs(const TensorType& output, const Window& window) {
  return output.shape.Elements() * window.kernel_h * window.kernel_w;
}

Counts CountsOf(const Matmul& op, const Inputs& inputs, const TensorType& output) {
  const GemmView gemm = *AsGemm(Op(op), inputs, output);
  Counts counts;
  counts.macs = gemm.batch * gemm.m * gemm.k * gemm.n;
  if (gemm.rhs_is_weight) counts.weight_elements = gemm.k * gemm.n;
  if (op.bias) {
    counts.weight_elements += gemm.n;
    counts.vector_ops = Elements(output);
  }
  return counts;
}

Counts CountsOf(const Conv2d& op, const Inputs& inputs, const TensorType& output) {
  Counts counts;
  const std::int64_t per_group = inputs[0].shape[1] / op.groups;
  counts.macs = WindowMacs(output, op.window) * per_group;
  counts.weight_elements = op.out_channels * per_group * op.window.kernel_h * op.window.kernel_w;
  if (op.bias) {
    counts.weight_elements += op.out_channels;
    counts.vector_ops = Elements(output);
  }
  return counts;
}

Counts CountsOf(const DepthwiseConv2d& op, const Inputs&, const TensorType& output) {
  Counts counts;
  counts.macs = WindowMacs(output, op.window);
  counts.weight_elements = output.shape[1] * op.window.kernel_h * op.window.kernel_w;
  if (op.bias) {
    counts.weight_elements += output.shape[1];
    counts.vector_ops = Elements(output);
  }
  return counts;
}

Counts CountsOf(const TransposedConv2d& op, const Inputs& inputs, const TensorType& output) {
  // Every input position contributes one window of outputs.
  Counts counts;
  const std::int64_t window = op.window.kernel_h * op.window.kernel_w;
  const std::int64_t per_group = op.out_channels / op.groups;
  counts.macs = inputs[0].shape.Elements() * window * per_group;
  counts.weight_elements = inputs[0].shape[1] * per_group * window;
  if (op.bias) {
    counts.weight_elements += op.out_channels;
    counts.vector_ops = Elements(output);
  }
  return counts;
}

Counts CountsOf(const Pool& op, const Inputs& inputs, const TensorType& output) {
  Counts counts;
  counts.vector_ops =
      op.global ? Elements(inputs[0]) : static_cast<double>(WindowMacs(output, op.window));
  if (op.kind == PoolKind::kAverage) counts.vector_ops += Elements(output);
  return counts;
}

Counts CountsOf(const Elementwise& op, const Inputs&, const TensorType& output) {
  Counts counts;
  counts.vector_ops = Elements(output) * VectorOpsPerElement(op.kind);
  if (IsTranscendental(op.kind)) counts.transcendental_ops = Elements(output);
  counts.weight_elements = op.constant_elements;
  return counts;
}

// max, subtract, exp, sum, multiply by the reciprocal: five operations, one of them transcendental.
Counts CountsOf(const Softmax&, const Inputs& inputs, const TensorType&) {
  Counts counts;
  counts.vector_ops = 5 * Elements(inputs[0]);
  counts.transcendental_ops = Elements(inputs[0]);
  return counts;
}

// Layer norm: sum, subtract, square, sum, scale, gamma, beta = 7; RMS: square, sum, scale, gamma.
// Batch norm at inference is one multiply-add with folded constants.
Counts CountsOf(const Norm& op, const Inputs& inputs, const TensorType&) {
  Counts counts;
  const double per_element = op.kind == NormKind::kRms ? 4 : op.kind == NormKind::kBatch ? 2 : 7;
  counts.vector_ops = per_element * Elements(inputs[0]);
  const Shape& shape = inputs[0].shape;
  const bool by_channel = op.kind != NormKind::kLayer && op.kind != NormKind::kRms;
  std::int64_t width = 1;
  if (by_channel && shape.rank() > 1) {
    width = shape[1];
  } else {
    const auto rank = static_cast<std::int64_t>(shape.rank());
    for (std::int64_t i = op.axis < 0 ? op.axis + rank : op.axis; i < rank; ++i) {
      width *= shape[static_cast<std::size_t>(i)];
    }
  }
  counts.weight_elements = op.kind == NormKind::kRms ? width : 2 * width;
  return counts;
}

// Two products (scores and context) and a softmax over the scores. Causal attention skips the keys
// after each query: with T = past + S keys, query i sees past + i + 1 of them.
Counts CountsOf(const Attention& op, const Inputs& inputs, const TensorType&) {
  const std::int64_t batch = inputs[0].shape[0], queries = inputs[0].shape[1];
  const std::int64_t keys =
      inputs.size() == 3 ? inputs[1].shape[1] + op.cache_length : op.cache_length + queries;
  std::int64_t scores = queries * keys;
  if (op.causal && keys >= queries) {
    scores = queries * (keys - queries) + queries * (queries + 1) / 2;
  }
  Counts counts;
  counts.macs = 2 * batch * op.heads * scores * op.head_dim;
  const double all_scores = static_cast<double>(batch * op.heads * scores);
  counts.vector_ops = 6 * all_scores;  // scale and softmax
  counts.transcendental_ops = all_scores;
  const std::int64_t cached = inputs.size() == 3 ? op.cache_length : keys;
  counts.cache = BytesOf(2 * batch * cached * op.kv_heads * op.head_dim, inputs[0].dtype);
  return counts;
}

Counts CountsOf(const Reduce&, const Inputs& inputs, const TensorType&) {
  Counts counts;
  counts.vector_ops = Elements(inputs[0]);
  return counts;
}

// Bilinear interpolation: four products and three sums an element; nearest is a copy.
Counts CountsOf(const Resize& op, const Inputs&, const TensorType& output) {
  Counts counts;
  if (op.bilinear) counts.vector_ops = 7 * Elements(output);
  return counts;
}

Counts CountsOf(const Convert&, const Inputs&, const TensorType& output) {
  Counts counts;
  counts.vector_ops = 2 * Elements(output);  // scale and round
  return counts;
}

// Data movement moves bytes and computes nothing.
template <class Movement>
Counts CountsOf(const Movement&, const Inputs&, const TensorType&) {
  return Counts{};
}

}  // namespace

std::optional<GemmView> AsGemm(const Op& op, const std::vector<TensorType>& inputs,
                               const TensorType& output) {
  GemmView gemm;
  if (const auto* matmul = std::get_if<Matmul>(&op)) {
    const Shape& lhs = inputs[0].shape;
    gemm.n = output.shape.FromEnd(0);
    gemm.m = output.shape.rank() > 1 ? output.shape.FromEnd(1) : 1;
    gemm.k = matmul->transpose_lhs && lhs.rank() > 1 ? lhs.FromEnd(1) : lhs.FromEnd(0);
    const std::int64_t batch = output.shape.Elements() / (gemm.m * gemm.n);
    gemm.rhs_is_weight = inputs.size() == 1;
    if (gemm.rhs_is_weight) {
      gemm.m *= batch;  // one weight for the whole batch: rows are just rows
    } else {
      gemm.batch = batch;
    }
    return gemm;
  }
  if (const auto* conv = std::get_if<Conv2d>(&op)) {
    gemm.batch = conv->groups;
    gemm.m = output.shape[0] * output.shape[2] * output.shape[3];
    gemm.k = inputs[0].shape[1] / conv->groups * conv->window.kernel_h * conv->window.kernel_w;
    gemm.n = conv->out_channels / conv->groups;
    return gemm;
  }
  if (const auto* depthwise = std::get_if<DepthwiseConv2d>(&op)) {
    gemm.batch = inputs[0].shape[1];
    gemm.m = output.shape[0] * output.shape[2] * output.shape[3];
    gemm.k = depthwise->window.kernel_h * depthwise->window.kernel_w;
    gemm.n = depthwise->multiplier;
    return gemm;
  }
  if (const auto* transposed = std::get_if<TransposedConv2d>(&op)) {
    const Shape& in = inputs[0].shape;
    gemm.batch = transposed->groups;
    gemm.m = in[0] * in[2] * in[3];
    gemm.k = in[1] / transposed->groups;
    gemm.n = transposed->out_channels / transposed->groups * transposed->window.kernel_h *
             transposed->window.kernel_w;
    return gemm;
  }
  return std::nullopt;
}

OpWork WorkOf(const Op& op, const std::vector<TensorType>& inputs, const TensorType& output,
              DType weight_dtype) {
  const Counts counts = std::visit(
      [&](const auto& alternative) { return CountsOf(alternative, inputs, output); }, op);
  OpWork work;
  work.macs = Macs(counts.macs);
  work.vector_ops = counts.vector_ops;
  work.transcendental_ops = counts.transcendental_ops;
  work.weight_bytes = BytesOf(counts.weight_elements, weight_dtype) + counts.cache;
  work.output_bytes = output.Size();
  for (const TensorType& input : inputs) work.input_bytes += input.Size();
  // Only what is picked is read; a reshape moves nothing.
  if (std::holds_alternative<Slice>(op) || std::holds_alternative<Gather>(op)) {
    work.input_bytes = output.Size();
  }
  if (std::holds_alternative<Embedding>(op)) work.weight_bytes = output.Size();
  if (std::holds_alternative<Reshape>(op)) work.input_bytes = work.output_bytes = Bytes(0);
  return work;
}

}  // namespace cyclecast
