// Operators of ONNX that move elements and compute nothing; see onnx_ops.h.
#include <algorithm>
#include <utility>

#include "io/onnx_ops.h"
#include "io/onnx_shapes.h"

namespace cyclecast {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

Status SetOne(OnnxImporter& importer, const OnnxNode& node, Result<OnnxValue> value) {
  if (!value) return value.error();
  importer.Set(node, 0, *std::move(value));
  return Unit{};
}

Status ImportAlias(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  importer.Set(node, 0, OnnxValue(node.in(0)));
  return Unit{};
}

template <Result<OnnxDims> (*kDims)(const OnnxNode&)>
Status ImportView(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<OnnxDims> dims = kDims(node);
  if (!dims) return dims.error();
  return SetOne(importer, node, importer.View(node, "", node.in(0), *dims));
}

Status ImportTranspose(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<OnnxInts> permutation = OnnxPermutation(node);
  if (!permutation) return permutation.error();
  const OnnxDims& in = node.in(0).dims;
  OnnxDims out;
  OnnxInts moved;  // axes of more than one element, in their new order
  for (const std::int64_t axis : *permutation) {
    out.push_back(in[At(axis)]);
    if (in[At(axis)] != 1) moved.push_back(axis);
  }
  if (std::is_sorted(moved.begin(), moved.end())) {  // the order in memory stays
    return SetOne(importer, node, importer.View(node, "", node.in(0), out));
  }
  return SetOne(importer, node, importer.Emit(node, "", Transpose{*permutation}, {node.in(0)}));
}

Status ImportConcat(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<std::int64_t> axis = node.Axis(node.Int("axis", 0), node.in(0).dims.size());
  if (!axis) return axis.error();
  std::vector<OnnxValue> parts;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.Has(i) && node.in(i).Elements() > 0) parts.push_back(node.in(i));
  }
  if (parts.size() == 1) {
    importer.Set(node, 0, parts[0]);
    return Unit{};
  }
  // The result has the type of the activations, not of a constant among them.
  const auto first =
      std::find_if(parts.begin(), parts.end(), [](const OnnxValue& v) { return !v.constant; });
  if (first != parts.end()) {
    for (OnnxValue& part : parts) {
      if (part.constant) part.dtype = first->dtype;
    }
  }
  return SetOne(importer, node, importer.Emit(node, "", Concat{*axis}, std::move(parts)));
}

// Elements begin, begin + step, ... of one axis.
Result<OnnxValue> Cut(OnnxImporter& importer, const OnnxNode& node, const std::string& suffix,
                      const OnnxValue& value, std::int64_t axis, const OnnxRange& range) {
  if (range.count < 1) return node.Wrong("leaves nothing of axis " + std::to_string(axis));
  if (range.step < 0) return importer.Emit(node, suffix, Gather{axis, range.count}, {value});
  const std::int64_t end = range.begin + (range.count - 1) * range.step + 1;
  return importer.Emit(node, suffix, Slice{axis, range.begin, end, range.step}, {value});
}

Status ImportSlice(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<std::vector<OnnxRange>> ranges = OnnxSliceRanges(node);
  if (!ranges) return ranges.error();
  std::vector<std::size_t> cut;
  for (std::size_t i = 0; i < ranges->size(); ++i) {
    const OnnxRange& range = (*ranges)[i];
    if (range.count != node.in(0).dims[i] || range.step != 1) cut.push_back(i);
  }
  Result<OnnxValue> value = node.in(0);
  for (const std::size_t axis : cut) {
    const std::string suffix = axis == cut.back() ? "" : "axis" + std::to_string(axis);
    value = Cut(importer, node, suffix, *value, static_cast<std::int64_t>(axis), (*ranges)[axis]);
    if (!value) return value.error();
  }
  return SetOne(importer, node, std::move(value));
}

Status ImportSplit(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<OnnxSplit> split = OnnxSplitSizes(node);
  if (!split) return split.error();
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < split->sizes.size(); ++i) {
    const OnnxRange range{begin, 1, split->sizes[i]};
    begin += range.count;
    if (!importer.Wanted(node, i)) continue;
    Result<OnnxValue> part = node.in(0);
    if (split->sizes.size() > 1) {
      part = Cut(importer, node, std::to_string(i), node.in(0), split->axis, range);
    }
    if (!part) return part.error();
    importer.Set(node, i, *std::move(part));
  }
  return Unit{};
}

Status ImportGather(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  const OnnxValue &table = node.in(0), &indices = node.in(1);
  const OnnxDims& in = table.dims;
  const Result<std::int64_t> axis = node.Axis(node.Int("axis", 0), in.size());
  if (!axis) return axis.error();
  OnnxDims out(in.begin(), in.begin() + *axis);
  out.insert(out.end(), indices.dims.begin(), indices.dims.end());
  out.insert(out.end(), in.begin() + *axis + 1, in.end());
  if (!SafeElements(out)) return node.Wrong("its output is impossibly large");
  Result<OnnxValue> value = table;
  if (table.constant && *axis == 0) {
    const std::int64_t entries = in[0];
    if (entries < 1) return node.Wrong("picks from an empty table");
    Embedding embedding;
    embedding.entries = entries;
    embedding.width = std::max<std::int64_t>(table.Elements() / entries, 1);
    embedding.dtype = table.dtype;
    value = importer.Emit(node, "", embedding, {indices}, table.dtype);
  } else {
    const std::int64_t count = indices.Elements();
    std::vector<OnnxValue> inputs = {table};
    if (!indices.constant) inputs.push_back(indices);
    value = importer.Emit(node, "", Gather{*axis, count}, std::move(inputs));
  }
  if (!value) return value.error();
  value->elem = table.elem;
  return SetOne(importer, node, importer.View(node, "result", *value, std::move(out)));
}

