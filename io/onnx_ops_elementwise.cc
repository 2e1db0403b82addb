// Elementwise operators of ONNX; see onnx_ops.h.
#include <utility>

#include "io/onnx_ops.h"

namespace cyclecast {
namespace {

struct KindRow {
  const char* type;
  ElementwiseKind kind;
};
// Operators without a kind of their own stand beside the one that costs the same: ceil and floor,
// the trigonometric functions and sine, softsign (a reciprocal and two operations) and sigmoid.
constexpr KindRow kUnary[] = {{"Relu", ElementwiseKind::kRelu},
                              {"LeakyRelu", ElementwiseKind::kLeakyRelu},
                              {"Elu", ElementwiseKind::kElu},
                              {"Celu", ElementwiseKind::kElu},
                              {"Selu", ElementwiseKind::kSelu},
                              {"ThresholdedRelu", ElementwiseKind::kLeakyRelu},
                              {"Clip", ElementwiseKind::kClip},
                              {"Neg", ElementwiseKind::kNeg},
                              {"Abs", ElementwiseKind::kAbs},
                              {"Sign", ElementwiseKind::kStep},
                              {"Round", ElementwiseKind::kRound},
                              {"Floor", ElementwiseKind::kFloor},
                              {"Ceil", ElementwiseKind::kFloor},
                              {"Exp", ElementwiseKind::kExp},
                              {"Log", ElementwiseKind::kLog},
                              {"Sqrt", ElementwiseKind::kSqrt},
                              {"Reciprocal", ElementwiseKind::kReciprocal},
                              {"Erf", ElementwiseKind::kErf},
                              {"Tanh", ElementwiseKind::kTanh},
                              {"Sigmoid", ElementwiseKind::kSigmoid},
                              {"Softsign", ElementwiseKind::kSigmoid},
                              {"Gelu", ElementwiseKind::kGelu},
                              {"FastGelu", ElementwiseKind::kGelu},
                              {"QuickGelu", ElementwiseKind::kSilu},
                              {"Swish", ElementwiseKind::kSilu},
                              {"Silu", ElementwiseKind::kSilu},
                              {"HardSigmoid", ElementwiseKind::kHardSigmoid},
                              {"HardSwish", ElementwiseKind::kHardSwish},
                              {"Mish", ElementwiseKind::kMish},
                              {"Softplus", ElementwiseKind::kSoftplus},
                              {"Sin", ElementwiseKind::kSin},
                              {"Cos", ElementwiseKind::kCos},
                              {"Tan", ElementwiseKind::kSin},
                              {"Asin", ElementwiseKind::kSin},
                              {"Acos", ElementwiseKind::kSin},
                              {"Atan", ElementwiseKind::kSin},
                              {"Sinh", ElementwiseKind::kSin},
                              {"Cosh", ElementwiseKind::kSin},
                              {"Not", ElementwiseKind::kStep},
                              {"Trilu", ElementwiseKind::kStep},
                              {"IsNaN", ElementwiseKind::kStep},
                              {"IsInf", ElementwiseKind::kStep}};
constexpr KindRow kBinary[] = {
    {"Add", ElementwiseKind::kAdd},         {"Sub", ElementwiseKind::kSub},
    {"Mul", ElementwiseKind::kMul},         {"Div", ElementwiseKind::kDiv},
    {"Mod", ElementwiseKind::kDiv},         {"Pow", ElementwiseKind::kPow},
    {"Max", ElementwiseKind::kMax},         {"Min", ElementwiseKind::kMin},
    {"Sum", ElementwiseKind::kAdd},         {"Mean", ElementwiseKind::kAdd},
    {"PRelu", ElementwiseKind::kPrelu},     {"Equal", ElementwiseKind::kCompare},
    {"Less", ElementwiseKind::kCompare},    {"LessOrEqual", ElementwiseKind::kCompare},
    {"Greater", ElementwiseKind::kCompare}, {"GreaterOrEqual", ElementwiseKind::kCompare},
    {"And", ElementwiseKind::kCompare},     {"Or", ElementwiseKind::kCompare},
    {"Xor", ElementwiseKind::kCompare}};

template <std::size_t kSize>
ElementwiseKind KindOf(const KindRow (&rows)[kSize], const std::string& type) {
  for (const KindRow& row : rows) {
    if (type == row.type) return row.kind;
  }
  return ElementwiseKind::kIdentity;
}

Status SetOne(OnnxImporter& importer, const OnnxNode& node, Result<OnnxValue> value, int elem) {
  if (!value) return value.error();
  value->elem = elem;
  importer.Set(node, 0, *std::move(value));
  return Unit{};
}

Status ImportUnary(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  ElementwiseKind kind = KindOf(kUnary, node.type());
  if (kind == ElementwiseKind::kClip) {
    // Clip to 0..6 is ReLU6; from opset 11 on the bounds are inputs.
    double low = node.Real("min", -1), high = node.Real("max", -1);
    if (node.Has(1) && node.in(1).Reals() && node.in(1).Elements() == 1) {
      low = (*node.in(1).Reals())[0];
    }
    if (node.Has(2) && node.in(2).Reals() && node.in(2).Elements() == 1) {
      high = (*node.in(2).Reals())[0];
    }
    if (low == 0 && high == 6) kind = ElementwiseKind::kRelu6;
  }
  return SetOne(importer, node, importer.Emit(node, "", Elementwise{kind, 0}, {node.in(0)}),
                node.in(0).elem);
}

// One op on two operands, either of which may be a constant.
Result<OnnxValue> Pair(OnnxImporter& importer, const OnnxNode& node, const std::string& suffix,
                       ElementwiseKind kind, const OnnxValue& a, const OnnxValue& b) {
  const auto shape = BroadcastShape(Shape(a.dims), Shape(b.dims));
  if (!shape) {
    return node.Wrong("shapes " + Shape(a.dims).Text() + " and " + Shape(b.dims).Text() +
                      " do not broadcast");
  }
  const OnnxValue& activation = a.constant ? b : a;
  const OnnxValue& constant = a.constant ? a : b;
  if (!constant.constant || shape->dims() != activation.dims) {
    return importer.Emit(node, suffix, Elementwise{kind, 0}, {a, b});
  }
  // A division by a constant is a multiplication, a small constant power cheaper than the general.
  if (kind == ElementwiseKind::kDiv && b.constant && node.type() == "Div") {
    kind = ElementwiseKind::kMul;
  }
  if (kind == ElementwiseKind::kPow && b.constant && b.Reals() && b.Elements() == 1) {
    const double power = (*b.Reals())[0];
    std::optional<ElementwiseKind> simple;
    if (power == 2) simple = ElementwiseKind::kSquare;
    if (power == 0.5) simple = ElementwiseKind::kSqrt;
    if (power == -0.5) simple = ElementwiseKind::kRsqrt;
    if (power == -1) simple = ElementwiseKind::kReciprocal;
    if (simple) return importer.Emit(node, suffix, Elementwise{*simple, 0}, {activation});
  }
  return importer.Emit(node, suffix, Elementwise{kind, constant.Elements()}, {activation},
                       constant.dtype);
}

Status ImportBinary(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(1); !need) return need;
  const ElementwiseKind kind = KindOf(kBinary, node.type());
  const bool variadic =
      node.type() == "Max" || node.type() == "Min" || node.type() == "Sum" || node.type() == "Mean";
  if (const Status need = node.Need(variadic ? node.inputs() : 2); !need) return need;
  Result<OnnxValue> value = node.in(0);
  for (std::size_t i = 1; i < (variadic ? node.inputs() : 2); ++i) {
    const bool last = i + 1 == node.inputs() && node.type() != "Mean";
    value = Pair(importer, node, last ? "" : "part" + std::to_string(i), kind, *value, node.in(i));
    if (!value) return value.error();
  }
  if (node.type() == "Mean") {
    value = importer.Emit(node, "", Elementwise{ElementwiseKind::kMul, 1}, {*value});
  }
  const bool truth = kind == ElementwiseKind::kCompare;
  return SetOne(importer, node, std::move(value),
                truth ? static_cast<int>(onnx::TensorProto::BOOL) : node.in(0).elem);
}

// Bias, then an activation (com.microsoft).
Status ImportBiasGelu(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(2); !need) return need;
  const Result<OnnxValue> sum =
      Pair(importer, node, "bias", ElementwiseKind::kAdd, node.in(0), node.in(1));
  if (!sum) return sum.error();
  return SetOne(importer, node,
                importer.Emit(node, "", Elementwise{ElementwiseKind::kGelu, 0}, {*sum}),
                node.in(0).elem);
}

