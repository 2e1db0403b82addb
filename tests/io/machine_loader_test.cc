#include "io/machine_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ConfigRoot Root() { return {test::SourcePath("configs").string()}; }

// A complete small TPU to change from.
constexpr char kTpu[] = R"(name: mine
family: tpu
clock: 1 GHz
matrix_unit: {rows: 4, columns: 4, passes: {bf16: 1, fp32: 4}}
vector_unit: {lanes: 4}
vmem: {technology: sram, capacity: 4 KiB, read_bandwidth: 64 GB/s}
dram: {technology: hbm, capacity: 1 GiB, read_bandwidth: 8 GB/s, latency: 100 ns}
dma: {bandwidth: 8 GB/s}
)";

std::string ProblemsOf(const std::string& text, const std::string& file = "mine.yaml") {
  const Result<Machine> machine = LoadMachineText(text, file, Root());
  return machine ? "" : machine.error().Text();
}

TEST(MachineLoader, ReadsEveryPartAndTakesDefaultsForTheRest) {
  const Result<Machine> machine = LoadMachineText(kTpu, "mine.yaml", Root());
  ASSERT_TRUE(machine) << machine.error().Text();
  ASSERT_NE(machine->tpu(), nullptr);
  EXPECT_EQ(machine->name, "mine");
  EXPECT_EQ(machine->clock(), Hertz(1e9));
  EXPECT_EQ(machine->tpu()->matrix_unit.rows, 4);
  EXPECT_EQ(machine->tpu()->matrix_unit.passes.at(DType::kFp32), 4.0);
  EXPECT_EQ(machine->tpu()->vmem.capacity, Bytes(4096));
  EXPECT_EQ(machine->tpu()->dram.write_bandwidth, BytesPerSecond(8e9));  // as read_bandwidth
  EXPECT_EQ(machine->tpu()->dram.latency, Seconds(100e-9));
  EXPECT_EQ(machine->tpu()->dma.engines, DmaSpec().engines);
  EXPECT_FALSE(machine->tpu()->cmem.has_value());
  EXPECT_EQ(machine->tpu()->interconnect.links, 0);
}

TEST(MachineLoader, FindsByNameAliasAndPath) {
  const std::string file = *FindMachine("tpu_v4", Root());
  EXPECT_EQ(file, test::SourcePath("configs/tpu/tpu_v4.yaml").string());
  EXPECT_EQ(*FindMachine("TPUv4(inferred)", Root()), file);
  EXPECT_EQ(*FindMachine(file, Root()), file);
  EXPECT_EQ(LoadMachine("TPUv6e", Root())->name, "tpu_v6e");
}

TEST(MachineLoader, UnknownMachineNamesTheNearest) {
  EXPECT_THAT(FindMachine("tpu_v44", Root()).error().Text(), HasSubstr("did you mean 'tpu_v4'?"));
  EXPECT_THAT(FindMachine("no/such.yaml", Root()).error().Text(),
              HasSubstr("there is no machine file 'no/such.yaml'"));
  EXPECT_THAT(FindMachine("tpu_v4", {"/no/such/folder"}).error().Text(),
              HasSubstr("CYCLECAST_CONFIG_DIR"));
}

TEST(MachineLoader, ExtendsAShippedMachine) {
  const Result<Machine> base = LoadMachine("tpu_v4", Root());
  const Result<Machine> machine =
      LoadMachineText("name: big\nfamily: tpu\nextends: tpu_v4\nmatrix_unit: {count: 8}\ncmem:\n",
                      "big.yaml", Root());
  ASSERT_TRUE(machine) << machine.error().Text();
  EXPECT_EQ(machine->name, "big");
  EXPECT_TRUE(machine->aliases.empty());
  EXPECT_TRUE(machine->description.empty());
  EXPECT_EQ(machine->tpu()->matrix_unit.count, 8);
  EXPECT_EQ(machine->tpu()->matrix_unit.rows, base->tpu()->matrix_unit.rows);
  EXPECT_EQ(machine->tpu()->dram.capacity, base->tpu()->dram.capacity);
  EXPECT_TRUE(base->tpu()->cmem.has_value());
  EXPECT_FALSE(machine->tpu()->cmem.has_value());  // a key without a value takes it away
}

