// What the importers of single formats share. Private to traces/.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/trace.h"
#include "io/csv.h"
#include "traces/descriptor.h"
#include "traces/import.h"

namespace cyclecast {

// Fills one row of a trace from a row of the table, or says what is wrong with it.
using RowImporter = std::function<CellFault(std::size_t row, TraceRow* out)>;

Result<RowImporter> TpuKernelImporter(const CsvTable& table, const ImportOptions& options);
Result<RowImporter> VpuWorkloadImporter(const CsvTable& table, const ImportOptions& options);
Result<RowImporter> VpuDmaImporter(const CsvTable& table, const ImportOptions& options);
Result<RowImporter> VpuShaveImporter(const CsvTable& table, const ImportOptions& options);

// The column with the measurement and what kind of number it is.
struct LabelColumn {
  std::size_t index = 0;
  std::string name;
  LabelKind kind = LabelKind::kMeasured;
};
// An Error lists the columns that look like labels.
Result<LabelColumn> FindLabel(const CsvTable& table, const std::string& label);
// Takes the label as cycles; a value that is not positive is a fault.
CellFault TakeCycles(const CsvTable& table, std::size_t row, const LabelColumn& label,
                     TraceRow* out);

// Carries all columns of a table but those in `used` into the rows, under their own names; one that
// is called like a fixed column of the trace format gets the prefix "original_".
class FurtherColumns {
 public:
  FurtherColumns(const CsvTable& table, std::vector<std::size_t> used);
  void Copy(std::size_t row, TraceRow* out) const;

 private:
  struct Column {
    std::size_t index;
    std::string name;
  };
  const CsvTable* table_;
  std::vector<Column> columns_;
};

// "silicon_gt.csv" of "/data/silicon_gt.csv.gz".
std::string TableName(const std::string& path);

}  // namespace cyclecast
