// Blocks of several operators: feed-forward, attention, stacks, applications; see
// operator_builders.h.
#include <cmath>
#include <utility>

#include "traces/operator_builders.h"

namespace cyclecast {
namespace {

Elementwise Kind(ElementwiseKind kind) { return Elementwise{kind, 0}; }

Matmul Dense(std::int64_t out, bool bias = false) {
  Matmul matmul;
  matmul.out_features = out;
  matmul.bias = bias;
  return matmul;
}

Conv2d SquareConv(std::int64_t filters, std::int64_t size) {
  Conv2d conv;
  conv.out_channels = filters;
  conv.window.kernel_h = conv.window.kernel_w = size;
  conv.window.pad_top = conv.window.pad_bottom = size / 2;
  conv.window.pad_left = conv.window.pad_right = size / 2;
  return conv;
}

std::int64_t RoundedRoot(double square) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::lround(std::sqrt(square))));
}

}  // namespace

// [S, hidden] -> [S, 2 inter] -> gate, up; silu(gate) * up -> [S, hidden], or with GELU between.
Result<KernelPlan> BuildFeedForward(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::int64_t hidden = graph["hidden"], inter = graph["inter"];
  const std::string x = graph.Input(Shape{graph["S"], hidden});
  std::string inner;
  if (kernel.op == "ffn_gated") {
    const std::string both = graph.Add(Dense(2 * inter), {x});
    const std::string gate = graph.Add(Slice{1, 0, inter, 1}, {both});
    const std::string up = graph.Add(Slice{1, inter, 2 * inter, 1}, {both});
    const std::string active = graph.Add(Kind(ElementwiseKind::kSilu), {gate});
    inner = graph.Add(Kind(ElementwiseKind::kMul), {active, up});
    graph.Add(Dense(hidden), {inner});
  } else {
    inner = graph.Add(Kind(ElementwiseKind::kGelu), {graph.Add(Dense(inter, true), {x})});
    graph.Add(Dense(hidden, true), {inner});
  }
  return std::move(graph).Finish();
}

// One fused kernel. Keys and values are inputs of the kernel in every variant, so that a cache
// counts as read once, and nothing is fetched before the launch.
Result<KernelPlan> BuildAttention(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  Attention attention;
  std::int64_t batch = graph.Get("B", 1), queries = 1, keys = 1;
  attention.head_dim = graph["hd"];
  if (kernel.op == "attention") {
    attention.heads = attention.kv_heads = graph["heads"];
    queries = keys = graph["seq"];
  } else {
    attention.heads = graph["Hq"];
    attention.kv_heads = graph["Hkv"];
    const bool ragged = kernel.op == "attention_dec_gqa";
    keys = ragged ? graph["kv"] : graph["S"];
    if (ragged) queries = graph["q"];
    if (kernel.op == "attention_prefill") queries = keys;
    attention.causal = ragged ? queries > 1 : graph.Get("causal", 0) != 0;
  }
  const std::string q = graph.Input(Shape{batch, queries, attention.heads * attention.head_dim});
  const Shape kv{batch, keys, attention.kv_heads * attention.head_dim};
  const std::string k = graph.Input(kv);
  const std::string v = graph.Input(kv);
  graph.Add(attention, {q, k, v});
  return std::move(graph).Finish();
}

// Scores [heads, S, S] go through memory between the products, as a compiler without a fused
// attention kernel has it.
Result<KernelPlan> BuildMaterialisedAttention(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const Shape shape{graph["heads"], graph["S"], graph["hd"]};
  const std::string q = graph.Input(shape);
  const std::string k = graph.Input(shape);
  const std::string v = graph.Input(shape);
  Matmul scores;
  scores.transpose_rhs = true;
  const std::string weights = graph.Add(Softmax{}, {graph.Add(scores, {q, k})});
  graph.Add(Matmul{}, {weights, v});
  return std::move(graph).Finish();
}

