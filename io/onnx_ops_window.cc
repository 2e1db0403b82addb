// Convolutions, pools and resizing of ONNX; see onnx_ops.h. One-dimensional images [N, C, L] are
// handled as [N, C, 1, L].
#include <algorithm>
#include <cmath>
#include <utility>

#include "io/onnx_ops.h"
#include "io/onnx_window.h"

namespace cyclecast {

namespace {

// Emits `op` on the image, with the reshapes a one-dimensional one needs, and sets output 0.
Status SetImage(OnnxImporter& importer, const OnnxNode& node, const OnnxValue& image, Op op,
                std::optional<DType> weights = std::nullopt) {
  const bool line = node.in(0).dims.size() == 3;
  Result<OnnxValue> out = importer.Emit(node, "", std::move(op), {image}, weights);
  if (out && line) {
    OnnxDims dims = out->dims;
    dims.erase(dims.begin() + 2);
    out = importer.View(node, "result", *out, std::move(dims));
  }
  if (!out) return out.error();
  out->elem = node.in(0).elem;
  importer.Set(node, 0, *std::move(out));
  return Unit{};
}

}  // namespace

Result<OnnxValue> OnnxImage(OnnxImporter& importer, const OnnxNode& node) {
  OnnxDims dims = node.in(0).dims;
  if (dims.size() == 3) dims.insert(dims.begin() + 2, 1);
  return importer.View(node, "image", node.in(0), std::move(dims));
}

Result<Window> OnnxWindowOf(const OnnxNode& node, OnnxInts kernel, const OnnxDims& image) {
  const std::size_t axes = node.in(0).dims.size() - 2;
  OnnxInts strides = node.Ints("strides").value_or(OnnxInts(axes, 1));
  OnnxInts dilations = node.Ints("dilations").value_or(OnnxInts(axes, 1));
  OnnxInts pads = node.Ints("pads").value_or(OnnxInts(2 * axes, 0));
  if (kernel.size() != axes || strides.size() != axes || dilations.size() != axes ||
      pads.size() != 2 * axes) {
    return node.Wrong("its kernel, strides, dilations or pads do not fit an image of rank " +
                      std::to_string(axes + 2));
  }
  for (const OnnxInts* list : {&kernel, &strides, &dilations}) {
    for (const std::int64_t v : *list) {
      if (v < 1 || v > kMaxExtent) return node.Wrong("has a kernel, stride or dilation below 1");
    }
  }
  const std::string auto_pad = node.Text("auto_pad", "NOTSET");
  if (auto_pad == "VALID") pads.assign(2 * axes, 0);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t in = image[image.size() - axes + i];
      const std::int64_t out = CeilDiv(in, strides[i]);
      const std::int64_t span = (kernel[i] - 1) * dilations[i] + 1;
      const std::int64_t total = std::max<std::int64_t>((out - 1) * strides[i] + span - in, 0);
      const std::int64_t more = total - total / 2;
      pads[i] = auto_pad == "SAME_UPPER" ? total - more : more;
      pads[axes + i] = total - pads[i];
    }
  }
  for (const std::int64_t v : pads) {
    if (v < 0 || v > kMaxExtent) return node.Wrong("has a negative pad");
  }
  Window w;
  w.kernel_w = kernel[axes - 1];
  w.stride_w = strides[axes - 1];
  w.dilation_w = dilations[axes - 1];
  w.pad_left = pads[axes - 1];
  w.pad_right = pads[2 * axes - 1];
  if (axes == 2) {
    w.kernel_h = kernel[0];
    w.stride_h = strides[0];
    w.dilation_h = dilations[0];
    w.pad_top = pads[0];
    w.pad_bottom = pads[2];
  }
  return w;
}

