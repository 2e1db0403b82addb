// Tensors of an ONNX graph as the importer knows them: element type, concrete shape, and the data
// of small constants. Private to io.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"

namespace cyclecast {

using OnnxDims = std::vector<std::int64_t>;
using OnnxInts = std::vector<std::int64_t>;
using OnnxReals = std::vector<double>;
using OnnxData = std::variant<OnnxInts, OnnxReals>;

// Constants with more elements are known by shape alone.
inline constexpr std::int64_t kMaxOnnxData = 65536;

struct OnnxValue {
  int elem = 0;  // onnx::TensorProto::DataType
  OnnxDims dims;
  // Known before the model runs: an initializer or what follows from them.
  bool constant = false;
  std::shared_ptr<const OnnxData> data;  // of small constants; may be null
  // The workload's tensor, "" for constants and for dequantised tensors nobody read yet.
  std::string tensor;
  DType dtype = DType::kFp32;  // what its elements are stored as, on chip and off
  // Behind a DequantizeLinear that was not needed yet: the quantised tensor and the node's name.
  std::string quantised, dequantize_name;
  DType quantised_dtype = DType::kInt8;

  TensorType Type() const { return {Shape(dims), dtype, Layout::kRowMajor}; }
  std::int64_t Elements() const { return Shape(dims).Elements(); }
  const OnnxInts* Ints() const { return data ? std::get_if<OnnxInts>(data.get()) : nullptr; }
  // The data as reals, whatever the type; nothing where there are none.
  std::optional<OnnxReals> Reals() const;
};

OnnxValue OnnxIntConstant(int elem, OnnxDims dims, OnnxInts values);
OnnxValue OnnxRealConstant(int elem, OnnxDims dims, OnnxReals values);

bool IsOnnxReal(int elem);     // float, double, half, bfloat16, fp8
bool IsOnnxInteger(int elem);  // any integer type or bool
std::string OnnxElemName(int elem);
// The workload's element type. 64-bit integers count as 32-bit, bool as 8-bit, double as fp32: what
// accelerators hold. Nothing for strings, complex numbers and unknown codes.
std::optional<DType> DTypeOfOnnx(int elem);

// A tensor of the model file. Data are read only where they are in the file itself and at most
// kMaxOnnxData elements. Errors: negative or overflowing extents, data of the wrong length, element
// types that have no place in a workload.
Result<OnnxValue> ReadOnnxTensor(const onnx::TensorProto& tensor);
// The same as a message, for the ONNX library; only for constants with data.
onnx::TensorProto WriteOnnxTensor(const OnnxValue& value);

// Elements, or nothing when an extent is negative or the product exceeds 2^50.
std::optional<std::int64_t> SafeElements(const OnnxDims& dims);

}  // namespace cyclecast
