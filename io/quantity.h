// Numbers with units, as written in configuration files: "940 MHz", "16 MiB", "900 GB/s", "2 us".
//
// Sizes know both families: KiB MiB GiB TiB are powers of 1024, kB MB GB TB powers of 1000. Rates
// are decimal (B/s kB/s ... TB/s) or binary (KiB/s ...). Units are case sensitive.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/units.h"

namespace cyclecast {

enum class Dimension { kFrequency, kTime, kSize, kRate, kRatePerCycle, kCycles, kPower, kEnergy };

// What a dimension is called and what it is measured in; `scale` converts to the base unit: Hz, s,
// B, B/s, B/cycle, cycles, W, pJ.
struct UnitName {
  std::string_view name;
  double scale;
};
struct DimensionInfo {
  std::string_view name;     // "a frequency"
  std::string_view example;  // "940 MHz"
  std::vector<UnitName> units;
};
const DimensionInfo& InfoOf(Dimension dimension);
std::vector<std::string> UnitNames(Dimension dimension);

// A plain decimal number: digits, optional fraction and exponent, no leading zeros, no separators,
// finite. Nothing else is a number here: not 0x10, 010, 1_000, 1,000, .5, inf.
std::optional<double> ParseDecimal(std::string_view text);
// The same without fraction or exponent, within 64 bits.
std::optional<std::int64_t> ParseInteger(std::string_view text);

// What is wrong with a text that should have been a number, as the end of a sentence that begins
// with the key: "is '010': numbers do not start with 0; write 10".
std::string NotANumber(std::string_view text, bool integer);

// The value in the base unit, or an Error without position whose message likewise continues after
// the key: "needs a unit, for example '940 MHz'". Sizes and cycles must come out whole.
Result<double> ParseQuantity(std::string_view text, Dimension dimension);
// The shortest exact text: "940 MHz". Reads back as the same value to 12 digits.
std::string FormatQuantity(double value, Dimension dimension);
// "{:g}" without trailing noise: "0.89", "2048".
std::string FormatNumber(double value);

}  // namespace cyclecast