TEST(MachineLoader, ExtendsAFileBesideIt) {
  const test::ScratchDir dir;
  dir.Write("base.yaml", kTpu);
  const auto path = dir.Write("sub/top.yaml", "name: top\nextends: ../base.yaml\nclock: 2 GHz\n");
  const Result<Machine> machine = LoadMachine(path.string(), Root());
  ASSERT_TRUE(machine) << machine.error().Text();
  EXPECT_EQ(machine->clock(), Hertz(2e9));
}

TEST(MachineLoader, ExtendsInACircleIsAnError) {
  const test::ScratchDir dir;
  const std::string a = dir.Write("a.yaml", "name: a\nextends: ./b.yaml\n").string();
  dir.Write("b.yaml", "name: b\nextends: ./a.yaml\n");
  const Result<Machine> machine = LoadMachine(a, Root());
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().Text(), HasSubstr("b.yaml:2:10: error: 'extends': './a.yaml'"));
}

TEST(MachineLoader, ALongChainOfExtendsIsAnError) {
  const test::ScratchDir dir;
  dir.Write("m0.yaml", kTpu);
  std::string last;
  for (int i = 1; i <= 10; ++i) {
    const std::string text =
        "name: m" + std::to_string(i) + "\nextends: ./m" + std::to_string(i - 1) + ".yaml\n";
    last = dir.Write("m" + std::to_string(i) + ".yaml", text).string();
    EXPECT_EQ(static_cast<bool>(LoadMachine(last, Root())), i <= 8) << i;
  }
  EXPECT_THAT(LoadMachine(last, Root()).error().Text(), HasSubstr("more than 8 files"));
}

TEST(MachineLoader, ProblemsOfTheBaseAreReportedInTheBase) {
  const test::ScratchDir dir;
  dir.Write("base.yaml", std::string(kTpu) + "cores: 0\n");
  const std::string top =
      dir.Write("top.yaml", "name: top\nextends: ./base.yaml\nclock: 2\n").string();
  const Result<Machine> machine = LoadMachine(top, Root());
  ASSERT_FALSE(machine);
  ASSERT_EQ(machine.error().diagnostics().size(), 2u);
  EXPECT_THAT(Format(machine.error().diagnostics()[0]), HasSubstr("top.yaml:3:8: error: 'clock'"));
  EXPECT_THAT(Format(machine.error().diagnostics()[1]), HasSubstr("base.yaml:9:8: error: 'cores'"));
}

// A finding of the cross-field checks points at the key it is about: a tile of 65536 x 4 weights
// does not fit into 4 KiB.
TEST(MachineLoader, CrossFieldFindingsHaveAPlace) {
  std::string text = kTpu;
  text.replace(text.find("rows: 4"), 7, "rows: 65536");
  EXPECT_THAT(ProblemsOf(text), HasSubstr("mine.yaml:6:36: error: 'vmem.capacity'"));
}

TEST(MachineLoader, FamilyDecidesTheKeys) {
  EXPECT_THAT(ProblemsOf("name: x\n"), HasSubstr("the key 'family' is missing"));
  EXPECT_THAT(ProblemsOf("name: x\nfamily: gpu\nwarps: 4\n"),
              HasSubstr("mine.yaml:2:9: error: 'family' is 'gpu', which is not known"));
  std::string vpu = kTpu;
  vpu.replace(vpu.find("family: tpu"), 11, "family: vpu");
  EXPECT_THAT(ProblemsOf(vpu), HasSubstr("unknown key 'clock'"));
}

TEST(MachineLoader, RatesMustNameAModeOfTheDpu) {
  EXPECT_THAT(ProblemsOf("name: x\nextends: vpu_2_7\ndpu:\n  rates:\n"
                         "    - {operation: ELTWISE, mode: CUBOID_16x61, per_cycle: 3}\n"),
              HasSubstr("mine.yaml:5:34: error: 'CUBOID_16x61' is none of this DPU's modes; did "
                        "you mean 'CUBOID_16x16'?"));
}

TEST(MachineLoader, RefreshNeedsItsInterval) {
  EXPECT_THAT(ProblemsOf(std::string(kTpu) + "effects: {refresh_share: 0.1}\n"),
              HasSubstr("mine.yaml:9:26: error: 'refresh_share' needs 'refresh_interval'"));
}

}  // namespace
}  // namespace cyclecast
