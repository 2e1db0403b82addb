// Kernels of traces, mapped and priced by the base models.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost_model.h"
#include "core/machine.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "io/machine_loader.h"
#include "learned/dataset.h"

namespace cyclecast {

struct LoadedMachine {
  Machine machine;
  std::shared_ptr<const Platform> platform;
};

// The row's schedule on a machine. Whole models are shipped workloads of that name.
Result<Schedule> MapRow(const TraceRow& row, const LoadedMachine& machine, const ConfigRoot& root);

// What reports call a row.
std::string LabelOf(const TraceRow& row);

// Maps trace rows to their machines and runs the base models over them. Machines are loaded once.
class RowPricer {
 public:
  // `machine`: a name or file that all rows are priced on; empty for the rows' own devices.
  // `simulate` false leaves the simulated model out.
  RowPricer(ConfigRoot root, std::string machine, bool simulate);

  Status Price(const TraceRow& row, TraceSample* sample);

 private:
  Result<const LoadedMachine*> MachineOf(const std::string& name);

  ConfigRoot root_;
  std::string override_;
  std::unique_ptr<CostModel> analytical_, simulated_;
  std::map<std::string, LoadedMachine> machines_;
};

// A trace that a residual keeps (ResidualInfo::probes): of every machine and op class two samples,
// at the lower and the upper quartile of the base's time, with that time as the measured one.
// `base` is "analytical" or "simulated".
Result<std::string> BaseProbes(const std::vector<TraceSample>& samples, std::string_view base);

}  // namespace cyclecast
