// Why a correction is what it is: the Shapley values of its features (Lundberg and Lee 2017, for
// trees Lundberg et al. 2020; XGBoost computes them). The values of a kernel and the bias of its op
// class add up to the log of its correction factor, as long as the factor is inside the range seen
// in training.
#pragma once

#include <vector>

#include "learned/residual.h"

namespace cyclecast {

struct Contribution {
  int column = 0;    // of DescribeFeatures()
  float value = 0;   // of the feature in this kernel
  double share = 0;  // of log(corrected / base)
};

struct Explanation {
  double bias = 0;  // of the op class, with what the trees say of the average kernel
  // Largest first, those that contribute nothing left out.
  std::vector<Contribution> contributions;
  double LogRatio() const;  // their sum
};

class Explainer {
 public:
  // Reads XGBoost's own form of the members.
  static Result<Explainer> Make(const ResidualModel& model);
  // `features` as ExtractFeatures fills them.
  Result<Explanation> Explain(const std::vector<float>& features, OpClass op_class) const;

 private:
  explicit Explainer(const ResidualModel& model) : model_(model) {}

  const ResidualModel& model_;
  std::vector<Booster> boosters_;
};

}  // namespace cyclecast
