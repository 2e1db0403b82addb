// Fused kernels of a compiler, known only by their parameters and key operations:
//
//   kernel=2:fusion.261;params=f32[32, 4096]|f32[32, 1000]|...;key_ops=convolution:f32[4096, 1000]
//
// A convolution or product is rebuilt from the parameters whose extents fit its result; a reduction
// from the largest parameter; anything else is a pass over the largest parameter. The other
// parameters are operands of an elementwise step. See operator_builders.h.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "traces/descriptor.h"
#include "traces/operator_builders.h"
#include "traces/value_text.h"

namespace cyclecast {
namespace {

struct XlaTensor {
  Shape shape;
  DType dtype = DType::kFp32;
  bool operator==(const XlaTensor&) const = default;
};

struct XlaKernel {
  std::string name;                    // "fusion.261"
  std::vector<XlaTensor> params;       // distinct ones, in order
  std::vector<std::string> key_kinds;  // "convolution", "reduce"
  std::vector<XlaTensor> key_results;  // of the same index
};

// Element types that are no numbers of ours, by width.
DType WidthOf(std::string_view name) {
  if (name == "pred") return DType::kUint8;
  if (name == "u16") return DType::kInt16;
  if (name == "u32") return DType::kInt32;
  DType dtype = DType::kFp32;
  return ParseValue(name, {}, &dtype).empty() ? dtype : DType::kFp32;
}

// "f32[32, 4096]".
std::optional<XlaTensor> ParseTensor(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') return std::nullopt;
  XlaTensor tensor;
  tensor.dtype = WidthOf(text.substr(0, open));
  std::vector<std::int64_t> dims;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view digits = rest.substr(0, comma);
    while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
    std::int64_t extent = 0;
    if (!ParseValue(digits, {1, 4294967296.0}, &extent).empty()) return std::nullopt;
    dims.push_back(extent);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  tensor.shape = Shape(std::move(dims));
  return tensor;
}

// Calls visit for the parts of "a|b|c".
template <class Visit>
bool ForEachTensorText(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::size_t bar = list.find('|');
    if (!visit(list.substr(0, bar))) return false;
    list = bar == std::string_view::npos ? std::string_view() : list.substr(bar + 1);
  }
  return true;
}

bool TakeParams(std::string_view list, XlaKernel* kernel) {
  return ForEachTensorText(list, [&](std::string_view part) {
    const std::optional<XlaTensor> tensor = ParseTensor(part);
    if (!tensor) return false;
    const auto& known = kernel->params;
    if (std::find(known.begin(), known.end(), *tensor) == known.end()) {
      kernel->params.push_back(*tensor);
    }
    return true;
  });
}

bool TakeKeyOps(std::string_view list, XlaKernel* kernel) {
  return ForEachTensorText(list, [&](std::string_view part) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) return false;
    const std::optional<XlaTensor> tensor = ParseTensor(part.substr(colon + 1));
    if (!tensor) return false;
    kernel->key_kinds.emplace_back(part.substr(0, colon));
    kernel->key_results.push_back(*tensor);
    return true;
  });
}

Result<XlaKernel> Parse(const std::string& text) {
  XlaKernel kernel;
  const std::string wrong =
      ForEachPart(text, [&](std::string_view key, std::string_view value) -> std::string {
        bool ok = true;
        if (key == "kernel") kernel.name = std::string(value.substr(value.find(':') + 1));
        if (key == "params") ok = TakeParams(value, &kernel);
        if (key == "key_ops") ok = TakeKeyOps(value, &kernel);
        if (ok) return "";
        return "gives " + std::string(key) + " that are no list such as f32[32, 4096]|f32[]";
      });
  if (!wrong.empty()) return Error("'text' " + wrong);
  return kernel;
}

bool Has(const Shape& shape, std::int64_t extent) {
  return std::find(shape.dims().begin(), shape.dims().end(), extent) != shape.dims().end();
}

// The parameter with most elements, or nothing.
const XlaTensor* Largest(const XlaKernel& kernel) {
  const XlaTensor* best = nullptr;
  for (const XlaTensor& one : kernel.params) {
    if (best == nullptr || one.shape.Elements() > best->shape.Elements()) best = &one;
  }
  return best;
}