Status ImportWhere(OnnxImporter& importer, const OnnxNode& node) {
  if (const Status need = node.Need(3); !need) return need;
  Shape shape(node.in(0).dims);
  for (const std::size_t i : {1U, 2U}) {
    const auto both = BroadcastShape(shape, Shape(node.in(i).dims));
    if (!both) return node.Wrong("its three shapes do not broadcast");
    shape = *both;
  }
  // The chosen operands first: the result has their type, not the condition's.
  Elementwise select{ElementwiseKind::kSelect, 0};
  std::vector<OnnxValue> inputs;
  std::optional<Shape> reached;
  std::int64_t constants = 0;
  for (const std::size_t i : {1U, 2U, 0U}) {
    if (node.in(i).constant) {
      constants += node.in(i).Elements();
      continue;
    }
    reached = reached ? BroadcastShape(*reached, Shape(node.in(i).dims)) : Shape(node.in(i).dims);
    inputs.push_back(node.in(i));
  }
  const bool typed = inputs.size() > 1 || (!inputs.empty() && node.in(0).constant);
  if (reached && *reached == shape && typed) {
    select.constant_elements = constants;
  } else {
    inputs = {node.in(1), node.in(2), node.in(0)};
  }
  return SetOne(importer, node, importer.Emit(node, "", select, inputs), node.in(1).elem);
}

}  // namespace

OnnxHandlers OnnxElementwiseHandlers() {
  OnnxHandlers handlers = {{"Where", ImportWhere}, {"BiasGelu", ImportBiasGelu}};
  for (const KindRow& row : kUnary) handlers[row.type] = ImportUnary;
  for (const KindRow& row : kBinary) handlers[row.type] = ImportBinary;
  return handlers;
}

}  // namespace cyclecast
