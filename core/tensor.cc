// Element types, layouts and shapes; see tensor.h.
#include "core/tensor.h"

#include <algorithm>
#include <array>

namespace cyclecast {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bits;
  bool is_float;
};
constexpr std::array<DTypeRow, 9> kDTypes = {{{DType::kInt4, "int4", 4, false},
                                              {DType::kInt8, "int8", 8, false},
                                              {DType::kUint8, "uint8", 8, false},
                                              {DType::kInt16, "int16", 16, false},
                                              {DType::kInt32, "int32", 32, false},
                                              {DType::kFp8, "fp8", 8, true},
                                              {DType::kFp16, "fp16", 16, true},
                                              {DType::kBf16, "bf16", 16, true},
                                              {DType::kFp32, "fp32", 32, true}}};
constexpr std::array<std::string_view, 7> kLayouts = {"row_major", "ZXY", "XYZ", "XZY",
                                                      "YXZ",       "YZX", "ZYX"};

const DTypeRow& Row(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view Name(DType dtype) { return Row(dtype).name; }

std::optional<DType> ParseDType(std::string_view text) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == text) return row.dtype;
  }
  return std::nullopt;
}

std::vector<std::string> DTypeNames() {
  std::vector<std::string> names;
  for (const DTypeRow& row : kDTypes) names.emplace_back(row.name);
  return names;
}

int BitsOf(DType dtype) { return Row(dtype).bits; }
bool IsFloat(DType dtype) { return Row(dtype).is_float; }
bool IsHalfFloat(DType dtype) { return dtype == DType::kFp16 || dtype == DType::kBf16; }

std::string_view Name(Layout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }

std::optional<Layout> ParseLayout(std::string_view text) {
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    if (kLayouts[i] == text) return static_cast<Layout>(i);
  }
  return std::nullopt;
}

std::int64_t Shape::Elements() const {
  std::int64_t product = 1;
  for (std::int64_t dim : dims_) product *= dim;
  return product;
}

std::string Shape::Text() const {
  std::string text;
  for (std::int64_t dim : dims_) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text.empty() ? "scalar" : text;
}

Bytes BytesOf(std::int64_t elements, DType dtype) {
  return Bytes(CeilDiv(elements * BitsOf(dtype), 8));
}

std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> dims(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t left = i < a.rank() ? a.FromEnd(i) : 1;
    const std::int64_t right = i < b.rank() ? b.FromEnd(i) : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    dims[rank - 1 - i] = left == 1 ? right : left;
  }
  return Shape(std::move(dims));
}

}  // namespace cyclecast
