// Quantised operators of ONNX; see onnx_ops.h. A DequantizeLinear is not a step of its own where
// the nodes behind it can run on the quantised tensor (OnnxImporter::UseQuantised).
#include <utility>

#include "io/onnx_ops.h"
#include "io/onnx_product.h"
#include "io/onnx_window.h"

namespace cyclecast {
namespace {

Status ImportQuantize(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  auto elem = static_cast<int>(node.Int("output_dtype", 0));
  if (elem == 0) elem = node.Has(2) ? node.in(2).elem : static_cast<int>(onnx::TensorProto::UINT8);
  const std::optional<DType> to = DTypeOfOnnx(elem);
  if (!to) return node.Wrong("quantises to " + OnnxElemName(elem));
  OnnxValue value = node.in(0);
  if (value.constant) {
    value.data = nullptr;
    value.dtype = *to;
  } else if (value.tensor.empty() || BitsOf(value.dtype) > 8) {
    Result<OnnxValue> converted = importer.Emit(node, "", Convert{*to}, {value});
    if (!converted) return converted.error();
    value = *std::move(converted);
  }
  value.elem = elem;
  importer.Set(node, 0, std::move(value));
  return Unit{};
}

Status ImportDequantize(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  OnnxValue value = node.in(0);
  value.elem =
      IsOnnxReal(node.in(1).elem) ? node.in(1).elem : static_cast<int>(onnx::TensorProto::FLOAT);
  value.data = nullptr;
  if (!value.constant) {
    value.quantised = value.tensor;
    value.quantised_dtype = value.dtype;
    value.dequantize_name = node.name();
    value.tensor.clear();
    value.dtype = importer.Storage(value.elem);
  }
  importer.Set(node, 0, std::move(value));
  return Unit{};
}

// y and, as small constants, its scale and zero point.
Status ImportDynamicQuantize(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const Result<OnnxValue> range =
      importer.Emit(node, "range", Reduce{ReduceKind::kMax, {}, true}, {node.in(0)});
  if (!range) return range.error();
  Result<OnnxValue> value = importer.Emit(node, "", Convert{DType::kUint8}, {node.in(0)});
  if (!value) return value.error();
  value->elem = onnx::TensorProto::UINT8;
  importer.Set(node, 0, *std::move(value));
  OnnxValue scale = *range;
  scale.elem = onnx::TensorProto::FLOAT;
  Result<OnnxValue> scalar = importer.View(node, "scale", scale, {});
  if (!scalar) return scalar.error();
  importer.Set(node, 1, *scalar);
  scalar->elem = onnx::TensorProto::UINT8;
  importer.Set(node, 2, *std::move(scalar));
  return Unit{};
}

Status ImportQLinearConv(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(8); !need) return need;
  return ImportOnnxConv(importer, node, node.in(3), node.Has(8));
}
Status ImportConvInteger(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  return ImportOnnxConv(importer, node, node.in(1), false);
}
Status ImportQLinearMatMul(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(8); !need) return need;
  return ImportOnnxProduct(importer, node, node.in(0), node.in(3), Matmul{}, node.in(7).elem);
}
Status ImportMatMulInteger(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  return ImportOnnxProduct(importer, node, node.in(0), node.in(1), Matmul{},
                           onnx::TensorProto::INT32);
}

// com.microsoft: A, scale, zero, B, scale, zero, ... and unary forms X, scale, zero, ...
Status ImportQLinearElementwise(OnnxImporter& importer, const OnnxNode& node) {
  const std::string& type = node.type();
  const bool binary = type == "QLinearAdd" || type == "QLinearMul";
  if (const Status need = node.Need(binary ? 4 : 1); !need) return need;
  Op op = Elementwise{type == "QLinearAdd"       ? ElementwiseKind::kAdd
                      : type == "QLinearMul"     ? ElementwiseKind::kMul
                      : type == "QLinearSigmoid" ? ElementwiseKind::kSigmoid
                                                 : ElementwiseKind::kLeakyRelu,
                      0};
  std::vector<OnnxValue> inputs = {node.in(0)};
  if (binary) inputs.push_back(node.in(3));
  if (type == "QLinearGlobalAveragePool") {
    Pool pool;
    pool.kind = PoolKind::kAverage;
    pool.global = true;
    op = pool;
  }
  Result<OnnxValue> value = importer.Emit(node, "", std::move(op), std::move(inputs));
  if (!value) return value.error();
  importer.Set(node, 0, *std::move(value));
  return Unit{};
}

}  // namespace

OnnxHandlers OnnxQuantHandlers() {
  return {{"QuantizeLinear", ImportQuantize},
          {"DequantizeLinear", ImportDequantize},
          {"DynamicQuantizeLinear", ImportDynamicQuantize},
          {"QLinearConv", ImportQLinearConv},
          {"ConvInteger", ImportConvInteger},
          {"QLinearMatMul", ImportQLinearMatMul},
          {"MatMulInteger", ImportMatMulInteger},
          {"QLinearAdd", ImportQLinearElementwise},
          {"QLinearMul", ImportQLinearElementwise},
          {"QLinearSigmoid", ImportQLinearElementwise},
          {"QLinearLeakyRelu", ImportQLinearElementwise},
          {"QLinearGlobalAveragePool", ImportQLinearElementwise}};
}

}  // namespace cyclecast
