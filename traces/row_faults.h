// Collects what is wrong with the rows of a table: diagnostics up to a limit and a count, or, when
// bad rows are to be skipped, how many were skipped for which reason. Private to traces/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"

namespace cyclecast {

class RowFaults {
 public:
  void Add(SourcePos pos, const std::string& column, const std::string& message);
  bool empty() const { return count_ == 0; }
  std::int64_t count() const { return count_; }
  // The first faults, and a last one that says how many more rows have one.
  Error ToError() const;
  // "12 rows of vpu.csv skipped: 'nn_cycles' is empty; give a number", most frequent first.
  std::vector<std::string> Warnings() const;

 private:
  std::vector<Diagnostic> first_;
  std::int64_t count_ = 0;
  std::string file_;
  std::map<std::string, std::int64_t> by_reason_;
};

}  // namespace cyclecast
