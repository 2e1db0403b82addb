// Shapley values of corrections; see explain.h.
#include "learned/explain.h"

#include <algorithm>
#include <cmath>

namespace cyclecast {

double Explanation::LogRatio() const {
  double sum = bias;
  for (const Contribution& contribution : contributions) sum += contribution.share;
  return sum;
}

Result<Explainer> Explainer::Make(const ResidualModel& model) {
  Explainer explainer(model);
  for (std::size_t member = 0; member < model.members().size(); ++member) {
    Result<Booster> booster = model.LoadBooster(member);
    if (!booster.ok()) return booster.error();
    explainer.boosters_.push_back(*std::move(booster));
  }
  return explainer;
}

Result<Explanation> Explainer::Explain(const std::vector<float>& features, OpClass op_class) const {
  const std::vector<int>& columns = model_.columns();
  std::vector<float> row;
  for (const int column : columns) row.push_back(features.at(static_cast<std::size_t>(column)));
  std::vector<double> sums(columns.size() + 1, 0.0);
  for (const Booster& booster : boosters_) {
    const auto shares = booster.Contributions({row.data(), 1, row.size()});
    if (!shares.ok()) return shares.error();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>((*shares)[i]);
  }
  const double members = static_cast<double>(boosters_.size());
  Explanation explanation;
  explanation.bias = model_.Bias(op_class) + sums.back() / members;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (sums[i] == 0.0) continue;
    explanation.contributions.push_back({columns[i], row[i], sums[i] / members});
  }
  std::stable_sort(explanation.contributions.begin(), explanation.contributions.end(),
                   [](const Contribution& a, const Contribution& b) {
                     return std::abs(a.share) > std::abs(b.share);
                   });
  return explanation;
}

}  // namespace cyclecast
