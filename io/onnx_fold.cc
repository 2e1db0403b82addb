// Folding of operators that move or make data; arithmetic is in onnx_fold_math.cc. See onnx_fold.h.
#include "io/onnx_fold.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "io/onnx_fold_math.h"
#include "io/onnx_shapes.h"

namespace cyclecast {
namespace {

using Folded = Result<std::optional<std::vector<OnnxValue>>>;
using Fold = Folded (*)(const OnnxNode&);

Folded One(OnnxValue value) { return std::optional(std::vector<OnnxValue>{std::move(value)}); }
Folded None() { return std::optional<std::vector<OnnxValue>>(); }

OnnxValue Int64s(OnnxDims dims, OnnxInts values) {
  return OnnxIntConstant(onnx::TensorProto::INT64, std::move(dims), std::move(values));
}

// `source` with the elements at flat positions `pick`, in the shape `dims`.
OnnxValue Picked(const OnnxValue& source, OnnxDims dims, const OnnxInts& pick) {
  OnnxValue value = source;
  value.dims = std::move(dims);
  value.data = std::visit(
      [&](const auto& all) {
        std::decay_t<decltype(all)> some;
        some.reserve(pick.size());
        for (const std::int64_t i : pick) some.push_back(all[static_cast<std::size_t>(i)]);
        return std::make_shared<const OnnxData>(std::move(some));
      },
      *source.data);
  return value;
}

OnnxValue Reshaped(const OnnxValue& source, OnnxDims dims) {
  OnnxValue value = source;
  value.dims = std::move(dims);
  return value;
}

// The flat position in a tensor of extents `in` of every element of one of extents `out`;
// `place(axis, index)` is the index along an input axis that an output index takes.
OnnxInts PickEach(const OnnxDims& in, const OnnxDims& out,
                  const std::function<std::int64_t(const OnnxInts&, std::size_t)>& place) {
  OnnxInts pick, index(out.size(), 0);
  const std::int64_t total = Shape(out).Elements();
  for (std::int64_t n = 0; n < total; ++n) {
    std::int64_t flat = 0;
    for (std::size_t axis = 0; axis < in.size(); ++axis)
      flat = flat * in[axis] + place(index, axis);
    pick.push_back(flat);
    for (std::size_t axis = out.size(); axis-- > 0;) {
      if (++index[axis] < out[axis]) break;
      index[axis] = 0;
    }
  }
  return pick;
}

Folded FoldShape(const OnnxNode& node) {
  const OnnxDims& dims = node.in(0).dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto clamp = [rank](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t begin = clamp(node.Int("start", 0)), end = clamp(node.Int("end", rank));
  OnnxInts part;
  for (std::int64_t i = begin; i < end; ++i) part.push_back(dims[static_cast<std::size_t>(i)]);
  const auto count = static_cast<std::int64_t>(part.size());
  return One(Int64s({count}, std::move(part)));
}

Folded FoldSize(const OnnxNode& node) { return One(Int64s({}, {node.in(0).Elements()})); }

Folded FoldConstant(const OnnxNode& node) {
  if (const onnx::AttributeProto* value = node.Find("value")) {
    Result<OnnxValue> tensor = ReadOnnxTensor(value->t());
    if (!tensor) return node.Wrong(tensor.error().diagnostics().front().message);
    return One(*std::move(tensor));
  }
  constexpr int kFloat = onnx::TensorProto::FLOAT;
  if (node.Find("value_int") != nullptr) return One(Int64s({}, {node.Int("value_int", 0)}));
  if (node.Find("value_float") != nullptr) {
    return One(OnnxRealConstant(kFloat, {}, {node.Real("value_float", 0)}));
  }
  if (std::optional<OnnxInts> ints = node.Ints("value_ints")) {
    const auto count = static_cast<std::int64_t>(ints->size());
    return One(Int64s({count}, *std::move(ints)));
  }
  if (const onnx::AttributeProto* value = node.Find("value_floats")) {
    OnnxReals reals(value->floats().begin(), value->floats().end());
    return One(OnnxRealConstant(kFloat, {value->floats_size()}, std::move(reals)));
  }
  return node.Wrong("holds a constant that is no tensor of numbers; it cannot be estimated");
}

Folded FoldConstantOfShape(const OnnxNode& node) {
  const OnnxInts* dims = node.in(0).Ints();
  if (dims == nullptr) return None();
  const std::optional<std::int64_t> count = SafeElements(*dims);
  if (!count) return node.Wrong("asks for the impossible shape " + Shape(*dims).Text());
  OnnxValue fill = OnnxRealConstant(onnx::TensorProto::FLOAT, {1}, {0.0});
  if (const onnx::AttributeProto* value = node.Find("value")) {
    const Result<OnnxValue> tensor = ReadOnnxTensor(value->t());
    if (!tensor) return node.Wrong(tensor.error().diagnostics().front().message);
    if (tensor->Elements() != 1) return node.Wrong("needs a value of one element");
    fill = *tensor;
  }
  if (*count > kMaxOnnxData || !fill.data) {
    fill.data = nullptr;
    return One(Reshaped(fill, *dims));
  }
  return One(Picked(fill, *dims, OnnxInts(static_cast<std::size_t>(*count), 0)));
}

Folded FoldRange(const OnnxNode& node) {
  if (const Status need = node.Need(3); !need) return need.error();
  const auto start = node.in(0).Reals(), limit = node.in(1).Reals(), delta = node.in(2).Reals();
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
      delta->size() != 1 || (*delta)[0] == 0) {
    return None();
  }
  const double steps = std::ceil(((*limit)[0] - (*start)[0]) / (*delta)[0]);
  if (!(steps < static_cast<double>(kMaxOnnxData))) return None();
  OnnxReals reals;
  OnnxInts ints;
  for (double i = 0; i < steps; ++i) {
    reals.push_back((*start)[0] + i * (*delta)[0]);
    ints.push_back(static_cast<std::int64_t>(reals.back()));
  }
  const auto count = static_cast<std::int64_t>(ints.size());
  const int elem = node.in(0).elem;
  return One(IsOnnxReal(elem) ? OnnxRealConstant(elem, {count}, std::move(reals))
                              : OnnxIntConstant(elem, {count}, std::move(ints)));
}

template <Result<OnnxDims> (*kDims)(const OnnxNode&)>
Folded FoldView(const OnnxNode& node) {
  const Result<OnnxDims> dims = kDims(node);
  if (!dims) return dims.error();
  return One(Reshaped(node.in(0), *dims));
}

Folded FoldIdentity(const OnnxNode& node) { return One(node.in(0)); }

Folded FoldTranspose(const OnnxNode& node) {
  const Result<OnnxInts> permutation = OnnxPermutation(node);
  if (!permutation) return permutation.error();
  const OnnxDims& in = node.in(0).dims;
  OnnxDims out;
  OnnxInts inverse(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto from = static_cast<std::size_t>((*permutation)[i]);
    out.push_back(in[from]);
    inverse[from] = static_cast<std::int64_t>(i);
  }
  const OnnxInts pick = PickEach(in, out, [&](const OnnxInts& index, std::size_t axis) {
    return index[static_cast<std::size_t>(inverse[axis])];
  });
  return One(Picked(node.in(0), out, pick));
}

Folded FoldExpand(const OnnxNode& node) {
  const Result<OnnxDims> out = OnnxExpandDims(node);
  if (!out) return out.error();
  if (*SafeElements(*out) > kMaxOnnxData) return None();
  const OnnxDims& in = node.in(0).dims;
  const std::size_t skip = out->size() - in.size();
  const OnnxInts pick = PickEach(in, *out, [&](const OnnxInts& index, std::size_t axis) {
    return in[axis] == 1 ? 0 : index[axis + skip];
  });
  return One(Picked(node.in(0), *out, pick));
}

Folded FoldTile(const OnnxNode& node) {
  const Result<OnnxInts> repeats = OnnxTileRepeats(node);
  if (!repeats) return repeats.error();
  const OnnxDims& in = node.in(0).dims;
  OnnxDims out = in;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (__builtin_mul_overflow(out[i], (*repeats)[i], &out[i])) return None();
  }
  const std::optional<std::int64_t> count = SafeElements(out);
  if (!count || *count > kMaxOnnxData) return None();
  const OnnxInts pick = PickEach(
      in, out, [&](const OnnxInts& index, std::size_t axis) { return index[axis] % in[axis]; });
  return One(Picked(node.in(0), out, pick));
}

Folded FoldSlice(const OnnxNode& node) {
  const Result<std::vector<OnnxRange>> ranges = OnnxSliceRanges(node);
  if (!ranges) return ranges.error();
  OnnxDims out;
  for (const OnnxRange& range : *ranges) out.push_back(range.count);
  const OnnxInts pick =
      PickEach(node.in(0).dims, out, [&](const OnnxInts& index, std::size_t axis) {
        return (*ranges)[axis].begin + index[axis] * (*ranges)[axis].step;
      });
  return One(Picked(node.in(0), out, pick));
}

Folded FoldSplit(const OnnxNode& node) {
  const Result<OnnxSplit> split = OnnxSplitSizes(node);
  if (!split) return split.error();
  const auto split_axis = static_cast<std::size_t>(split->axis);
  std::vector<OnnxValue> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : split->sizes) {
    OnnxDims out = node.in(0).dims;
    out[split_axis] = size;
    const OnnxInts pick =
        PickEach(node.in(0).dims, out, [&](const OnnxInts& index, std::size_t axis) {
          return index[axis] + (axis == split_axis ? begin : 0);
        });
    parts.push_back(Picked(node.in(0), out, pick));
    begin += size;
  }
  return std::optional(std::move(parts));
}

