// Suite Repository: the rules hold in this source tree. Suite RepositoryCheck: each check finds
// what breaks its rule, and only that.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/repo/checks.h"
#include "tests/support/paths.h"

namespace cyclecast::repo {
namespace {

const Tree& SourceTree() {
  static const Tree kTree = ReadTree(test::SourcePath(""));
  return kTree;
}

// "path:line path:line ...", what a small tree's expectations are written in.
std::string Places(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += (text.empty() ? "" : " ") + finding.path + ":" + std::to_string(finding.line);
  }
  return text;
}

void ExpectNone(const std::vector<Finding>& findings) {
  EXPECT_TRUE(findings.empty()) << Print(findings);
}

TEST(Repository, HasFilesToCheck) {
  // Were the tree read from the wrong place, every check below would pass.
  EXPECT_GT(SourceTree().size(), 50U);
}

TEST(Repository, FoldersIncludeOnlyWhatIsBelowThem) { ExpectNone(IncludeDirection(SourceTree())); }

TEST(Repository, OtherLibrariesStayBehindTheirFolder) {
  ExpectNone(HeaderConfinement(SourceTree()));
}

TEST(Repository, NoMachineIsNamedInProductCode) {
  ExpectNone(ChipNames(SourceTree()));
  EXPECT_GE(NamesOfMachines(SourceTree()).size(), 12U)
      << "the names of twelve machines at least are looked for";
}

TEST(Repository, FilesAreShortEnoughToRead) {
  std::cout << Print(LongFiles(SourceTree()));  // a look, no failure
  ExpectNone(FileLength(SourceTree()));
}

TEST(Repository, EveryNumberOfAMachineHasASource) { ExpectNone(SourceOfNumbers(SourceTree())); }

TEST(Repository, NothingIsMarkedUnfinished) { ExpectNone(ForbiddenWords(SourceTree())); }

TEST(Repository, SourcesAreBuiltDescribedAndTested) { ExpectNone(SourceHygiene(SourceTree())); }

TEST(RepositoryCheck, IncludeDirectionFindsAnIncludeUpwards) {
  const Tree tree = {MakeFile("core/a.h", "#include \"timing/b.h\"\n"),
                     MakeFile("timing/b.h", "#include \"core/a.h\"\n")};
  EXPECT_EQ(Places(IncludeDirection(tree)), "core/a.h:1");
}

TEST(RepositoryCheck, IncludeDirectionKeepsModelsApart) {
  const Tree tree = {MakeFile("analytical/a.h", "// a\n"),
                     MakeFile("apps/main.cc", "#include \"analytical/a.h\"\n"),
                     MakeFile("learned/l.cc", "#  include \"analytical/a.h\"\n"),
                     MakeFile("sim/s.cc", "\n#include \"analytical/a.h\"\n")};
  EXPECT_EQ(Places(IncludeDirection(tree)), "learned/l.cc:1 sim/s.cc:2");
}

TEST(RepositoryCheck, IncludeDirectionLetsTracesUseTablesOnlyOfIo) {
  const Tree tree = {MakeFile("io/csv.h", ""), MakeFile("io/yaml.h", ""),
                     MakeFile("traces/t.cc", "#include \"io/csv.h\"\n#include \"io/yaml.h\"\n")};
  EXPECT_EQ(Places(IncludeDirection(tree)), "traces/t.cc:2");
}

TEST(RepositoryCheck, IncludeDirectionWantsPathsFromTheRoot) {
  const Tree tree = {MakeFile("core/a.h", ""),
                     MakeFile("core/b.cc", "#include \"a.h\"\n#include <vector>\n")};
  EXPECT_EQ(Places(IncludeDirection(tree)), "core/b.cc:1");
}

TEST(RepositoryCheck, HeaderConfinementFindsLibrariesOutsideTheirFolder) {
  const Tree tree = {
      MakeFile("apps/a.cc", "\n#include <tlm>\n"),
      MakeFile("core/a.cc", "#include <yaml-cpp/yaml.h>\n#include <onnx/onnx_pb.h>\n"),
      MakeFile("io/ok.cc", "#include <onnx/onnx_pb.h>\n#include <yaml-cpp/yaml.h>\n"),
      MakeFile("sim/ok.cc", "#include <systemc>\n#include <tlm_utils/simple_target_socket.h>\n"),
      MakeFile("tests/io/ok_test.cc", "#include <yaml-cpp/yaml.h>\n")};
  EXPECT_EQ(Places(HeaderConfinement(tree)), "apps/a.cc:2 core/a.cc:1 core/a.cc:2");
}

TEST(RepositoryCheck, HeaderConfinementFindsLibrariesBehindAnotherHeader) {
  // sim/c.h may include SystemC and be used in sim/; what apps/ includes must not lead there.
  const Tree tree = {MakeFile("apps/a.cc", "\n#include \"sim/b.h\"\n"),
                     MakeFile("sim/b.h", "#include \"sim/c.h\"\n"),
                     MakeFile("sim/c.h", "#include \"sim/b.h\"\n#include <systemc>\n"),
                     MakeFile("tests/sim/c_test.cc", "#include \"sim/c.h\"\n")};
  EXPECT_EQ(Places(HeaderConfinement(tree)), "apps/a.cc:2");
}

TEST(RepositoryCheck, HeaderConfinementWantsOneUserOfXgboost) {
  const Tree tree = {MakeFile("learned/a.cc", "#include <xgboost/c_api.h>\n"),
                     MakeFile("learned/b.cc", "#include <xgboost/c_api.h>\n"),
                     MakeFile("learned/c.h", "#include <xgboost/c_api.h>\n")};
  EXPECT_EQ(Places(HeaderConfinement(tree)), "learned/b.cc:1 learned/c.h:1");
}

TEST(RepositoryCheck, HeaderConfinementKeepsSlowHeadersInTheirFolder) {
  const Tree tree = {MakeFile("io/a.h", "#include <nlohmann/json_fwd.hpp>\n"),
                     MakeFile("io/b.h", "#include <nlohmann/json.hpp>\n"),
                     MakeFile("io/c.cc", "#include \"io/b.h\"\n"),
                     MakeFile("learned/d.cc", "#include \"io/a.h\"\n#include \"io/b.h\"\n")};
  EXPECT_EQ(Places(HeaderConfinement(tree)), "learned/d.cc:2");
}

TEST(RepositoryCheck, NamesOfMachinesAreFileNamesNamesAndAliases) {
  const Tree tree = {
      MakeFile(
          "configs/tpu/chip_a.yaml",
          "name: chip_a\nmodes:\n  name: FAST\naliases: [ChipA, 'CHIP-A', Chip A(in a box)]  # of "
          "traces\nclock: 1 GHz\n"),
      MakeFile("configs/vpu/chip_b.yaml", "aliases:\n  - ChipB\n  - CHIP B\nclock: 1 GHz\n"),
      MakeFile("configs/workloads/net.yaml", "name: net\n")};
  const std::vector<std::string> expected = {
      "CHIP B", "CHIP-A", "Chip A(in a box)", "ChipA", "ChipB", "chip_a", "chip_b"};
  EXPECT_EQ(NamesOfMachines(tree), expected);
}

TEST(RepositoryCheck, ChipNamesFindsWholeWordsInProductCode) {
  const Tree tree = {MakeFile("configs/tpu/chip_a.yaml", ""),
                     MakeFile("core/a.cc",
                              "int chip_ab = my_chip_a;\nif (name == \"chip_a\") {}\n// "
                              "chip_a\nUrl(\"http://chip_a\");  // it's\n"),
                     MakeFile("tests/core/a_test.cc", "Load(\"chip_a\");\n")};
  EXPECT_EQ(Places(ChipNames(tree)), "core/a.cc:2 core/a.cc:4");
}

TEST(RepositoryCheck, FileLengthFindsMoreThanFiveHundredLines) {
  const auto lines = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "\n";
    return text;
  };
  const Tree tree = {MakeFile("core/a.cc", lines(501)), MakeFile("core/b.cc", lines(500)),
                     MakeFile("core/c.cc", lines(400)),
                     MakeFile("configs/tpu/long.yaml", lines(600))};
  EXPECT_EQ(Places(FileLength(tree)), "core/a.cc:0");
  EXPECT_EQ(Places(LongFiles(tree)), "core/a.cc:0 core/b.cc:0");
}

