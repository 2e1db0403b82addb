// Ops to trace kernels; see kernel_of_op.h.
#include "traces/kernel_of_op.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace cyclecast {
namespace {

using Dims = std::vector<std::pair<std::string, std::int64_t>>;
using Inputs = std::vector<TensorType>;

OpKernel Named(std::string op, Dims dims) {
  OpKernel kernel;
  kernel.op = std::move(op);
  kernel.dims = std::move(dims);
  return kernel;
}

// Traces know square strides and one padding: the window's own at its top.
void AppendWindow(const Window& window, Dims* dims) {
  dims->emplace_back("R", window.kernel_h);
  dims->emplace_back("S", window.kernel_w);
  dims->emplace_back("stride", window.stride_h);
  dims->emplace_back("pad", std::max(window.pad_top, window.pad_bottom));
}

Dims ImageDims(const Shape& image) {
  return {{"N", image[0]}, {"H", image[2]}, {"W", image[3]}, {"C", image[1]}};
}

Dims RowsAndColumns(const Shape& shape) {
  const std::int64_t columns = shape.rank() == 0 ? 1 : shape.FromEnd(0);
  return {{"rows", shape.Elements() / columns}, {"cols", columns}};
}

// One overload per operator that traces have; the others end in the last one.
struct Converter {
  const Inputs& inputs;
  const TensorType& output;

  std::optional<OpKernel> operator()(const Matmul& op) const {
    const std::optional<GemmView> view = AsGemm(op, inputs, output);
    if (!view) return std::nullopt;
    Dims dims = {{"M", view->m}, {"K", view->k}, {"N", view->n}};
    if (view->batch == 1) return Named("matmul", std::move(dims));
    dims.insert(dims.begin(), {"B", view->batch});
    return Named("batched_matmul", std::move(dims));
  }
  std::optional<OpKernel> operator()(const Conv2d& op) const {
    Dims dims = ImageDims(inputs[0].shape);
    dims.emplace_back("K", op.out_channels);
    AppendWindow(op.window, &dims);
    if (op.groups > 1) dims.emplace_back("groups", op.groups);
    return Named("conv2d", std::move(dims));
  }
  std::optional<OpKernel> operator()(const DepthwiseConv2d& op) const {
    return Windowed("depthwise_conv2d", op.window);
  }
  std::optional<OpKernel> operator()(const Pool& op) const {
    Window window = op.window;
    if (op.global) {
      window = Window{};
      window.kernel_h = inputs[0].shape[2];
      window.kernel_w = inputs[0].shape[3];
    }
    return Windowed(op.kind == PoolKind::kMax ? "max_pool" : "average_pool", window);
  }
  std::optional<OpKernel> operator()(const Elementwise& op) const {
    Dims dims;
    const Shape& shape = output.shape;
    for (std::size_t i = 0; shape.rank() <= 4 && i < shape.rank(); ++i) {
      dims.emplace_back("d" + std::to_string(i), shape[i]);
    }
    dims.emplace_back("n", shape.Elements());
    return Named(std::string(Name(op.kind)), std::move(dims));
  }
  std::optional<OpKernel> operator()(const Softmax& /*op*/) const {
    return Named("softmax", RowsAndColumns(inputs[0].shape));
  }
  std::optional<OpKernel> operator()(const Norm& op) const {
    if (op.kind != NormKind::kLayer && op.kind != NormKind::kRms) return std::nullopt;
    return Named(op.kind == NormKind::kRms ? "rmsnorm" : "layernorm",
                 RowsAndColumns(inputs[0].shape));
  }
  std::optional<OpKernel> operator()(const Attention& op) const {
    const Shape& query = inputs[0].shape;
    const bool decode = query[1] == 1;
    const std::int64_t keys =
        inputs.size() == 3 ? inputs[1].shape[1] + op.cache_length : op.cache_length + query[1];
    Dims dims = {
        {"B", query[0]}, {"S", keys}, {"Hq", op.heads}, {"Hkv", op.kv_heads}, {"hd", op.head_dim}};
    if (op.causal && !decode) dims.emplace_back("causal", 1);
    return Named(decode ? "attention_decode" : "attention_prefill", std::move(dims));
  }
  std::optional<OpKernel> operator()(const Reduce& /*op*/) const {
    return Named("reduce_sum", RowsAndColumns(inputs[0].shape));
  }
  std::optional<OpKernel> operator()(const Transpose& /*op*/) const {
    return Named("transpose", RowsAndColumns(inputs[0].shape));
  }
  template <class Other>
  std::optional<OpKernel> operator()(const Other& /*op*/) const {
    return std::nullopt;
  }

  OpKernel Windowed(const char* name, const Window& window) const {
    Dims dims = ImageDims(inputs[0].shape);
    AppendWindow(window, &dims);
    return Named(name, std::move(dims));
  }
};

}  // namespace

std::optional<OpKernel> KernelOf(const Workload& workload, OpId id) {
  const Inputs inputs = workload.InputTypes(id);
  const TensorType& output = workload.OutputType(id);
  std::optional<OpKernel> kernel = std::visit(Converter{inputs, output}, workload.op(id).op);
  if (kernel) kernel->dtype = inputs[0].dtype;
  return kernel;
}

}  // namespace cyclecast
