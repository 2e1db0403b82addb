// Kernels of traces priced by the base models, and how far a base has moved since a residual was
// trained on it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost_model.h"
#include "core/machine.h"
#include "core/trace.h"
#include "io/machine_loader.h"
#include "learned/dataset.h"
#include "learned/residual.h"

namespace cyclecast {

struct LoadedMachine {
  Machine machine;
  std::shared_ptr<const Platform> platform;
};

// Maps trace rows to their machines and runs the base models over them. Machines are loaded once.
class RowPricer {
 public:
  // `machine`: a name or file that all rows are priced on; empty for the rows' own devices.
  // `simulate` false leaves the simulated model out.
  RowPricer(ConfigRoot root, std::string machine, bool simulate);

  Status Price(const TraceRow& row, TraceSample* sample);
  Status PriceOn(const LoadedMachine& machine, const TraceRow& row, TraceSample* sample) const;
  // The row's schedule on a machine. Whole models are shipped workloads of that name.
  Result<Schedule> Map(const LoadedMachine& machine, const TraceRow& row) const;

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

// How far the base has moved since the residual was trained: the largest |now / then - 1| over the
// probes of the machine, 0 where the residual keeps none of it. Errors: a probe that can no longer
// be priced.
struct BaseDrift {
  double share = 0;
  std::string kernel;  // the probe it was found on
};
Result<BaseDrift> DriftOf(const ResidualInfo& info, const Machine& machine, const ConfigRoot& root);

}  // namespace cyclecast
