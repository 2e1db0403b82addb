// Names and per-element costs of operators; see op.h.
#include "core/op.h"

#include <array>

namespace cyclecast {
namespace {

// One row per ElementwiseKind, in its order. `vector_ops` counts add/multiply/compare slots,
// `transcendental` steps of the exp/log/reciprocal kind. gelu and erf: degree-5 polynomial plus one
// exponential (Abramowitz and Stegun 7.1.26); the others follow from their definition.
struct ElementwiseRow {
  std::string_view name;
  int arity;
  bool transcendental;
  double vector_ops;
};
constexpr std::array<ElementwiseRow, 40> kElementwise = {
    {{"add", 2, false, 1},      {"sub", 2, false, 1},          {"mul", 2, false, 1},
     {"div", 2, true, 2},       {"max", 2, false, 1},          {"min", 2, false, 1},
     {"pow", 2, true, 3},       {"compare", 2, false, 1},      {"select", 3, false, 1},
     {"relu", 1, false, 1},     {"relu6", 1, false, 2},        {"leaky_relu", 1, false, 2},
     {"prelu", 1, false, 3},    {"elu", 1, true, 4},           {"selu", 1, true, 5},
     {"clip", 1, false, 2},     {"neg", 1, false, 1},          {"abs", 1, false, 1},
     {"square", 1, false, 1},   {"step", 1, false, 1},         {"scale", 1, false, 2},
     {"identity", 1, false, 1}, {"round", 1, false, 1},        {"floor", 1, false, 1},
     {"exp", 1, true, 1},       {"log", 1, true, 1},           {"sqrt", 1, true, 1},
     {"rsqrt", 1, true, 1},     {"reciprocal", 1, true, 1},    {"erf", 1, true, 9},
     {"tanh", 1, true, 4},      {"sigmoid", 1, true, 3},       {"gelu", 1, true, 12},
     {"silu", 1, true, 4},      {"hard_sigmoid", 1, false, 3}, {"hard_swish", 1, false, 4},
     {"mish", 1, true, 8},      {"softplus", 1, true, 3},      {"sin", 1, true, 4},
     {"cos", 1, true, 4}}};

const ElementwiseRow& Row(ElementwiseKind kind) {
  return kElementwise[static_cast<std::size_t>(kind)];
}

// Name and class of each alternative of Op, in the variant's order.
struct OpRow {
  std::string_view name;
  OpClass op_class;
};
constexpr std::array<OpRow, 20> kOps = {{{"matmul", OpClass::kMatmul},
                                         {"conv2d", OpClass::kConv},
                                         {"depthwise_conv2d", OpClass::kDepthwise},
                                         {"transposed_conv2d", OpClass::kConv},
                                         {"pool", OpClass::kPool},
                                         {"elementwise", OpClass::kElementwise},
                                         {"softmax", OpClass::kSoftmax},
                                         {"norm", OpClass::kNorm},
                                         {"attention", OpClass::kAttention},
                                         {"reduce", OpClass::kReduce},
                                         {"transpose", OpClass::kDataMovement},
                                         {"reshape", OpClass::kDataMovement},
                                         {"concat", OpClass::kDataMovement},
                                         {"slice", OpClass::kDataMovement},
                                         {"pad", OpClass::kDataMovement},
                                         {"resize", OpClass::kDataMovement},
                                         {"embedding", OpClass::kDataMovement},
                                         {"gather", OpClass::kDataMovement},
                                         {"convert", OpClass::kConvert},
                                         {"declared_movement", OpClass::kNotModelled}}};
static_assert(std::variant_size_v<Op> == kOps.size());

constexpr std::array<std::string_view, 16> kClassNames = {
    "matmul",  "conv",  "depthwise",   "pool",        "elementwise",   "activation",
    "softmax", "norm",  "attention",   "reduce",      "data_movement", "convert",
    "dma",     "shave", "application", "not_modelled"};

}  // namespace

std::string_view Name(OpClass op_class) { return kClassNames[static_cast<std::size_t>(op_class)]; }

OpClass ClassOf(const Op& op) {
  if (const auto* elementwise = std::get_if<Elementwise>(&op)) {
    return Arity(elementwise->kind) == 1 ? OpClass::kActivation : OpClass::kElementwise;
  }
  return kOps[op.index()].op_class;
}

std::string_view Name(const Op& op) {
  if (const auto* elementwise = std::get_if<Elementwise>(&op)) return Name(elementwise->kind);
  return kOps[op.index()].name;
}

std::string_view Name(ElementwiseKind kind) { return Row(kind).name; }

std::optional<ElementwiseKind> ParseElementwiseKind(std::string_view text) {
  for (std::size_t i = 0; i < kElementwise.size(); ++i) {
    if (kElementwise[i].name == text) return static_cast<ElementwiseKind>(i);
  }
  return std::nullopt;
}

std::vector<std::string> ElementwiseKindNames() {
  std::vector<std::string> names;
  for (const ElementwiseRow& row : kElementwise) names.emplace_back(row.name);
  return names;
}

int Arity(ElementwiseKind kind) { return Row(kind).arity; }
bool IsTranscendental(ElementwiseKind kind) { return Row(kind).transcendental; }
double VectorOpsPerElement(ElementwiseKind kind) { return Row(kind).vector_ops; }

std::int64_t WindowOutput(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                          std::int64_t pads, std::int64_t dilation, bool ceil_mode) {
  const std::int64_t span = in + pads - dilation * (kernel - 1) - 1;
  if (span < 0) return 0;
  return (ceil_mode ? CeilDiv(span, stride) : span / stride) + 1;
}

}  // namespace cyclecast
