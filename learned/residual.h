// The learned correction of a base model: for every kernel a factor exp(g), learned from measured
// traces as g = log(measured / base).
//
// g is a constant per op class (the bias) plus the mean of an ensemble of boosted trees over the
// features of learned/features.h. With it come an interval (learned/conformal.h) and whether the
// kernel is like those trained on. A model knows the base it corrects, the feature table it was
// trained with, the machines and the data; it refuses others.
//
// File: "CYCRESID", format version, lengths and a checksum over everything behind them, a JSON
// header, the trees in binary, and XGBoost's own form of them, compressed. The checksum is verified
// before anything is parsed; predictions use the binary trees only, whose structure is checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/evaluation.h"
#include "core/op.h"
#include "learned/booster.h"
#include "learned/conformal.h"
#include "learned/features.h"
#include "learned/forest.h"

namespace cyclecast {

inline constexpr int kOpClasses = static_cast<int>(OpClass::kNotModelled) + 1;

// How a model was trained: what its file tells about it.
struct ResidualInfo {
  std::string base;  // name of the base model: "simulated", "analytical"
  std::vector<std::string> machines;
  FeatureSet features = FeatureSet::kAll;
  std::string group_by;
  std::uint64_t seed = 0;
  BoosterParams params;      // of each member
  double huber_delta = 0.0;  // of the loss on log ratios; 0: squared error
  int members = 0;
  int folds = 0;  // of the inner cross-validation the figures below come from
  std::int64_t rows = 0, groups = 0;
  std::uint64_t data_hash = 0;
  std::vector<std::string> sources;       // where the measurements come from
  std::vector<ErrorFigures> figures;      // out of fold: "<base>", "corrected"
  double coverage = 0, median_width = 0;  // of the 90 % interval, out of fold
  std::vector<std::string> notes;
  // A trace of a few kernels of every machine, with what the base said of each as the measured
  // time: shows whether the base is still the one that was corrected. Empty: not kept.
  std::string probes;
};

// What the model says of one kernel.
struct Correction {
  double log_ratio = 0;   // log(corrected / base)
  double half_width = 0;  // of the 90 % interval of the log
  double spread = 0;      // of the members
  bool in_domain = true;
  std::string reason;  // why not in domain; empty when it is
};

// What the model says of a row: microseconds.
struct RowPrediction {
  double us = 0, lower_us = 0, upper_us = 0;
  bool in_domain = true;
  std::string reason;
};

class ResidualModel {
 public:
  struct Range {
    float least = 0, most = 0;
  };

  const ResidualInfo& info() const { return info_; }
  void KeepProbes(std::string trace) { info_.probes = std::move(trace); }
  const Calibration& calibration() const { return calibration_; }
  const std::vector<Forest>& members() const { return members_; }
  // log(corrected / base) of a class before the trees say anything.
  double Bias(OpClass op_class) const { return bias_[static_cast<std::size_t>(op_class)]; }
  // Features the trees see, as columns of DescribeFeatures().
  const std::vector<int>& columns() const { return columns_; }

  // `features` as ExtractFeatures fills them.
  Correction Correct(const std::vector<float>& features, OpClass op_class,
                     std::string_view machine) const;
  // Corrects every kernel of a row, keeps each at or above its physical bound, and adds them up.
  // Bounds add up too: errors of kernels in one row go together.
  RowPrediction Predict(const BaseSample& base, std::string_view machine) const;

  // The file. Writing it to disk is the caller's business.
  std::string Bytes() const;
  // `name` is what errors call it. Errors: not a model, another version, damaged, other features.
  static Result<ResidualModel> FromBytes(std::string_view bytes, const std::string& name);
  // XGBoost's form of a member, for analyses its own library offers.
  Result<Booster> LoadBooster(std::size_t member) const;

 private:
  friend class ResidualTrainer;
  friend struct ResidualHeader;

  // The first thing about a kernel that training has not seen; empty when there is none.
  std::string OutsideOf(const std::vector<float>& features, OpClass op_class,
                        std::string_view machine) const;
  // The share of the correction that kernels of this class and machine get.
  double ShareFor(OpClass op_class, std::string_view machine) const;
  // Fills checked_ from ranges_.
  void PrepareChecks();

  // Range of a column with its slack.
  struct CheckedRange {
    int column = 0;
    float least = 0, most = 0;
  };

  ResidualInfo info_;
  std::vector<int> columns_;
  std::array<double, kOpClasses> bias_{};            // by op class
  std::array<bool, kOpClasses> seen_{};              // op classes trained on
  std::vector<Range> ranges_;                        // by column of DescribeFeatures()
  std::vector<CheckedRange> checked_;                // of the feature set in use
  double least_log_ratio_ = 0, most_log_ratio_ = 0;  // trained on; corrections stay inside
  // How much of a correction holds for kernels of a class, of a machine, that was not trained on:
  // what was best when those trained on were left out in turn.
  double unseen_class_share_ = 0, unseen_machine_share_ = 1;
  std::vector<Forest> members_;
  std::vector<std::string> boosters_;  // compressed JSON, one per member
  Calibration calibration_;
};

// Whether the file begins as a model file does.
Result<bool> IsResidual(const std::string& path);
// Reads a model file of at most 256 MiB.
Result<ResidualModel> LoadResidual(const std::string& path);

// The largest of a kernel's corrected time and its physical bound. A base below the bound (a kernel
// that overlaps others has only a share of the total) lowers the floor to itself.
double FlooredTime(double base, double bound, double log_ratio);

}  // namespace cyclecast
