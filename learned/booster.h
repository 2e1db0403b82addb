// Gradient-boosted trees: an owner of XGBoost's handles that refuses what XGBoost's C interface
// lets pass. It ignores misspelt parameters, takes a matrix with too few columns, and its model
// reader crashes on damaged files; here parameters are a checked struct, widths are compared, and a
// model is checked for structure (learned/forest.h) before XGBoost sees it.
//
// Deterministic: the same matrix, gradients and parameters give the same bytes, whatever the
// number of threads. In a forked child only threads = 1 works (OpenMP's pool does not survive a
// fork).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace cyclecast {

struct BoosterParams {
  int trees = 150;
  int max_depth = 5;
  int max_leaves = 0;  // 0: as many as the depth allows
  double learning_rate = 0.08;
  double min_child_weight = 2.0;  // of the sum of Hessians in a leaf
  double l2 = 1.0;                // on leaf values
  double min_gain = 0.0;          // of a split
  double row_share = 1.0;         // drawn for each tree
  double column_share = 1.0;      // drawn for each tree
  int bins = 256;                 // of the histogram of a feature
  std::uint64_t seed = 1;
  int threads = 1;
};

struct BoosterParamInfo {
  std::string name, doc;
  double least = 0, most = 0, standard = 0;
  bool whole = false;  // takes whole numbers only
};
// The parameters a user may set: all members of BoosterParams but seed and threads.
const std::vector<BoosterParamInfo>& DescribeBoosterParams();
// `onto` with the named values set. Errors, all together: an unknown name (with the known ones), a
// value that is no number or out of range.
Result<BoosterParams> SetBoosterParams(const std::map<std::string, std::string>& values,
                                       BoosterParams onto = {});
// The values as SetBoosterParams takes them; every one reads back as the same number.
std::map<std::string, std::string> BoosterParamTexts(const BoosterParams& params);
// The same checks on a struct filled by a program.
Status CheckBoosterParams(const BoosterParams& params);

// A dense matrix somebody else owns: [rows, columns], row-major, all values finite.
struct MatrixView {
  const float* values = nullptr;
  std::size_t rows = 0, columns = 0;
};

class Booster {
 public:
  // Fills the gradient and the Hessian of the loss of every row, given the current sum of the
  // trees (0 before the first).
  using Gradients = std::function<void(const std::vector<float>& margin,
                                       std::vector<float>* gradient, std::vector<float>* hessian)>;

  // `start`: SaveJson() of a booster of the same columns, whose trees come first; empty: none.
  static Result<Booster> Train(const MatrixView& matrix, const BoosterParams& params,
                               const Gradients& gradients, std::string_view start = {});
  // From SaveJson(). Refuses a structure that XGBoost would crash on.
  static Result<Booster> LoadJson(std::string_view json);

  Booster(Booster&&) noexcept;
  Booster& operator=(Booster&&) noexcept;
  ~Booster();

  // The sum of the trees for every row. No copy of the matrix is made.
  Result<std::vector<float>> Predict(const MatrixView& matrix) const;
  // The Shapley values of every row: [rows, columns + 1], the last one the trees' mean. They add up
  // to what Predict() says.
  Result<std::vector<float>> Contributions(const MatrixView& matrix) const;
  Result<std::string> SaveJson() const;
  std::size_t columns() const { return columns_; }

 private:
  struct Handle;
  Booster();
  std::unique_ptr<Handle> handle_;
  std::size_t columns_ = 0;
};

}  // namespace cyclecast
