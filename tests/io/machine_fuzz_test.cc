// Damaged machine files: whatever happens to the text, loading gives a machine that passes its
// checks, or an error of which every part has a place in the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "io/machine_loader.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

struct Tally {
  int loaded = 0, refused = 0;
};

class MachineFuzz : public ::testing::TestWithParam<std::string> {
 protected:
  // The text without the comments, which take most of it and hide most damage.
  std::string Text() const {
    const std::string text = test::ReadFile(test::SourcePath("configs/" + GetParam() + ".yaml"));
    std::string bare;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      line.resize(std::min(line.find(" #"), line.size()));
      if (!line.empty() && line[0] != '#') bare += line + "\n";
      at = end + 1;
    }
    return bare;
  }

  void Load(const std::string& text, Tally* tally) const {
    const ConfigRoot root{test::SourcePath("configs").string()};
    const Result<Machine> machine = LoadMachineText(text, "damaged.yaml", root);
    if (machine) {
      ++tally->loaded;
      EXPECT_TRUE(Validate(*machine)) << text;
      return;
    }
    ++tally->refused;
    const int lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
    ASSERT_FALSE(machine.error().diagnostics().empty());
    for (const Diagnostic& problem : machine.error().diagnostics()) {
      if (problem.message.find(" more") != std::string::npos && problem.pos.line == 0) continue;
      EXPECT_EQ(problem.pos.file, "damaged.yaml") << text;
      EXPECT_GE(problem.pos.line, 1) << problem.message << "\n" << text;
      EXPECT_LE(problem.pos.line, lines) << problem.message << "\n" << text;
      EXPECT_GE(problem.pos.column, 1) << problem.message << "\n" << text;
      EXPECT_FALSE(problem.message.empty());
    }
  }
};

TEST_P(MachineFuzz, EveryTruncationIsLoadedOrRefusedWithAPlace) {
  const std::string text = Text();
  Tally tally;
  for (std::size_t length = 0; length < text.size(); length += 7) {
    Load(text.substr(0, length), &tally);
    if (HasFailure()) FAIL() << "truncated to " << length << " bytes";
  }
  EXPECT_GT(tally.refused, tally.loaded);
}

TEST_P(MachineFuzz, RandomEditsAreLoadedOrRefusedWithAPlace) {
  const std::string text = Text();
  static const std::string kBytes = "\n\t :,-#&*!|>'\"[]{}%@`?<~.0159eaxyzKMGBs/\\\x01\x7f\xc3\xff";
  std::mt19937 random(20240611);
  const auto below = [&random](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  Tally tally;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = text;
    const std::size_t edits = 1 + below(3);
    for (std::size_t edit = 0; edit < edits; ++edit) {
      const std::size_t at = below(damaged.size());
      switch (below(5)) {
        case 0:  // another byte
          damaged[at] = kBytes[below(kBytes.size())];
          break;
        case 1:  // a further byte
          damaged.insert(at, 1, kBytes[below(kBytes.size())]);
          break;
        case 2:  // some bytes less
          damaged.erase(at, 1 + below(20));
          break;
        case 3: {  // a piece of it twice
          const std::string piece = damaged.substr(at, 1 + below(40));
          damaged.insert(below(damaged.size()), piece);
          break;
        }
        default: {  // a line less
          const std::size_t end = damaged.find('\n', at);
          damaged.erase(at, end == std::string::npos ? end : end - at);
          break;
        }
      }
      if (damaged.empty()) damaged = "x";
    }
    Load(damaged, &tally);
    if (HasFailure()) FAIL() << "round " << round;
  }
  // The edits matter, and not every one of them breaks the file.
  EXPECT_GT(tally.refused, 100);
  EXPECT_GT(tally.loaded, 10);
}

INSTANTIATE_TEST_SUITE_P(Machines, MachineFuzz, ::testing::Values("tpu/tpu_v4", "vpu/vpu_2_7"),
                         [](const ::testing::TestParamInfo<std::string>& machine) {
                           return machine.param.substr(machine.param.find('/') + 1);
                         });

}  // namespace
}  // namespace cyclecast
