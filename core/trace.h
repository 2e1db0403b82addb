// Traces: rows of measured, predicted or synthetic kernels with their provenance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/npu_tasks.h"
#include "core/op.h"

namespace cyclecast {

inline constexpr int kTraceVersion = 1;

// A kernel named by an operator and its extents: {"matmul", {{"M",512},{"K",..},{"N",..}}}.
// docs/traces.md lists the operators and the extents each needs.
struct OpKernel {
  std::string op;
  std::vector<std::pair<std::string, std::int64_t>> dims;  // in the order written
  DType dtype = DType::kBf16;
  bool operands_on_chip = false;  // inputs and outputs stay in VMEM
  std::string text;               // the descriptor as it was written, for whole models
  std::optional<std::int64_t> Dim(std::string_view name) const;
};

using TraceKernel = std::variant<OpKernel, DpuWorkload, DmaTransfer, ShaveCall>;

enum class LabelKind { kMeasured, kPredicted, kSynthetic };
std::string_view Name(LabelKind kind);
std::optional<LabelKind> ParseLabelKind(std::string_view text);

struct TileChoice {
  std::int64_t m = 0, n = 0, k = 0;  // 0: left to the mapper
};

struct TraceRow {
  std::string device;  // as written; a machine's alias
  TraceKernel kernel;
  TileChoice tile;                        // mapping pinned by the trace, where known
  std::optional<double> measured_us;      // one of the two is set
  std::optional<double> measured_cycles;  // of the machine's reference clock
  double std_us = 0.0;                    // spread over repeats, same unit as measured
  std::int64_t repeats = 0;               // 0: unknown
  LabelKind label = LabelKind::kMeasured;
  std::string source;  // where the number comes from
  std::string notes;
  // Further columns of the file it came from, in order, kept for output and for --group-by.
  std::vector<std::pair<std::string, std::string>> columns;
  SourcePos pos;

  // What identifies the kernel's shape for grouped splits: everything but the measurement, the
  // device and what a compiler chooses for that shape (tiles, MPE mode, swizzling, strategy).
  std::string ShapeKey() const;
};

struct Trace {
  std::vector<TraceRow> rows;
  std::vector<std::string> warnings;  // counted skips
};

}  // namespace cyclecast
