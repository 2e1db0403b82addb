#include "io/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

// The error text of parsing, "" where there is none.
std::string Problems(const std::string& text, const YamlLimits& limits = {}) {
  Diagnostics problems("f.yaml");
  ParseYaml(text, "f.yaml", &problems, limits);
  return problems.empty() ? "" : problems.ToError().Text();
}

YamlNode Parse(const std::string& text) {
  Diagnostics problems("f.yaml");
  std::optional<YamlNode> root = ParseYaml(text, "f.yaml", &problems);
  EXPECT_TRUE(problems.empty()) << problems.ToError().Text();
  return root.value_or(YamlNode());
}

TEST(YamlReader, NodesKnowTheirPlaceFromOne) {
  const YamlNode root = Parse("a: 1\nb:\n  c: [x, y]\n");
  ASSERT_NE(root.FindPath("b.c[1]"), nullptr);
  EXPECT_EQ(root.FindPath("b.c[1]")->text, "y");
  EXPECT_EQ(root.FindPath("b.c[1]")->line, 3);
  EXPECT_EQ(root.FindPath("b.c[1]")->column, 10);
  EXPECT_EQ(root.Find("b")->line, 3);        // a block map begins at its first key
  EXPECT_EQ(root.Find("b")->owner_line, 2);  // and belongs to the key before
  EXPECT_EQ(root.entries[1].line, 2);
  EXPECT_EQ(root.FindPath("b.c[2]"), nullptr);
  EXPECT_EQ(root.FindPath("b.d"), nullptr);
}

TEST(YamlReader, ColumnsCountCharactersNotBytes) {
  const YamlNode root = Parse("größe: {ü: 1}\n");
  EXPECT_EQ(root.Find("größe")->column, 8);
  EXPECT_EQ(root.FindPath("größe.ü")->column, 12);
}

TEST(YamlReader, TakesWindowsLineEndsAndByteOrderMark) {
  const YamlNode root = Parse(
      "\xEF\xBB\xBF"
      "a:\r\n  b: 1\r\nc: 2\r\n");
  EXPECT_EQ(root.FindPath("a.b")->text, "1");
  EXPECT_EQ(root.Find("c")->text, "2");
  EXPECT_EQ(root.Find("c")->line, 3);
}

TEST(YamlReader, RepeatedKeyIsReportedAtTheSecondAndTheFirstCounts) {
  Diagnostics problems("f.yaml");
  const auto root = ParseYaml("a: 1\nb: {x: 1, x: 2}\na: 3\n", "f.yaml", &problems);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->Find("a")->text, "1");
  EXPECT_EQ(problems.ToError().Text(),
            "f.yaml:2:11: error: the key 'x' is already given in line 2; remove one\n"
            "f.yaml:3:1: error: the key 'a' is already given in line 1; remove one");
}

TEST(YamlReader, RefusesWhatConfigurationsDoNotNeed) {
  EXPECT_THAT(Problems("a: &x {b: 1}\nc:\n  <<: *x\n"), HasSubstr("f.yaml:3:3: error: merge keys"));
  EXPECT_THAT(Problems("a: 1\n---\nb: 1\n"), HasSubstr("f.yaml:2:1: error: a second document"));
  EXPECT_THAT(Problems("a: !!int 1\n"), HasSubstr("f.yaml:1:4: error: tags"));
  EXPECT_THAT(Problems("[a]: 1\n"), HasSubstr("f.yaml:1:1: error: a key must be a plain word"));
  EXPECT_THAT(Problems(": 1\n"), HasSubstr("f.yaml:1:1: error: a key is missing"));
  EXPECT_THAT(Problems("- a\n- b\n"), HasSubstr("f.yaml:1:1: error: the file must be a map"));
  EXPECT_THAT(Problems("just text\n"), HasSubstr("not 'just text'"));
}

TEST(YamlReader, EmptyFilesAreErrors) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n...\n", "~\n"}) {
    EXPECT_THAT(Problems(text), HasSubstr("f.yaml:1:1: error: the file is empty")) << text;
  }
}

TEST(YamlReader, ExplainsSyntaxErrors) {
  EXPECT_THAT(Problems(" a: 1\nb: 2\n"),
              HasSubstr("f.yaml:2:1: error: this line is indented less"));
  EXPECT_THAT(Problems("a: 1\n b: 2\n"), HasSubstr("f.yaml:2:3: error: no ':' is possible here"));
  EXPECT_THAT(Problems("a: [1, 2\n"), HasSubstr("f.yaml:1:4: error: the list that begins here"));
  EXPECT_THAT(Problems("a:\n  b: {c: 1\n"),
              HasSubstr("f.yaml:2:6: error: the map that begins here"));
  EXPECT_THAT(Problems("a: b: c\n"), HasSubstr("f.yaml:1:5: error: no ':' is possible"));
  EXPECT_THAT(Problems("a: *nope\n"), HasSubstr("f.yaml:1:4: error: this alias"));
  // yaml-cpp takes the end of the file for the closing quote.
  EXPECT_THAT(Problems("a: \"x\nb: 2\n"), HasSubstr("f.yaml:1:4: error: the quote"));
  EXPECT_THAT(Problems("a: 'it''s\n"), HasSubstr("f.yaml:1:4: error: the quote"));
  EXPECT_EQ(Problems("a: 'it''s'\nb: \"q\\\"\"\nc: |\n  \"x\n"), "");
}

