// Reading and writing of single values; see value_text.h.
#include "traces/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace cyclecast {
namespace {

using NamedType = std::pair<std::string_view, DType>;
// Names of element types in the tables we read, beside our own. UINT4 is stored and computed like
// INT4 (source: the vendor's own sanitising step, intel/npu-nn-cost-model).
constexpr std::array<NamedType, 21> kTypeAliases = {
    {{"INT4", DType::kInt4},     {"UINT4", DType::kInt4},   {"INT8", DType::kInt8},
     {"UINT8", DType::kUint8},   {"INT16", DType::kInt16},  {"INT32", DType::kInt32},
     {"BF8", DType::kFp8},       {"HF8", DType::kFp8},      {"FLOAT16", DType::kFp16},
     {"BFLOAT16", DType::kBf16}, {"FLOAT32", DType::kFp32}, {"float16", DType::kFp16},
     {"bfloat16", DType::kBf16}, {"float32", DType::kFp32}, {"f8", DType::kFp8},
     {"f16", DType::kFp16},      {"f32", DType::kFp32},     {"s8", DType::kInt8},
     {"u8", DType::kUint8},      {"s32", DType::kInt32},    {"s16", DType::kInt16}}};

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string NotIn(std::string_view text, ValueRange range) {
  return "is " + Quoted(text) + ", out of range; give " + ValueText(range.lower) + " to " +
         ValueText(range.upper);
}

template <class T>
std::string ParseName(std::string_view text, const char* examples, std::optional<T> found,
                      T* value) {
  if (!found) return "is " + Quoted(text) + "; give one such as " + examples;
  *value = *found;
  return "";
}

}  // namespace

std::string ParseValue(std::string_view text, ValueRange range, double* value) {
  if (text.empty()) return "is empty; give a number";
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, *value);
  if (code != std::errc() || stop != end || !std::isfinite(*value)) {
    return "is " + Quoted(text) + "; give a number";
  }
  if (*value < range.lower || *value > range.upper) return NotIn(text, range);
  return "";
}

std::string ParseValue(std::string_view text, ValueRange range, std::int64_t* value) {
  if (text.empty()) return "is empty; give a whole number";
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, *value);
  if (code != std::errc() || stop != end) {
    double number = 0;  // "4e3", "16.0"
    if (!ParseValue(text, ValueRange{-9007199254740992.0, 9007199254740992.0}, &number).empty() ||
        number != std::floor(number)) {
      return "is " + Quoted(text) + "; give a whole number";
    }
    *value = static_cast<std::int64_t>(number);
  }
  const double number = static_cast<double>(*value);
  if (number < range.lower || number > range.upper) return NotIn(text, range);
  return "";
}

std::string ParseValue(std::string_view text, ValueRange range, Bytes* value) {
  std::int64_t count = 0;
  std::string wrong = ParseValue(text, range, &count);
  *value = Bytes(count);
  return wrong;
}

std::string ParseValue(std::string_view text, ValueRange /*range*/, bool* value) {
  if (text != "0" && text != "1") return "is " + Quoted(text) + "; give 0 or 1";
  *value = text == "1";
  return "";
}

std::string ParseValue(std::string_view text, ValueRange /*range*/, DType* value) {
  std::optional<DType> found = ParseDType(text);
  for (const auto& [name, dtype] : kTypeAliases) {
    if (name == text) found = dtype;
  }
  return ParseName(text, "uint8, int8, int4, fp16, bf16, fp32", found, value);
}

std::string ParseValue(std::string_view text, ValueRange /*range*/, Layout* value) {
  std::optional<Layout> found = ParseLayout(text);
  if (text == "ZMAJOR") found = Layout::kZxy;
  if (text == "CMAJOR") found = Layout::kXyz;
  return ParseName(text, "ZXY, XYZ", found, value);
}

std::string ParseValue(std::string_view text, ValueRange /*range*/, IsiStrategy* value) {
  return ParseName(text, "Clustering, SplitOverH, SplitOverK", ParseIsiStrategy(text), value);
}

std::string ParseValue(std::string_view text, ValueRange /*range*/, DmaDirection* value) {
  return ParseName(text, "DDR2CMX, CMX2DDR, CMX2CMX, DDR2DDR", ParseDmaDirection(text), value);
}

std::string ParseValue(std::string_view text, ValueRange /*range*/, std::string* value) {
  if (text.empty()) return "is empty; give a name";
  if (text.find_first_of(";=\n\r") != std::string_view::npos) {
    return "is " + Quoted(text) + "; a name holds no ';', no '=' and no line break";
  }
  *value = std::string(text);
  return "";
}

std::string ValueText(std::int64_t value) { return std::to_string(value); }

std::string ValueText(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return std::string(buffer.data(), end);
}

std::string ValueText(Bytes value) { return std::to_string(value.value()); }
std::string ValueText(bool value) { return value ? "1" : "0"; }
std::string ValueText(DType value) { return std::string(Name(value)); }
std::string ValueText(Layout value) { return std::string(Name(value)); }
std::string ValueText(IsiStrategy value) { return std::string(Name(value)); }
std::string ValueText(const std::string& value) { return value; }

}  // namespace cyclecast
