// Flat regression trees: predicts what XGBoost predicts, bit for bit, several times faster for a
// single row, and without XGBoost's model reader.
//
// All trees lie in one array, siblings side by side, parents before children. A leaf points at
// itself, so a walk takes a fixed number of steps without a branch and eight trees are walked at
// once. Values must be finite (the features are): XGBoost's missing-value direction is not kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace cyclecast {

class Forest {
 public:
  // From the JSON of a trained gbtree model with one output. An Error names what does not fit: no
  // JSON, another booster or objective's link, categorical splits, children out of range or
  // shared, a split on a column that is not there.
  static Result<Forest> FromXgboostJson(std::string_view json);
  // From Bytes(). Checks structure, not only length: no content makes Predict leave the array.
  static Result<Forest> FromBytes(std::string_view bytes);
  std::string Bytes() const;

  std::size_t columns() const { return columns_; }
  std::size_t trees() const { return roots_.size(); }
  std::size_t nodes() const { return nodes_.size(); }
  // Keeps the first `count` trees.
  void Truncate(std::size_t count);

  // The sum of the trees for one row of columns() values.
  float Predict(const float* row) const;
  // The same for `count` rows that lie `stride` values apart. [count] sums.
  void Predict(const float* rows, std::size_t count, std::size_t stride, float* sums) const;
  // The value of every tree for one row; [trees()] values. Their sum in order, from base_score(),
  // is Predict's.
  void TreeValues(const float* row, float* values) const;
  float base_score() const { return base_score_; }

  bool operator==(const Forest&) const;

 private:
  friend class ForestBuilder;
  struct Node {
    float threshold;       // row[feature] >= threshold goes to left + 1; NaN in a leaf
    std::int32_t left;     // itself in a leaf
    std::int32_t feature;  // 0 in a leaf
  };
  // The nodes `Lanes` trees from `tree` on end in, for one row.
  template <int Lanes>
  void Walk(std::size_t tree, const float* row, std::int32_t* leaves) const;
  // Fills depths_; false when a node is out of place.
  bool CheckAndMeasure();

  std::vector<Node> nodes_;
  std::vector<float> values_;  // per node; that of a leaf
  std::vector<std::int32_t> roots_;
  std::vector<std::int32_t> depths_;  // per tree, steps from root to the deepest leaf
  std::size_t columns_ = 0;
  float base_score_ = 0.0F;
};

}  // namespace cyclecast
