// The one interface of all cost models.
#pragma once

#include <string>

#include "core/error.h"
#include "core/estimate.h"
#include "core/schedule.h"

namespace cyclecast {

class CostModel {
 public:
  virtual ~CostModel() = default;
  // "analytical", "simulated", "corrected(simulated)".
  virtual std::string name() const = 0;
  // Deterministic: the same schedule gives the same estimate. An Error where the schedule asks for
  // something the model cannot price.
  virtual Result<Estimate> estimate(const Schedule& schedule) const = 0;

 protected:
  CostModel() = default;
  CostModel(const CostModel&) = default;
  CostModel& operator=(const CostModel&) = default;
};

}  // namespace cyclecast
