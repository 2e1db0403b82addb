// Products, softmax, normalisations and reductions of ONNX; see onnx_ops.h.
#include <algorithm>
#include <utility>

#include "io/onnx_ops.h"
#include "io/onnx_product.h"
#include "io/onnx_shapes.h"

namespace cyclecast {

Status ImportOnnxProduct(OnnxImporter& importer, const OnnxNode& node, const OnnxValue& a,
                         const OnnxValue& b, Matmul matmul, int elem) {
  if (a.dims.empty() || b.dims.empty()) return node.Wrong("multiplies a scalar");
  const bool vector_a = a.dims.size() == 1, vector_b = b.dims.size() == 1;
  Result<OnnxValue> left = a;
  if (vector_a) left = importer.View(node, "lhs", a, {1, a.dims[0]});
  if (!left) return left.error();
  OnnxDims right_dims = vector_b ? OnnxDims{b.dims[0], 1} : b.dims;
  const std::int64_t k_left =
      matmul.transpose_lhs ? (*left).dims[(*left).dims.size() - 2] : (*left).dims.back();
  const std::size_t k_axis = right_dims.size() - (matmul.transpose_rhs ? 1 : 2);
  if (right_dims[k_axis] != k_left) {
    return node.Wrong("contraction extents differ: " + Shape(a.dims).Text() + " and " +
                      Shape(b.dims).Text());
  }
  Result<OnnxValue> out = *left;
  if (b.constant && right_dims.size() == 2) {
    matmul.out_features = right_dims[1 - k_axis];
    matmul.transpose_rhs = false;
    out = importer.Emit(node, "", matmul, {*left}, b.dtype);
  } else {
    const Result<OnnxValue> right = importer.View(node, "rhs", b, right_dims);
    if (!right) return right.error();
    out = importer.Emit(node, "", matmul, {*left, *right});
  }
  if (!out) return out.error();
  OnnxDims dims = out->dims;
  if (vector_b) dims.pop_back();
  if (vector_a) dims.erase(dims.end() - (vector_b ? 1 : 2));
  out = importer.View(node, "result", *out, std::move(dims));
  if (!out) return out.error();
  out->elem = elem;
  importer.Set(node, 0, *std::move(out));
  return Unit{};
}

namespace {

Status SetOne(OnnxImporter& importer, const OnnxNode& node, Result<OnnxValue> value) {
  if (!value) return value.error();
  importer.Set(node, 0, *std::move(value));
  return Unit{};
}

Status ImportMatMul(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  Matmul matmul;
  matmul.transpose_lhs = node.Int("transA", 0) != 0;  // FusedMatMul
  matmul.transpose_rhs = node.Int("transB", 0) != 0;
  if ((matmul.transpose_lhs && node.in(0).dims.size() < 2) ||
      (matmul.transpose_rhs && node.in(1).dims.size() < 2)) {
    return node.Wrong("transposes a vector");
  }
  return ImportOnnxProduct(importer, node, node.in(0), node.in(1), matmul, node.in(0).elem);
}

Status ImportGemm(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  if (node.in(0).dims.size() != 2 || node.in(1).dims.size() != 2) {
    return node.Wrong("needs matrices, got " + Shape(node.in(0).dims).Text() + " and " +
                      Shape(node.in(1).dims).Text());
  }
  Matmul matmul;
  matmul.transpose_lhs = node.Int("transA", 0) != 0;
  matmul.transpose_rhs = node.Int("transB", 0) != 0;
  const bool adds = node.Has(2) && !node.in(2).constant;
  matmul.bias = node.Has(2) && !adds;
  if (!adds)
    return ImportOnnxProduct(importer, node, node.in(0), node.in(1), matmul, node.in(0).elem);
  // C is computed: a product and a sum.
  const bool weights = node.in(1).constant;
  std::vector<OnnxValue> inputs = {node.in(0)};
  if (weights) {
    matmul.out_features = node.in(1).dims[matmul.transpose_rhs ? 0 : 1];
    matmul.transpose_rhs = false;
  } else {
    inputs.push_back(node.in(1));
  }
  const Result<OnnxValue> product =
      importer.Emit(node, "product", matmul, inputs, node.in(1).dtype);
  if (!product) return product.error();
  return SetOne(
      importer, node,
      importer.Emit(node, "", Elementwise{ElementwiseKind::kAdd, 0}, {*product, node.in(2)}));
}

// Two operands whose letters are batch (in both and the output), M (left), N (right) or K (both,
// not the output), in exactly the order of a product; anything else is not modelled.
Status ImportEinsum(OnnxImporter& importer, const OnnxNode& node) {
  std::string text = node.Text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t comma = text.find(','), arrow = text.find("->");
  if (node.inputs() != 2 || !node.Has(0) || !node.Has(1) || comma == std::string::npos ||
      arrow == std::string::npos || comma > arrow || text.find('.') != std::string::npos) {
    return importer.Unmodelled(node);
  }
  const std::string a = text.substr(0, comma), b = text.substr(comma + 1, arrow - comma - 1);
  const std::string out = text.substr(arrow + 2);
  if (a.size() != node.in(0).dims.size() || b.size() != node.in(1).dims.size()) {
    return node.Wrong("its equation does not fit the ranks of its inputs");
  }
  const auto in = [](const std::string& s, char c) { return s.find(c) != std::string::npos; };
  std::string batch, m, n, k;
  for (const char c : a) (in(b, c) ? (in(out, c) ? batch : k) : m) += c;
  for (const char c : b) n += in(a, c) ? "" : std::string(1, c);
  const auto extent = [&](const std::string& letters) {
    std::int64_t product = 1;
    for (const char c : letters) {
      const std::size_t at = a.find(c);
      product *= at != std::string::npos ? node.in(0).dims[at] : node.in(1).dims[b.find(c)];
    }
    return product;
  };
  const bool left = a == batch + m + k, right = b == batch + k + n, transposed = b == batch + n + k;
  if (!left || (!right && !transposed) || out != batch + m + n) return importer.Unmodelled(node);
  Matmul matmul;
  matmul.transpose_rhs = !right;
  const std::int64_t rows = extent(right ? k : n), columns = extent(right ? n : k);
  const auto lhs = importer.View(node, "lhs", node.in(0), {extent(batch), extent(m), extent(k)});
  if (!lhs) return lhs.error();
  const auto rhs = importer.View(node, "rhs", node.in(1), {extent(batch), rows, columns});
  if (!rhs) return rhs.error();
  const auto product = importer.Emit(node, "", matmul, {*lhs, *rhs});
  if (!product) return product.error();
  OnnxDims dims;
  for (const char c : out) dims.push_back(extent(std::string(1, c)));
  return SetOne(importer, node, importer.View(node, "result", *product, dims));
}

Status ImportSoftmax(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const bool flattens = node.opset() < 13;  // over all axes from `axis` on
  const Result<std::int64_t> axis =
      node.Axis(node.Int("axis", flattens ? 1 : -1), node.in(0).dims.size());
  if (!axis) return axis.error();
  const OnnxDims& dims = node.in(0).dims;
  Result<OnnxValue> value = node.in(0);
  const bool last = *axis + 1 == static_cast<std::int64_t>(dims.size());
  if (flattens && !last) {
    OnnxDims flat = {1, 1};
    for (std::size_t i = 0; i < dims.size(); ++i) {
      flat[static_cast<std::int64_t>(i) < *axis ? 0 : 1] *= dims[i];
    }
    value = importer.View(node, "flat", *value, flat);
    if (!value) return value.error();
    value = importer.Emit(node, "", Softmax{-1}, {*value});
    if (!value) return value.error();
    value = importer.View(node, "result", *value, dims);
  } else {
    value =
        importer.Emit(node, node.type() == "LogSoftmax" ? "softmax" : "", Softmax{*axis}, {*value});
  }
  if (value && node.type() == "LogSoftmax") {
    value = importer.Emit(node, "log", Elementwise{ElementwiseKind::kLog, 0}, {*value});
  }
  return SetOne(importer, node, std::move(value));
}

Status ImportBatchNorm(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(5); !need) return need;
  for (std::size_t i = 1; i < 5; ++i) {
    if (node.in(i).constant) continue;
    return importer.Unmodelled(node, "as its statistics are computed while the model runs");
  }
  if (importer.FoldIntoProducer(node)) {
    importer.CountFolded();
    importer.Set(node, 0, OnnxValue(node.in(0)));
    return Unit{};
  }
  return SetOne(
      importer, node,
      importer.Emit(node, "", Norm{NormKind::kBatch, -1, 1}, {node.in(0)}, node.in(1).dtype));
}

Status ImportNorm(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const std::string& type = node.type();
  Norm norm;
  Result<OnnxValue> input = node.in(0);
  if (type == "InstanceNormalization") {
    norm.kind = NormKind::kInstance;
  } else if (type == "GroupNormalization" || type == "GroupNorm") {
    norm.kind = NormKind::kGroup;
    norm.groups = node.Int("num_groups", node.Int("groups", 1));
  } else {
    const bool rms =
        type.find("RMS") != std::string::npos || type.find("Simplified") != std::string::npos;
    norm.kind = rms ? NormKind::kRms : NormKind::kLayer;
    const Result<std::int64_t> axis = node.Axis(node.Int("axis", -1), node.in(0).dims.size());
    if (!axis) return axis.error();
    norm.axis = *axis;
  }
  if (type.rfind("Skip", 0) == 0 && node.Has(1)) {
    input = importer.Emit(node, "skip", Elementwise{ElementwiseKind::kAdd, 0},
                          {node.in(0), node.in(1)});
    if (!input) return input.error();
    if (importer.Wanted(node, 3)) importer.Set(node, 3, *input);
  }
  return SetOne(importer, node, importer.Emit(node, "", norm, {*input}));
}

struct ReduceRow {
  const char* type;
  ReduceKind kind;
};
constexpr ReduceRow kReduces[] = {
    {"ReduceSum", ReduceKind::kSum},      {"ReduceMean", ReduceKind::kMean},
    {"ReduceMax", ReduceKind::kMax},      {"ReduceMin", ReduceKind::kMin},
    {"ReduceL2", ReduceKind::kL2},        {"ReduceL1", ReduceKind::kSum},
    {"ReduceSumSquare", ReduceKind::kL2}, {"ReduceProd", ReduceKind::kProd},
    {"ReduceLogSum", ReduceKind::kSum},   {"ReduceLogSumExp", ReduceKind::kSum},
    {"ArgMax", ReduceKind::kArg},         {"ArgMin", ReduceKind::kArg}};

Status ImportReduce(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  Reduce reduce;
  for (const ReduceRow& row : kReduces) {
    if (node.type() == row.type) reduce.kind = row.kind;
  }
  reduce.keep_dims = node.Int("keepdims", 1) != 0;
  Result<OnnxInts> axes = OnnxInts{};
  if (reduce.kind == ReduceKind::kArg) {
    const Result<std::int64_t> axis = node.Axis(node.Int("axis", 0), node.in(0).dims.size());
    if (!axis) return axis.error();
    axes = OnnxInts{*axis};
  } else {
    axes = OnnxReduceAxes(node);
  }
  if (!axes) return axes.error();
  if (axes->empty()) {
    importer.Set(node, 0, OnnxValue(node.in(0)));
    return Unit{};
  }
  reduce.axes = *axes;
  Result<OnnxValue> value = node.in(0);
  const bool log = node.type().find("Log") != std::string::npos;
  if (node.type() == "ReduceLogSumExp") {
    value = importer.Emit(node, "exp", Elementwise{ElementwiseKind::kExp, 0}, {*value});
    if (!value) return value.error();
  }
  value = importer.Emit(node, "", reduce, {*value});
  if (value && log) {
    value = importer.Emit(node, "log", Elementwise{ElementwiseKind::kLog, 0}, {*value});
  }
  if (value && reduce.kind == ReduceKind::kArg) value->elem = onnx::TensorProto::INT64;
  return SetOne(importer, node, std::move(value));
}

}  // namespace

OnnxHandlers OnnxMathHandlers() {
  OnnxHandlers handlers = {{"MatMul", ImportMatMul},
                           {"FusedMatMul", ImportMatMul},
                           {"Gemm", ImportGemm},
                           {"Einsum", ImportEinsum},
                           {"Softmax", ImportSoftmax},
                           {"LogSoftmax", ImportSoftmax},
                           {"BatchNormalization", ImportBatchNorm},
                           {"InstanceNormalization", ImportNorm},
                           {"GroupNormalization", ImportNorm},
                           {"GroupNorm", ImportNorm},
                           {"LayerNormalization", ImportNorm},
                           {"RMSNormalization", ImportNorm},
                           {"SimplifiedLayerNormalization", ImportNorm},
                           {"SkipLayerNormalization", ImportNorm},
                           {"SkipSimplifiedLayerNormalization", ImportNorm}};
  for (const ReduceRow& row : kReduces) handlers[row.type] = ImportReduce;
  return handlers;
}

}  // namespace cyclecast
