// Products, convolutions, elementwise work, normalisation, streams; see operator_builders.h.
#include <array>
#include <utility>

#include "traces/operator_builders.h"

namespace cyclecast {
namespace {

// Names in traces of elementwise kinds that are called otherwise here.
using KindAlias = std::pair<std::string_view, ElementwiseKind>;
constexpr std::array<KindAlias, 3> kAliases = {{{"parametric_relu", ElementwiseKind::kPrelu},
                                                {"linear", ElementwiseKind::kScale},
                                                {"binary_step", ElementwiseKind::kStep}}};

ElementwiseKind KindOf(const std::string& name) {
  for (const auto& [alias, kind] : kAliases) {
    if (alias == name) return kind;
  }
  const std::optional<ElementwiseKind> kind = ParseElementwiseKind(name);
  CYCLECAST_CHECK(kind.has_value());
  return *kind;
}

Elementwise Kind(ElementwiseKind kind) { return Elementwise{kind, 0}; }

}  // namespace

std::vector<std::string> ElementwiseOperatorNames() {
  std::vector<std::string> names = ElementwiseKindNames();
  for (const auto& [alias, kind] : kAliases) names.emplace_back(alias);
  return names;
}

// Both operands are inputs of the kernel: neither is fetched before it starts.
Result<KernelPlan> BuildMatmul(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::int64_t batch = graph.Get("B", 0);
  Shape lhs{graph["M"], graph["K"]}, rhs{graph["K"], graph["N"]};
  if (batch > 0) {
    lhs = Shape{batch, graph["M"], graph["K"]};
    rhs = Shape{batch, graph["K"], graph["N"]};
  }
  const std::string a = graph.Input(std::move(lhs));
  const std::string b = graph.Input(std::move(rhs));
  graph.Add(Matmul{}, {a, b});
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildConv2d(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::string image = graph.Input(Shape{graph["N"], graph["C"], graph["H"], graph["W"]});
  Conv2d conv;
  conv.out_channels = graph["K"];
  conv.groups = graph.Get("groups", 1);
  conv.window.kernel_h = graph["R"];
  conv.window.kernel_w = graph["S"];
  conv.window.stride_h = conv.window.stride_w = graph["stride"];
  PadWindow(kernel, graph["H"], graph["W"], &conv.window);
  graph.Add(conv, {image});
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildWindowed(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::string image = graph.Input(Shape{graph["N"], graph["C"], graph["H"], graph["W"]});
  Window window;
  window.kernel_h = graph["R"];
  window.kernel_w = graph["S"];
  window.stride_h = window.stride_w = graph["stride"];
  PadWindow(kernel, graph["H"], graph["W"], &window);
  if (kernel.op == "depthwise_conv2d") {
    graph.Add(DepthwiseConv2d{window, 1, false}, {image});
  } else {
    Pool pool;
    pool.kind = kernel.op == "max_pool" ? PoolKind::kMax : PoolKind::kAverage;
    pool.window = window;
    graph.Add(pool, {image});
  }
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildElementwise(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const ElementwiseKind kind = KindOf(kernel.op);
  const Shape shape = ShapeOf(kernel);
  if (shape.Elements() != graph["n"]) {
    return Error("'descriptor' gives n as " + std::to_string(graph["n"]) + ", but the shape " +
                 shape.Text() + " has " + std::to_string(shape.Elements()) + " elements");
  }
  std::vector<std::string> inputs;
  for (int i = 0; i < Arity(kind); ++i) inputs.push_back(graph.Input(shape));
  graph.Add(Kind(kind), std::move(inputs));
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildSoftmax(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  graph.Add(Softmax{}, {graph.Input(Shape{graph.Get("B", 1) * graph["rows"], graph["cols"]})});
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildNorm(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  Norm norm;
  norm.kind = kernel.op == "rmsnorm" ? NormKind::kRms : NormKind::kLayer;
  graph.Add(norm, {graph.Input(Shape{graph.Get("B", 1) * graph["rows"], graph["cols"]})});
  return std::move(graph).Finish();
}

// Only the side of the off-chip memory takes time that counts; schedules know no other level. So
// the copy is a pass that reads everything and writes next to nothing.
Result<KernelPlan> BuildCopy(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  Reduce pass;
  pass.kind = ReduceKind::kMax;
  graph.Add(pass, {graph.Input(Shape{ShapeOf(kernel).Elements()})});
  graph.Note("the copy is priced as reading its input; the on-chip side is not modelled");
  return std::move(graph).Finish();
}

// The usual memory benchmark: each array holds MB MiB.
Result<KernelPlan> BuildStream(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  constexpr std::int64_t kRow = 1024;
  const std::int64_t elements = graph["MB"] * (std::int64_t{1} << 20) * 8 / BitsOf(kernel.dtype);
  const Shape shape{elements / kRow, kRow};
  std::string result = graph.Add(Kind(ElementwiseKind::kScale), {graph.Input(shape)});
  if (kernel.op == "stream_triad") {
    result = graph.Add(Kind(ElementwiseKind::kAdd), {graph.Input(shape), result});
  }
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildReduce(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  Reduce reduce;
  reduce.axes = {1};
  graph.Add(reduce, {graph.Input(Shape{graph["rows"], graph["cols"]})});
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildTranspose(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  graph.Add(Transpose{{1, 0}}, {graph.Input(Shape{graph["rows"], graph["cols"]})});
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildReadOnly(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  graph.Add(Reduce{}, {graph.Input(Shape{graph["n"]})});
  return std::move(graph).Finish();
}

Result<KernelPlan> BuildDotProduct(const OpKernel& kernel) {
  PlanGraph graph(kernel);
  const std::int64_t n = graph["n"];
  if (kernel.op == "matmul_dot_product") {
    const std::string a = graph.Input(Shape{1, n});
    graph.Add(Matmul{}, {a, graph.Input(Shape{n, 1})});
    return std::move(graph).Finish();
  }
  const std::string a = graph.Input(Shape{n});
  const std::string product = graph.Add(Kind(ElementwiseKind::kMul), {a, graph.Input(Shape{n})});
  graph.Add(Reduce{}, {product});
  return std::move(graph).Finish();
}

}  // namespace cyclecast