// Repeats the elements of every axis whose extent grows: rows picked more than once.
Result<OnnxValue> Grow(OnnxImporter& importer, const OnnxNode& node, OnnxValue value,
                       const OnnxDims& out) {
  std::vector<std::size_t> grown;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != value.dims[i]) grown.push_back(i);
  }
  for (const std::size_t axis : grown) {
    const std::string suffix = axis == grown.back() ? "" : "axis" + std::to_string(axis);
    const Gather repeat{static_cast<std::int64_t>(axis), out[axis]};
    Result<OnnxValue> more = importer.Emit(node, suffix, repeat, {value});
    if (!more) return more;
    value = *std::move(more);
  }
  return value;
}

Status ImportExpand(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  const Result<OnnxDims> out = OnnxExpandDims(node);
  if (!out) return out.error();
  OnnxDims dims = node.in(0).dims;
  dims.insert(dims.begin(), out->size() - dims.size(), 1);
  const Result<OnnxValue> value = importer.View(node, "rank", node.in(0), std::move(dims));
  if (!value) return value.error();
  return SetOne(importer, node, Grow(importer, node, *value, *out));
}

Status ImportTile(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  const Result<OnnxInts> repeats = OnnxTileRepeats(node);
  if (!repeats) return repeats.error();
  OnnxDims out = node.in(0).dims;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (__builtin_mul_overflow(out[i], (*repeats)[i], &out[i])) {
      return node.Wrong("its output is impossibly large");
    }
  }
  return SetOne(importer, node, Grow(importer, node, node.in(0), out));
}

Status ImportPad(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<OnnxPads> pads = OnnxPadsOf(node);
  if (!pads) return pads.error();
  const auto none = [](const OnnxInts& list) {
    return std::all_of(list.begin(), list.end(), [](std::int64_t v) { return v == 0; });
  };
  if (none(pads->before) && none(pads->after)) return ImportAlias(importer, node);
  for (const OnnxInts* list : {&pads->before, &pads->after}) {
    for (const std::int64_t v : *list) {
      if (v < -kMaxExtent || v > kMaxExtent) return node.Wrong("has an impossible pad");
    }
  }
  return SetOne(importer, node,
                importer.Emit(node, "", Pad{pads->before, pads->after}, {node.in(0)}));
}

Status ImportCast(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const bool like = node.type() == "CastLike" && node.Has(1);
  const auto to = like ? node.in(1).elem : static_cast<int>(node.Int("to", 0));
  if (!DTypeOfOnnx(to)) {
    return node.Wrong("casts to " + OnnxElemName(to) + "; only numbers and bool can be estimated");
  }
  OnnxValue value = node.in(0);
  if (importer.Storage(to) != value.dtype && value.quantised.empty()) {
    Result<OnnxValue> cast = importer.Emit(node, "", Convert{importer.Storage(to)}, {value});
    if (!cast) return cast.error();
    value = *std::move(cast);
  }
  value.elem = to;
  importer.Set(node, 0, std::move(value));
  return Unit{};
}

// Blocks of pixels to channels and back: a transpose between two views.
Status ImportSpaceDepth(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const OnnxDims& in = node.in(0).dims;
  const std::int64_t b = node.Int("blocksize", 0);
  const bool to_depth = node.type() == "SpaceToDepth";
  if (in.size() != 4 || b < 1 || b > 1024 || (to_depth && (in[2] % b != 0 || in[3] % b != 0)) ||
      (!to_depth && in[1] % (b * b) != 0)) {
    return node.Wrong("its blocksize does not divide " + Shape(in).Text());
  }
  OnnxDims view, out;
  OnnxInts permutation;
  if (to_depth) {
    view = {in[0], in[1], in[2] / b, b, in[3] / b, b};
    permutation = {0, 3, 5, 1, 2, 4};
    out = {in[0], in[1] * b * b, in[2] / b, in[3] / b};
  } else {
    view = {in[0], b, b, in[1] / (b * b), in[2], in[3]};
    permutation = {0, 3, 4, 1, 5, 2};
    if (node.Text("mode", "DCR") == "CRD") {
      view = {in[0], in[1] / (b * b), b, b, in[2], in[3]};
      permutation = {0, 1, 4, 2, 5, 3};
    }
    out = {in[0], in[1] / (b * b), in[2] * b, in[3] * b};
  }
  Result<OnnxValue> value = importer.View(node, "blocks", node.in(0), std::move(view));
  if (!value) return value.error();
  value = importer.Emit(node, "", Transpose{permutation}, {*value});
  if (!value) return value.error();
  return SetOne(importer, node, importer.View(node, "result", *value, std::move(out)));
}

}  // namespace

OnnxHandlers OnnxMovementHandlers() {
  return {{"Identity", ImportAlias},
          {"Dropout", ImportAlias},
          {"Reshape", ImportView<OnnxReshapeDims>},
          {"Flatten", ImportView<OnnxFlattenDims>},
          {"Squeeze", ImportView<OnnxSqueezeDims>},
          {"Unsqueeze", ImportView<OnnxUnsqueezeDims>},
          {"Transpose", ImportTranspose},
          {"Concat", ImportConcat},
          {"Slice", ImportSlice},
          {"Split", ImportSplit},
          {"Gather", ImportGather},
          {"Expand", ImportExpand},
          {"Tile", ImportTile},
          {"Pad", ImportPad},
          {"Cast", ImportCast},
          {"CastLike", ImportCast},
          {"DepthToSpace", ImportSpaceDepth},
          {"SpaceToDepth", ImportSpaceDepth}};
}

}  // namespace cyclecast
