// The schedule of a trace row: the row's kernel mapped to a machine, so that cost models and
// features see a trace as they see a workload.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/error.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/workload.h"

namespace cyclecast {

// Finds the workload of a whole model by a name ("resnet18"); an Error where there is none. Rows
// that stand for whole models need it.
using ModelFinder = std::function<Result<Workload>(const std::string& name, DType dtype)>;

// The schedule of one execution. What the row says of the measurement decides what belongs to it:
// times taken on the device leave out the dispatch of the host, slopes of repeated executions with
// operands on chip the launch too (column `timing`, docs/traces.md). Notes say what was assumed.
// `platform` is the machine's, where the caller has it already. Errors name the row's place:
// a kernel of the other family of machines, extents the machine cannot map, an unknown model.
Result<Schedule> ScheduleOf(const TraceRow& row, const Machine& machine,
                            std::shared_ptr<const Platform> platform = nullptr,
                            const ModelFinder& find_model = {});

// The names under which a model of a trace may be known, most specific first:
// "mobilenet_v2_1.0_224_quant.tflite" gives that without its ending, then "mobilenet_v2_1.0_224",
// ..., "mobilenet_v2", "mobilenet".
std::vector<std::string> ModelNames(const std::string& text);

}  // namespace cyclecast
