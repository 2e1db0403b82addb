// Tables of comma-separated values, in and out (RFC 4180 quoting).
//
// The reader takes plain and gzipped files, skips blank and comment lines, unquotes fields, trims
// spaces around unquoted ones and keeps the place of every cell, so that callers can say
// "file:line:column" about a value. The whole table is held in memory as one text and an index.
//
//   Result<CsvTable> table = ReadCsv("trace.csv.gz");
//   Result<CsvColumns> c = table->Require({"M", "N", "time_us"});
//   table->Integer(row, (*c)[0])      // or an Error at the cell
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace cyclecast {

struct CsvOptions {
  bool header = true;   // the first line names the columns
  bool ragged = false;  // false: a row with more or fewer cells than the header is an error
  char comment = '#';   // first character of a comment line; '\0': there are none
  char separator = ',';
  std::int64_t max_bytes = std::int64_t{1} << 30;  // of text, after decompression
};

using CsvColumns = std::vector<std::size_t>;

class CsvTable {
 public:
  const std::string& file() const { return file_; }
  const std::vector<std::string>& header() const { return header_; }  // empty without one
  std::optional<std::size_t> Find(std::string_view column) const;
  // The indices of `names`, or an Error at the header that lists all the missing ones.
  Result<CsvColumns> Require(const std::vector<std::string>& names) const;

  std::size_t rows() const { return lines_.size(); }
  std::size_t width(std::size_t row) const { return starts_[row + 1] - starts_[row]; }
  // Unquoted text of a cell; "" where the row is shorter. Valid as long as the table.
  std::string_view cell(std::size_t row, std::size_t column) const {
    return column < width(row) ? View(cells_[starts_[row] + column]) : std::string_view();
  }
  int line(std::size_t row) const { return lines_[row].number; }  // in the file, from 1
  SourcePos pos(std::size_t row, std::size_t column) const;
  SourcePos header_pos(std::size_t column) const;

  // The cell as a number, or an Error at the cell: empty, not a number, out of range. Integer also
  // takes "4e3" and "16.0", but nothing with a fractional part.
  Result<std::int64_t> Integer(std::size_t row, std::size_t column) const;
  Result<double> Number(std::size_t row, std::size_t column) const;

 private:
  friend class CsvParser;
  struct Cell {
    std::uint32_t offset, length;
  };
  struct Line {
    std::uint32_t offset;
    std::int32_t number;
  };
  std::string_view View(Cell cell) const {
    return std::string_view(text_).substr(cell.offset, cell.length);
  }
  SourcePos PosOf(const Line& line, Cell cell) const;
  std::string NameOf(std::size_t column) const;

  std::string file_, text_;
  std::vector<std::string> header_;
  std::vector<Cell> header_cells_;
  Line header_line_{};
  std::vector<Cell> cells_;          // all rows, one after another
  std::vector<std::size_t> starts_;  // of each row in cells_, and the end
  std::vector<Line> lines_;
};

// Errors: no such file, not readable, damaged gzip data, larger than the limit, binary content, no
// header, repeated column names, rows of the wrong width, quotes that do not close. All of them
// together, up to a limit.
Result<CsvTable> ReadCsv(const std::string& path, const CsvOptions& options = {});
// The same from text; `file` is what errors call it.
Result<CsvTable> ParseCsv(std::string text, const std::string& file,
                          const CsvOptions& options = {});

// Builds the text of a table row by row; the caller writes it, whole or piece by piece.
class CsvWriter {
 public:
  CsvWriter& Cell(std::string_view text);  // quoted where it must be
  CsvWriter& Cell(std::int64_t value);
  CsvWriter& Cell(double value);  // shortest text that reads back as the same number
  CsvWriter& Empty() { return Cell(std::string_view()); }
  void EndRow();
  void Row(const std::vector<std::string>& cells);
  // A comment line; newlines in `text` begin further ones.
  void Comment(std::string_view text);

  const std::string& text() const { return text_; }
  // Hands over what was built so far and starts afresh: for writing a long table in pieces.
  std::string Take();

 private:
  std::string text_;
  bool row_open_ = false;
};

}  // namespace cyclecast
