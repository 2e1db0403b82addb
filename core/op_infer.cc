// Shape inference: one function per operator; see InferOutput in op.h.
#include <algorithm>

#include "core/op.h"

namespace cyclecast {
namespace {

using Inputs = std::vector<TensorType>;

Error ShapeError(std::string_view op, const std::string& what) {
  return Error(std::string(op) + ": " + what);
}

Status NeedInputs(std::string_view op, const Inputs& inputs, std::size_t low, std::size_t high) {
  if (inputs.size() >= low && inputs.size() <= high) return Unit{};
  std::string want = std::to_string(low);
  if (high != low) want += high == SIZE_MAX ? " or more" : " to " + std::to_string(high);
  return ShapeError(op, "takes " + want + " inputs, got " + std::to_string(inputs.size()));
}

Status NeedImage(std::string_view op, const Inputs& inputs) {
  if (Status s = NeedInputs(op, inputs, 1, 1); !s.ok()) return s;
  if (inputs[0].shape.rank() == 4) return Unit{};
  return ShapeError(op, "needs an image of rank 4 (N, C, H, W), got " + inputs[0].shape.Text());
}

// An axis as written (negative counts from the end) to an index, or an error.
Result<std::size_t> Axis(std::string_view op, std::int64_t axis, std::size_t rank) {
  const std::int64_t signed_rank = static_cast<std::int64_t>(rank);
  const std::int64_t index = axis < 0 ? axis + signed_rank : axis;
  if (index >= 0 && index < signed_rank) return static_cast<std::size_t>(index);
  return ShapeError(
      op, "axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank));
}

TensorType Like(const TensorType& input, Shape shape) {
  return {std::move(shape), input.dtype, input.layout};
}

Status CheckWindow(std::string_view op, const Window& w) {
  if (w.kernel_h < 1 || w.kernel_w < 1) return ShapeError(op, "kernel must be at least 1");
  if (w.stride_h < 1 || w.stride_w < 1) return ShapeError(op, "stride must be at least 1");
  if (w.dilation_h < 1 || w.dilation_w < 1) return ShapeError(op, "dilation must be at least 1");
  if (std::min({w.pad_top, w.pad_bottom, w.pad_left, w.pad_right}) < 0) {
    return ShapeError(op, "padding must not be negative");
  }
  return Unit{};
}

// The output image [N, channels, OH, OW] of a window over `input`.
Result<TensorType> Windowed(std::string_view op, const TensorType& input, const Window& w,
                            std::int64_t channels, bool ceil_mode) {
  if (Status s = CheckWindow(op, w); !s.ok()) return s.error();
  const Shape& in = input.shape;
  const std::int64_t h = WindowOutput(in[2], w.kernel_h, w.stride_h, w.pad_top + w.pad_bottom,
                                      w.dilation_h, ceil_mode);
  const std::int64_t width = WindowOutput(in[3], w.kernel_w, w.stride_w, w.pad_left + w.pad_right,
                                          w.dilation_w, ceil_mode);
  if (h < 1 || width < 1) {
    return ShapeError(op, "a " + std::to_string(w.kernel_h) + "x" + std::to_string(w.kernel_w) +
                              " window does not fit a padded image of " +
                              std::to_string(in[2] + w.pad_top + w.pad_bottom) + "x" +
                              std::to_string(in[3] + w.pad_left + w.pad_right) +
                              "; use a smaller kernel or more padding");
  }
  return Like(input, Shape{in[0], channels, h, width});
}

Status CheckGroups(std::string_view op, std::int64_t in, std::int64_t out, std::int64_t groups) {
  if (out < 1) return ShapeError(op, "needs at least 1 output channel");
  if (groups < 1 || in % groups != 0 || out % groups != 0) {
    return ShapeError(op, "groups (" + std::to_string(groups) + ") must divide the " +
                              std::to_string(in) + " input and " + std::to_string(out) +
                              " output channels");
  }
  return Unit{};
}

Result<TensorType> Infer(const Matmul& op, const Inputs& inputs) {
  if (Status s = NeedInputs("matmul", inputs, 1, 2); !s.ok()) return s.error();
  std::vector<std::int64_t> lhs = inputs[0].shape.dims();
  if (lhs.empty()) return ShapeError("matmul", "the left operand is a scalar");
  if (op.transpose_lhs && lhs.size() >= 2) std::swap(lhs[lhs.size() - 1], lhs[lhs.size() - 2]);
  if (inputs.size() == 1) {
    if (op.out_features < 1) {
      return ShapeError("matmul", "needs 'out' (the weight's columns) or a second input");
    }
    lhs.back() = op.out_features;
    return Like(inputs[0], Shape(std::move(lhs)));
  }
  std::vector<std::int64_t> rhs = inputs[1].shape.dims();
  if (lhs.size() < 2 || rhs.size() < 2) {
    return ShapeError("matmul", "both operands need rank 2 or more, got " + inputs[0].shape.Text() +
                                    " and " + inputs[1].shape.Text());
  }
  if (op.transpose_rhs) std::swap(rhs[rhs.size() - 1], rhs[rhs.size() - 2]);
  if (lhs.back() != rhs[rhs.size() - 2]) {
    return ShapeError("matmul", "contraction extents differ: " + std::to_string(lhs.back()) +
                                    " on the left, " + std::to_string(rhs[rhs.size() - 2]) +
                                    " on the right");
  }
  const std::int64_t m = lhs[lhs.size() - 2], n = rhs.back();
  lhs.resize(lhs.size() - 2);
  rhs.resize(rhs.size() - 2);
  const auto batch = BroadcastShape(Shape(lhs), Shape(rhs));
  if (!batch) return ShapeError("matmul", "batch extents do not broadcast");
  std::vector<std::int64_t> dims = batch->dims();
  dims.push_back(m);
  dims.push_back(n);
  return Like(inputs[0], Shape(std::move(dims)));
}

Result<TensorType> Infer(const Conv2d& op, const Inputs& inputs) {
  if (Status s = NeedImage("conv2d", inputs); !s.ok()) return s.error();
  const Status groups = CheckGroups("conv2d", inputs[0].shape[1], op.out_channels, op.groups);
  if (!groups.ok()) return groups.error();
  return Windowed("conv2d", inputs[0], op.window, op.out_channels, false);
}

Result<TensorType> Infer(const DepthwiseConv2d& op, const Inputs& inputs) {
  if (Status s = NeedImage("depthwise_conv2d", inputs); !s.ok()) return s.error();
  if (op.multiplier < 1) return ShapeError("depthwise_conv2d", "multiplier must be at least 1");
  return Windowed("depthwise_conv2d", inputs[0], op.window, inputs[0].shape[1] * op.multiplier,
                  false);
}

Result<TensorType> Infer(const TransposedConv2d& op, const Inputs& inputs) {
  constexpr std::string_view kName = "transposed_conv2d";
  if (Status s = NeedImage(kName, inputs); !s.ok()) return s.error();
  const Shape& in = inputs[0].shape;
  if (Status s = CheckGroups(kName, in[1], op.out_channels, op.groups); !s.ok()) return s.error();
  const Window& w = op.window;
  if (Status s = CheckWindow(kName, w); !s.ok()) return s.error();
  const std::int64_t h = (in[2] - 1) * w.stride_h - w.pad_top - w.pad_bottom +
                         w.dilation_h * (w.kernel_h - 1) + op.output_pad_h + 1;
  const std::int64_t width = (in[3] - 1) * w.stride_w - w.pad_left - w.pad_right +
                             w.dilation_w * (w.kernel_w - 1) + op.output_pad_w + 1;
  if (h < 1 || width < 1) return ShapeError(kName, "padding leaves no output");
  return Like(inputs[0], Shape{in[0], op.out_channels, h, width});
}

Result<TensorType> Infer(const Pool& op, const Inputs& inputs) {
  if (Status s = NeedImage("pool", inputs); !s.ok()) return s.error();
  const Shape& in = inputs[0].shape;
  if (op.global) return Like(inputs[0], Shape{in[0], in[1], 1, 1});
  return Windowed("pool", inputs[0], op.window, in[1], op.ceil_mode);
}

Result<TensorType> Infer(const Elementwise& op, const Inputs& inputs) {
  const auto arity = static_cast<std::size_t>(Arity(op.kind));
  const std::size_t low = op.constant_elements > 0 ? 1 : arity;
  if (Status s = NeedInputs(Name(op.kind), inputs, low, arity); !s.ok()) return s.error();
  Shape shape = inputs[0].shape;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const auto both = BroadcastShape(shape, inputs[i].shape);
    if (!both) {
      return ShapeError(Name(op.kind), "shapes " + shape.Text() + " and " + inputs[i].shape.Text() +
                                           " do not broadcast");
    }
    shape = *both;
  }
  return Like(inputs[0], std::move(shape));
}

Result<TensorType> Infer(const Softmax& op, const Inputs& inputs) {
  if (Status s = NeedInputs("softmax", inputs, 1, 1); !s.ok()) return s.error();
  const auto axis = Axis("softmax", op.axis, inputs[0].shape.rank());
  if (!axis.ok()) return axis.error();
  return inputs[0];
}

Result<TensorType> Infer(const Norm& op, const Inputs& inputs) {
  if (Status s = NeedInputs("norm", inputs, 1, 1); !s.ok()) return s.error();
  const auto axis = Axis("norm", op.axis, inputs[0].shape.rank());
  if (!axis.ok()) return axis.error();
  return inputs[0];
}

Result<TensorType> Infer(const Attention& op, const Inputs& inputs) {
  constexpr std::string_view kName = "attention";
  if (inputs.size() != 1 && inputs.size() != 3) {
    return ShapeError(kName, "takes Q alone (with a cache) or Q, K and V; got " +
                                 std::to_string(inputs.size()) + " inputs");
  }
  if (op.heads < 1 || op.kv_heads < 1 || op.heads % op.kv_heads != 0 || op.head_dim < 1) {
    return ShapeError(kName, "kv_heads (" + std::to_string(op.kv_heads) + ") must divide heads (" +
                                 std::to_string(op.heads) + ")");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = inputs[i].shape;
    const std::int64_t width = (i == 0 ? op.heads : op.kv_heads) * op.head_dim;
    if (shape.rank() != 3 || shape[2] != width) {
      return ShapeError(kName, std::string(i == 0 ? "Q" : "K and V") +
                                   " must be [batch, positions, " + std::to_string(width) +
                                   "], got " + shape.Text());
    }
  }
  if (inputs.size() == 3 && inputs[1].shape != inputs[2].shape) {
    return ShapeError(kName, "K and V must have the same shape");
  }
  return inputs[0];
}

Result<TensorType> Infer(const Reduce& op, const Inputs& inputs) {
  if (Status s = NeedInputs("reduce", inputs, 1, 1); !s.ok()) return s.error();
  const Shape& in = inputs[0].shape;
  std::vector<bool> reduced(in.rank(), op.axes.empty());
  for (std::int64_t written : op.axes) {
    const auto axis = Axis("reduce", written, in.rank());
    if (!axis.ok()) return axis.error();
    reduced[*axis] = true;
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) dims.push_back(in[i]);
    if (reduced[i] && op.keep_dims) dims.push_back(1);
  }
  return Like(inputs[0], Shape(std::move(dims)));
}

Result<TensorType> Infer(const Transpose& op, const Inputs& inputs) {
  if (Status s = NeedInputs("transpose", inputs, 1, 1); !s.ok()) return s.error();
  const Shape& in = inputs[0].shape;
  std::vector<std::int64_t> sorted = op.permutation;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < in.rank(); ++i) {
    if (sorted.size() != in.rank() || sorted[i] != static_cast<std::int64_t>(i)) {
      return ShapeError("transpose", "the permutation must name each of the " +
                                         std::to_string(in.rank()) + " axes once");
    }
  }
  std::vector<std::int64_t> dims;
  for (std::int64_t axis : op.permutation) dims.push_back(in[static_cast<std::size_t>(axis)]);
  return Like(inputs[0], Shape(std::move(dims)));
}

