// Layers of a workload file as ops; see MakeLayerOp in workload_scope.h.
#include <algorithm>
#include <array>

#include "io/workload_scope.h"

namespace cyclecast {
namespace {

using Types = std::vector<std::optional<TensorType>>;

// One layer being turned into an op. The functions answer nothing once a problem is reported.
class OpMaker {
 public:
  OpMaker(const Layer& layer, const Types& inputs, DType dtype, const ScopedNumbers& numbers,
          Diagnostics* problems)
      : kind_(layer.kind),
        spec_(layer.spec),
        pos_(layer.pos),
        inputs_(inputs),
        dtype_(dtype),
        numbers_(numbers),
        problems_(problems) {}

  std::optional<Op> Make() {
    if (const auto elementwise = ParseElementwiseKind(kind_)) return MakeElementwise(*elementwise);
    using Maker = std::optional<Op> (OpMaker::*)();
    static const std::map<std::string, Maker> makers = {
        {"linear", &OpMaker::MakeLinear},
        {"matmul", &OpMaker::MakeMatmul},
        {"conv", &OpMaker::MakeConv},
        {"depthwise_conv", &OpMaker::MakeDepthwise},
        {"transposed_conv", &OpMaker::MakeTransposed},
        {"attention", &OpMaker::MakeAttention},
        {"max_pool", &OpMaker::MakePool},
        {"avg_pool", &OpMaker::MakePool},
        {"global_avg_pool", &OpMaker::MakePool},
        {"global_max_pool", &OpMaker::MakePool},
        {"softmax", &OpMaker::MakeSoftmax},
        {"layer_norm", &OpMaker::MakeNorm},
        {"rms_norm", &OpMaker::MakeNorm},
        {"batch_norm", &OpMaker::MakeNorm},
        {"instance_norm", &OpMaker::MakeNorm},
        {"group_norm", &OpMaker::MakeNorm},
        {"reduce", &OpMaker::MakeReduce},
        {"transpose", &OpMaker::MakeTranspose},
        {"reshape", &OpMaker::MakeReshape},
        {"flatten", &OpMaker::MakeFlatten},
        {"concat", &OpMaker::MakeConcat},
        {"slice", &OpMaker::MakeSlice},
        {"pad", &OpMaker::MakePad},
        {"resize", &OpMaker::MakeResize},
        {"embedding", &OpMaker::MakeEmbedding},
        {"gather", &OpMaker::MakeGather},
        {"convert", &OpMaker::MakeConvert},
        {"movement", &OpMaker::MakeMovement}};
    const auto maker = makers.find(kind_);
    return maker == makers.end() ? std::nullopt : (this->*maker->second)();
  }

 private:
  std::nullopt_t Fail(const std::string& what) {
    problems_->Add(pos_, "'" + kind_ + "' " + what);
    return std::nullopt;
  }
  std::optional<std::int64_t> Number(const std::optional<Expr>& expr, std::int64_t otherwise,
                                     const std::string& key, std::int64_t least = 1) {
    return numbers_.Number(expr, otherwise, kind_ + "." + key, least);
  }
  // Axes may count from the end.
  std::optional<std::int64_t> Axis(const std::optional<Expr>& expr, std::int64_t otherwise) {
    return Number(expr, otherwise, "axis", -8);
  }
  // The type of the first input, or a problem that it must be known.
  const TensorType* Known(const std::string& why) {
    if (!inputs_.empty() && inputs_[0]) return &*inputs_[0];
    Fail(why + " needs an input that is defined earlier in the file");
    return nullptr;
  }
  // Height and width.
  std::optional<std::array<std::int64_t, 2>> Pair(const Extents& extents, std::int64_t otherwise,
                                                  const std::string& key, std::int64_t least = 1) {
    if (extents.values.empty()) return std::array<std::int64_t, 2>{otherwise, otherwise};
    const auto values = numbers_.Numbers(extents.values, kind_ + "." + key, least);
    if (!values) return std::nullopt;
    return std::array<std::int64_t, 2>{values->front(), values->back()};
  }

