#include "io/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "io/nearest.h"

namespace cyclecast {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Length of the decimal number at the start of `text`, 0 if there is none.
std::size_t NumberLength(std::string_view text) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  const std::size_t digits = i;
  while (i < text.size() && IsDigit(text[i])) ++i;
  if (i == digits) return 0;
  if (i + 1 < text.size() && text[i] == '.' && IsDigit(text[i + 1])) {
    ++i;
    while (i < text.size() && IsDigit(text[i])) ++i;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t j = i + 1;
    if (j < text.size() && (text[j] == '+' || text[j] == '-')) ++j;
    if (j < text.size() && IsDigit(text[j])) {
      while (j < text.size() && IsDigit(text[j])) ++j;
      i = j;
    }
  }
  return i;
}

std::string_view WithoutSign(std::string_view text) {
  return !text.empty() && (text[0] == '+' || text[0] == '-') ? text.substr(1) : text;
}

bool LooksOctal(std::string_view text) {
  const std::string_view digits = WithoutSign(text);
  return digits.size() > 1 && digits[0] == '0' && IsDigit(digits[1]);
}

std::string UnitList(Dimension dimension) {
  std::string text;
  for (const std::string& unit : UnitNames(dimension)) text += (text.empty() ? "" : ", ") + unit;
  return text;
}

Error WrongUnit(std::string_view unit, const DimensionInfo& info, Dimension dimension) {
  std::string hint;
  if (dimension == Dimension::kSize && unit == "KB") {
    hint = "; write kB for 1000 bytes or KiB for 1024";
  } else if (dimension == Dimension::kRate && unit.find("/s") == std::string_view::npos &&
             unit.find("/c") == std::string_view::npos) {
    hint = "; rates are per second, for example '" + std::string(info.example) + "'";
  } else if (dimension == Dimension::kRate && unit.find("b/s") != std::string_view::npos) {
    hint = "; rates are in bytes: 8 Gb/s is 1 GB/s";
  } else if (const auto nearest = NearestName(unit, UnitNames(dimension))) {
    hint = "; did you mean '" + *nearest + "'?";
  }
  return Error(fmt::format("is {}: '{}' is none of its units ({}){}", info.name, unit,
                           UnitList(dimension), hint));
}

}  // namespace

const DimensionInfo& InfoOf(Dimension dimension) {
  constexpr double kKi = 1024.0;
  static const std::array<DimensionInfo, 8> infos = {{
      {"a frequency", "940 MHz", {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}},
      {"a time", "2 us", {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}},
      {"a size",
       "16 MiB",
       {{"B", 1},
        {"kB", 1e3},
        {"KiB", kKi},
        {"MB", 1e6},
        {"MiB", kKi * kKi},
        {"GB", 1e9},
        {"GiB", kKi * kKi * kKi},
        {"TB", 1e12},
        {"TiB", kKi * kKi * kKi * kKi}}},
      {"a data rate",
       "900 GB/s",
       {{"B/s", 1},
        {"kB/s", 1e3},
        {"KB/s", 1e3},
        {"KiB/s", kKi},
        {"MB/s", 1e6},
        {"MiB/s", kKi * kKi},
        {"GB/s", 1e9},
        {"GiB/s", kKi * kKi * kKi},
        {"TB/s", 1e12},
        {"TiB/s", kKi * kKi * kKi * kKi}}},
      {"a data rate per clock cycle", "32 B/cycle", {{"B/cycle", 1}}},
      {"a number of clock cycles", "2 cycles", {{"cycle", 1}, {"cycles", 1}}},
      {"a power", "90 W", {{"mW", 1e-3}, {"W", 1}}},
      {"an energy", "4 pJ", {{"fJ", 1e-3}, {"pJ", 1}, {"nJ", 1e3}}},
  }};
  return infos[static_cast<std::size_t>(dimension)];
}

std::vector<std::string> UnitNames(Dimension dimension) {
  std::vector<std::string> names;
  for (const UnitName& unit : InfoOf(dimension).units) names.emplace_back(unit.name);
  return names;
}

std::optional<double> ParseDecimal(std::string_view text) {
  if (text.empty() || NumberLength(text) != text.size() || LooksOctal(text)) return std::nullopt;
  const std::string_view body = text[0] == '+' ? text.substr(1) : text;
  double value = 0.0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  if (text.empty() || LooksOctal(text)) return std::nullopt;
  const std::string_view body = text[0] == '+' ? text.substr(1) : text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size()) return std::nullopt;
  return value;
}