TEST(YamlReader, TabsAndForeignBytesHaveAPlace) {
  EXPECT_THAT(Problems("a:\n\tb: 1\n"), HasSubstr("f.yaml:2:1: error: a tab in the indentation"));
  EXPECT_THAT(Problems("a: \xFF\n"), HasSubstr("f.yaml:1:4: error: byte 0xFF is not UTF-8"));
  EXPECT_THAT(Problems("ab: \xC0\xAF\n"), HasSubstr("f.yaml:1:5: error: byte 0xC0"));  // overlong
  EXPECT_THAT(Problems("ab: \xED\xA0\x80\n"), HasSubstr("byte 0xED"));                 // surrogate
  EXPECT_THAT(Problems(std::string("a: 1\nb: \0\n", 10)), HasSubstr("f.yaml:2:4: error: control"));
}

TEST(YamlReader, DepthIsLimitedAtSixtyFour) {
  const auto nested = [](int depth) {
    return "a: " + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "\n";
  };
  EXPECT_EQ(Problems(nested(63)), "");  // and the root map makes 64
  EXPECT_THAT(Problems(nested(64)), HasSubstr("f.yaml:1:67: error: nested deeper than 64 levels"));
  EXPECT_THAT(Problems(nested(100'000)), HasSubstr("nested deeper than 64 levels"));
  // Through an alias: 40 levels inside 40 levels.
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  const std::string text =
      "a: &x " + deep + "\nb: " + std::string(40, '[') + "*x" + std::string(40, ']') + "\n";
  EXPECT_THAT(Problems(text), HasSubstr("f.yaml:2:44: error: nested deeper than 64 levels"));
}

TEST(YamlReader, AliasesAreExpandedWithinLimits) {
  const YamlNode root = Parse("a: &x {b: 1}\nc: *x\n");
  EXPECT_EQ(root.FindPath("c.b")->text, "1");
  EXPECT_EQ(root.Find("c")->owner_line, 2);
  // Ten tenfold levels would be 10^10 values.
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i <= 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k ? ", " : "") + before;
    bomb += "]\n";
  }
  EXPECT_THAT(Problems(bomb), HasSubstr("aliases expand to more than 100000 values"));
  EXPECT_THAT(Problems("a: &x [1, *x]\n"), HasSubstr("f.yaml:1:11: error: this alias refers to"));
}

TEST(YamlReader, SizeAndValuesAreLimited) {
  YamlLimits limits;
  limits.nodes = 10;
  EXPECT_THAT(Problems("a: [1, 2, 3, 4, 5, 6, 7, 8]\n", limits), HasSubstr("more than 10 values"));
  limits.bytes = 8;
  EXPECT_THAT(Problems("a: 1234567\n", limits), HasSubstr("f.yaml: error: the file is larger"));
}

TEST(YamlReader, OneLongLineIsReadInLinearTime) {
  std::string text = "a: [";
  for (int i = 0; i < 100'000; ++i) text += "1, ";
  const YamlNode root = Parse(text + "1]\n");
  EXPECT_EQ(root.Find("a")->items.size(), 100'001u);
  EXPECT_EQ(root.Find("a")->items.back().column, 5 + 300'000);
}

TEST(YamlReader, OverlayMergesMapsAndNullRemoves) {
  const YamlNode base = Parse("a: {x: 1, y: 2}\nb: [1, 2]\nc: 3\n");
  const YamlNode top = Parse("a: {y: 5}\nb: [9]\nc:\nd: 4\n");
  const YamlNode both = Overlay(base, top);
  EXPECT_EQ(both.FindPath("a.x")->text, "1");
  EXPECT_EQ(both.FindPath("a.y")->text, "5");
  EXPECT_EQ(both.Find("b")->items.size(), 1u);
  EXPECT_EQ(both.Find("c"), nullptr);
  EXPECT_EQ(both.Find("d")->text, "4");
}

TEST(Diagnostics, AreSortedByFileAndPlaceWithoutRepetition) {
  Diagnostics problems("main.yaml");
  problems.Add({"base.yaml", 1, 1}, "in base");
  problems.Add({"main.yaml", 9, 1}, "late");
  problems.Add({"main.yaml", 2, 7}, "second");
  problems.Add({"main.yaml", 2, 3}, "first");
  problems.Add({"main.yaml", 2, 3}, "first");
  EXPECT_EQ(problems.ToError().Text(),
            "main.yaml:2:3: error: first\nmain.yaml:2:7: error: second\n"
            "main.yaml:9:1: error: late\nbase.yaml:1:1: error: in base");
}

TEST(Diagnostics, LongListsAreCutAndCounted) {
  Diagnostics problems("m.yaml");
  for (int i = 1; i <= 53; ++i) problems.Add({"m.yaml", i, 1}, "wrong");
  const Error error = problems.ToError();
  EXPECT_EQ(error.diagnostics().size(), 51u);
  EXPECT_EQ(error.diagnostics().back().message, "and 3 more");
}

}  // namespace
}  // namespace cyclecast
