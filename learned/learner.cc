// See learner.h.
#include "learned/learner.h"

#include <algorithm>
#include <cmath>

#include "learned/metrics.h"

namespace cyclecast {
namespace {

std::size_t Width(const Dataset& data) { return data.features.size() / data.instances(); }

// The instances of the rows, one row's after the other's, restricted to the columns.
std::vector<float> SelectValues(const Dataset& data, const Rows& rows,
                                const std::vector<int>& columns) {
  const std::size_t width = Width(data);
  std::vector<float> values;
  for (const std::size_t row : rows) {
    for (std::size_t i = data.first_instance[row]; i < data.first_instance[row + 1]; ++i) {
      for (const int column : columns)
        values.push_back(data.features[i * width + static_cast<std::size_t>(column)]);
    }
  }
  return values;
}

double BiasOf(const Dataset& data, const ClassBias& bias, std::size_t instance) {
  return bias[static_cast<std::size_t>(data.kernel_class[instance])];
}

// The loss of all rows as XGBoost wants it; see learner.h.
class RowLoss {
 public:
  RowLoss(const Dataset& data, const Rows& rows, const ClassBias& bias, double delta)
      : data_(data), rows_(rows), bias_(bias), delta_(delta) {}

  void operator()(const std::vector<float>& margin, std::vector<float>* gradient,
                  std::vector<float>* hessian) {
    std::size_t at = 0;
    for (const std::size_t row : rows_) {
      const std::size_t begin = data_.first_instance[row], end = data_.first_instance[row + 1];
      times_.resize(end - begin);
      double total = data_.dispatch_us[row];
      for (std::size_t i = begin; i < end; ++i) {
        const double g = BiasOf(data_, bias_, i) + static_cast<double>(margin[at + i - begin]);
        times_[i - begin] = data_.base_us[i] * std::exp(g);
        total += times_[i - begin];
      }
      const double error = std::log(total / data_.measured_us[row]);
      // Pseudo-Huber's derivative is e / sqrt(1 + (e/d)^2); the weight of the quadratic that
      // touches it from above stands for the Hessian: the step is then a full one for rows far off,
      // too.
      const double weight = data_.weight[row] /
                            (delta_ > 0 ? std::sqrt(1.0 + error * error / (delta_ * delta_)) : 1.0);
      for (const double time : times_) {
        const double share = time / total;
        (*gradient)[at] = static_cast<float>(weight * error * share);
        (*hessian)[at] = static_cast<float>(std::max(weight * share, 1e-6));
        ++at;
      }
    }
  }

 private:
  const Dataset& data_;
  const Rows& rows_;
  const ClassBias& bias_;
  double delta_;
  std::vector<double> times_;
};

struct Weighted {
  double value = 0, weight = 0;
};

// The value with half of the weight on either side, the mean of two neighbours where the half falls
// between them; 0 when empty.
double WeightedMedian(std::vector<Weighted> values) {
  std::sort(values.begin(), values.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double half = 0;
  for (const Weighted& one : values) half += one.weight / 2;
  double below = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    below += values[i].weight;
    if (below > half * (1 + 1e-12)) return values[i].value;
    if (below >= half * (1 - 1e-12))
      return i + 1 < values.size() ? (values[i].value + values[i + 1].value) / 2 : values[i].value;
  }
  return 0;
}

}  // namespace

std::vector<int> VaryingColumns(const Dataset& data, FeatureSet set) {
  const std::size_t width = Width(data);
  std::vector<int> varying;
  for (const int column : ColumnsOf(set)) {
    const float first = data.features[static_cast<std::size_t>(column)];
    for (std::size_t i = 1; i < data.instances(); ++i) {
      if (data.features[i * width + static_cast<std::size_t>(column)] == first) continue;
      varying.push_back(column);
      break;
    }
  }
  return varying;
}

ClassBias FitBias(const Dataset& data, const Rows& rows) {
  constexpr double kPrior = 5.0;  // rows the pooled value counts for
  std::vector<Weighted> all;
  std::array<std::vector<Weighted>, kOpClasses> by_class;
  for (const std::size_t row : rows) {
    const Weighted log_ratio{std::log(data.measured_us[row] / data.BaseTotal(row)),
                             data.weight[row]};
    all.push_back(log_ratio);
    by_class[static_cast<std::size_t>(data.row_class[row])].push_back(log_ratio);
  }
  const double pooled = WeightedMedian(all);
  ClassBias bias{};
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    const double n = static_cast<double>(by_class[c].size());
    bias[c] = (n * WeightedMedian(by_class[c]) + kPrior * pooled) / (n + kPrior);
  }
  return bias;
}

