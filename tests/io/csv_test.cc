// Tables of comma-separated values: quoting, places, damage, speed.
#include "io/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <ctime>
#include <filesystem>

#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CsvTable Parse(const std::string& text, const CsvOptions& options = {}) {
  Result<CsvTable> table = ParseCsv(text, "t.csv", options);
  if (!table) ADD_FAILURE() << table.error().Text();
  return table ? *table : CsvTable();
}

std::string ErrorOf(const std::string& text, const CsvOptions& options = {}) {
  const Result<CsvTable> table = ParseCsv(text, "t.csv", options);
  return table ? "no error" : table.error().Text();
}

TEST(CsvReader, TrimsSkipsCommentsAndBlankLinesAndKeepsPlaces) {
  const CsvTable table =
      Parse("# made by hand\nname, M ,N\r\n\n  # more\nfirst , 3,\t4\r\nlast,5,6");
  EXPECT_THAT(table.header(), ElementsAre("name", "M", "N"));
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.cell(0, 0), "first");
  EXPECT_EQ(table.Integer(0, 2).value(), 4);
  EXPECT_EQ(table.line(0), 5);
  EXPECT_EQ(table.line(1), 6);
  // "first , 3,": the 3 is the 9th character of line 5.
  EXPECT_EQ(table.pos(0, 1).line, 5);
  EXPECT_EQ(table.pos(0, 1).column, 9);
}

TEST(CsvReader, UnquotesFieldsWithCommasQuotesAndNewlines) {
  const CsvTable table = Parse("a,b\n\"x, y\",\"he said \"\"no\"\"\"\n\"two\nlines\",z\nu,v\n");
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.cell(0, 0), "x, y");
  EXPECT_EQ(table.cell(0, 1), "he said \"no\"");
  EXPECT_EQ(table.cell(1, 0), "two\nlines");
  // The quoted newline counts: the row after it is on line 5.
  EXPECT_EQ(table.line(2), 5);
}

TEST(CsvReader, WritesWhatItReads) {
  CsvWriter writer;
  writer.Comment("one\ntwo");
  writer.Row({"text", "n", "x"});
  writer.Cell("a \"b\", c").Cell(std::int64_t{-7}).Cell(0.1).EndRow();
  writer.Cell(" # ").Cell(std::int64_t{1} << 60).Cell(1e-300).EndRow();
  writer.Cell("#").Empty().Cell(3.0).EndRow();
  const CsvTable table = Parse(writer.text());
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.cell(0, 0), "a \"b\", c");
  EXPECT_EQ(table.Integer(0, 1).value(), -7);
  EXPECT_EQ(table.Number(0, 2).value(), 0.1);
  EXPECT_EQ(table.cell(1, 0), " # ");
  EXPECT_EQ(table.Integer(1, 1).value(), std::int64_t{1} << 60);
  EXPECT_EQ(table.Number(1, 2).value(), 1e-300);
  EXPECT_EQ(table.cell(2, 0), "#");
  EXPECT_EQ(table.cell(2, 1), "");
}

TEST(CsvReader, ARowOfOneEmptyCellIsNotLost) {
  CsvWriter writer;
  writer.Row({"only"});
  writer.Row({""});
  EXPECT_EQ(Parse(writer.text()).rows(), 1U);
}

TEST(CsvReader, NamesThePlaceOfARowThatIsTooShortOrTooLong) {
  const std::string text = ErrorOf("a,b\n1,2\n1\n1,2,3\n");
  EXPECT_THAT(text,
              HasSubstr("t.csv:3:1: error: this row has 1 cells, the header names 2 columns"));
  EXPECT_THAT(text, HasSubstr("t.csv:4:1: error: this row has 3 cells"));
}

TEST(CsvReader, RaggedTablesReadMissingCellsAsEmpty) {
  CsvOptions options;
  options.ragged = true;
  const CsvTable table = Parse("a,b\n1\n1,2,3,\n", options);
  EXPECT_EQ(table.cell(0, 1), "");
  EXPECT_EQ(table.width(1), 4U);
}

TEST(CsvReader, ReportsQuotesThatDoNotCloseAndTextBehindThem) {
  EXPECT_THAT(ErrorOf("a,b\n1,\"x\n"), HasSubstr("t.csv:2:3: error: the quote that opens here"));
  EXPECT_THAT(ErrorOf("a\n\"x\"y\n"), HasSubstr("t.csv:2:4: error: text after a closing quote"));
}

