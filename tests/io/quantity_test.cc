#include "io/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/nearest.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

std::string Problem(std::string_view text, Dimension dimension) {
  const Result<double> value = ParseQuantity(text, dimension);
  return value ? "read as " + FormatNumber(*value) : value.error().diagnostics().front().message;
}

TEST(Quantity, ConvertsToTheBaseUnit) {
  EXPECT_EQ(*ParseQuantity("940 MHz", Dimension::kFrequency), 940e6);
  EXPECT_EQ(*ParseQuantity("1.05GHz", Dimension::kFrequency), 1.05e9);
  // 16 * 1024 * 1024; 1.5 MiB is 1.5 * 1048576; 134.2 MB is not exact in binary but whole.
  EXPECT_EQ(*ParseQuantity("16 MiB", Dimension::kSize), 16777216.0);
  EXPECT_EQ(*ParseQuantity("1.5 MiB", Dimension::kSize), 1572864.0);
  EXPECT_EQ(*ParseQuantity("134.2 MB", Dimension::kSize), 134200000.0);
  EXPECT_EQ(*ParseQuantity("32 GB", Dimension::kSize), 32e9);
  EXPECT_EQ(*ParseQuantity("0 B", Dimension::kSize), 0.0);
  EXPECT_EQ(*ParseQuantity("1.2 TB/s", Dimension::kRate), 1.2e12);
  EXPECT_EQ(*ParseQuantity("956 ns", Dimension::kTime), 956e-9);
  EXPECT_EQ(*ParseQuantity("100 ns", Dimension::kTime), 1e-7);
  EXPECT_EQ(*ParseQuantity("30.1 B/cycle", Dimension::kRatePerCycle), 30.1);
  EXPECT_EQ(*ParseQuantity("1 cycle", Dimension::kCycles), 1.0);
  EXPECT_EQ(*ParseQuantity("250 mW", Dimension::kPower), 0.25);
  EXPECT_EQ(*ParseQuantity("2 nJ", Dimension::kEnergy), 2000.0);
}

TEST(Quantity, MissingUnitNamesAnExample) {
  EXPECT_THAT(Problem("940", Dimension::kFrequency),
              HasSubstr("needs a unit, for example '940 MHz'"));
}

TEST(Quantity, WrongUnitListsUnitsAndTheNearest) {
  EXPECT_THAT(Problem("940 Mhz", Dimension::kFrequency), HasSubstr("did you mean 'MHz'?"));
  EXPECT_THAT(Problem("16 MB", Dimension::kFrequency), HasSubstr("(Hz, kHz, MHz, GHz)"));
  EXPECT_THAT(Problem("16 KB", Dimension::kSize), HasSubstr("kB for 1000 bytes or KiB for 1024"));
  EXPECT_THAT(Problem("8 Gb/s", Dimension::kRate), HasSubstr("8 Gb/s is 1 GB/s"));
  EXPECT_THAT(Problem("8 GB", Dimension::kRate), HasSubstr("rates are per second"));
  EXPECT_THAT(Problem("32 B/cycle", Dimension::kRate), HasSubstr("none of its units"));
}

TEST(Quantity, CountsMustComeOutWhole) {
  EXPECT_THAT(Problem("1.0001 kB", Dimension::kSize), HasSubstr("whole number of bytes"));
  EXPECT_THAT(Problem("2.5 cycles", Dimension::kCycles), HasSubstr("whole number of cycles"));
}

