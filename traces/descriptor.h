// A kernel as the cells of a trace row: kind, op, descriptor ("M=512;K=256"), element type.
// Private to traces/.
#pragma once

#include <string>
#include <string_view>

#include "core/trace.h"

namespace cyclecast {

// The cells that hold a kernel.
struct KernelCells {
  std::string kind;        // "op", "dpu", "dma", "shave"
  std::string op;          // operator, DPU operation, DMA direction, SHAVE operation
  std::string descriptor;  // "key=value;key=value"; what has its default value is left out
  std::string dtype;       // of the operator, of the first input; "" for a transfer
  std::string on_chip;     // "1" when an operator's operands stay on chip
  std::string text;        // OpKernel::text
};

KernelCells CellsOf(const TraceKernel& kernel);

// What is wrong with a row and the column it is about; no column: nothing is wrong.
struct CellFault {
  std::string column;
  std::string message;  // "is '3x'; give a whole number"; what was found is in quotes
};

// Views of the same cells, as read.
struct KernelCellViews {
  std::string_view kind, op, descriptor, dtype, on_chip, text;
};
CellFault ParseKernel(const KernelCellViews& cells, TraceKernel* kernel);

// Calls visit(key, value) for each "key=value" of a descriptor; stops at the first fault and
// returns it ("" when there is none). visit returns "" or what is wrong.
template <class Visit>
std::string ForEachPart(std::string_view descriptor, Visit&& visit) {
  while (!descriptor.empty()) {
    const std::size_t end = descriptor.find(';');
    const std::string_view part = descriptor.substr(0, end);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return "holds '" + std::string(part) + "'; write parts as key=value, with ';' between them";
    }
    std::string wrong = visit(part.substr(0, equals), part.substr(equals + 1));
    if (!wrong.empty()) return wrong;
    if (end == std::string_view::npos) break;
    descriptor.remove_prefix(end + 1);
  }
  return "";
}

// Letters, digits and '_', not beginning with a digit.
bool IsIdentifier(std::string_view text);

}  // namespace cyclecast
