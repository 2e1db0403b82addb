// The trace format: one CSV file for all kinds of kernels, plain or gzipped (docs/traces.md).
//
//   trace_version,kind,device,op,descriptor,dtype,...,measured,unit,...,label,source,notes,<further>
//   1,op,TPUv6e,matmul,M=512;K=768;N=768,bf16,...,4.21,us,...,measured,...
//
// Reading what was written gives the same rows in the same order (positions apart). A cell that is
// empty in a further column is the same as no such column in that row.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/trace.h"

namespace cyclecast {

// Errors name file, line and column of every faulty row, up to a limit with a count.
Result<Trace> ReadTrace(const std::string& path);
// The same from text; `file` is what errors call it.
Result<Trace> ParseTrace(std::string text, const std::string& file);

// Gzipped when the path ends in ".gz"; equal traces give equal bytes. An existing file is replaced
// only with `overwrite`.
Status WriteTrace(const Trace& trace, const std::string& path, bool overwrite = false);
std::string TraceText(const Trace& trace);

// A kernel from the cells that describe one: "op", "matmul", "M=512;K=768;N=768", "bf16". Errors
// name the cell.
Result<TraceKernel> ParseTraceKernel(std::string_view kind, std::string_view op,
                                     std::string_view descriptor, std::string_view dtype,
                                     bool on_chip);

// The columns of a trace's table: the fixed ones, then every further column of its rows, in an
// order that agrees with that of every row where there is one. TraceCells gives a row's cells in
// that order, for writers that put columns of their own behind them.
std::vector<std::string> TraceColumns(const Trace& trace);
std::vector<std::string> TraceCells(const TraceRow& row, const std::vector<std::string>& columns);
// True for the fixed columns: no further column may have such a name.
bool IsTraceColumn(std::string_view name);

// The value of a further column, "" where the row has none.
std::string_view ColumnOf(const TraceRow& row, std::string_view name);

}  // namespace cyclecast