// A stride-1 convolution [N,H,W,C] x [R,S,C,K] -> [N,H,W,K] among the parameters.
std::optional<std::string> AddConvolution(const XlaKernel& kernel, const Shape& out,
                                          PlanGraph* graph) {
  if (out.rank() != 4) return std::nullopt;
  for (const XlaTensor& image : kernel.params) {
    for (const XlaTensor& filter : kernel.params) {
      const Shape &x = image.shape, &f = filter.shape;
      if (x.rank() != 4 || f.rank() != 4 || &image == &filter) continue;
      if (x[0] != out[0] || x[1] != out[1] || x[2] != out[2]) continue;
      if (f[2] != x[3] || f[3] != out[3] || f[0] % 2 == 0 || f[1] % 2 == 0) continue;
      Conv2d conv;
      conv.out_channels = out[3];
      conv.window.kernel_h = f[0];
      conv.window.kernel_w = f[1];
      conv.window.pad_top = conv.window.pad_bottom = f[0] / 2;
      conv.window.pad_left = conv.window.pad_right = f[1] / 2;
      return graph->Add(conv, {graph->Input(Shape{x[0], x[3], x[1], x[2]}, image.dtype)});
    }
  }
  return std::nullopt;
}

// A product [M,K] x [K,N] -> out = [M,N] among the parameters of rank 2, in any orientation.
std::optional<std::string> AddProduct(const XlaKernel& kernel, const Shape& out, PlanGraph* graph) {
  if (out.rank() != 2) return std::nullopt;
  for (const XlaTensor& left : kernel.params) {
    for (const XlaTensor& right : kernel.params) {
      const Shape &a = left.shape, &b = right.shape;
      if (a.rank() != 2 || b.rank() != 2 || &left == &right) continue;
      if (!IsFloat(left.dtype) || !IsFloat(right.dtype)) continue;  // masks
      if (!Has(a, out[0]) || !Has(b, out[1]) || a == out || b == out) continue;
      const std::int64_t k = a.Elements() / out[0];
      if (k * out[1] != b.Elements()) continue;
      const std::string lhs = graph->Input(Shape{out[0], k}, left.dtype);
      return graph->Add(Matmul{}, {lhs, graph->Input(Shape{k, out[1]}, left.dtype)});
    }
  }
  return std::nullopt;
}

// The sum of the largest parameter over all axes that the result has not (matched from the end).
std::optional<std::string> AddReduction(const XlaTensor& in, const Shape& out, PlanGraph* graph) {
  Reduce reduce;
  reduce.keep_dims = false;
  std::size_t matched = 0;
  for (std::size_t i = 0; i < in.shape.rank(); ++i) {
    const std::size_t axis = in.shape.rank() - 1 - i;
    if (matched < out.rank() && out.FromEnd(matched) == in.shape[axis]) {
      ++matched;
    } else {
      reduce.axes.push_back(static_cast<std::int64_t>(axis));
    }
  }
  if (matched != out.rank() || reduce.axes.empty()) return std::nullopt;
  return graph->Add(reduce, {graph->Input(in.shape, in.dtype)});
}

}  // namespace

Result<KernelPlan> BuildXlaFusion(const OpKernel& kernel) {
  const Result<XlaKernel> parsed = Parse(kernel.text);
  if (!parsed) return parsed.error();
  PlanGraph graph(kernel);
  graph.Note("fused kernel " + parsed->name +
             " is priced as its key operation; its elementwise steps are not in the trace");
  const XlaTensor* largest = Largest(*parsed);
  for (std::size_t i = 0; i < parsed->key_kinds.size(); ++i) {
    const Shape& out = parsed->key_results[i].shape;
    std::optional<std::string> added;
    if (parsed->key_kinds[i] == "convolution") {
      added = AddConvolution(*parsed, out, &graph);
      if (!added) added = AddProduct(*parsed, out, &graph);
    } else if (parsed->key_kinds[i] == "reduce" && largest != nullptr) {
      added = AddReduction(*largest, out, &graph);
    }
    if (added) return std::move(graph).Finish();
  }
  if (largest != nullptr) {
    graph.Add(Elementwise{ElementwiseKind::kIdentity, 0},
              {graph.Input(largest->shape, largest->dtype)});
    return std::move(graph).Finish();
  }
  graph.Note("the trace gives no extents of this kernel: one vector register is taken");
  const TensorType one{Shape{8, 128}, kernel.dtype, Layout::kRowMajor};
  graph.Add(DeclaredMovement{parsed->name, one}, {graph.Input(one.shape)});
  return std::move(graph).Finish();
}

}  // namespace cyclecast
