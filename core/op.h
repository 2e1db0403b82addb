// Operators: what a workload computes. A variant of plain structs; the compiler lists the places
// to extend when an alternative is added.
//
// Weights are never separate tensors: an op's attributes imply them (a convolution's filter bank
// follows from out_channels, the window and its input), so a workload lists activations only.
// Image tensors are logically N, C, H, W.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"

namespace cyclecast {

// A sliding window. Output extent = floor((in + pads - dilation*(kernel-1) - 1) / stride) + 1,
// or ceil where ceil_mode is set (ONNX Conv/Pool definition).
struct Window {
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;
  bool operator==(const Window&) const = default;
};

// [.., M, K] x [.., K, N] -> [.., M, N], batch extents broadcast. One input: the right operand is a
// weight of `out_features` columns. Two inputs: both are activations.
struct Matmul {
  std::int64_t out_features = 0;  // N of the weight form; 0 when the right side is an activation
  bool transpose_lhs = false;
  bool transpose_rhs = false;
  bool bias = false;
};
struct Conv2d {
  std::int64_t out_channels = 0;
  Window window;
  std::int64_t groups = 1;
  bool bias = false;
};
struct DepthwiseConv2d {
  Window window;
  std::int64_t multiplier = 1;  // output channels per input channel
  bool bias = false;
};
// Output extent = (in-1)*stride - pads + dilation*(kernel-1) + output_padding + 1.
struct TransposedConv2d {
  std::int64_t out_channels = 0;
  Window window;
  std::int64_t output_pad_h = 0, output_pad_w = 0;
  std::int64_t groups = 1;
  bool bias = false;
};
enum class PoolKind { kMax, kAverage };
struct Pool {
  PoolKind kind = PoolKind::kMax;
  Window window;
  bool ceil_mode = false;
  bool global = false;  // window covers the whole image, output 1x1
};
// Kinds in the order of kElementwiseKinds in op.cc.
enum class ElementwiseKind {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kPow,
  kCompare,
  kSelect,  // two or three inputs
  kRelu,
  kRelu6,
  kLeakyRelu,
  kPrelu,
  kElu,
  kSelu,
  kClip,
  kNeg,
  kAbs,
  kSquare,
  kStep,
  kScale,
  kIdentity,
  kRound,
  kFloor,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kErf,
  kTanh,
  kSigmoid,
  kGelu,
  kSilu,
  kHardSigmoid,
  kHardSwish,
  kMish,
  kSoftplus,
  kSin,
  kCos
};
struct Elementwise {
  ElementwiseKind kind = ElementwiseKind::kAdd;
  // The second operand of a binary kind when it is a constant of the model, as elements; 0 if none.
  std::int64_t constant_elements = 0;
};
struct Softmax {
  std::int64_t axis = -1;
};
enum class NormKind { kLayer, kRms, kInstance, kGroup, kBatch };
// Normalises over the axes from `axis` on (layer, RMS), over H, W (instance), per group of
// channels.
struct Norm {
  NormKind kind = NormKind::kLayer;
  std::int64_t axis = -1;
  std::int64_t groups = 1;
};
// Inputs Q [B, S, heads*head_dim], K and V [B, T, kv_heads*head_dim]; output like Q. With one input
// (Q) the keys and values come from a cache of `cache_length` positions per batch entry plus the S
// new ones (decode). Scores are [B, heads, S, T].
struct Attention {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;  // < heads: grouped-query attention
  std::int64_t head_dim = 64;
  std::int64_t cache_length = 0;
  bool causal = false;
};
enum class ReduceKind { kSum, kMean, kMax, kMin, kL2, kProd, kArg };
struct Reduce {
  ReduceKind kind = ReduceKind::kSum;
  std::vector<std::int64_t> axes;  // empty: all
  bool keep_dims = true;
};
struct Transpose {
  std::vector<std::int64_t> permutation;
};
struct Reshape {
  Shape shape;  // one extent may be -1
};
struct Concat {
  std::int64_t axis = 0;
};
struct Slice {
  std::int64_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;  // exclusive
  std::int64_t step = 1;
};
struct Pad {
  std::vector<std::int64_t> before, after;  // per axis
};
struct Resize {
  std::int64_t out_h = 0, out_w = 0;
  bool bilinear = false;
};
// Rows of a table of [entries, width] picked by an integer input; output adds `width` innermost.
struct Embedding {
  std::int64_t entries = 0;
  std::int64_t width = 0;
  std::optional<DType> dtype = {};  // of the table and the output; unset: the input's
};
// Rows picked along `axis` of an activation: `count` of them.
struct Gather {
  std::int64_t axis = 0;
  std::int64_t count = 1;
};
// Quantise, dequantise or cast.
struct Convert {
  DType to = DType::kInt8;
};
// An operator that is not modelled: priced as reading its inputs and writing its output, and
// listed as such in every report.
struct DeclaredMovement {
  std::string what;  // the operator's own name, e.g. "NonMaxSuppression"
  TensorType output;
};

using Op = std::variant<Matmul, Conv2d, DepthwiseConv2d, TransposedConv2d, Pool, Elementwise,
                        Softmax, Norm, Attention, Reduce, Transpose, Reshape, Concat, Slice, Pad,
                        Resize, Embedding, Gather, Convert, DeclaredMovement>;

// Coarse classes for tables, plots and per-class error figures.
enum class OpClass {
  kMatmul,
  kConv,
  kDepthwise,
  kPool,
  kElementwise,
  kActivation,
  kSoftmax,
  kNorm,
  kAttention,
  kReduce,
  kDataMovement,
  kConvert,
  kDma,
  kShave,
  kApplication,
  kNotModelled
};
std::string_view Name(OpClass op_class);
OpClass ClassOf(const Op& op);
std::string_view Name(const Op& op);  // "conv2d", "matmul", ... as written in YAML

std::string_view Name(ElementwiseKind kind);
std::optional<ElementwiseKind> ParseElementwiseKind(std::string_view text);
std::vector<std::string> ElementwiseKindNames();
int Arity(ElementwiseKind kind);  // 1, 2 or 3 operands
bool IsTranscendental(ElementwiseKind kind);
// Vector operations one element takes when the unit has only add, multiply, compare and one
// transcendental step per ALU slot; e.g. gelu by erf counts its polynomial. Source: op.cc.
double VectorOpsPerElement(ElementwiseKind kind);

// Output extent of a window along one axis, `ceil` as in ONNX ceil_mode. May be < 1 when the window
// does not fit: callers turn that into an error.
std::int64_t WindowOutput(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                          std::int64_t pads, std::int64_t dilation, bool ceil_mode);

// The output of `op` on activation `inputs`, or an error that says which extent does not fit.
Result<TensorType> InferOutput(const Op& op, const std::vector<TensorType>& inputs);

// What one execution of an op amounts to, whatever machine runs it.
struct OpWork {
  Macs macs;                      // of the matrix kind (matmul, conv, attention)
  double vector_ops = 0;          // elementary vector operations (elementwise, softmax, pools, ...)
  double transcendental_ops = 0;  // of which transcendental
  Bytes input_bytes;              // activations read once
  Bytes weight_bytes;             // weights, bias, tables, KV cache read once
  Bytes output_bytes;             // written once
};
// Compulsory work: every operand touched once. `weight_dtype` is what weights are stored as.
OpWork WorkOf(const Op& op, const std::vector<TensorType>& inputs, const TensorType& output,
              DType weight_dtype);

// The matrix product an op amounts to: `batch` independent [m,k] x [k,n]. Convolutions are
// implicit GEMMs (m = N*OH*OW, k = C/groups*KH*KW, n = OC/groups, batch = groups). Attention has
// two and is not covered.
struct GemmView {
  std::int64_t batch = 1, m = 1, k = 1, n = 1;
  bool rhs_is_weight = true;
  bool operator==(const GemmView&) const = default;
};
std::optional<GemmView> AsGemm(const Op& op, const std::vector<TensorType>& inputs,
                               const TensorType& output);

}  // namespace cyclecast
