// The one file that talks to XGBoost; see booster.h. Interface: xgboost/c_api.h of release 1.7.
#include "learned/booster.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <limits>

#include "learned/forest.h"

namespace cyclecast {
namespace {

Error Failure(const std::string& what) {
  return Error("XGBoost cannot " + what + ": " + XGBGetLastError());
}

// A library does not print. The setting is per thread.
Status Silence() {
  if (XGBSetGlobalConfig(R"({"verbosity": 0})") != 0) return Failure("be told to be silent");
  return Unit{};
}

// A DMatrix over a copy of the values.
class OwnedMatrix {
 public:
  OwnedMatrix() = default;
  OwnedMatrix(const OwnedMatrix&) = delete;
  OwnedMatrix& operator=(const OwnedMatrix&) = delete;
  ~OwnedMatrix() {
    if (handle_ != nullptr) XGDMatrixFree(handle_);
  }
  Status Fill(const MatrixView& matrix, int threads) {
    const float missing = std::numeric_limits<float>::quiet_NaN();
    if (XGDMatrixCreateFromMat_omp(matrix.values, matrix.rows, matrix.columns, missing, &handle_,
                                   threads) != 0)
      return Failure("take the training matrix");
    return Unit{};
  }
  DMatrixHandle get() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

std::string Number(double value) {
  std::string text(32, '\0');
  const int length = std::snprintf(text.data(), text.size(), "%.17g", value);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::vector<std::pair<std::string, std::string>> ToXgboost(const BoosterParams& p) {
  return {{"booster", "gbtree"},
          {"tree_method", "hist"},
          {"objective", "reg:squarederror"},  // its link is the identity; gradients are ours
          {"base_score", "0"},
          {"disable_default_eval_metric", "1"},
          {"grow_policy", p.max_leaves > 0 ? "lossguide" : "depthwise"},
          {"max_depth", std::to_string(p.max_depth)},
          {"max_leaves", std::to_string(p.max_leaves)},
          {"learning_rate", Number(p.learning_rate)},
          {"min_child_weight", Number(p.min_child_weight)},
          {"reg_lambda", Number(p.l2)},
          {"gamma", Number(p.min_gain)},
          {"subsample", Number(p.row_share)},
          {"colsample_bytree", Number(p.column_share)},
          {"max_bin", std::to_string(p.bins)},
          // XGBoost's seed is a non-negative 32-bit number.
          {"seed", std::to_string(p.seed & 0x7fffffff)},
          {"nthread", std::to_string(p.threads)}};
}

constexpr const char* kMarginOfTraining =
    R"({"type": 1, "training": true, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
constexpr const char* kContributions =
    R"({"type": 2, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
constexpr const char* kMarginInPlace =
    R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false, "missing": NaN, "cache_id": 0})";

Error WrongColumns(std::size_t trained, std::size_t given) {
  return Error("the model was trained on " + std::to_string(trained) + " columns, the matrix has " +
               std::to_string(given));
}

// `rows`: how many numbers there must be.
Status CopyResult(int code, bst_ulong const* shape, bst_ulong dimensions, const float* values,
                  std::size_t rows, std::vector<float>* out) {
  if (code != 0) return Failure("predict");
  std::size_t count = 1;
  for (bst_ulong i = 0; i < dimensions; ++i) count *= shape[i];
  if (count != rows)
    return Error("XGBoost predicted " + std::to_string(count) + " numbers for " +
                 std::to_string(rows) + " rows");
  out->assign(values, values + rows);
  return Unit{};
}

// Runs all rounds on a booster that has its parameters.
Status Boost(BoosterHandle booster, DMatrixHandle matrix, std::size_t rows, int trees,
             bool has_trees, const Booster::Gradients& gradients) {
  std::vector<float> margin(rows, 0.0F), gradient(rows), hessian(rows);
  for (int round = 0; round < trees; ++round) {
    if (round > 0 || has_trees) {
      bst_ulong const* shape = nullptr;
      bst_ulong dimensions = 0;
      const float* values = nullptr;
      const int code = XGBoosterPredictFromDMatrix(booster, matrix, kMarginOfTraining, &shape,
                                                   &dimensions, &values);
      const Status copied = CopyResult(code, shape, dimensions, values, rows, &margin);
      if (!copied.ok()) return copied;
    }
    gradients(margin, &gradient, &hessian);
    if (XGBoosterBoostOneIter(booster, matrix, gradient.data(), hessian.data(), rows) != 0)
      return Failure("grow a tree");
  }
  return Unit{};
}

}  // namespace

struct Booster::Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (booster != nullptr) XGBoosterFree(booster);
  }
  BoosterHandle booster = nullptr;
};

Booster::Booster() : handle_(std::make_unique<Handle>()) {}
Booster::Booster(Booster&&) noexcept = default;
Booster& Booster::operator=(Booster&&) noexcept = default;
Booster::~Booster() = default;