Result<TensorType> Infer(const Reshape& op, const Inputs& inputs) {
  if (Status s = NeedInputs("reshape", inputs, 1, 1); !s.ok()) return s.error();
  const std::int64_t total = inputs[0].shape.Elements();
  std::vector<std::int64_t> dims = op.shape.dims();
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != -1) {
      known *= dims[i];
    } else if (open) {
      return ShapeError("reshape", "only one extent may be -1");
    } else {
      open = i;
    }
  }
  if (open && known > 0 && total % known == 0) dims[*open] = total / known;
  Shape shape(std::move(dims));
  if (shape.Elements() != total) {
    return ShapeError("reshape", "cannot turn " + inputs[0].shape.Text() + " (" +
                                     std::to_string(total) + " elements) into " + op.shape.Text());
  }
  return Like(inputs[0], std::move(shape));
}

Result<TensorType> Infer(const Concat& op, const Inputs& inputs) {
  if (Status s = NeedInputs("concat", inputs, 1, SIZE_MAX); !s.ok()) return s.error();
  Shape shape = inputs[0].shape;
  const auto axis = Axis("concat", op.axis, shape.rank());
  if (!axis.ok()) return axis.error();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape& other = inputs[i].shape;
    bool fits = other.rank() == shape.rank();
    for (std::size_t d = 0; fits && d < shape.rank(); ++d) {
      fits = d == *axis || other[d] == shape[d];
    }
    if (!fits) {
      return ShapeError("concat", "inputs differ outside axis " + std::to_string(op.axis) + ": " +
                                      shape.Text() + " and " + other.Text());
    }
    shape[*axis] += other[*axis];
  }
  return Like(inputs[0], std::move(shape));
}