// Two 3x3 convolutions with ReLU and a sum, on a square image of M pixels, K/9 -> N channels.
Result<KernelPlan> BuildResnetBlock(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::int64_t side = RoundedRoot(static_cast<double>(graph["M"]));
  const std::int64_t channels = graph["K"] / 9, filters = graph["N"];
  if (side * side != graph["M"] || channels * 9 != graph["K"]) {
    return Error("'descriptor' needs M to be a square and K to be 9 times the input channels");
  }
  const std::string x = graph.Input(Shape{1, channels, side, side});
  const std::string first =
      graph.Add(Kind(ElementwiseKind::kRelu), {graph.Add(SquareConv(filters, 3), {x})});
  const std::string second = graph.Add(SquareConv(filters, 3), {first});
  const std::string skip = channels == filters ? x : graph.Add(SquareConv(filters, 1), {x});
  const std::string sum = graph.Add(Kind(ElementwiseKind::kAdd), {second, skip});
  graph.Add(Kind(ElementwiseKind::kRelu), {sum});
  graph.Note("the block's inner structure is not in the trace: conv, relu, conv, add, relu taken");
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildSelfAttentionBlock(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::int64_t width = graph["width"], head_dim = graph["hd"];
  if (width % head_dim != 0) return Error("'descriptor' needs hd to divide width");
  const std::string x = graph.Input(Shape{1, graph["seq"], width});
  Attention attention;
  attention.heads = attention.kv_heads = width / head_dim;
  attention.head_dim = head_dim;
  const std::string q = graph.Add(Dense(width), {x});
  const std::string k = graph.Add(Dense(width), {x});
  const std::string v = graph.Add(Dense(width), {x});
  graph.Add(Dense(width), {graph.Add(attention, {q, k, v})});
  graph.Note("the block's inner structure is not in the trace: projections and attention taken");
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildConvStack(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  std::int64_t height = graph["H"], width = graph["W"];
  std::string x = graph.Input(Shape{1, graph["Cin"], height, width});
  for (std::int64_t layer = 0; layer < graph["layers"]; ++layer) {
    Conv2d conv;
    conv.out_channels = graph["K"];
    Window& window = conv.window;
    window.kernel_h = graph["R"];
    window.kernel_w = graph["S"];
    window.stride_h = window.stride_w = graph["stride"];
    PadWindow(kernel, height, width, &window);
    x = graph.Add(conv, {x});
    height = WindowOutput(height, window.kernel_h, window.stride_h,
                          window.pad_top + window.pad_bottom, 1, false);
    width = WindowOutput(width, window.kernel_w, window.stride_w,
                         window.pad_left + window.pad_right, 1, false);
  }
  return std::move(graph).Finish();
}

// in -> units, layers - 1 times units -> units, units -> out.
Result<KernelPlan> BuildDenseStack(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  std::string x = graph.Input(Shape{1, graph["in"]});
  for (std::int64_t layer = 0; layer < graph["layers"]; ++layer) {
    x = graph.Add(Dense(graph["units"]), {x});
  }
  graph.Add(Dense(graph["out"]), {x});
  return std::move(graph).Finish();
}

// `weights` split evenly over square layers. Every weight is used ops_per_weight_byte times: once
// per batch entry in dense layers; more means 3x3 convolutions on that many positions.
Result<KernelPlan> BuildApplication(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::int64_t layers = graph["layers"], batch = graph["batch"];
  const double per_layer = static_cast<double>(graph["weights"]) / static_cast<double>(layers);
  const double uses = static_cast<double>(graph["ops_per_weight_byte"]);
  const std::int64_t side = RoundedRoot(uses / static_cast<double>(batch));
  const bool dense = side <= 1;
  const std::int64_t width = RoundedRoot(dense ? per_layer : per_layer / 9.0);
  std::string x = graph.Input(dense ? Shape{batch, width} : Shape{batch, width, side, side});
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    x = dense ? graph.Add(Dense(width), {x}) : graph.Add(SquareConv(width, 3), {x});
  }
  graph.Note("application " + kernel.text + " taken as " + std::to_string(layers) + " equal " +
             (dense ? "dense layers" : "3x3 convolutions") + " of width " + std::to_string(width));
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildAllReduce(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const Shape shape{graph["bytes"]};
  const std::string x = graph.Input(shape, DType::kInt8);
  graph.Add(DeclaredMovement{"allreduce", TensorType{shape, DType::kInt8, Layout::kRowMajor}}, {x});
  graph.Note("allreduce between chips is priced as moving its bytes once in and once out");
  return std::move(graph).Finish();
}

}  // namespace cyclecast
