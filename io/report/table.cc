// Text tables and number formatting; see table.h.
#include "io/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cyclecast {

void TextTable::Column(std::string header, bool right) {
  columns_.push_back({std::move(header), right});
}

void TextTable::Row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::Text(int indent) const {
  std::vector<std::size_t> widths;
  for (const Header& column : columns_) widths.push_back(column.text.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto line = [&](const auto& cell) {
    std::string out(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += "  ";
      out += columns_[i].right ? fmt::format("{:>{}}", cell(i), widths[i])
                               : fmt::format("{:<{}}", cell(i), widths[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + '\n';
  };
  line([&](std::size_t i) { return columns_[i].text; });
  for (const auto& row : rows_) line([&](std::size_t i) { return row[i]; });
  return text;
}

std::string WithThousands(std::int64_t value) {
  std::string digits = std::to_string(std::abs(value));
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return value < 0 ? "-" + digits : digits;
}

std::string Fixed(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

std::string Lines(const char* title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("  {:<9} {}\n", title, line);
  return text;
}

std::string HumanBytes(std::int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

}  // namespace cyclecast