Folded FoldGather(const OnnxNode& node) {
  const OnnxDims& in = node.in(0).dims;
  const Result<std::int64_t> axis = node.Axis(node.Int("axis", 0), in.size());
  if (!axis) return axis.error();
  const auto gathered = static_cast<std::size_t>(*axis);
  OnnxInts indices = *node.in(1).Ints();
  const OnnxDims& index_dims = node.in(1).dims;
  for (std::int64_t& i : indices) {
    if (i < 0) i += in[gathered];
    if (i < 0 || i >= in[gathered]) {
      return node.Wrong("picks index " + std::to_string(i) + " of an extent of " +
                        std::to_string(in[gathered]));
    }
  }
  OnnxDims out(in.begin(), in.begin() + *axis);
  out.insert(out.end(), index_dims.begin(), index_dims.end());
  out.insert(out.end(), in.begin() + *axis + 1, in.end());
  const std::optional<std::int64_t> count = SafeElements(out);
  if (!count || *count > kMaxOnnxData) return None();
  const OnnxInts pick = PickEach(in, out, [&](const OnnxInts& index, std::size_t from) {
    if (from < gathered) return index[from];
    if (from > gathered) return index[from - 1 + index_dims.size()];
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < index_dims.size(); ++i) {
      flat = flat * index_dims[i] + index[gathered + i];
    }
    return indices[static_cast<std::size_t>(flat)];
  });
  return One(Picked(node.in(0), out, pick));
}

