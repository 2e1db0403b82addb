// Every file of tests/bad_input/machines gives exactly the problems that expected.txt there lists,
// each at its place and with its remedy. A line of expected.txt reads
//   file.yaml:LINE:COLUMN: part of the message
// or, where the problem is in another file than the one that is loaded,
//   file.yaml > other.yaml:LINE:COLUMN: part of the message
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "io/machine_loader.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

constexpr char kFolder[] = "tests/bad_input/machines";

struct Expected {
  std::string file;  // the problem is in
  int line = 0, column = 0;
  std::string fragment;
};

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::SourcePath(kFolder))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::map<std::string, std::vector<Expected>> ReadExpected() {
  static const std::regex kLine(R"((?:(\S+) > )?(\S+\.yaml):(\d+):(\d+): (.+))");
  std::map<std::string, std::vector<Expected>> all;
  std::istringstream text(test::ReadFile(test::SourcePath(kFolder) / "expected.txt"));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::smatch match;
    if (!std::regex_match(line, match, kLine)) {
      ADD_FAILURE() << "expected.txt: " << line;
      continue;
    }
    const std::string loaded = match[1].matched ? match[1].str() : match[2].str();
    all[loaded].push_back(
        {match[2].str(), std::stoi(match[3].str()), std::stoi(match[4].str()), match[5].str()});
  }
  return all;
}

class BadMachine : public ::testing::TestWithParam<std::string> {};

TEST_P(BadMachine, IsRefusedWithPlaceAndRemedy) {
  const ConfigRoot root{test::SourcePath("configs").string()};
  const auto path = test::SourcePath(kFolder) / GetParam();
  const std::vector<Expected> expected = ReadExpected()[GetParam()];
  ASSERT_FALSE(expected.empty()) << "expected.txt does not mention " << GetParam();

  const Result<Machine> machine = LoadMachine(path.string(), root);
  ASSERT_FALSE(machine) << "it loads";
  const std::vector<Diagnostic>& found = machine.error().diagnostics();
  ASSERT_EQ(found.size(), expected.size()) << machine.error().Text();
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::filesystem::path(found[i].pos.file).filename().string(), expected[i].file);
    EXPECT_EQ(found[i].pos.line, expected[i].line) << Format(found[i]);
    EXPECT_EQ(found[i].pos.column, expected[i].column) << Format(found[i]);
    EXPECT_THAT(found[i].message, ::testing::HasSubstr(expected[i].fragment));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, BadMachine, ::testing::ValuesIn(Files()),
                         [](const ::testing::TestParamInfo<std::string>& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

TEST(BadMachines, AreAllHereAndAllExpected) {
  const std::vector<std::string> files = Files();
  EXPECT_EQ(files.size(), 90u);
  for (const auto& [file, expected] : ReadExpected()) {
    EXPECT_TRUE(std::find(files.begin(), files.end(), file) != files.end())
        << "expected.txt names " << file << ", which is not there";
  }
}

}  // namespace
}  // namespace cyclecast
