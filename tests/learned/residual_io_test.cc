// The model file: reads back, refuses what is not one, survives damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "learned/hash.h"
#include "learned/residual.h"
#include "tests/learned/fixtures.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPreamble = 32;  // magic 8, version 4, header 4, sections 8, checksum 8

const std::string& GoodFile() {
  static const std::string file = test::KnownModel(120).Bytes();
  return file;
}

// Makes the checksum right again after a change behind the preamble.
void FixChecksum(std::string* file) {
  const std::uint64_t sum = Fnv64().Add(std::string_view(*file).substr(kPreamble)).value();
  std::memcpy(file->data() + 24, &sum, sizeof(sum));
}

std::string ErrorOf(const std::string& file) {
  const auto model = ResidualModel::FromBytes(file, "m.cyc");
  return model.ok() ? "" : model.error().Text();
}

// The file with its JSON header changed by `change`.
template <class Change>
std::string WithHeader(const Change& change) {
  const std::string& good = GoodFile();
  std::uint32_t length = 0;
  std::memcpy(&length, good.data() + 12, sizeof(length));
  auto header = nlohmann::json::parse(good.substr(kPreamble, length));
  change(&header);
  const std::string text = header.dump();
  length = static_cast<std::uint32_t>(text.size());
  std::uint32_t old_length = 0;
  std::memcpy(&old_length, good.data() + 12, sizeof(old_length));
  std::string file = good.substr(0, kPreamble) + text + good.substr(kPreamble + old_length);
  std::memcpy(file.data() + 12, &length, sizeof(length));
  FixChecksum(&file);
  return file;
}

TEST(ResidualFile, PredictsTheSameAfterReadingBack) {
  const ResidualModel model = test::KnownModel(120);
  const ResidualModel back = ResidualModel::FromBytes(model.Bytes(), "m.cyc").value();
  for (const TraceSample& sample : test::KnownSamples(50, 0.1, 5)) {
    const RowPrediction a = model.Predict(sample.simulated, "tiny");
    const RowPrediction b = back.Predict(sample.simulated, "tiny");
    EXPECT_EQ(a.us, b.us);
    EXPECT_EQ(a.lower_us, b.lower_us);
    EXPECT_EQ(a.upper_us, b.upper_us);
    EXPECT_EQ(a.in_domain, b.in_domain);
  }
  EXPECT_EQ(back.Bytes(), model.Bytes());
  EXPECT_EQ(back.info().figures[1].mape, model.info().figures[1].mape);
}

TEST(ResidualFile, LoadsFromDisk) {
  const test::ScratchDir dir;
  const auto path = dir.Write("m.cyc", GoodFile());
  EXPECT_TRUE(LoadResidual(path.string()).ok());
  const auto missing = LoadResidual((dir / "none.cyc").string());
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().Text(), HasSubstr("none.cyc"));
}

TEST(ResidualFile, CarriesXgboostsOwnFormOfTheTrees) {
  const ResidualModel model = ResidualModel::FromBytes(GoodFile(), "m.cyc").value();
  const std::size_t width = model.columns().size();
  std::vector<float> rows;
  for (std::uint64_t i = 0; i < 20 * width; ++i)
    rows.push_back(static_cast<float>(test::Uniform(3, i)));
  for (std::size_t m = 0; m < model.members().size(); ++m) {
    const std::vector<float> theirs =
        model.LoadBooster(m).value().Predict({rows.data(), 20, width}).value();
    for (std::size_t i = 0; i < 20; ++i)
      EXPECT_EQ(theirs[i], model.members()[m].Predict(rows.data() + i * width));
  }
}

TEST(ResidualFile, RefusesWhatIsNoModelOrOfAnotherFormat) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a residual model"));
  EXPECT_THAT(ErrorOf(std::string(1000, 'x')), HasSubstr("not a residual model"));
  std::string file = GoodFile();
  file[8] = 9;
  EXPECT_THAT(ErrorOf(file), HasSubstr("format 9"));
}

TEST(ResidualFile, RefusesEveryTruncation) {
  const std::string& good = GoodFile();
  for (std::size_t length = 0; length < good.size(); length += length < 200 ? 1 : 997)
    EXPECT_NE(ErrorOf(good.substr(0, length)), "") << length;
  EXPECT_THAT(ErrorOf(good + "x"), HasSubstr("behind its end"));
}

TEST(ResidualFile, NoticesEveryChangedByte) {
  const std::string& good = GoodFile();
  for (std::size_t at = 0; at < good.size(); at += at < 300 ? 1 : 331) {
    std::string file = good;
    file[at] = static_cast<char>(file[at] ^ 0x10);
    EXPECT_NE(ErrorOf(file), "") << at;
  }
}

TEST(ResidualFile, RefusesOtherFeatures) {
  EXPECT_THAT(ErrorOf(WithHeader([](auto* h) { (*h)["feature_hash"] = 12345; })),
              HasSubstr("other features"));
  EXPECT_THAT(ErrorOf(WithHeader([](auto* h) { (*h)["feature_version"] = kFeatureVersion + 1; })),
              HasSubstr("other features"));
}

TEST(ResidualFile, RefusesAHeaderThatDoesNotFit) {
  ASSERT_EQ(ErrorOf(WithHeader([](auto*) {})), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { h->erase("bias"); })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["columns"][0] = 100000; })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["columns"].erase(0); })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["columns"] = "all"; })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["ranges"].erase(0); })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["sections"][0] = 1; })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["sections"] = nlohmann::json::array(); })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["info"]["features"] = "some"; })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["info"]["params"]["trees"] = "0"; })), "");
  EXPECT_NE(ErrorOf(WithHeader([](auto* h) { (*h)["log_ratios"] = {1.0, -1.0}; })), "");
}

// A damaged file whose checksum was made right: refused, or as harmless as any other model.
TEST(ResidualFile, DamageBehindARightChecksumDoesNotCrash) {
  const std::vector<TraceSample> samples = test::KnownSamples(3, 0.1, 5);
  int accepted = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    std::string file = GoodFile();
    for (std::uint64_t change = 0; change <= trial % 4; ++change) {
      const std::uint64_t draw = MixBits(MixBits(trial) + change);
      file[kPreamble + draw % (file.size() - kPreamble)] = static_cast<char>(draw >> 56);
    }
    FixChecksum(&file);
    const auto model = ResidualModel::FromBytes(file, "m.cyc");
    if (!model.ok()) continue;
    ++accepted;
    for (const TraceSample& sample : samples) model->Predict(sample.simulated, "tiny");
    for (std::size_t m = 0; m < model->members().size(); ++m) (void)model->LoadBooster(m).ok();
  }
  EXPECT_GT(accepted, 10);
}

}  // namespace
}  // namespace cyclecast