Folded FoldConcat(const OnnxNode& node) {
  const OnnxDims& first = node.in(0).dims;
  const Result<std::int64_t> along = node.Axis(node.Int("axis", 0), first.size());
  if (!along) return along.error();
  const auto axis = static_cast<std::size_t>(*along);
  OnnxDims out = first;
  out[axis] = 0;
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= first[i];
  for (std::size_t n = 0; n < node.inputs(); ++n) {
    OnnxDims other = node.in(n).dims;
    if (other.size() != first.size()) return node.Wrong("joins tensors of different rank");
    out[axis] += other[axis];
    other[axis] = first[axis];
    if (other != first) return node.Wrong("joins tensors that differ outside the axis");
  }
  const std::optional<std::int64_t> count = SafeElements(out);
  if (!count || *count > kMaxOnnxData) return None();
  OnnxInts ints;
  OnnxReals reals;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::size_t n = 0; n < node.inputs(); ++n) {
      const OnnxValue& part = node.in(n);
      const std::int64_t run = part.Elements() / outer;
      const OnnxReals values = *part.Reals();
      for (std::int64_t i = o * run; i < (o + 1) * run; ++i) {
        const auto at = static_cast<std::size_t>(i);
        reals.push_back(values[at]);
        if (const OnnxInts* whole = part.Ints()) ints.push_back((*whole)[at]);
      }
    }
  }
  const int elem = node.in(0).elem;
  if (ints.size() == reals.size()) return One(OnnxIntConstant(elem, out, std::move(ints)));
  return One(OnnxRealConstant(elem, out, std::move(reals)));
}

