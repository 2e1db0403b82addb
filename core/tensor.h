// Tensors as a cost model sees them: shape, element type, layout. No data.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace cyclecast {

enum class DType { kInt4, kInt8, kUint8, kInt16, kInt32, kFp8, kFp16, kBf16, kFp32 };

// "int8", "bf16", ... as written in YAML, traces and output.
std::string_view Name(DType dtype);
std::optional<DType> ParseDType(std::string_view text);
std::vector<std::string> DTypeNames();
int BitsOf(DType dtype);
bool IsFloat(DType dtype);
// True where the element type has 16 bits and is a float: what an int8 array runs at half rate.
bool IsHalfFloat(DType dtype);

// Order of the axes in memory, innermost first for the image layouts (the NPU's names: Z is the
// channel, X the width, Y the height). NHWC is kZxy, NCHW is kXyz.
enum class Layout { kRowMajor, kZxy, kXyz, kXzy, kYxz, kYzx, kZyx };
std::string_view Name(Layout layout);  // "row_major", "ZXY", ...
std::optional<Layout> ParseLayout(std::string_view text);

// Extents, outermost first. Images are logically N, C, H, W whatever the layout in memory.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}

  std::size_t rank() const { return dims_.size(); }
  std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
  std::int64_t& operator[](std::size_t axis) { return dims_[axis]; }
  // Counts from the end: FromEnd(0) is the innermost extent.
  std::int64_t FromEnd(std::size_t axis) const { return dims_[dims_.size() - 1 - axis]; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t Elements() const;  // 1 for a scalar (rank 0)
  std::string Text() const;       // "1x64x56x56"
  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> dims_;
};

// Bytes of `elements` packed elements; sub-byte types round up to whole bytes.
Bytes BytesOf(std::int64_t elements, DType dtype);

struct TensorType {
  Shape shape;
  DType dtype = DType::kBf16;
  Layout layout = Layout::kRowMajor;

  Bytes Size() const { return BytesOf(shape.Elements(), dtype); }
  bool operator==(const TensorType&) const = default;
};

// The shape two operands broadcast to under the NumPy rule, or nothing when they do not.
std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b);

}  // namespace cyclecast
