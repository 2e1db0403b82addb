// Which kernels to profile next.
#include "learned/suggest.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/learned/fixtures.h"

namespace cyclecast {
namespace {

std::vector<Suggestion> Picked(const std::vector<TraceSample>& candidates,
                               const std::vector<TraceSample>& measured, const ResidualModel* model,
                               const SuggestOptions& options) {
  const auto picked = Suggest(candidates, measured, "simulated", model, options);
  EXPECT_TRUE(picked.ok()) << picked.error().Text();
  return *picked;
}

SuggestOptions Options(std::size_t rows, double random_share = 0.0) {
  SuggestOptions options;
  options.rows = rows;
  options.random_share = random_share;
  return options;
}

TEST(Suggest, PicksEachCandidateOnceAndNoMoreThanThereAre) {
  const auto candidates = test::KnownSamples(30, 0.0);
  const auto picked = Picked(candidates, {}, nullptr, Options(100, 0.3));
  std::set<std::size_t> samples;
  for (const Suggestion& suggestion : picked) samples.insert(suggestion.sample);
  EXPECT_EQ(picked.size(), 30U);
  EXPECT_EQ(samples.size(), 30U);
}

TEST(Suggest, KeepsAwayFromWhatIsMeasured) {
  // The known kernels are the first 60 candidates themselves: at distance 0, so others come first.
  auto candidates = test::KnownSamples(120, 0.0);
  const std::vector<TraceSample> measured(candidates.begin(), candidates.begin() + 60);
  for (const Suggestion& suggestion : Picked(candidates, measured, nullptr, Options(20))) {
    EXPECT_GE(suggestion.sample, 60U);
    EXPECT_GT(suggestion.distance, 0);
  }
}

TEST(Suggest, EveryRegimeGetsItsTurn) {
  // 60 kernels of one machine and 3 of another: of the first six, three are of each.
  auto candidates = test::KnownSamples(63, 0.0);
  for (std::size_t i = 60; i < 63; ++i) candidates[i].machine = "other";
  int others = 0;
  for (const Suggestion& suggestion : Picked(candidates, {}, nullptr, Options(6))) {
    if (candidates[suggestion.sample].machine == "other") ++others;
  }
  EXPECT_EQ(others, 3);
}

TEST(Suggest, ADrawnShareIsRandomAndTheSameForASeed) {
  const auto candidates = test::KnownSamples(90, 0.0);
  const ResidualModel model = test::KnownModel(120);
  const auto once = Picked(candidates, {}, &model, Options(40, 0.25));
  const auto again = Picked(candidates, {}, &model, Options(40, 0.25));
  int random = 0;
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].sample, again[i].sample);
    if (once[i].at_random) ++random;
  }
  EXPECT_EQ(random, 10);  // a quarter of 40
  SuggestOptions other = Options(40, 0.25);
  other.seed = 2;
  const auto elsewhere = Picked(candidates, {}, &model, other);
  EXPECT_FALSE(
      std::equal(once.begin(), once.end(), elsewhere.begin(),
                 [](const Suggestion& a, const Suggestion& b) { return a.sample == b.sample; }));
}

}  // namespace
}  // namespace cyclecast