  std::optional<Op> MakeElementwise(ElementwiseKind kind) {
    Elementwise op{kind, 0};
    const auto arity = static_cast<std::size_t>(Arity(kind));
    if (spec_.constant) {
      const auto elements = Number(spec_.constant, 1, "constant");
      if (!elements) return std::nullopt;
      op.constant_elements = *elements;
    } else if (inputs_.size() != arity && !(arity == 3 && inputs_.size() == 2)) {
      return Fail(
          "takes " + std::to_string(arity) + " inputs, got " + std::to_string(inputs_.size()) +
          (arity > inputs_.size() ? "; name the second with 'with', or give 'constant'" : ""));
    }
    return op;
  }

  std::optional<Op> MakeLinear() {
    Matmul op;
    const auto out = Number(spec_.out, 1, "out");
    if (!out) return std::nullopt;
    op.out_features = *out;
    op.bias = spec_.bias || spec_.norm == "batch";
    return op;
  }
  std::optional<Op> MakeMatmul() {
    if (inputs_.size() != 2) return Fail("takes 2 inputs; name the second with 'with'");
    Matmul op;
    op.transpose_lhs = spec_.transpose_lhs;
    op.transpose_rhs = spec_.transpose_rhs;
    return op;
  }

  std::optional<Window> MakeWindow(std::optional<std::array<std::int64_t, 2>> default_stride) {
    const auto kernel = Pair(spec_.kernel, 1, "kernel");
    const auto dilation = Pair(spec_.dilation, 1, "dilation");
    if (!kernel || !dilation) return std::nullopt;
    const std::array<std::int64_t, 2> fallback = default_stride.value_or(*kernel);
    auto stride = Pair(spec_.stride, 1, "stride");
    if (!stride) return std::nullopt;
    if (spec_.stride.values.empty()) stride = fallback;
    Window w;
    w.kernel_h = (*kernel)[0];
    w.kernel_w = (*kernel)[1];
    w.stride_h = (*stride)[0];
    w.stride_w = (*stride)[1];
    w.dilation_h = (*dilation)[0];
    w.dilation_w = (*dilation)[1];
    return SetPads(&w) ? std::optional<Window>(w) : std::nullopt;
  }

  bool SetPads(Window* w) {
    if (spec_.pad.word == "same") {
      const TensorType* type = Known("'pad: same'");
      if (type == nullptr) return false;
      if (type->shape.rank() != 4) return true;  // the op's own error says more
      const auto total = [](std::int64_t in, std::int64_t kernel, std::int64_t stride,
                            std::int64_t dilation) {
        const std::int64_t span = (CeilDiv(in, stride) - 1) * stride + dilation * (kernel - 1) + 1;
        return std::max<std::int64_t>(span - in, 0);
      };
      const std::int64_t h = total(type->shape[2], w->kernel_h, w->stride_h, w->dilation_h);
      const std::int64_t v = total(type->shape[3], w->kernel_w, w->stride_w, w->dilation_w);
      w->pad_top = h / 2;
      w->pad_bottom = h - h / 2;
      w->pad_left = v / 2;
      w->pad_right = v - v / 2;
      return true;
    }
    if (spec_.pad.values.empty()) return true;
    const auto pads = numbers_.Numbers(spec_.pad.values, kind_ + ".pad", 0);
    if (!pads) return false;
    const bool sides = pads->size() == 4;
    w->pad_top = (*pads)[0];
    w->pad_bottom = sides ? (*pads)[1] : (*pads)[0];
    w->pad_left = sides ? (*pads)[2] : pads->back();
    w->pad_right = pads->back();
    return true;
  }

  std::optional<Op> MakeConv() {
    Conv2d op;
    const auto out = Number(spec_.out, 1, "out"), groups = Number(spec_.groups, 1, "groups");
    const auto window = MakeWindow(std::array<std::int64_t, 2>{1, 1});
    if (!out || !groups || !window) return std::nullopt;
    op.out_channels = *out;
    op.groups = *groups;
    op.window = *window;
    op.bias = spec_.bias || spec_.norm == "batch";
    return op;
  }
  std::optional<Op> MakeDepthwise() {
    DepthwiseConv2d op;
    const auto multiplier = Number(spec_.multiplier, 1, "multiplier");
    const auto window = MakeWindow(std::array<std::int64_t, 2>{1, 1});
    if (!multiplier || !window) return std::nullopt;
    op.multiplier = *multiplier;
    op.window = *window;
    op.bias = spec_.bias || spec_.norm == "batch";
    return op;
  }
  std::optional<Op> MakeTransposed() {
    TransposedConv2d op;
    if (spec_.pad.word == "same") return Fail("does not know 'pad: same'; give numbers");
    const auto out = Number(spec_.out, 1, "out"), groups = Number(spec_.groups, 1, "groups");
    const auto window = MakeWindow(std::array<std::int64_t, 2>{1, 1});
    const auto extra = Pair(spec_.output_pad, 0, "output_pad", 0);
    if (!out || !groups || !window || !extra) return std::nullopt;
    op.out_channels = *out;
    op.groups = *groups;
    op.window = *window;
    op.output_pad_h = (*extra)[0];
    op.output_pad_w = (*extra)[1];
    op.bias = spec_.bias || spec_.norm == "batch";
    return op;
  }

