// Shapley values of corrections whose truth is known.
#include "learned/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

// measured = base * exp(0.6 + 0.8 [utilisation > 0.5] + 0.5 fill): nothing else matters.
TEST(Explain, SharesAddUpToTheCorrectionAndNameWhatCausesIt) {
  const ResidualModel model = test::KnownModel();
  const auto explainer = Explainer::Make(model);
  ASSERT_TRUE(explainer.ok()) << explainer.error().Text();
  const int utilisation = static_cast<int>(test::ColumnNamed("utilisation"));
  const int fill = static_cast<int>(test::ColumnNamed("m_fill_128"));
  double above = 0, below = 0;
  int count_above = 0, count_below = 0;
  for (const TraceSample& sample : test::KnownSamples(30, 0.0, 7)) {
    const KernelSample& kernel = sample.simulated.kernels.at(0);
    const auto explanation = explainer->Explain(kernel.features, kernel.op_class);
    ASSERT_TRUE(explanation.ok()) << explanation.error().Text();
    const Correction correction = model.Correct(kernel.features, kernel.op_class, "tiny");
    // Corrections are held inside the range of the training's log ratios: 0.6 to 1.9.
    EXPECT_NEAR(explanation->LogRatio(), correction.log_ratio, 0.05);
    double step = 0, others = 0;
    for (const Contribution& part : explanation->contributions) {
      EXPECT_EQ(part.value, kernel.features[static_cast<std::size_t>(part.column)]);
      if (part.column == utilisation) {
        step = part.share;
      } else if (part.column != fill) {
        others += std::abs(part.share);
      }
    }
    EXPECT_LT(others, 0.1);
    const bool high = kernel.features[static_cast<std::size_t>(utilisation)] > 0.5F;
    (high ? above : below) += step;
    ++(high ? count_above : count_below);
  }
  ASSERT_GT(count_above, 0);
  ASSERT_GT(count_below, 0);
  EXPECT_NEAR(above / count_above - below / count_below, 0.8, 0.1);
}

TEST(Explain, ContributionsOfABoosterAddUpToItsPrediction) {
  const ResidualModel model = test::KnownModel(120);
  const auto booster = model.LoadBooster(0);
  ASSERT_TRUE(booster.ok());
  const std::vector<float> rows(model.columns().size() * 2, 0.25F);
  const MatrixView matrix{rows.data(), 2, model.columns().size()};
  const auto shares = booster->Contributions(matrix);
  const auto margins = booster->Predict(matrix);
  ASSERT_TRUE(shares.ok() && margins.ok());
  ASSERT_EQ(shares->size(), 2 * (matrix.columns + 1));
  float sum = 0;
  for (std::size_t i = 0; i <= matrix.columns; ++i) sum += (*shares)[i];
  EXPECT_NEAR(sum, (*margins)[0], 1e-4);
  EXPECT_FALSE(booster->Contributions({rows.data(), 1, matrix.columns + 1}).ok());
}

}  // namespace
}  // namespace cyclecast