Result<Member> FitMember(const Dataset& data, const Rows& rows, const std::vector<int>& columns,
                         const ClassBias& bias, const Recipe& recipe, std::uint64_t seed,
                         std::string_view start) {
  const std::vector<float> values = SelectValues(data, rows, columns);
  const MatrixView matrix{values.data(), values.size() / columns.size(), columns.size()};
  BoosterParams params = recipe.params;
  params.seed = seed;
  params.threads = 1;
  const Result<Booster> booster =
      Booster::Train(matrix, params, RowLoss(data, rows, bias, recipe.huber_delta), start);
  if (!booster.ok()) return booster.error();
  Member member;
  Result<std::string> json = booster->SaveJson();
  if (!json.ok()) return json.error();
  member.json = *std::move(json);
  Result<Forest> forest = Forest::FromXgboostJson(member.json);
  if (!forest.ok()) return forest.error();
  member.forest = *std::move(forest);
  return member;
}

double LogError(const Dataset& data, std::size_t row, const std::vector<double>& log_ratios) {
  double total = data.dispatch_us[row];
  const std::size_t begin = data.first_instance[row];
  for (std::size_t i = begin; i < data.first_instance[row + 1]; ++i)
    total += FlooredTime(data.base_us[i], data.bound_us[i], log_ratios[i - begin]);
  return std::log(total / data.measured_us[row]);
}

std::vector<double> StagedLogErrors(const Dataset& data, const Rows& rows,
                                    const std::vector<int>& columns, const ClassBias& bias,
                                    const Forest& forest, const std::vector<int>& checkpoints) {
  const std::vector<float> values = SelectValues(data, rows, columns);
  std::vector<float> by_tree(forest.trees());
  std::vector<double> errors(rows.size() * checkpoints.size());
  const float* next = values.data();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t begin = data.first_instance[rows[r]];
    const std::size_t count = data.first_instance[rows[r] + 1] - begin;
    // log_ratios[c][i]: of instance i at checkpoint c.
    std::vector<std::vector<double>> log_ratios(checkpoints.size(), std::vector<double>(count));
    for (std::size_t i = 0; i < count; ++i, next += columns.size()) {
      forest.TreeValues(next, by_tree.data());
      float sum = forest.base_score();
      std::size_t tree = 0;
      for (std::size_t c = 0; c < checkpoints.size(); ++c) {
        for (; tree < static_cast<std::size_t>(checkpoints[c]); ++tree) sum += by_tree[tree];
        log_ratios[c][i] = BiasOf(data, bias, begin + i) + static_cast<double>(sum);
      }
    }
    for (std::size_t c = 0; c < checkpoints.size(); ++c)
      errors[r * checkpoints.size() + c] = LogError(data, rows[r], log_ratios[c]);
  }
  return errors;
}

std::vector<float> Margins(const Dataset& data, const Rows& rows, const std::vector<int>& columns,
                           const Forest& forest) {
  const std::vector<float> values = SelectValues(data, rows, columns);
  std::vector<float> margins(values.size() / columns.size());
  forest.Predict(values.data(), margins.size(), columns.size(), margins.data());
  return margins;
}

void UnseenErrors(const Dataset& data, const Rows& rows, const ClassBias& bias,
                  const std::vector<std::vector<float>>& margins,
                  std::vector<UnseenError>* errors) {
  const double n = static_cast<double>(margins.size());
  std::size_t at = 0;
  for (const std::size_t row : rows) {
    const std::size_t begin = data.first_instance[row];
    const std::size_t count = data.first_instance[row + 1] - begin;
    std::vector<double> mean(count, 0.0), of_bias(count), of_member(count);
    double sum = 0, squares = 0;
    for (const std::vector<float>& member : margins) {
      for (std::size_t i = 0; i < count; ++i) {
        of_bias[i] = BiasOf(data, bias, begin + i);
        of_member[i] = of_bias[i] + static_cast<double>(member[at + i]);
        mean[i] += of_member[i] / n;
      }
      const double error = LogError(data, row, of_member);
      sum += error;
      squares += error * error;
    }
    UnseenError& unseen = (*errors)[row];
    unseen.log_error = -LogError(data, row, mean);
    unseen.spread = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
    unseen.base_error = -LogError(data, row, of_bias);
    unseen.op_class = data.row_class[row];
    at += count;
  }
}

}  // namespace cyclecast
