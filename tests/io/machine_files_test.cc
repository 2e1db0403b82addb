// The shipped machines: they load, say where their numbers come from, answer to the device names of
// the traces, and the documentation of their keys is up to date.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/machine.h"
#include "io/machine_loader.h"
#include "tests/support/paths.h"

namespace cyclecast {
namespace {

ConfigRoot Root() { return {test::SourcePath("configs").string()}; }

TEST(MachineFiles, AllAreListed) {
  std::vector<std::string> names;
  for (const MachineSummary& machine : ListMachines(Root())) names.push_back(machine.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("edge_tpu", "tpu_v1", "tpu_v2", "tpu_v3",
                                                     "tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e",
                                                     "tpu_v7x", "vpu_2_0", "vpu_2_1", "vpu_2_7",
                                                     "vpu_2_7_gear4", "vpu_4_0", "vpu_5_0"));
}

TEST(MachineFiles, AllLoadUnderTheirFileName) {
  for (const MachineSummary& summary : ListMachines(Root())) {
    const Result<Machine> machine = LoadMachine(summary.file, Root());
    ASSERT_TRUE(machine) << machine.error().Text();
    EXPECT_EQ(machine->name, std::filesystem::path(summary.file).stem().string());
    EXPECT_TRUE(Validate(*machine));
    EXPECT_FALSE(machine->description.empty()) << summary.file;
    EXPECT_EQ(machine->tpu() != nullptr, summary.family == "tpu") << summary.file;
  }
}

TEST(MachineFiles, NoTwoShareANameOrAlias) {
  std::set<std::string> seen;
  for (const MachineSummary& summary : ListMachines(Root())) {
    EXPECT_TRUE(seen.insert(summary.name).second) << summary.name;
    for (const std::string& alias : summary.aliases)
      EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
}

TEST(MachineFiles, DeviceNamesOfTracesAreAliases) {
  const std::pair<const char*, const char*> kDevices[] = {{"TPUv1", "tpu_v1"},
                                                          {"TPUv3-1core", "tpu_v3"},
                                                          {"TPUv3-multi", "tpu_v3"},
                                                          {"TPUv3(not stated in file)", "tpu_v3"},
                                                          {"TPUv4(inferred)", "tpu_v4"},
                                                          {"TPUv6e", "tpu_v6e"},
                                                          {"TPUv7-1TC", "tpu_v7x"},
                                                          {"TPUv6e(inferred)", "tpu_v6e"},
                                                          {"EdgeTPU", "edge_tpu"},
                                                          {"EdgeTPU(x86_64 host)", "edge_tpu"},
                                                          {"VPU_2_0", "vpu_2_0"},
                                                          {"EdgeTPU(rp3b+ host)", "edge_tpu"},
                                                          {"VPU_2_7", "vpu_2_7"},
                                                          {"VPU_2_7@gear4", "vpu_2_7_gear4"},
                                                          {"EdgeTPU(rp4b host)", "edge_tpu"},
                                                          {"VPU_4_0", "vpu_4_0"},
                                                          {"EdgeTPU(rp3b host)", "edge_tpu"},
                                                          {"NPU_5_0", "vpu_5_0"},
                                                          {"EdgeTPU(aarch64 host)", "edge_tpu"}};
  for (const auto& [device, name] : kDevices) {
    const Result<std::string> file = FindMachine(device, Root());
    ASSERT_TRUE(file) << file.error().Text();
    EXPECT_EQ(std::filesystem::path(*file).stem(), name) << device;
  }
}

// Published peaks, dense, in tera-operations per second (2 per MAC): ISCA 2017 for v1, Google's
// product pages for v4 to v7x (half of the chip for v7x), Coral's data sheet, VPUNN's constants
// (tiles x MAC x 2 x clock) for the VPUs.
TEST(MachineFiles, PeaksAreThePublishedOnes) {
  struct Peak {
    const char* machine;
    DType dtype;
    double tera;
  };
  constexpr Peak kPeaks[] = {{"tpu_v1", DType::kInt8, 92},     {"tpu_v2", DType::kBf16, 23},
                             {"tpu_v3", DType::kBf16, 61.5},   {"tpu_v4", DType::kBf16, 275},
                             {"tpu_v4", DType::kInt8, 275},    {"tpu_v5e", DType::kBf16, 197},
                             {"tpu_v5e", DType::kInt8, 394},   {"tpu_v5p", DType::kBf16, 459},
                             {"tpu_v5p", DType::kInt8, 918},   {"tpu_v6e", DType::kBf16, 918},
                             {"tpu_v6e", DType::kInt8, 1836},  {"tpu_v7x", DType::kBf16, 1153.5},
                             {"tpu_v7x", DType::kFp8, 2307},   {"edge_tpu", DType::kInt8, 4},
                             {"vpu_2_0", DType::kUint8, 7.17}, {"vpu_2_7", DType::kUint8, 10.65},
                             {"vpu_4_0", DType::kUint8, 41.8}, {"vpu_5_0", DType::kUint8, 47.9},
                             {"vpu_4_0", DType::kFp16, 20.9}};
  for (const Peak& peak : kPeaks) {
    const Machine machine = *LoadMachine(peak.machine, Root());
    const double tera = 2 * PeakMacsPerCycle(machine, peak.dtype) * machine.clock().value() / 1e12;
    EXPECT_NEAR(tera / peak.tera, 1.0, 0.025) << peak.machine << " " << Name(peak.dtype);
  }
}

TEST(MachineFiles, ReferencePageIsUpToDate) {
  const auto path = test::SourcePath("docs/machine-reference.md");
  if (std::getenv("CYCLECAST_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << MachineReferenceMarkdown();
  }
  EXPECT_EQ(test::ReadFile(path), MachineReferenceMarkdown())
      << "run this test with CYCLECAST_UPDATE=1 to write " << path;
}

TEST(MachineSchema, NamesEveryKeyWithItsRangeAndUnit) {
  const nlohmann::json schema = nlohmann::json::parse(MachineSchemaJson());
  const auto& tpu = schema["$defs"]["A_TPU"];
  EXPECT_EQ(tpu["additionalProperties"], false);
  EXPECT_EQ(tpu["properties"]["cores"]["minimum"], 1);
  EXPECT_THAT(tpu["properties"]["clock"]["pattern"].get<std::string>(),
              ::testing::HasSubstr("Hz|kHz|MHz|GHz"));
  EXPECT_EQ(tpu["properties"]["dma"]["$ref"], "#/$defs/dma");
  EXPECT_THAT(tpu["required"], ::testing::Contains("clock"));
  EXPECT_THAT(tpu["required"], ::testing::Not(::testing::Contains("cmem")));
  EXPECT_EQ(schema["$defs"]["memory"]["properties"]["efficiency"]["exclusiveMinimum"], 0);
  EXPECT_THAT(schema["$defs"]["memory"]["properties"]["technology"]["enum"],
              ::testing::Contains("hbm"));
  // In a file that extends another nothing is required and a null takes a key away.
  EXPECT_FALSE(schema["$defs"]["A_TPU_overrides"].contains("required"));
  EXPECT_EQ(schema["if"]["required"], nlohmann::json({"extends"}));
  EXPECT_EQ(schema["then"]["required"], nlohmann::json({"name"}));
}

TEST(MachineReference, HasARowForEveryKey) {
  const std::string text = MachineReferenceMarkdown();
  for (const char* key : {"clock", "read_bandwidth", "weight_rows_per_cycle", "depthwise_channels",
                          "refresh_interval", "DDR2CMX", "per_mac", "extends"}) {
    EXPECT_NE(text.find("| `" + std::string(key) + "` |"), std::string::npos) << key;
  }
  EXPECT_EQ(text.find("| `memory` | a map, see memory |"),
            text.rfind("| `memory` | a map, see memory |"));
}

}  // namespace
}  // namespace cyclecast
