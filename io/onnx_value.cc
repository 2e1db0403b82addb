// Element types and constant data of ONNX tensors; see onnx_value.h.
#include "io/onnx_value.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

namespace cyclecast {
namespace {

using onnx::TensorProto;

// One row per code of onnx::TensorProto::DataType, those newer than the library included.
struct ElemRow {
  std::string_view name;
  int bytes;  // in raw_data; 0: not read
  bool real;
  std::optional<DType> dtype;
};
constexpr std::array<ElemRow, 24> kElems = {
    {{"undefined", 0, false, std::nullopt},    {"float", 4, true, DType::kFp32},
     {"uint8", 1, false, DType::kUint8},       {"int8", 1, false, DType::kInt8},
     {"uint16", 2, false, DType::kInt16},      {"int16", 2, false, DType::kInt16},
     {"int32", 4, false, DType::kInt32},       {"int64", 8, false, DType::kInt32},
     {"string", 0, false, std::nullopt},       {"bool", 1, false, DType::kUint8},
     {"float16", 2, true, DType::kFp16},       {"double", 8, true, DType::kFp32},
     {"uint32", 4, false, DType::kInt32},      {"uint64", 8, false, DType::kInt32},
     {"complex64", 0, false, std::nullopt},    {"complex128", 0, false, std::nullopt},
     {"bfloat16", 2, true, DType::kBf16},      {"float8e4m3fn", 0, true, DType::kFp8},
     {"float8e4m3fnuz", 0, true, DType::kFp8}, {"float8e5m2", 0, true, DType::kFp8},
     {"float8e5m2fnuz", 0, true, DType::kFp8}, {"uint4", 0, false, DType::kInt4},
     {"int4", 0, false, DType::kInt4},         {"float4e2m1", 0, true, DType::kInt4}}};

const ElemRow& Row(int elem) {
  const bool known = elem >= 0 && static_cast<std::size_t>(elem) < kElems.size();
  return kElems[known ? static_cast<std::size_t>(elem) : 0];
}

template <class T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// IEEE half precision to double.
double HalfToReal(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  double value = 0;
  if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else if (exponent == 31) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}
double BrainToReal(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

std::int64_t RawInt(int elem, const char* bytes) {
  switch (elem) {
    case TensorProto::INT8:
      return Load<std::int8_t>(bytes);
    case TensorProto::UINT16:
      return Load<std::uint16_t>(bytes);
    case TensorProto::INT16:
      return Load<std::int16_t>(bytes);
    case TensorProto::INT32:
      return Load<std::int32_t>(bytes);
    case TensorProto::UINT32:
      return Load<std::uint32_t>(bytes);
    case TensorProto::INT64:
    case TensorProto::UINT64:
      return Load<std::int64_t>(bytes);
    default:
      return Load<std::uint8_t>(bytes);
  }
}
double RawReal(int elem, const char* bytes) {
  switch (elem) {
    case TensorProto::FLOAT:
      return static_cast<double>(Load<float>(bytes));
    case TensorProto::DOUBLE:
      return Load<double>(bytes);
    case TensorProto::FLOAT16:
      return HalfToReal(Load<std::uint16_t>(bytes));
    default:
      return BrainToReal(Load<std::uint16_t>(bytes));
  }
}

std::optional<OnnxData> RawData(const TensorProto& tensor, std::size_t count) {
  const int elem = tensor.data_type();
  const auto size = static_cast<std::size_t>(Row(elem).bytes);
  const std::string& raw = tensor.raw_data();
  if (raw.size() != count * size) return std::nullopt;
  if (Row(elem).real) {
    OnnxReals values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = RawReal(elem, raw.data() + i * size);
    return values;
  }
  OnnxInts values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = RawInt(elem, raw.data() + i * size);
  return values;
}

// The typed fields; half precision is stored as bits in int32_data.
std::optional<OnnxData> FieldData(const TensorProto& tensor, std::size_t count) {
  const int elem = tensor.data_type();
  const auto take = [count](const auto& field, auto convert) -> std::optional<OnnxData> {
    if (static_cast<std::size_t>(field.size()) != count) return std::nullopt;
    std::vector<decltype(convert(*field.begin()))> values;
    for (const auto& value : field) values.push_back(convert(value));
    return values;
  };
  const auto as_int = [](auto value) { return static_cast<std::int64_t>(value); };
  const auto as_real = [](auto value) { return static_cast<double>(value); };
  switch (elem) {
    case TensorProto::FLOAT:
      return take(tensor.float_data(), as_real);
    case TensorProto::DOUBLE:
      return take(tensor.double_data(), as_real);
    case TensorProto::INT64:
      return take(tensor.int64_data(), as_int);
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return take(tensor.uint64_data(), as_int);
    case TensorProto::FLOAT16:
      return take(tensor.int32_data(),
                  [](std::int32_t v) { return HalfToReal(static_cast<std::uint16_t>(v)); });
    case TensorProto::BFLOAT16:
      return take(tensor.int32_data(),
                  [](std::int32_t v) { return BrainToReal(static_cast<std::uint16_t>(v)); });
    default:
      return take(tensor.int32_data(), as_int);
  }
}

}  // namespace

std::optional<OnnxReals> OnnxValue::Reals() const {
  if (!data) return std::nullopt;
  if (const auto* reals = std::get_if<OnnxReals>(data.get())) return *reals;
  OnnxReals reals;
  for (const std::int64_t value : std::get<OnnxInts>(*data)) {
    reals.push_back(static_cast<double>(value));
  }
  return reals;
}

OnnxValue OnnxIntConstant(int elem, OnnxDims dims, OnnxInts values) {
  OnnxValue value;
  value.elem = elem;
  value.dims = std::move(dims);
  value.constant = true;
  value.dtype = DTypeOfOnnx(elem).value_or(DType::kInt32);
  value.data = std::make_shared<const OnnxData>(std::move(values));
  return value;
}

OnnxValue OnnxRealConstant(int elem, OnnxDims dims, OnnxReals values) {
  OnnxValue value = OnnxIntConstant(elem, std::move(dims), {});
  value.data = std::make_shared<const OnnxData>(std::move(values));
  return value;
}

bool IsOnnxReal(int elem) { return Row(elem).real; }
bool IsOnnxInteger(int elem) { return !Row(elem).real && Row(elem).dtype.has_value(); }

std::string OnnxElemName(int elem) {
  const ElemRow& row = Row(elem);
  return elem != 0 && &row == kElems.data() ? "element type " + std::to_string(elem)
                                            : std::string(row.name);
}

std::optional<DType> DTypeOfOnnx(int elem) { return Row(elem).dtype; }

std::optional<std::int64_t> SafeElements(const OnnxDims& dims) {
  constexpr double kMax = 1125899906842624.0;  // 2^50
  double product = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    product *= static_cast<double>(dim);
    if (product > kMax) return std::nullopt;
  }
  return static_cast<std::int64_t>(product);
}

Result<OnnxValue> ReadOnnxTensor(const TensorProto& tensor) {
  const std::string what = "tensor '" + tensor.name() + "'";
  const std::optional<DType> dtype = DTypeOfOnnx(tensor.data_type());
  if (!dtype) {
    return Error(what + " holds " + OnnxElemName(tensor.data_type()) +
                 " elements; only numbers and bool can be estimated");
  }
  OnnxValue value;
  value.elem = tensor.data_type();
  value.dims.assign(tensor.dims().begin(), tensor.dims().end());
  value.constant = true;
  value.dtype = *dtype;
  const std::optional<std::int64_t> count = SafeElements(value.dims);
  if (!count) return Error(what + " has impossible extents; the file is damaged, export it again");
  const bool external = tensor.data_location() == TensorProto::EXTERNAL;
  if (external || *count > kMaxOnnxData || Row(value.elem).bytes == 0) return value;
  const auto elements = static_cast<std::size_t>(*count);
  std::optional<OnnxData> data = !tensor.raw_data().empty() || elements == 0
                                     ? RawData(tensor, elements)
                                     : FieldData(tensor, elements);
  if (!data) {
    return Error(what + " has data of the wrong length for its shape " + Shape(value.dims).Text() +
                 "; the file is damaged, export it again");
  }
  value.data = std::make_shared<const OnnxData>(*std::move(data));
  return value;
}

TensorProto WriteOnnxTensor(const OnnxValue& value) {
  TensorProto tensor;
  for (const std::int64_t dim : value.dims) tensor.add_dims(dim);
  tensor.set_data_type(value.elem);
  if (const OnnxInts* ints = value.Ints()) {
    for (const std::int64_t v : *ints) {
      if (value.elem == TensorProto::INT64) {
        tensor.add_int64_data(v);
      } else if (value.elem == TensorProto::UINT64 || value.elem == TensorProto::UINT32) {
        tensor.add_uint64_data(static_cast<std::uint64_t>(v));
      } else {
        tensor.add_int32_data(static_cast<std::int32_t>(v));
      }
    }
  } else if (value.data) {
    tensor.set_data_type(value.elem == TensorProto::DOUBLE ? value.elem : TensorProto::FLOAT);
    for (const double v : std::get<OnnxReals>(*value.data)) {
      if (value.elem == TensorProto::DOUBLE) {
        tensor.add_double_data(v);
      } else {
        tensor.add_float_data(static_cast<float>(v));
      }
    }
  }
  return tensor;
}

}  // namespace cyclecast