TEST(Quantity, OnlyPlainDecimalsAreNumbers) {
  EXPECT_EQ(ParseDecimal("1e3"), 1000.0);
  EXPECT_EQ(ParseDecimal("-0.5"), -0.5);
  EXPECT_EQ(ParseDecimal("+2"), 2.0);
  EXPECT_EQ(ParseDecimal("0"), 0.0);
  for (const char* text : {"", ".5", "5.", "010", "0x10", "1_000", "1,000", "inf", ".inf", "nan",
                           "1e999", "--1", "1 2", "1e", "-"}) {
    EXPECT_EQ(ParseDecimal(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseInteger("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(ParseInteger("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseInteger("1.0"), std::nullopt);
}

TEST(Quantity, SaysHowToWriteTheNumber) {
  EXPECT_THAT(NotANumber("010", true), HasSubstr("write 10"));
  EXPECT_THAT(NotANumber("0x10", true), HasSubstr("hexadecimal"));
  EXPECT_THAT(NotANumber("1_000", true), HasSubstr("without separators: 1000"));
  EXPECT_THAT(NotANumber("1e3", true), HasSubstr("write 1000"));
  EXPECT_THAT(NotANumber("1.5", true), HasSubstr("it must be a whole number"));
  EXPECT_THAT(NotANumber("1e30", true), HasSubstr("within 64 bits"));
  EXPECT_THAT(NotANumber("0,89", false), HasSubstr("write a point: 0.89"));
  EXPECT_THAT(NotANumber("2,5", false), HasSubstr("write a point: 2.5"));
  EXPECT_THAT(NotANumber("1,024", true), HasSubstr("without separators: 1024"));
  EXPECT_THAT(NotANumber("many", false), HasSubstr("must be a number"));
  EXPECT_THAT(Problem("1_000 MHz", Dimension::kFrequency), HasSubstr("without separators: 1000"));
  EXPECT_THAT(Problem("fast", Dimension::kFrequency), HasSubstr("for example '940 MHz'"));
}

TEST(Quantity, FormatsInTheShortestUnit) {
  EXPECT_EQ(FormatQuantity(940e6, Dimension::kFrequency), "940 MHz");
  EXPECT_EQ(FormatQuantity(16777216, Dimension::kSize), "16 MiB");
  EXPECT_EQ(FormatQuantity(32e9, Dimension::kSize), "32 GB");
  EXPECT_EQ(FormatQuantity(64, Dimension::kSize), "64 B");
  EXPECT_EQ(FormatQuantity(0, Dimension::kTime), "0 s");
  EXPECT_EQ(FormatQuantity(700e-9, Dimension::kTime), "700 ns");
  EXPECT_EQ(FormatQuantity(1, Dimension::kCycles), "1 cycle");
  EXPECT_EQ(FormatQuantity(1.2e12, Dimension::kRate), "1.2 TB/s");
  EXPECT_EQ(FormatQuantity(1e16, Dimension::kRate), "10000 TB/s");
}

TEST(Quantity, FormattedTextReadsBack) {
  const Dimension all[] = {Dimension::kFrequency, Dimension::kTime,  Dimension::kSize,
                           Dimension::kRate,      Dimension::kPower, Dimension::kEnergy};
  for (const Dimension dimension : all) {
    for (const double value : {1.0, 3.0, 1000.0, 1048576.0, 4567890.0, 1e12}) {
      const std::string text = FormatQuantity(value, dimension);
      const Result<double> back = ParseQuantity(text, dimension);
      ASSERT_TRUE(back) << text << ": " << back.error().Text();
      EXPECT_NEAR(*back / value, 1.0, 1e-11) << text;
    }
  }
}

TEST(Nearest, CountsEditsAndSwaps) {
  EXPECT_EQ(EditDistance("clock", "clock"), 0u);
  EXPECT_EQ(EditDistance("clcok", "clock"), 1u);  // a swap
  EXPECT_EQ(EditDistance("clok", "clock"), 1u);   // an insertion
  EXPECT_EQ(EditDistance("Clock", "clock"), 0u);  // case does not count
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(Nearest, IsSilentWhenNothingIsClose) {
  EXPECT_EQ(NearestName("capasity", {"latency", "capacity"}), "capacity");
  EXPECT_EQ(NearestName("banana", {"latency", "capacity"}), std::nullopt);
  EXPECT_EQ(Suggestion("banana", {"a_key", "b_key"}), "; known are: a_key, b_key");
}

}  // namespace
}  // namespace cyclecast