Status ImportOnnxConv(OnnxImporter& importer, const OnnxNode& node, const OnnxValue& weights,
                      bool bias) {
  const OnnxDims& in = node.in(0).dims;
  const OnnxDims& w = weights.dims;
  if (in.size() == 5) return importer.Unmodelled(node, "in three dimensions");
  if ((in.size() != 3 && in.size() != 4) || w.size() != in.size()) {
    return node.Wrong("needs an image and weights of the same rank 3 or 4, got " +
                      Shape(in).Text() + " and " + Shape(w).Text());
  }
  const OnnxInts kernel = node.Ints("kernel_shape").value_or(OnnxInts(w.begin() + 2, w.end()));
  if (kernel != OnnxInts(w.begin() + 2, w.end())) {
    return node.Wrong("its kernel_shape contradicts its weights " + Shape(w).Text());
  }
  const std::int64_t groups = node.Int("group", 1), channels = in[1];
  if (groups < 1 || channels != w[1] * groups || w[0] % groups != 0) {
    return node.Wrong("an image of " + std::to_string(channels) +
                      " channels does not fit weights " + Shape(w).Text() + " in " +
                      std::to_string(groups) + " groups");
  }
  const Result<OnnxValue> image = OnnxImage(importer, node);
  if (!image) return image.error();
  const Result<Window> window = OnnxWindowOf(node, kernel, image->dims);
  if (!window) return window.error();
  if (!weights.constant) {
    importer.AddNote("node '" + node.name() +
                     "': weights that the model computes count as stored weights");
  }
  if (groups > 1 && groups == channels) {
    return SetImage(importer, node, *image, DepthwiseConv2d{*window, w[0] / groups, bias},
                    weights.dtype);
  }
  Conv2d conv;
  conv.out_channels = w[0];
  conv.window = *window;
  conv.groups = groups;
  conv.bias = bias;
  return SetImage(importer, node, *image, conv, weights.dtype);
}

namespace {

Status ImportConv(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  return ImportOnnxConv(importer, node, node.in(1), node.Has(2));
}

// output_shape or SAME padding fix the output; the pads follow: total = stride*(in-1) +
// output_padding + span - out.
Status FixTransposedPads(const OnnxNode& node, const OnnxDims& image, TransposedConv2d* op) {
  const std::string auto_pad = node.Text("auto_pad", "NOTSET");
  std::optional<OnnxInts> wanted = node.Ints("output_shape");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!wanted && !same) return Unit{};
  Window& w = op->window;
  const auto total = [](std::int64_t in, std::int64_t stride, std::int64_t out_pad,
                        std::int64_t span, std::int64_t out) {
    return std::max<std::int64_t>(stride * (in - 1) + out_pad + span - out, 0);
  };
  const std::int64_t out_w = wanted && !wanted->empty() ? wanted->back() : image[3] * w.stride_w;
  const std::int64_t out_h =
      wanted && wanted->size() > 1 ? (*wanted)[wanted->size() - 2] : image[2] * w.stride_h;
  if (out_h < 1 || out_w < 1 || out_h > kMaxExtent || out_w > kMaxExtent) {
    return node.Wrong("asks for an impossible output_shape");
  }
  const std::int64_t h =
      total(image[2], w.stride_h, op->output_pad_h, w.dilation_h * (w.kernel_h - 1) + 1, out_h);
  const std::int64_t v =
      total(image[3], w.stride_w, op->output_pad_w, w.dilation_w * (w.kernel_w - 1) + 1, out_w);
  const bool upper = auto_pad == "SAME_UPPER";
  w.pad_top = upper ? h / 2 : h - h / 2;
  w.pad_bottom = h - w.pad_top;
  w.pad_left = upper ? v / 2 : v - v / 2;
  w.pad_right = v - w.pad_left;
  return Unit{};
}

Status ImportTransposedConv(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  const OnnxDims& in = node.in(0).dims;
  const OnnxDims& w = node.in(1).dims;
  if (in.size() == 5) return importer.Unmodelled(node, "in three dimensions");
  if ((in.size() != 3 && in.size() != 4) || w.size() != in.size() || w[0] != in[1]) {
    return node.Wrong("an image " + Shape(in).Text() + " does not fit weights " + Shape(w).Text());
  }
  const Result<OnnxValue> image = OnnxImage(importer, node);
  if (!image) return image.error();
  const Result<Window> window = OnnxWindowOf(node, OnnxInts(w.begin() + 2, w.end()), image->dims);
  if (!window) return window.error();
  TransposedConv2d op;
  op.groups = node.Int("group", 1);
  op.out_channels = w[1] * op.groups;
  op.window = *window;
  const OnnxInts extra = node.Ints("output_padding").value_or(OnnxInts(in.size() - 2, 0));
  if (extra.size() != in.size() - 2) return node.Wrong("its output_padding does not fit the image");
  op.output_pad_w = extra.back();
  if (extra.size() == 2) op.output_pad_h = extra[0];
  if (const Status fixed = FixTransposedPads(node, image->dims, &op); !fixed) return fixed;
  op.bias = node.Has(2);
  return SetImage(importer, node, *image, op, node.in(1).dtype);
}

