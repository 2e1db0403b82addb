// What a residual model says of kernels and rows; see residual.h. The file is in residual_io.cc,
// training in train.cc.
#include "learned/residual.h"

#include <algorithm>
#include <cmath>

namespace cyclecast {
namespace {

constexpr std::size_t kMaxColumns = 512;

// How far outside the trained range a value may lie before it counts as outside: a tenth of the
// range, and at least what its unit makes insignificant.
double Slack(const FeatureInfo& info, double range) {
  const double least = info.unit == "flag" || info.unit == "count" ? 0.5 : 0.05;
  return std::max(0.1 * range, least);
}

std::string Short(double value) {
  std::string text(32, '\0');
  const int length = std::snprintf(text.data(), text.size(), "%.3g", value);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

double FlooredTime(double base, double bound, double log_ratio) {
  return std::max(base * std::exp(log_ratio), std::min(base, bound));
}

Correction ResidualModel::Correct(const std::vector<float>& features, OpClass op_class,
                                  std::string_view machine) const {
  CYCLECAST_CHECK(features.size() == ranges_.size());
  CYCLECAST_CHECK(columns_.size() <= kMaxColumns);
  std::array<float, kMaxColumns> row;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    row[i] = features[static_cast<std::size_t>(columns_[i])];
  double sum = 0, squares = 0;
  for (const Forest& member : members_) {
    const double value = static_cast<double>(member.Predict(row.data()));
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(members_.size());
  Correction correction;
  const double mean = sum / n;
  correction.log_ratio =
      ShareFor(op_class, machine) * std::clamp(bias_[static_cast<std::size_t>(op_class)] + mean,
                                               least_log_ratio_, most_log_ratio_);
  correction.spread = std::sqrt(std::max(0.0, squares / n - mean * mean));
  correction.reason = OutsideOf(features, op_class, machine);
  correction.in_domain = correction.reason.empty();
  correction.half_width =
      correction.in_domain
          ? calibration_.HalfWidth(op_class, correction.spread, kReportedCoverage)
          : calibration_.HalfWidthOutside(op_class, correction.spread, kReportedCoverage);
  return correction;
}

double ResidualModel::ShareFor(OpClass op_class, std::string_view machine) const {
  const std::vector<std::string>& machines = info_.machines;
  const bool known = std::find(machines.begin(), machines.end(), machine) != machines.end();
  return (seen_[static_cast<std::size_t>(op_class)] ? 1.0 : unseen_class_share_) *
         (known ? 1.0 : unseen_machine_share_);
}

std::string ResidualModel::OutsideOf(const std::vector<float>& features, OpClass op_class,
                                     std::string_view machine) const {
  if (std::find(info_.machines.begin(), info_.machines.end(), machine) == info_.machines.end())
    return "not trained on machine '" + std::string(machine) + "'";
  if (!seen_[static_cast<std::size_t>(op_class)])
    return "not trained on " + std::string(Name(op_class)) + " kernels";
  for (const CheckedRange& range : checked_) {
    const float value = features[static_cast<std::size_t>(range.column)];
    if (value >= range.least && value <= range.most) continue;
    const auto column = static_cast<std::size_t>(range.column);
    return "feature " + DescribeFeatures()[column].name + " is " +
           Short(static_cast<double>(value)) + ", trained on " +
           Short(static_cast<double>(ranges_[column].least)) + " to " +
           Short(static_cast<double>(ranges_[column].most));
  }
  return "";
}

void ResidualModel::PrepareChecks() {
  checked_.clear();
  const std::vector<FeatureInfo>& infos = DescribeFeatures();
  for (const int column : ColumnsOf(info_.features)) {
    const Range& range = ranges_[static_cast<std::size_t>(column)];
    const double slack = Slack(infos[static_cast<std::size_t>(column)],
                               static_cast<double>(range.most) - static_cast<double>(range.least));
    checked_.push_back(
        {column, range.least - static_cast<float>(slack), range.most + static_cast<float>(slack)});
  }
}

RowPrediction ResidualModel::Predict(const BaseSample& base, std::string_view machine) const {
  RowPrediction row;
  row.us = row.lower_us = row.upper_us = base.dispatch_us;
  for (const KernelSample& kernel : base.kernels) {
    const Correction c = Correct(kernel.features, kernel.op_class, machine);
    const double us = FlooredTime(kernel.base_us, kernel.bound_us, c.log_ratio);
    row.us += us;
    // About what is predicted, as calibrated; not floored: what is measured may lie below the floor
    // where the machine's file understates a rate.
    row.lower_us += us * std::exp(-c.half_width);
    row.upper_us += us * std::exp(c.half_width);
    if (!c.in_domain && row.in_domain) {
      row.in_domain = false;
      row.reason = c.reason;
    }
  }
  return row;
}

}  // namespace cyclecast
