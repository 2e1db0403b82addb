// Every file of tests/bad_input/workloads gives exactly the problems that expected.txt there lists,
// each at its place and with its remedy. A line of expected.txt reads
//   file.yaml:LINE:COLUMN: part of the message
// or, for ONNX models, which have no lines,
//   file.onnx: part of the message
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "io/workload_loader.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

constexpr char kFolder[] = "tests/bad_input/workloads";

struct Expected {
  int line = 0, column = 0;
  std::string fragment;
};

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::SourcePath(kFolder))) {
    if (entry.path().extension() != ".txt") files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::map<std::string, std::vector<Expected>> ReadExpected() {
  static const std::regex kLine(R"((\S+\.(?:yaml|csv|onnx))(?::(\d+):(\d+))?: (.+))");
  std::map<std::string, std::vector<Expected>> all;
  std::istringstream text(test::ReadFile(test::SourcePath(kFolder) / "expected.txt"));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::smatch match;
    if (!std::regex_match(line, match, kLine)) {
      ADD_FAILURE() << "expected.txt: " << line;
      continue;
    }
    const bool placed = match[2].matched;
    all[match[1].str()].push_back({placed ? std::stoi(match[2].str()) : 0,
                                   placed ? std::stoi(match[3].str()) : 0, match[4].str()});
  }
  return all;
}

class BadWorkload : public ::testing::TestWithParam<std::string> {};

TEST_P(BadWorkload, IsRefusedWithPlaceAndRemedy) {
  const ConfigRoot root{test::SourcePath("configs").string()};
  const auto path = test::SourcePath(kFolder) / GetParam();
  const std::vector<Expected> expected = ReadExpected()[GetParam()];
  ASSERT_FALSE(expected.empty()) << "expected.txt does not mention " << GetParam();

  WorkloadOptions options;
  options.strict = true;
  const Result<LoadedWorkload> workload = LoadWorkload(path.string(), root, options);
  ASSERT_FALSE(workload) << "it loads";
  const std::vector<Diagnostic>& found = workload.error().diagnostics();
  ASSERT_EQ(found.size(), expected.size()) << workload.error().Text();
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::filesystem::path(found[i].pos.file).filename().string(), GetParam());
    EXPECT_EQ(found[i].pos.line, expected[i].line) << Format(found[i]);
    EXPECT_EQ(found[i].pos.column, expected[i].column) << Format(found[i]);
    EXPECT_THAT(found[i].message, ::testing::HasSubstr(expected[i].fragment));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, BadWorkload, ::testing::ValuesIn(Files()),
                         [](const ::testing::TestParamInfo<std::string>& file) {
                           std::string name = file.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(BadWorkloads, AreAllHereAndAllExpected) {
  const std::vector<std::string> files = Files();
  EXPECT_GE(files.size(), 80U);
  for (const auto& [file, expected] : ReadExpected()) {
    EXPECT_TRUE(std::find(files.begin(), files.end(), file) != files.end())
        << "expected.txt names " << file << ", which is not there";
  }
}

}  // namespace
}  // namespace cyclecast
