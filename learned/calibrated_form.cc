// Non-negative least squares by coordinate descent; see calibrated_form.h.
#include "learned/calibrated_form.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cyclecast {
namespace {

constexpr int kSweeps = 300;
// Rows that speak for the value a factor starts from, each as if the term were all of its time.
constexpr double kPriorRows = 1.0;

// Columns of the shares of base time, in the order of the categories; -1 where there is none.
const std::array<int, kCategories>& ShareColumns() {
  static const std::array<int, kCategories> columns = [] {
    std::array<int, kCategories> found{};
    const std::vector<FeatureInfo>& infos = DescribeFeatures();
    for (std::size_t c = 0; c < kCategories; ++c) {
      const std::string name = "share_" + std::string(Name(static_cast<Category>(c)));
      const auto it = std::find_if(infos.begin(), infos.end(),
                                   [&](const FeatureInfo& info) { return info.name == name; });
      found[c] = it == infos.end() ? -1 : static_cast<int>(it - infos.begin());
    }
    return found;
  }();
  return columns;
}

// One unknown: the rows in which its term occurs, with its share of the measured time.
struct Unknown {
  std::vector<std::pair<std::size_t, double>> rows;
  double squares = 0;
  double prior = 1.0;
  double* factor = nullptr;
};

// Minimises sum over rows of (1 - sum of factor x share)^2 + kPriorRows x (factor - prior)^2.
void Solve(std::vector<Unknown>* unknowns, std::vector<double> rest) {
  for (const Unknown& unknown : *unknowns) {
    for (const auto& [row, share] : unknown.rows) rest[row] -= *unknown.factor * share;
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (Unknown& unknown : *unknowns) {
      double pull = kPriorRows * (unknown.prior - *unknown.factor);
      for (const auto& [row, share] : unknown.rows) pull += share * rest[row];
      const double next = std::max(0.0, *unknown.factor + pull / (unknown.squares + kPriorRows));
      const double change = next - *unknown.factor;
      if (change == 0) continue;
      for (const auto& [row, share] : unknown.rows) rest[row] -= change * share;
      *unknown.factor = next;
    }
  }
}

}  // namespace

CalibratedForm::Factors CalibratedForm::TermsOf(const KernelSample& kernel) {
  Factors terms{};
  double attributed = 0;
  for (std::size_t c = 0; c < kCategories; ++c) {
    const int column = ShareColumns()[c];
    if (column < 0) continue;
    const double share =
        std::max(0.0, static_cast<double>(kernel.features[static_cast<std::size_t>(column)]));
    terms[c] = share * kernel.base_us;
    attributed += terms[c];
  }
  terms[kCategories] = std::max(0.0, kernel.base_us - attributed);
  return terms;
}

struct CalibrationProblem {
  std::vector<double> ones;  // what the rows' terms are to add up to, less their dispatch
  std::vector<Unknown> unknowns;

  // `class_of` gives the factors that a class uses.
  template <class FactorsOf>
  CalibrationProblem(const std::vector<const TraceSample*>& samples,
                     const CalibratedForm::Factors& priors, std::size_t sets,
                     const FactorsOf& factors_of) {
    unknowns.resize(sets * priors.size());
    for (const TraceSample* sample : samples) {
      const double measured = MeasuredMicroseconds(*sample);
      if (!(measured > 0) || sample->analytical.empty()) continue;
      const std::size_t row = ones.size();
      ones.push_back(1.0 - sample->analytical.dispatch_us / measured);
      for (const KernelSample& kernel : sample->analytical.kernels) {
        const CalibratedForm::Factors terms = CalibratedForm::TermsOf(kernel);
        const auto [set, factors] = factors_of(kernel.op_class);
        for (std::size_t t = 0; t < terms.size(); ++t) {
          if (terms[t] == 0) continue;
          Unknown& unknown = unknowns[set * priors.size() + t];
          unknown.factor = &(*factors)[t];
          unknown.prior = priors[t];
          if (!unknown.rows.empty() && unknown.rows.back().first == row) {
            unknown.rows.back().second += terms[t] / measured;
          } else {
            unknown.rows.emplace_back(row, terms[t] / measured);
          }
        }
      }
    }
    const auto unused =
        std::remove_if(unknowns.begin(), unknowns.end(),
                       [](const Unknown& unknown) { return unknown.factor == nullptr; });
    unknowns.erase(unused, unknowns.end());
    for (Unknown& unknown : unknowns) {
      for (const auto& [row, share] : unknown.rows) unknown.squares += share * share;
    }
  }
};

CalibratedForm CalibratedForm::Fit(const std::vector<const TraceSample*>& samples) {
  CalibratedForm form;
  Factors pooled;
  pooled.fill(1.0);
  CalibrationProblem together(samples, pooled, 1, [&](OpClass) {
    return std::pair{std::size_t{0}, &pooled};
  });
  Solve(&together.unknowns, together.ones);
  form.factors_.fill(pooled);
  CalibrationProblem apart(samples, pooled, form.factors_.size(), [&](OpClass op_class) {
    const auto set = static_cast<std::size_t>(op_class);
    return std::pair{set, &form.factors_[set]};
  });
  Solve(&apart.unknowns, apart.ones);
  return form;
}

double CalibratedForm::Predict(const TraceSample& sample) const {
  if (sample.analytical.empty()) return 0.0;
  double time = sample.analytical.dispatch_us;
  for (const KernelSample& kernel : sample.analytical.kernels) {
    const Factors terms = TermsOf(kernel);
    const Factors& factors = factors_[static_cast<std::size_t>(kernel.op_class)];
    for (std::size_t t = 0; t < kTerms; ++t) time += factors[t] * terms[t];
  }
  return time;
}

}  // namespace cyclecast