Result<TensorType> Infer(const Slice& op, const Inputs& inputs) {
  if (Status s = NeedInputs("slice", inputs, 1, 1); !s.ok()) return s.error();
  Shape shape = inputs[0].shape;
  const auto axis = Axis("slice", op.axis, shape.rank());
  if (!axis.ok()) return axis.error();
  const std::int64_t extent = shape[*axis];
  if (op.step < 1 || op.begin < 0 || op.begin >= op.end || op.end > extent) {
    return ShapeError("slice", "needs 0 <= begin < end <= " + std::to_string(extent) +
                                   " and step >= 1, got " + std::to_string(op.begin) + ", " +
                                   std::to_string(op.end) + ", " + std::to_string(op.step));
  }
  shape[*axis] = CeilDiv(op.end - op.begin, op.step);
  return Like(inputs[0], std::move(shape));
}

Result<TensorType> Infer(const Pad& op, const Inputs& inputs) {
  if (Status s = NeedInputs("pad", inputs, 1, 1); !s.ok()) return s.error();
  Shape shape = inputs[0].shape;
  if (op.before.size() != shape.rank() || op.after.size() != shape.rank()) {
    return ShapeError("pad", "needs one 'before' and 'after' per axis");
  }
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    shape[i] += op.before[i] + op.after[i];
    if (shape[i] < 1) return ShapeError("pad", "leaves no elements on axis " + std::to_string(i));
  }
  return Like(inputs[0], std::move(shape));
}