TEST(RepositoryCheck, SourceOfNumbersFindsNumbersWithoutComment) {
  const Tree tree = {MakeFile("configs/vpu/x.yaml",
                              "name: x_2_7\n"
                              "clock: 940 MHz\n"  // line 2: no source
                              "clock: 940 MHz  # manual 3.1\n"
                              "sizes: [1, 2]  # -\n"        // line 4: no word in the comment
                              "memory: { read: 1 GB/s }\n"  // line 5
                              "  - 128\n"                   // line 6
                              "text: \"# 5\"\n"
                              "# 7 lines\n"
                              "scale: -0.5\n"  // line 9
                              "dataflow: weight_stationary\n"
                              "description: two chips, 8 MiB\n"),
                     MakeFile("configs/workloads/y.yaml", "batch: 1\n")};
  EXPECT_EQ(Places(SourceOfNumbers(tree)),
            "configs/vpu/x.yaml:2 configs/vpu/x.yaml:4 configs/vpu/x.yaml:5 configs/vpu/x.yaml:6 "
            "configs/vpu/x.yaml:9");
}

TEST(RepositoryCheck, ForbiddenWordsFindsMarksAndMachinePaths) {
  const Tree tree = {MakeFile("docs/a.md",
                              "all done\nto"
                              "do: more\nright fo"
                              "r now\nFIX"
                              "ME\n"),
                     MakeFile("scripts/b",
                              "cd /wo"
                              "rk/main\ncd /ho"
                              "me/somebody\ncd $HOME/work\nstubborn\n")};
  EXPECT_EQ(Places(ForbiddenWords(tree)),
            "docs/a.md:2 docs/a.md:3 docs/a.md:4 scripts/b:1 scripts/b:2");
}