  std::optional<Op> MakeAttention() {
    Attention op;
    const auto heads = Number(spec_.heads, 1, "heads");
    if (!heads) return std::nullopt;
    const auto kv_heads = Number(spec_.kv_heads, *heads, "kv_heads");
    const auto cache = Number(spec_.cache, 0, "cache", 0);
    if (!kv_heads || !cache) return std::nullopt;
    op.heads = *heads;
    op.kv_heads = *kv_heads;
    op.cache_length = *cache;
    op.causal = spec_.causal;
    if (spec_.head_dim) {
      const auto head_dim = Number(spec_.head_dim, 1, "head_dim");
      if (!head_dim) return std::nullopt;
      op.head_dim = *head_dim;
      return op;
    }
    const TensorType* q = Known("without 'head_dim'");
    if (q == nullptr) return std::nullopt;
    const std::int64_t width = q->shape.rank() > 0 ? q->shape.FromEnd(0) : 0;
    if (width % *heads != 0) {
      return Fail("heads (" + std::to_string(*heads) + ") must divide Q's width (" +
                  std::to_string(width) + ")");
    }
    op.head_dim = width / *heads;
    return op;
  }

  std::optional<Op> MakePool() {
    Pool op;
    op.kind = kind_.find("max") != std::string::npos ? PoolKind::kMax : PoolKind::kAverage;
    op.global = kind_.rfind("global", 0) == 0;
    op.ceil_mode = spec_.ceil;
    if (op.global) return op;
    const auto window = MakeWindow(std::nullopt);
    if (!window) return std::nullopt;
    op.window = *window;
    return op;
  }
  std::optional<Op> MakeSoftmax() {
    const auto axis = Axis(spec_.axis, -1);
    if (!axis) return std::nullopt;
    return Softmax{*axis};
  }
  std::optional<Op> MakeNorm() {
    Norm op;
    const auto axis = Axis(spec_.axis, -1);
    const auto groups = Number(spec_.groups, 1, "groups");
    if (!axis || !groups) return std::nullopt;
    op.axis = *axis;
    op.groups = *groups;
    op.kind = kind_ == "layer_norm"      ? NormKind::kLayer
              : kind_ == "rms_norm"      ? NormKind::kRms
              : kind_ == "instance_norm" ? NormKind::kInstance
              : kind_ == "group_norm"    ? NormKind::kGroup
                                         : NormKind::kBatch;
    return op;
  }
  std::optional<Op> MakeReduce() {
    static const std::map<std::string, ReduceKind> kinds = {
        {"sum", ReduceKind::kSum}, {"mean", ReduceKind::kMean}, {"max", ReduceKind::kMax},
        {"min", ReduceKind::kMin}, {"l2", ReduceKind::kL2},     {"prod", ReduceKind::kProd},
        {"arg", ReduceKind::kArg}};
    const auto axes = numbers_.Numbers(spec_.axes, "reduce.axes", -8);
    if (!axes) return std::nullopt;
    return Reduce{kinds.at(spec_.reduce), *axes, spec_.keep_dims};
  }