Result<TensorType> Infer(const Resize& op, const Inputs& inputs) {
  if (Status s = NeedImage("resize", inputs); !s.ok()) return s.error();
  if (op.out_h < 1 || op.out_w < 1) return ShapeError("resize", "needs a size of at least 1x1");
  const Shape& in = inputs[0].shape;
  return Like(inputs[0], Shape{in[0], in[1], op.out_h, op.out_w});
}

Result<TensorType> Infer(const Embedding& op, const Inputs& inputs) {
  if (Status s = NeedInputs("embedding", inputs, 1, 1); !s.ok()) return s.error();
  if (op.entries < 1 || op.width < 1) {
    return ShapeError("embedding", "needs entries and width of at least 1");
  }
  std::vector<std::int64_t> dims = inputs[0].shape.dims();
  dims.push_back(op.width);
  return TensorType{Shape(std::move(dims)), op.dtype.value_or(inputs[0].dtype), inputs[0].layout};
}

Result<TensorType> Infer(const Gather& op, const Inputs& inputs) {
  if (Status s = NeedInputs("gather", inputs, 1, 2); !s.ok()) return s.error();
  Shape shape = inputs[0].shape;
  const auto axis = Axis("gather", op.axis, shape.rank());
  if (!axis.ok()) return axis.error();
  if (op.count < 1) return ShapeError("gather", "needs a count of at least 1");
  shape[*axis] = op.count;
  return Like(inputs[0], std::move(shape));
}

Result<TensorType> Infer(const Convert& op, const Inputs& inputs) {
  if (Status s = NeedInputs("convert", inputs, 1, 1); !s.ok()) return s.error();
  return TensorType{inputs[0].shape, op.to, inputs[0].layout};
}

Result<TensorType> Infer(const DeclaredMovement& op, const Inputs&) { return op.output; }

}  // namespace

Result<TensorType> InferOutput(const Op& op, const std::vector<TensorType>& inputs) {
  return std::visit([&](const auto& alternative) { return Infer(alternative, inputs); }, op);
}

}  // namespace cyclecast
