// The operators a trace row of kind 'op' may name, the extents each needs and the small workload
// each stands for. docs/traces.md shows this table.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/mapping.h"
#include "core/trace.h"
#include "core/workload.h"

namespace cyclecast {

// What a kernel stands for before it is mapped to a machine.
struct KernelPlan {
  Workload workload;
  MappingPins pins;
  std::vector<std::string> notes;  // what was assumed or left out
};

using PlanBuilder = Result<KernelPlan> (*)(const OpKernel&);

struct Operator {
  std::string name;
  std::vector<std::string> required;  // extents it must have
  std::vector<std::string> optional;
  // Names of the extents of a descriptor written as a bare tuple, "(4096, 2880, 320)".
  std::vector<std::string> tuple;
  bool takes_shape = false;  // extents d0, d1, ...: the shape of the tensor, outermost first
  bool needs_text = false;   // the text names what is meant
  std::string meaning;       // one line for people
  PlanBuilder build = nullptr;
};

// All operators, in the order of the documentation.
const std::vector<Operator>& Operators();
const Operator* FindOperator(std::string_view name);

// "" when the kernel names a known operator and has the extents it needs and no others; else what
// is wrong and what would be right. `column` is set to the cell at fault: "op" or "descriptor".
std::string CheckOperator(const OpKernel& kernel, std::string* column);

// The workload of a kernel. Errors: what CheckOperator finds, extents that do not fit together or
// are too large, whole models (they need a workload by name, see trace_schedule.h).
Result<KernelPlan> PlanOf(const OpKernel& kernel);

// True for rows that stand for a whole model named by the text.
bool IsModel(const OpKernel& kernel);

}  // namespace cyclecast
