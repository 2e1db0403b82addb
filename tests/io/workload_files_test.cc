// Workload files as a whole: finding them, their schema and reference page, damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "io/workload_loader.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

TEST(WorkloadFiles, AreFoundByNameOrPathAndSuggested) {
  const ConfigRoot root{test::SourcePath("configs").string()};
  EXPECT_THAT(FindWorkload("resnet50", root).value(), HasSubstr("workloads/resnet50.yaml"));
  EXPECT_THAT(FindWorkload("resnet5", root).error().Text(), HasSubstr("did you mean 'resnet50'?"));
  EXPECT_THAT(FindWorkload("none/net.yaml", root).error().Text(), HasSubstr("no such file"));
  const test::ScratchDir dir;
  EXPECT_THAT(LoadWorkload(dir.Write("net.txt", "x").string(), root, {}).error().Text(),
              HasSubstr(".yaml, .onnx and .csv are read"));
  EXPECT_EQ(LoadWorkload(dir.Write("t.csv", "a,4,4,4\n").string(), root, {})->workload.TotalMacs(),
            Macs(64));
}

TEST(WorkloadSchema, DescribesLayersAndTheirShortForms) {
  const nlohmann::json schema = nlohmann::json::parse(WorkloadSchemaJson());
  const auto& layer = schema["$defs"]["layer"];
  EXPECT_EQ(layer["properties"]["conv"]["$ref"], "#/$defs/conv");
  EXPECT_EQ(layer["properties"]["linear"]["anyOf"].size(), 2U);
  EXPECT_EQ(layer["additionalProperties"]["$ref"], "#/$defs/block_use");
  EXPECT_THAT(schema["$defs"]["conv"]["required"], ::testing::Contains("kernel"));
  EXPECT_EQ(schema["$defs"]["repeat"]["properties"]["body"]["items"]["anyOf"][1]["$ref"],
            "#/$defs/layer");
  EXPECT_EQ(schema["$defs"]["workload"]["properties"]["mapping"]["$ref"], "#/$defs/mapping");
}

TEST(WorkloadFiles, ReferencePageIsUpToDate) {
  const auto path = test::SourcePath("docs/workload-reference.md");
  if (std::getenv("CYCLECAST_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << WorkloadReferenceMarkdown();
  }
  EXPECT_EQ(test::ReadFile(path), WorkloadReferenceMarkdown())
      << "run this test with CYCLECAST_UPDATE=1 to write " << path;
}

// The example at the top of the reference page loads.
TEST(WorkloadFiles, TheExampleOfTheReferencePageLoads) {
  const std::string page = WorkloadReferenceMarkdown();
  const std::size_t begin = page.find("```yaml\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  const Result<LoadedWorkload> loaded = LoadWorkloadText(example, "example.yaml", {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().Text();
  EXPECT_EQ(loaded->workload.tensors().back().type.shape, (Shape{1, 10}));
  EXPECT_EQ(loaded->pins.by_op.size(), 3U);
}

// Damage: a network with characters changed or cut off loads or is refused, and every problem has a
// place in the file.
TEST(WorkloadFiles, DamagedFilesAreLoadedOrRefusedWithAPlace) {
  std::mt19937 random(1);
  for (const char* name : {"mobilenet_v2", "llm_decode"}) {
    const std::string whole =
        test::ReadFile(test::SourcePath("configs/workloads") / (std::string(name) + ".yaml"));
    const std::string alphabet = "{}[]:,-*/ab1\" \n";
    for (int round = 0; round < 400; ++round) {
      std::string text = whole;
      if (round % 4 == 0) text.resize(random() % text.size());
      for (int i = 0; i < 1 + round % 3 && !text.empty(); ++i) {
        text[random() % text.size()] = alphabet[random() % alphabet.size()];
      }
      WorkloadOptions options;
      options.set = {};
      const Result<LoadedWorkload> loaded = LoadWorkloadText(text, "net.yaml", options);
      if (loaded) continue;
      ASSERT_FALSE(loaded.error().diagnostics().empty());
      for (const Diagnostic& problem : loaded.error().diagnostics()) {
        if (problem.message.find(" more") != std::string::npos && problem.pos.line == 0) continue;
        EXPECT_EQ(problem.pos.file, "net.yaml") << problem.message << "\n" << text;
        EXPECT_GE(problem.pos.line, 1) << problem.message << "\n" << text;
      }
    }
  }
}

}  // namespace
}  // namespace cyclecast
