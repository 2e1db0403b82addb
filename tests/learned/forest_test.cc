// Flat forests: XGBoost's numbers bit for bit, and nothing a damaged form can do.
#include "learned/forest.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "learned/booster.h"
#include "learned/hash.h"
#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

constexpr std::size_t kColumns = 6;

std::vector<float> RandomRows(std::size_t rows, std::uint64_t seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < rows * kColumns; ++i) {
    const double uniform = test::Uniform(seed, i);
    // Some columns continuous, some of few values, so that thresholds are met exactly.
    values.push_back(static_cast<float>(i % 2 == 0 ? uniform : std::floor(8 * uniform) / 8));
  }
  return values;
}

Booster TrainOn(const std::vector<float>& values, int trees, int leaves) {
  const MatrixView matrix{values.data(), values.size() / kColumns, kColumns};
  BoosterParams params;
  params.trees = trees;
  params.max_depth = leaves > 0 ? 12 : 6;
  params.max_leaves = leaves;
  params.column_share = 0.8;
  params.min_child_weight = 0.5;
  const auto gradients = [&](const std::vector<float>& margin, std::vector<float>* gradient,
                             std::vector<float>* hessian) {
    for (std::size_t i = 0; i < margin.size(); ++i) {
      const float* row = values.data() + i * kColumns;
      (*gradient)[i] = margin[i] - std::sin(9 * row[0]) * row[1] - row[2] * row[3];
      (*hessian)[i] = 1.0F;
    }
  };
  return Booster::Train(matrix, params, gradients).value();
}

std::size_t Mismatches(const Booster& booster, std::size_t rows) {
  const Forest forest = Forest::FromXgboostJson(booster.SaveJson().value()).value();
  const std::vector<float> values = RandomRows(rows, 77);
  const std::vector<float> expected = booster.Predict({values.data(), rows, kColumns}).value();
  std::vector<float> batch(rows);
  forest.Predict(values.data(), rows, kColumns, batch.data());
  std::size_t mismatches = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const float single = forest.Predict(values.data() + i * kColumns);
    const auto bits = std::bit_cast<std::uint32_t>(expected[i]);
    mismatches += std::bit_cast<std::uint32_t>(single) != bits ? 1 : 0;
    mismatches += std::bit_cast<std::uint32_t>(batch[i]) != bits ? 1 : 0;
  }
  return mismatches;
}

TEST(Forest, EqualsXgboostBitForBitOnHundredThousandRows) {
  EXPECT_EQ(Mismatches(TrainOn(RandomRows(3000, 1), 203, 0), 100000), 0U);
}

TEST(Forest, EqualsXgboostForTreesGrownByLeaf) {
  EXPECT_EQ(Mismatches(TrainOn(RandomRows(3000, 1), 50, 31), 20000), 0U);
}

// A tree that never splits: a matrix without information.
TEST(Forest, EqualsXgboostForTreesOfOneLeaf) {
  const std::vector<float> flat(kColumns * 100, 1.0F);
  const Booster booster = TrainOn(flat, 5, 0);
  EXPECT_EQ(Forest::FromXgboostJson(booster.SaveJson().value()).value().nodes(), 5U);
  EXPECT_EQ(Mismatches(booster, 100), 0U);
}

Forest SomeForest() {
  return Forest::FromXgboostJson(TrainOn(RandomRows(500, 1), 20, 0).SaveJson().value()).value();
}

TEST(Forest, TreeValuesAddUpToThePrediction) {
  const Forest forest = SomeForest();
  const std::vector<float> values = RandomRows(50, 3);
  std::vector<float> by_tree(forest.trees());
  for (std::size_t i = 0; i < 50; ++i) {
    forest.TreeValues(values.data() + i * kColumns, by_tree.data());
    float sum = forest.base_score();
    for (const float value : by_tree) sum += value;
    EXPECT_EQ(sum, forest.Predict(values.data() + i * kColumns));
  }
}

TEST(Forest, TruncatedIsTheSumOfItsFirstTrees) {
  Forest forest = SomeForest();
  const std::vector<float> values = RandomRows(1, 3);
  std::vector<float> by_tree(forest.trees());
  forest.TreeValues(values.data(), by_tree.data());
  float sum = forest.base_score();
  for (std::size_t i = 0; i < 7; ++i) sum += by_tree[i];
  forest.Truncate(7);
  EXPECT_EQ(forest.trees(), 7U);
  EXPECT_EQ(forest.Predict(values.data()), sum);
  EXPECT_EQ(Forest::FromBytes(forest.Bytes()).value(), forest);
}

TEST(Forest, ReadsBackItsBytes) {
  const Forest forest = SomeForest();
  const Forest back = Forest::FromBytes(forest.Bytes()).value();
  EXPECT_EQ(back, forest);
  const std::vector<float> values = RandomRows(10, 3);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(back.Predict(values.data() + i * kColumns),
              forest.Predict(values.data() + i * kColumns));
}

TEST(Forest, RefusesEveryTruncation) {
  const std::string bytes = SomeForest().Bytes();
  for (std::size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_FALSE(Forest::FromBytes(bytes.substr(0, length)).ok()) << length;
  EXPECT_FALSE(Forest::FromBytes(bytes + "x").ok());
}

// What is accepted must be safe to walk, with any row (run under the sanitisers).
TEST(Forest, DamagedBytesAreRefusedOrHarmless) {
  const std::string good = SomeForest().Bytes();
  const std::vector<float> values = RandomRows(20, 3);
  int accepted = 0, refused = 0;
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    std::string bytes = good;
    for (std::uint64_t change = 0; change <= trial % 3; ++change) {
      const std::uint64_t draw = MixBits(MixBits(trial) + change);
      bytes[draw % bytes.size()] = static_cast<char>(draw >> 56);
    }
    const auto forest = Forest::FromBytes(bytes);
    if (!forest.ok()) {
      ++refused;
      continue;
    }
    ++accepted;
    if (forest->columns() > kColumns) continue;
    for (std::size_t i = 0; i < 20; ++i) forest->Predict(values.data() + i * kColumns);
  }
  EXPECT_GT(refused, 500);   // pointers and features
  EXPECT_GT(accepted, 500);  // thresholds and values
}

}  // namespace
}  // namespace cyclecast
