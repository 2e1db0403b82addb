// How the error falls with the rows there are to learn from; see evaluate.h.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "learned/calibrated_form.h"
#include "learned/evaluate.h"
#include "learned/hash.h"

namespace cyclecast {
namespace {

struct Draw {
  std::vector<std::size_t> training, unseen;
};

// `size` rows in whole groups, the last one cut; rows of the groups that are left are unseen.
Draw DrawRows(const Dataset& data, std::size_t size, std::uint64_t seed) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t row = 0; row < data.rows(); ++row) groups[data.group[row]].push_back(row);
  std::vector<std::pair<std::uint64_t, const std::vector<std::size_t>*>> order;
  for (const auto& [name, rows] : groups)
    order.emplace_back(MixBits(seed ^ Fnv64().Add(name).value()), &rows);
  std::sort(order.begin(), order.end());
  Draw draw;
  for (const auto& [key, rows] : order) {
    if (draw.training.size() >= size) {
      draw.unseen.insert(draw.unseen.end(), rows->begin(), rows->end());
    } else {
      const std::size_t taken = std::min(rows->size(), size - draw.training.size());
      draw.training.insert(draw.training.end(), rows->begin(),
                           rows->begin() + static_cast<std::ptrdiff_t>(taken));
    }
  }
  return draw;
}

double MeanAndSpread(const std::vector<double>& values, double* spread) {
  if (values.empty()) return 0;
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (spread != nullptr) *spread = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return mean;
}

class CurveMeasurer {
 public:
  CurveMeasurer(const std::vector<TraceSample>& samples, const Dataset& data,
                const TrainOptions& options)
      : samples_(samples), data_(data), options_(options) {}

  Result<CurvePoint> Measure(int size, int repeats) const {
    CurvePoint point;
    point.rows = size;
    point.repeats = size == 0 ? 1 : repeats;  // without a draw there is nothing to repeat
    std::vector<double> base, calibrated, alone, transferred;
    for (int repeat = 0; repeat < point.repeats; ++repeat) {
      const Draw draw = DrawRows(data_, static_cast<std::size_t>(size),
                                 MixBits(options_.seed + static_cast<std::uint64_t>(repeat)));
      if (draw.unseen.empty())
        return Error("a curve with " + std::to_string(size) + " rows leaves none to predict");
      base.push_back(Mape(draw, [&](std::size_t row) { return data_.BaseTotal(row); }));
      std::vector<const TraceSample*> seen;
      for (const std::size_t row : draw.training) seen.push_back(&samples_[data_.source[row]]);
      const CalibratedForm form = CalibratedForm::Fit(seen);
      calibrated.push_back(
          Mape(draw, [&](std::size_t row) { return form.Predict(samples_[data_.source[row]]); }));
      TrainOptions options = options_;
      options.transfer = {};
      if (draw.training.size() >= kMinTrainingRows) {
        const auto mape = MapeOf(draw, TrainResidual(data_.Subset(draw.training), options));
        if (!mape.ok()) return mape.error();
        alone.push_back(*mape);
      }
      if (options_.transfer.empty()) continue;
      const auto mape = MapeOf(draw, Transferred(draw));
      if (!mape.ok()) return mape.error();
      transferred.push_back(*mape);
    }
    point.base = MeanAndSpread(base, nullptr);
    point.calibrated = MeanAndSpread(calibrated, nullptr);
    point.alone = MeanAndSpread(alone, &point.alone_sd);
    point.transferred = MeanAndSpread(transferred, &point.transferred_sd);
    return point;
  }

 private:
  Result<ResidualModel> Transferred(const Draw& draw) const {
    if (!draw.training.empty()) return TrainResidual(data_.Subset(draw.training), options_);
    if (options_.transfer.model != nullptr) return *options_.transfer.model;
    TrainOptions options = options_;
    options.transfer = {};
    return TrainResidual(*options_.transfer.rows, options);
  }

  template <class Predict>
  double Mape(const Draw& draw, const Predict& predict) const {
    double sum = 0;
    for (const std::size_t row : draw.unseen)
      sum += std::abs(predict(row) / data_.measured_us[row] - 1);
    return 100 * sum / static_cast<double>(draw.unseen.size());
  }

  Result<double> MapeOf(const Draw& draw, const Result<ResidualModel>& model) const {
    if (!model.ok()) return model.error();
    return Mape(draw, [&](std::size_t row) {
      const TraceSample& sample = samples_[data_.source[row]];
      return model->Predict(**BaseOf(sample, options_.base), sample.machine).us;
    });
  }

  const std::vector<TraceSample>& samples_;
  const Dataset& data_;
  const TrainOptions& options_;
};

}  // namespace

Result<LearningCurve> MeasureLearningCurve(const std::vector<TraceSample>& samples,
                                           const TrainOptions& options,
                                           const std::vector<int>& sizes, int repeats) {
  const Result<Dataset> data = MakeDataset(samples, options.base, options.group_by);
  if (!data.ok()) return data.error();
  LearningCurve curve;
  curve.title = std::to_string(data->rows()) + " rows, corrected(" + options.base +
                "), errors on rows of other groups by " +
                (options.group_by.empty() ? "shape" : options.group_by);
  TrainOptions quiet = options;
  quiet.progress = nullptr;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 && options.transfer.empty())
      return Error(
          "a curve can start from 0 rows only with something learned elsewhere (--source)");
    if (sizes[i] > 0 && static_cast<std::size_t>(sizes[i]) < kMinTransferRows) {
      return Error("a curve needs points of 0 or at least " + std::to_string(kMinTransferRows) +
                   " rows, not " + std::to_string(sizes[i]));
    }
    const auto point = CurveMeasurer(samples, *data, quiet).Measure(sizes[i], repeats);
    if (!point.ok()) return point.error();
    curve.points.push_back(*point);
    if (options.progress) {
      options.progress("learning from " + std::to_string(sizes[i]) + " rows",
                       static_cast<double>(i + 1) / static_cast<double>(sizes.size()));
    }
  }
  return curve;
}

}  // namespace cyclecast