std::string NotANumber(std::string_view text, bool integer) {
  const std::string_view digits = WithoutSign(text);
  if (LooksOctal(text)) {
    std::string_view rest = digits;
    while (rest.size() > 1 && rest[0] == '0' && IsDigit(rest[1])) rest.remove_prefix(1);
    return fmt::format("is '{}': numbers do not start with 0 (octal is not read); write {}", text,
                       rest);
  }
  if (digits.size() > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    return fmt::format("is '{}': hexadecimal is not read; write a decimal number", text);
  }
  std::string plain;
  bool separators = false;
  for (const char c : text) {
    if (c == '_' || c == ',') {
      separators = true;
    } else {
      plain += c;
    }
  }
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos && comma == text.rfind(',') &&
      (text.size() - comma != 4 || LooksOctal(plain))) {
    std::string point(text);
    point[comma] = '.';
    if (ParseDecimal(point)) return fmt::format("is '{}': write a point: {}", text, point);
  }
  if (separators && ParseDecimal(plain)) {
    return fmt::format("is '{}': write the number without separators: {}", text, plain);
  }
  if (integer && ParseDecimal(text)) {
    const double value = *ParseDecimal(text);
    if (std::abs(value) < 9e15 && value == std::floor(value)) {
      return fmt::format("is '{}': it is a count; write {}", text,
                         static_cast<std::int64_t>(value));
    }
    return fmt::format("is '{}': it must be a whole number{}", text,
                       std::abs(value) < 9e15 ? "" : " within 64 bits");
  }
  return fmt::format("is '{}': it must be a {}number", text, integer ? "whole " : "");
}

Result<double> ParseQuantity(std::string_view text, Dimension dimension) {
  const DimensionInfo& info = InfoOf(dimension);
  std::size_t length = NumberLength(text);
  // "1_000 MHz", "0x10 B": the number ends where the next blank is.
  if (const std::size_t blank = text.find(' '); blank != std::string_view::npos && blank > length) {
    length = blank;
  }
  const std::string_view number = text.substr(0, length);
  std::string_view unit = text.substr(length);
  while (!unit.empty() && unit[0] == ' ') unit.remove_prefix(1);
  if (length == 0) {
    return Error(
        fmt::format("is '{}': it must be {}, for example '{}'", text, info.name, info.example));
  }
  const std::optional<double> value = ParseDecimal(number);
  if (!value) return Error(NotANumber(number, false));
  if (unit.empty()) return Error(fmt::format("needs a unit, for example '{}'", info.example));
  for (const UnitName& known : info.units) {
    if (known.name != unit) continue;
    // Dividing by a power of ten rounds once: 100 ns is the double nearest to 1e-7.
    const double scaled =
        known.scale < 1 ? *value / std::round(1 / known.scale) : *value * known.scale;
    if (dimension != Dimension::kSize && dimension != Dimension::kCycles) return scaled;
    const double whole = std::round(scaled);
    if (std::abs(scaled - whole) > 1e-9 * std::abs(scaled)) {
      return Error(fmt::format("is '{}': it must come to a whole number of {}", text,
                               dimension == Dimension::kSize ? "bytes" : "cycles"));
    }
    return whole;
  }
  return WrongUnit(unit, info, dimension);
}

std::string FormatNumber(double value) { return fmt::format("{:.12g}", value); }

std::string FormatQuantity(double value, Dimension dimension) {
  const DimensionInfo& info = InfoOf(dimension);
  if (dimension == Dimension::kCycles) {
    return FormatNumber(value) + (value == 1 ? " cycle" : " cycles");
  }
  std::string best;
  for (const UnitName& unit : info.units) {
    const double scaled = value / unit.scale;
    if (!best.empty() && std::abs(scaled) < 1.0) continue;
    if (value == 0.0 && unit.scale != 1.0) continue;
    std::string text = fmt::format("{} {}", FormatNumber(scaled), unit.name);
    // The later, larger unit wins where its text is no longer: 16 MiB, not 16.777216 MB; and over
    // powers of ten: 10000 TB/s, not 1e+16 B/s.
    const auto length = [](const std::string& candidate) {
      constexpr std::size_t kPenalty = 100;
      return candidate.size() + (candidate.find('e') < candidate.find(' ') ? kPenalty : 0);
    };
    if (best.empty() || length(text) <= length(best)) best = std::move(text);
  }
  return best;
}

}  // namespace cyclecast