TEST(RepositoryCheck, SourceHygieneFindsWhatIsNotBuiltDescribedOrTested) {
  const Tree tree = {
      MakeFile("core/CMakeLists.txt", "cyclecast_library(core SOURCES op.cc sub/deep.cc)\n"),
      MakeFile("core/op.cc", ""),
      MakeFile("core/p.cc", ""),
      MakeFile("core/sub/deep.cc", ""),
      MakeFile("core/good.h", "// Good.\n#pragma once\n"),
      MakeFile("core/guard.h", "// Bad.\n#ifndef A\n"),
      MakeFile("core/silent.h", "\n#pragma once\n"),
      MakeFile("tests/core/CMakeLists.txt", "a_test.cc b_test.cc"),
      MakeFile("tests/core/a_test.cc", "TEST(A, B) {}\n"),
      MakeFile("tests/core/b_test.cc", "TEST(A, B) { EXPECT_EQ(1, 2); }\n")};
  EXPECT_EQ(Places(SourceHygiene(tree)),
            "core/p.cc:0 core/guard.h:1 core/silent.h:1 tests/core/a_test.cc:0");
}

TEST(RepositoryCheck, ReadTreeLeavesOutBuildsAndBinaries) {
  const test::ScratchDir scratch;
  scratch.Write("core/a.cc", "x\ny");
  scratch.Write("build/b.cc", "x");
  scratch.Write(".git/c", "x");
  scratch.Write("data.bin", std::string_view("a\0b", 3));
  const Tree tree = ReadTree(scratch.path());
  ASSERT_EQ(tree.size(), 1U);
  EXPECT_EQ(tree[0].path, "core/a.cc");
  EXPECT_EQ(tree[0].lines, (std::vector<std::string>{"x", "y"}));
}

}  // namespace
}  // namespace cyclecast::repo