Status ImportPool(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const std::size_t rank = node.in(0).dims.size();
  if (rank != 3 && rank != 4) return importer.Unmodelled(node, "on images of this rank");
  if (importer.Wanted(node, 1)) return importer.Unmodelled(node, "where its indices are used");
  Pool pool;
  const std::string& type = node.type();
  pool.kind = type.find("Max") != std::string::npos ? PoolKind::kMax : PoolKind::kAverage;
  const Result<OnnxValue> image = OnnxImage(importer, node);
  if (!image) return image.error();
  if (type.rfind("Global", 0) == 0) {
    pool.global = true;
  } else {
    const Result<Window> window =
        OnnxWindowOf(node, node.Ints("kernel_shape").value_or(OnnxInts{}), image->dims);
    if (!window) return window.error();
    pool.window = *window;
    pool.ceil_mode = node.Int("ceil_mode", 0) != 0;
  }
  return SetImage(importer, node, *image, pool);
}

// The output extents of Resize and Upsample.
Result<OnnxDims> ResizedDims(const OnnxNode& node) {
  const OnnxDims& in = node.in(0).dims;
  OnnxInts axes(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  if (const auto named = node.Ints("axes")) axes = *named;
  if (node.Text("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return node.Wrong("keeps an aspect ratio; export it with fixed sizes");
  }
  const bool sized = node.Has(3) && node.in(3).Elements() > 0;
  std::optional<OnnxReals> scales;
  if (const onnx::AttributeProto* attribute = node.Find("scales")) {
    scales = OnnxReals(attribute->floats().begin(), attribute->floats().end());
  }
  const std::size_t at = node.type() == "Resize" && node.opset() >= 11 ? 2 : 1;
  if (!sized && !scales && node.Has(at)) scales = node.in(at).Reals();
  std::optional<OnnxReals> sizes;
  if (sized) sizes = node.in(3).Reals();
  const std::optional<OnnxReals>& given = sized ? sizes : scales;
  if (!given) return node.Wrong("its size is computed while the model runs; export it fixed");
  if (given->size() != axes.size()) return node.Wrong("its sizes or scales do not fit its input");
  OnnxDims out = in;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Result<std::int64_t> axis = node.Axis(axes[i], in.size());
    if (!axis) return axis.error();
    const auto index = static_cast<std::size_t>(*axis);
    const double extent =
        sized ? (*given)[i] : std::floor(static_cast<double>(in[index]) * (*given)[i]);
    if (!(extent >= 1 && extent <= static_cast<double>(kMaxExtent))) {
      return node.Wrong("asks for an impossible size");
    }
    out[index] = static_cast<std::int64_t>(extent);
  }
  return out;
}

Status ImportResize(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<OnnxDims> out = ResizedDims(node);
  if (!out) return out.error();
  const OnnxDims& in = node.in(0).dims;
  if (*out == in) {
    importer.Set(node, 0, OnnxValue(node.in(0)));
    return Unit{};
  }
  const bool image = (in.size() == 3 || in.size() == 4) && (*out)[0] == in[0] && (*out)[1] == in[1];
  if (!image) return importer.Unmodelled(node, "along the batch or the channels");
  const Result<OnnxValue> value = OnnxImage(importer, node);
  if (!value) return value.error();
  Resize resize;
  resize.out_w = out->back();
  resize.out_h = in.size() == 4 ? (*out)[2] : 1;
  resize.bilinear = node.Text("mode", "nearest") != "nearest";
  return SetImage(importer, node, *value, resize);
}

}  // namespace

OnnxHandlers OnnxWindowHandlers() {
  return {{"Conv", ImportConv},
          {"ConvTranspose", ImportTransposedConv},
          {"MaxPool", ImportPool},
          {"AveragePool", ImportPool},
          {"LpPool", ImportPool},
          {"GlobalMaxPool", ImportPool},
          {"GlobalAveragePool", ImportPool},
          {"GlobalLpPool", ImportPool},
          {"Resize", ImportResize},
          {"Upsample", ImportResize}};
}

}  // namespace cyclecast