TEST(CsvReader, RefusesEmptyBinaryAndRepeatedHeaders) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("t.csv:1:1: error: the file is empty"));
  EXPECT_THAT(ErrorOf(std::string("a,b\n\0,1\n", 8)), HasSubstr("t.csv:2:1: error: a zero byte"));
  EXPECT_THAT(ErrorOf("a,b,a\n"), HasSubstr("t.csv:1:5: error: the column 'a' is there twice"));
}

TEST(CsvReader, NumbersThatAreNoneNameTheColumnAndThePlace) {
  const CsvTable table = Parse("M,t\nx,1.5\n2.5,nan\n,1e999\n4e3,+2\n");
  EXPECT_THAT(table.Integer(0, 0).error().Text(),
              HasSubstr("t.csv:2:1: error: 'M' is 'x'; give a whole number"));
  EXPECT_FALSE(table.Integer(1, 0).ok());
  EXPECT_FALSE(table.Number(1, 1).ok());
  EXPECT_THAT(table.Integer(2, 0).error().Text(), HasSubstr("'M' is empty"));
  EXPECT_FALSE(table.Number(2, 1).ok());
  EXPECT_EQ(table.Integer(3, 0).value(), 4000);
  EXPECT_EQ(table.Number(3, 1).value(), 2.0);
}

TEST(CsvReader, ListsAllMissingColumns) {
  const CsvTable table = Parse("a,b\n1,2\n");
  EXPECT_THAT(table.Require({"b", "c", "d"}).error().Text(),
              HasSubstr("t.csv:1:1: error: the header lacks 'c', 'd'; it has: a, b"));
  EXPECT_THAT(table.Require({"b", "a"}).value(), ElementsAre(1U, 0U));
}

void WriteGz(const std::filesystem::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb1");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
}

TEST(CsvReader, ReadsGzippedFilesAndReportsThoseCutShort) {
  const test::ScratchDir dir;
  std::string text = "a,b\n";
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919 % 10007) + ",x\n";
  WriteGz(dir / "t.csv.gz", text);
  const Result<CsvTable> table = ReadCsv(dir / "t.csv.gz");
  ASSERT_TRUE(table.ok()) << table.error().Text();
  EXPECT_EQ(table->rows(), 50000U);

  const std::string whole = test::ReadFile(dir / "t.csv.gz");
  dir.Write("cut.csv.gz", whole.substr(0, whole.size() / 2));
  const Result<CsvTable> cut = ReadCsv(dir / "cut.csv.gz");
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().Text(), HasSubstr("damaged or cut short"));

  CsvOptions small;
  small.max_bytes = 1 << 16;
  EXPECT_THAT(ReadCsv(dir / "t.csv.gz", small).error().Text(), HasSubstr("the limit for a table"));
}

TEST(CsvReader, MissingFilesAndFoldersAreErrors) {
  const test::ScratchDir dir;
  EXPECT_THAT(ReadCsv(dir / "none.csv").error().Text(), HasSubstr("No such file"));
  EXPECT_THAT(ReadCsv(dir.path().string()).error().Text(), HasSubstr("this is not a file"));
}

// 200,000 rows of 50 columns, 10 million cells, in well under two seconds: the size of the largest
// measured tables. CPU time; typically 0.3 s.
TEST(CsvReader, ReadsTenMillionCellsQuickly) {
  std::string row;
  for (int i = 0; i < 50; ++i) row += (i > 0 ? "," : "") + std::to_string(i * 1013);
  std::string text;
  for (int i = 0; i < 200001; ++i) text += row + "\n";
  CsvOptions options;
  options.header = false;
  const std::clock_t begin = std::clock();
  const Result<CsvTable> parsed = ParseCsv(std::move(text), "t.csv", options);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->rows(), 200001U);
  EXPECT_EQ(parsed->Integer(200000, 49).value(), 49 * 1013);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 2.0);
#endif
  RecordProperty("milliseconds", static_cast<int>(seconds * 1000));
}

TEST(CsvReader, ReadsEveryMeasuredTable) {
  CYCLECAST_DATA_OR_SKIP(readme, "README.md");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(readme.parent_path())) {
    const std::string name = entry.path().filename();
    if (name.find(".csv") == std::string::npos) continue;
    const Result<CsvTable> table = ReadCsv(entry.path());
    ASSERT_TRUE(table.ok()) << table.error().Text();
    EXPECT_GT(table->rows(), 0U) << name;
    ++files;
  }
  EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace cyclecast
