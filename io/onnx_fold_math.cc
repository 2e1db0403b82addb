// Arithmetic on constants; see onnx_fold_math.h. Integers wrap like the hardware's, a division by
// zero is not folded.
#include "io/onnx_fold_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "io/onnx_shapes.h"

namespace cyclecast {
namespace {

using Folded = Result<std::optional<std::vector<OnnxValue>>>;

Folded One(OnnxValue value) { return std::optional(std::vector<OnnxValue>{std::move(value)}); }
Folded None() { return std::optional<std::vector<OnnxValue>>(); }

std::int64_t Wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t Bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::optional<std::int64_t> Apply(const std::string& op, std::int64_t a, std::int64_t b) {
  if (op == "Add") return Wrap(Bits(a) + Bits(b));
  if (op == "Sub") return Wrap(Bits(a) - Bits(b));
  if (op == "Mul") return Wrap(Bits(a) * Bits(b));
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Equal") return a == b ? 1 : 0;
  if (op == "Less") return a < b ? 1 : 0;
  if (op == "LessOrEqual") return a <= b ? 1 : 0;
  if (op == "Greater") return a > b ? 1 : 0;
  if (op == "GreaterOrEqual") return a >= b ? 1 : 0;
  if (op == "And") return a != 0 && b != 0 ? 1 : 0;
  if (op == "Or") return a != 0 || b != 0 ? 1 : 0;
  if (op == "Xor") return (a != 0) != (b != 0) ? 1 : 0;
  const bool divisible = b != 0 && !(a == std::numeric_limits<std::int64_t>::min() && b == -1);
  if (op == "Div" && divisible) return a / b;
  if (op == "Mod" && divisible) {  // the sign of the divisor, as in Python
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return std::nullopt;
}
std::optional<double> Apply(const std::string& op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Mod") return std::fmod(a, b);
  if (op == "Pow") return std::pow(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Equal") return a == b ? 1 : 0;
  if (op == "Less") return a < b ? 1 : 0;
  if (op == "LessOrEqual") return a <= b ? 1 : 0;
  if (op == "Greater") return a > b ? 1 : 0;
  if (op == "GreaterOrEqual") return a >= b ? 1 : 0;
  return std::nullopt;
}
bool IsComparison(const std::string& op) {
  return op == "Equal" || op.rfind("Less", 0) == 0 || op.rfind("Greater", 0) == 0;
}

std::optional<double> Apply(const std::string& op, double a) {
  if (op == "Neg") return -a;
  if (op == "Abs") return std::abs(a);
  if (op == "Floor") return std::floor(a);
  if (op == "Ceil") return std::ceil(a);
  if (op == "Round") return std::nearbyint(a);
  if (op == "Sqrt") return std::sqrt(a);
  if (op == "Exp") return std::exp(a);
  if (op == "Log") return std::log(a);
  if (op == "Reciprocal") return 1 / a;
  if (op == "Not") return a == 0 ? 1 : 0;
  return std::nullopt;
}

// The element of `values`, of extents `dims`, that a broadcast to `out` puts at flat position n.
template <class T>
T BroadcastAt(const std::vector<T>& values, const OnnxDims& dims, const OnnxDims& out,
              std::int64_t n) {
  std::int64_t flat = 0, scale = 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t axis = out.size() - 1 - i;
    const std::int64_t index = n % out[axis];
    n /= out[axis];
    if (i < dims.size()) {
      const std::int64_t extent = dims[dims.size() - 1 - i];
      if (extent != 1) flat += index * scale;
      scale *= extent;
    }
  }
  return values[static_cast<std::size_t>(flat)];
}

OnnxValue WithElem(int elem, OnnxDims dims, const OnnxReals& reals) {
  if (IsOnnxReal(elem)) return OnnxRealConstant(elem, std::move(dims), reals);
  OnnxInts ints;
  for (const double v : reals) ints.push_back(static_cast<std::int64_t>(v));
  return OnnxIntConstant(elem, std::move(dims), std::move(ints));
}

Folded FoldBinary(const OnnxNode& node) {
  const OnnxValue &a = node.in(0), &b = node.in(1);
  const auto both = BroadcastShape(Shape(a.dims), Shape(b.dims));
  if (!both || !SafeElements(both->dims())) {
    return node.Wrong("shapes " + Shape(a.dims).Text() + " and " + Shape(b.dims).Text() +
                      " do not broadcast");
  }
  const OnnxDims& out = both->dims();
  const std::int64_t count = both->Elements();
  if (count > kMaxOnnxData) return None();
  const int elem = IsComparison(node.type()) ? static_cast<int>(onnx::TensorProto::BOOL) : a.elem;
  if (a.Ints() != nullptr && b.Ints() != nullptr && node.type() != "Pow") {
    OnnxInts result;
    for (std::int64_t n = 0; n < count; ++n) {
      const auto value = Apply(node.type(), BroadcastAt(*a.Ints(), a.dims, out, n),
                               BroadcastAt(*b.Ints(), b.dims, out, n));
      if (!value) return None();
      result.push_back(*value);
    }
    return One(OnnxIntConstant(elem, out, std::move(result)));
  }
  const OnnxReals x = *a.Reals(), y = *b.Reals();
  OnnxReals result;
  for (std::int64_t n = 0; n < count; ++n) {
    const auto value =
        Apply(node.type(), BroadcastAt(x, a.dims, out, n), BroadcastAt(y, b.dims, out, n));
    const bool whole = value && (IsOnnxReal(elem) || std::abs(*value) < 9e15);
    if (!whole) return None();
    result.push_back(*value);
  }
  return One(WithElem(elem, out, result));
}

Folded FoldUnary(const OnnxNode& node) {
  const OnnxReals values = *node.in(0).Reals();
  OnnxReals result;
  for (const double v : values) {
    const std::optional<double> value = Apply(node.type(), v);
    if (!value || (!IsOnnxReal(node.in(0).elem) && std::abs(*value) > 9e15)) return None();
    result.push_back(*value);
  }
  return One(WithElem(node.in(0).elem, node.in(0).dims, result));
}

Folded FoldCast(const OnnxNode& node) {
  const auto to = static_cast<int>(node.Int("to", 0));
  if (!DTypeOfOnnx(to)) return None();
  const OnnxValue& in = node.in(0);
  if (const OnnxInts* ints = in.Ints(); ints != nullptr && IsOnnxInteger(to)) {
    OnnxInts values = *ints;
    if (to == onnx::TensorProto::BOOL) {
      for (std::int64_t& v : values) v = v != 0 ? 1 : 0;
    }
    return One(OnnxIntConstant(to, in.dims, std::move(values)));
  }
  const OnnxReals reals = *in.Reals();
  const bool fits = std::all_of(reals.begin(), reals.end(),
                                [](double v) { return std::isfinite(v) && std::abs(v) < 9e15; });
  if (!IsOnnxReal(to) && !fits) return None();
  return One(WithElem(to, in.dims, reals));
}

Folded FoldWhere(const OnnxNode& node) {
  if (const Status need = node.Need(3); !need) return need.error();
  const OnnxValue &c = node.in(0), &x = node.in(1), &y = node.in(2);
  auto both = BroadcastShape(Shape(c.dims), Shape(x.dims));
  if (both) both = BroadcastShape(*both, Shape(y.dims));
  if (!both || !SafeElements(both->dims())) return node.Wrong("its three shapes do not broadcast");
  if (both->Elements() > kMaxOnnxData) return None();
  const OnnxReals condition = *c.Reals();
  const auto choose = [&](const auto& a, const auto& b) {
    std::decay_t<decltype(a)> result;
    for (std::int64_t n = 0; n < both->Elements(); ++n) {
      const bool first = BroadcastAt(condition, c.dims, both->dims(), n) != 0;
      result.push_back(first ? BroadcastAt(a, x.dims, both->dims(), n)
                             : BroadcastAt(b, y.dims, both->dims(), n));
    }
    return result;
  };
  if (x.Ints() != nullptr && y.Ints() != nullptr) {
    return One(OnnxIntConstant(x.elem, both->dims(), choose(*x.Ints(), *y.Ints())));
  }
  return One(OnnxRealConstant(x.elem, both->dims(), choose(*x.Reals(), *y.Reals())));
}

// Sum, product, extremes and mean over some axes.
Folded FoldReduce(const OnnxNode& node, const std::string& kind) {
  const Result<OnnxInts> axes = OnnxReduceAxes(node);
  if (!axes) return axes.error();
  const OnnxDims& in = node.in(0).dims;
  const bool keep = node.Int("keepdims", 1) != 0;
  OnnxDims kept = in, out;
  double reduced = 1;
  for (const std::int64_t axis : *axes) {
    reduced *= static_cast<double>(in[static_cast<std::size_t>(axis)]);
    kept[static_cast<std::size_t>(axis)] = 1;
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool gone = std::binary_search(axes->begin(), axes->end(), static_cast<std::int64_t>(i));
    if (!gone || keep) out.push_back(kept[i]);
  }
  const OnnxReals values = *node.in(0).Reals();
  const auto size = static_cast<std::size_t>(Shape(kept).Elements());
  OnnxReals result(size, kind == "Prod"  ? 1
                         : kind == "Max" ? -HUGE_VAL
                         : kind == "Min" ? HUGE_VAL
                                         : 0);
  for (std::size_t n = 0; n < values.size(); ++n) {
    auto rest = static_cast<std::int64_t>(n);
    std::int64_t flat = 0, scale = 1;
    for (std::size_t axis = in.size(); axis-- > 0;) {
      if (kept[axis] != 1) flat += rest % in[axis] * scale;
      rest /= in[axis];
      scale *= kept[axis];
    }
    double& slot = result[static_cast<std::size_t>(flat)];
    if (kind == "Prod") slot *= values[n];
    if (kind == "Sum" || kind == "Mean") slot += values[n];
    if (kind == "Max") slot = std::max(slot, values[n]);
    if (kind == "Min") slot = std::min(slot, values[n]);
  }
  for (double& value : result) {
    if (kind == "Mean") value /= reduced;
    if (!std::isfinite(value) || std::abs(value) > 9e15) return None();
  }
  return One(WithElem(node.in(0).elem, out, result));
}

}  // namespace

Folded FoldOnnxMath(const OnnxNode& node) {
  const std::string& type = node.type();
  if (type == "Cast") return FoldCast(node);
  if (type == "Where") return FoldWhere(node);
  for (const std::string kind : {"Prod", "Sum", "Max", "Min", "Mean"}) {
    if (type == "Reduce" + kind) return FoldReduce(node, kind);
  }
  if (node.inputs() == 1) return FoldUnary(node);
  if (node.inputs() == 2 && node.Has(1)) return FoldBinary(node);
  return None();
}

}  // namespace cyclecast
