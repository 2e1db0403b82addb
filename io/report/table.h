// Aligned text tables for people: columns as wide as they need, numbers to the right.
//
//   kernel  class      cycles  share %
//   conv1   conv      123,456     10.2
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cyclecast {

class TextTable {
 public:
  // A header cell; `right` aligns the column to the right.
  void Column(std::string header, bool right = false);
  void Row(std::vector<std::string> cells);
  // The table, every line indented by `indent` spaces, no trailing spaces.
  std::string Text(int indent = 0) const;

 private:
  struct Header {
    std::string text;
    bool right;
  };
  std::vector<Header> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string WithThousands(std::int64_t value);  // "1,234,567"
std::string Fixed(double value, int decimals);
// "  note      ..." for every line of `lines`.
std::string Lines(const char* title, const std::vector<std::string>& lines);
// A size with a binary unit: "1.50 MiB".
std::string HumanBytes(std::int64_t bytes);

}  // namespace cyclecast