  std::optional<Op> MakeTranspose() {
    const auto axes = numbers_.Numbers(spec_.permutation, "transpose.permutation", 0);
    if (!axes) return std::nullopt;
    return Transpose{*axes};
  }
  std::optional<Op> MakeReshape() {
    const auto shape = numbers_.Numbers(spec_.shape, "reshape.shape", -1);
    if (!shape) return std::nullopt;
    if (std::count(shape->begin(), shape->end(), 0) > 0) return Fail("has an extent of 0");
    return Reshape{Shape(*shape)};
  }
  std::optional<Op> MakeFlatten() {
    const auto axis = Number(spec_.axis, 1, "axis", 0);
    const TensorType* type = axis ? Known("it") : nullptr;
    if (type == nullptr) return std::nullopt;
    if (*axis >= static_cast<std::int64_t>(type->shape.rank())) {
      return Fail("axis " + std::to_string(*axis) + " is outside " + type->shape.Text());
    }
    std::vector<std::int64_t> dims(type->shape.dims().begin(), type->shape.dims().begin() + *axis);
    dims.push_back(-1);
    return Reshape{Shape(std::move(dims))};
  }
  std::optional<Op> MakeConcat() {
    if (inputs_.size() < 2)
      return Fail("takes 2 inputs or more; name them with 'with' or 'inputs'");
    const auto axis = Axis(spec_.axis, 1);
    if (!axis) return std::nullopt;
    return Concat{*axis};
  }
  std::optional<Op> MakeSlice() {
    Slice op;
    const auto axis = Axis(spec_.axis, 0);
    const auto begin = Number(spec_.begin, 0, "begin", 0), step = Number(spec_.step, 1, "step");
    if (!axis || !begin || !step) return std::nullopt;
    op.axis = *axis;
    op.begin = *begin;
    op.step = *step;
    if (spec_.end) {
      const auto end = Number(spec_.end, 0, "end");
      if (!end) return std::nullopt;
      op.end = *end;
      return op;
    }
    const TensorType* type = Known("without 'end'");
    if (type == nullptr) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(type->shape.rank());
    const std::int64_t index = *axis < 0 ? *axis + rank : *axis;
    if (index < 0 || index >= rank) return Fail("axis is outside " + type->shape.Text());
    op.end = type->shape[static_cast<std::size_t>(index)];
    return op;
  }
  std::optional<Op> MakePad() {
    const auto before = numbers_.Numbers(spec_.before, "pad.before", 0);
    const auto after = numbers_.Numbers(spec_.after, "pad.after", 0);
    if (!before || !after) return std::nullopt;
    return Pad{*before, *after};
  }
  std::optional<Op> MakeResize() {
    Resize op;
    op.bilinear = spec_.bilinear;
    if (spec_.scale.has_value() == !spec_.size.values.empty()) {
      return Fail("takes either 'scale' or 'size'");
    }
    if (!spec_.size.values.empty()) {
      const auto size = Pair(spec_.size, 1, "size");
      if (!size) return std::nullopt;
      op.out_h = (*size)[0];
      op.out_w = (*size)[1];
      return op;
    }
    const auto scale = Number(spec_.scale, 1, "scale");
    const TensorType* type = scale ? Known("'scale'") : nullptr;
    if (type == nullptr) return std::nullopt;
    if (type->shape.rank() != 4) return Fail("needs an image of rank 4, got " + type->shape.Text());
    if (*scale > 1024) return Fail("a scale beyond 1024 is a typing error");
    op.out_h = type->shape[2] * *scale;
    op.out_w = type->shape[3] * *scale;
    return op;
  }
  std::optional<Op> MakeEmbedding() {
    Embedding op;
    const auto entries = Number(spec_.entries, 1, "entries"),
               width = Number(spec_.width, 1, "width");
    if (!entries || !width) return std::nullopt;
    op.entries = *entries;
    op.width = *width;
    op.dtype = dtype_;
    return op;
  }
  std::optional<Op> MakeGather() {
    const auto axis = Axis(spec_.axis, 0), count = Number(spec_.count, 1, "count");
    if (!axis || !count) return std::nullopt;
    return Gather{*axis, *count};
  }
  std::optional<Op> MakeConvert() { return Convert{spec_.dtype.value_or(dtype_)}; }
  std::optional<Op> MakeMovement() {
    const auto shape = numbers_.Numbers(spec_.shape, "movement.shape");
    if (!shape) return std::nullopt;
    return DeclaredMovement{spec_.what,
                            {Shape(*shape), spec_.dtype.value_or(dtype_), Layout::kRowMajor}};
  }

  const std::string& kind_;
  const LayerSpec& spec_;
  const SourcePos& pos_;
  const Types& inputs_;
  DType dtype_;
  const ScopedNumbers& numbers_;
  Diagnostics* problems_;
};

}  // namespace

std::optional<Op> MakeLayerOp(const Layer& layer, const Types& inputs, DType dtype,
                              const ScopedNumbers& numbers, Diagnostics* problems) {
  return OpMaker(layer, inputs, dtype, numbers, problems).Make();
}

}  // namespace cyclecast