Result<Booster> Booster::Train(const MatrixView& matrix, const BoosterParams& params,
                               const Gradients& gradients, std::string_view start) {
  const Status checked = CheckBoosterParams(params);
  if (!checked.ok()) return checked.error();
  if (matrix.rows == 0 || matrix.columns == 0)
    return Error("there is nothing to train on: the matrix is empty");
  for (std::size_t i = 0; i < matrix.rows * matrix.columns; ++i) {
    if (!std::isfinite(matrix.values[i]))
      return Error("row " + std::to_string(i / matrix.columns) + " of the training matrix has a " +
                   "value that is not finite in column " + std::to_string(i % matrix.columns));
  }
  const Status silent = Silence();
  if (!silent.ok()) return silent.error();
  OwnedMatrix owned;
  const Status filled = owned.Fill(matrix, params.threads);
  if (!filled.ok()) return filled.error();

  Booster booster;
  booster.columns_ = matrix.columns;
  const DMatrixHandle cache[] = {owned.get()};
  if (XGBoosterCreate(cache, 1, &booster.handle_->booster) != 0) return Failure("make a model");
  if (!start.empty()) {
    const Result<Forest> first = Forest::FromXgboostJson(start);
    if (!first.ok()) return first.error();
    if (first->columns() != matrix.columns) return WrongColumns(first->columns(), matrix.columns);
    if (XGBoosterLoadModelFromBuffer(booster.handle_->booster, start.data(), start.size()) != 0)
      return Failure("read the model to start from");
  }
  for (const auto& [name, value] : ToXgboost(params)) {
    if (XGBoosterSetParam(booster.handle_->booster, name.c_str(), value.c_str()) != 0)
      return Failure("set " + name);
  }
  const Status boosted = Boost(booster.handle_->booster, owned.get(), matrix.rows, params.trees,
                               !start.empty(), gradients);
  if (!boosted.ok()) return boosted.error();
  return booster;
}

Result<Booster> Booster::LoadJson(std::string_view json) {
  const Result<Forest> forest = Forest::FromXgboostJson(json);
  if (!forest.ok()) return forest.error();
  const Status silent = Silence();
  if (!silent.ok()) return silent.error();
  Booster booster;
  booster.columns_ = forest->columns();
  if (XGBoosterCreate(nullptr, 0, &booster.handle_->booster) != 0) return Failure("make a model");
  if (XGBoosterLoadModelFromBuffer(booster.handle_->booster, json.data(), json.size()) != 0)
    return Failure("read the model");
  if (XGBoosterSetParam(booster.handle_->booster, "nthread", "1") != 0)
    return Failure("set nthread");
  return booster;
}

Result<std::vector<float>> Booster::Predict(const MatrixView& matrix) const {
  if (matrix.columns != columns_) return WrongColumns(columns_, matrix.columns);
  std::vector<float> margin;
  if (matrix.rows == 0) return margin;
  const Status silent = Silence();
  if (!silent.ok()) return silent.error();
  // The array interface of NumPy, version 3: address, shape, element type.
  const std::string array =
      R"({"data": [)" + std::to_string(reinterpret_cast<std::uintptr_t>(matrix.values)) +
      R"(, true], "shape": [)" + std::to_string(matrix.rows) + ", " +
      std::to_string(matrix.columns) + R"(], "typestr": "<f4", "version": 3})";
  bst_ulong const* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  const int code = XGBoosterPredictFromDense(handle_->booster, array.c_str(), kMarginInPlace,
                                             nullptr, &shape, &dimensions, &values);
  const Status copied = CopyResult(code, shape, dimensions, values, matrix.rows, &margin);
  if (!copied.ok()) return copied.error();
  return margin;
}

Result<std::vector<float>> Booster::Contributions(const MatrixView& matrix) const {
  if (matrix.columns != columns_) return WrongColumns(columns_, matrix.columns);
  std::vector<float> shares;
  if (matrix.rows == 0) return shares;
  if (const Status silent = Silence(); !silent.ok()) return silent.error();
  OwnedMatrix owned;
  if (const Status filled = owned.Fill(matrix, 1); !filled.ok()) return filled.error();
  bst_ulong const* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  const int code = XGBoosterPredictFromDMatrix(handle_->booster, owned.get(), kContributions,
                                               &shape, &dimensions, &values);
  const Status copied =
      CopyResult(code, shape, dimensions, values, matrix.rows * (matrix.columns + 1), &shares);
  if (!copied.ok()) return copied.error();
  return shares;
}

Result<std::string> Booster::SaveJson() const {
  bst_ulong length = 0;
  char const* bytes = nullptr;
  if (XGBoosterSaveModelToBuffer(handle_->booster, R"({"format": "json"})", &length, &bytes) != 0)
    return Failure("write the model");
  return std::string(bytes, length);
}

}  // namespace cyclecast