Folded FoldNonZero(const OnnxNode& node) {
  const OnnxDims& in = node.in(0).dims;
  const OnnxReals values = *node.in(0).Reals();
  std::vector<OnnxInts> found(in.size());
  for (std::size_t flat = 0; flat < values.size(); ++flat) {
    if (values[flat] == 0) continue;
    auto rest = static_cast<std::int64_t>(flat);
    for (std::size_t axis = in.size(); axis-- > 0;) {
      found[axis].push_back(rest % in[axis]);
      rest /= in[axis];
    }
  }
  OnnxInts all;
  for (const OnnxInts& axis : found) all.insert(all.end(), axis.begin(), axis.end());
  const auto rank = static_cast<std::int64_t>(in.size());
  const std::int64_t count = rank == 0 ? 0 : static_cast<std::int64_t>(all.size()) / rank;
  return One(Int64s({rank, count}, std::move(all)));
}

// Operators whose inputs must all be constants with data.
const std::map<std::string, Fold>& MovementFolds() {
  static const std::map<std::string, Fold> folds = {{"Identity", FoldIdentity},
                                                    {"Dropout", FoldIdentity},
                                                    {"Reshape", FoldView<OnnxReshapeDims>},
                                                    {"Flatten", FoldView<OnnxFlattenDims>},
                                                    {"Squeeze", FoldView<OnnxSqueezeDims>},
                                                    {"Unsqueeze", FoldView<OnnxUnsqueezeDims>},
                                                    {"Transpose", FoldTranspose},
                                                    {"Expand", FoldExpand},
                                                    {"Tile", FoldTile},
                                                    {"Slice", FoldSlice},
                                                    {"Split", FoldSplit},
                                                    {"Gather", FoldGather},
                                                    {"Concat", FoldConcat},
                                                    {"NonZero", FoldNonZero},
                                                    {"Range", FoldRange}};
  return folds;
}

}  // namespace

Folded FoldOnnxNode(const OnnxNode& node) {
  const std::string& type = node.type();
  if (type == "Constant") return FoldConstant(node);
  if (node.inputs() == 0 || !node.Has(0)) return None();
  if (type == "Shape") return FoldShape(node);
  if (type == "Size") return FoldSize(node);
  if (type == "ConstantOfShape") return FoldConstantOfShape(node);
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.Has(i) && !node.in(i).data) return None();
  }
  const auto movement = MovementFolds().find(type);
  if (movement != MovementFolds().end()) {
    // All inputs of a movement are required, bar the optional lists that come last.
    if (type == "Concat") {
      if (const Status need = node.Need(node.inputs()); !need) return need.error();
    }
    if (type == "Gather") {
      if (const Status need = node.Need(2); !need) return need.error();
      if (node.in(1).Ints() == nullptr) return node.Wrong("has indices that are no integers");
    }
    return movement->second(node);
  }
  return FoldOnnxMath(node);
}

}  // namespace cyclecast
