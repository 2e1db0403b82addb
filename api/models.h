// Cost models by name, with the residual that belongs to a machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cost_model.h"
#include "core/machine.h"
#include "io/machine_loader.h"
#include "learned/residual.h"
#include "sim/simulated_model.h"

namespace cyclecast {

struct ModelOptions {
  SimulatedOptions simulated;
  std::string residual;  // file; empty: the one that ships for the machine
};

// The residual model named, or the one that ships for the machine: learned from measurements of it
// (learned/models/<machine>.cyc), else from synthetic kernels of its family
// (learned/models/synthetic_<family>.cyc). Null when none is named or ships. A warning says when
// the base has changed since the residual was trained.
struct FoundResidual {
  std::shared_ptr<const ResidualModel> model;
  std::string warning;
};
Result<FoundResidual> FindResidual(const std::string& path, const Machine& machine,
                                   const ConfigRoot& root);

// A model by name: "analytical", "simulated", "corrected". The corrected one needs a residual and
// takes the base that it was trained on.
struct MadeModel {
  std::unique_ptr<CostModel> model;
  std::string warning;
};
Result<MadeModel> MakeModel(const std::string& name, const ModelOptions& options,
                            const Machine& machine, const ConfigRoot& root);

// All models there are for a machine, in this order: analytical, simulated, and corrected where a
// residual is named or ships.
struct MadeModels {
  std::vector<std::unique_ptr<CostModel>> models;
  std::string warning;
};
Result<MadeModels> MakeModels(const ModelOptions& options, const Machine& machine,
                              const ConfigRoot& root);

}  // namespace cyclecast
