// Text of one value in a trace or in an imported table, both ways. Private to traces/.
//
// Parse returns "" or what is wrong, to be put after the name of the column or key:
//   "is '3x'; give a whole number"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/npu_tasks.h"
#include "core/tensor.h"

namespace cyclecast {

// Inclusive bounds of a number. Extents stay far below what products of four of them could
// overflow in checks done in floating point.
struct ValueRange {
  double lower = 0;
  double upper = 4294967296.0;  // 2^32
};

std::string ParseValue(std::string_view text, ValueRange range, std::int64_t* value);
std::string ParseValue(std::string_view text, ValueRange range, double* value);
std::string ParseValue(std::string_view text, ValueRange range, Bytes* value);
std::string ParseValue(std::string_view text, ValueRange range, bool* value);  // 0, 1
// Takes the names of this project and those of the vendors' tables: "uint8", "UINT8", "FLOAT16",
// "f16", "bf16", ...
std::string ParseValue(std::string_view text, ValueRange range, DType* value);
// "ZXY", also the older "ZMAJOR" (ZXY) and "CMAJOR" (XYZ).
std::string ParseValue(std::string_view text, ValueRange range, Layout* value);
std::string ParseValue(std::string_view text, ValueRange range, IsiStrategy* value);
std::string ParseValue(std::string_view text, ValueRange range, DmaDirection* value);
// A name: not empty, none of the characters that separate a descriptor's parts.
std::string ParseValue(std::string_view text, ValueRange range, std::string* value);

// The shortest text that reads back as the same value.
std::string ValueText(std::int64_t value);
std::string ValueText(double value);
std::string ValueText(Bytes value);
std::string ValueText(bool value);
std::string ValueText(DType value);
std::string ValueText(Layout value);
std::string ValueText(IsiStrategy value);
std::string ValueText(const std::string& value);

}  // namespace cyclecast
