// Inputs on which other simulators crash, run out of memory or print a wrong number, as users
// reported them; each case names where. The right result, or an error that helps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "analytical/analytical_model.h"
#include "io/machine_loader.h"
#include "io/workload_loader.h"
#include "mapping/mapper.h"
#include "sim/simulated_model.h"
#include "tests/support/paths.h"
#include "tests/support/schedules.h"

namespace cyclecast {
namespace {

using cyclecast::testing::EstimateOf;
using ::testing::HasSubstr;

ConfigRoot Root() { return {test::SourcePath("configs").string()}; }

Machine MachineOf(const std::string& text) {
  Result<Machine> machine = LoadMachineText(text, "peer.yaml", Root());
  EXPECT_TRUE(machine) << machine.error().Text();
  return *std::move(machine);
}

// One core with one array of `rows` x `columns`; `more` is further YAML.
Machine OneArray(int rows, int columns, const std::string& more = "") {
  return MachineOf("name: peer\nfamily: tpu\nextends: tpu_v4\ncores: 1\nmatrix_unit: {rows: " +
                   std::to_string(rows) + ", columns: " + std::to_string(columns) +
                   ", count: 1}\n" + more);
}

LoadedWorkload WorkloadOf(const std::string& layers) {
  Result<LoadedWorkload> workload =
      LoadWorkloadText("name: case\nlayers:\n" + layers, "case.yaml", {});
  EXPECT_TRUE(workload) << workload.error().Text();
  return *std::move(workload);
}

LoadedWorkload Product(std::int64_t m, std::int64_t k, std::int64_t n) {
  return WorkloadOf("  - linear: {name: fc, input: [" + std::to_string(m) + ", " +
                    std::to_string(k) + "], out: " + std::to_string(n) + ", bias: false}\n");
}

Schedule Map(const LoadedWorkload& loaded, const Machine& machine) {
  Result<Schedule> schedule = MapWorkload(loaded.workload, machine, loaded.pins);
  EXPECT_TRUE(schedule) << schedule.error().Text();
  return *std::move(schedule);
}

Estimate Simulate(const LoadedWorkload& loaded, const Machine& machine) {
  return EstimateOf(*MakeSimulatedModel(), Map(loaded, machine));
}

double CpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

// Sanitizers and unoptimised builds are slower and larger by factors that say nothing.
constexpr bool kFastBuild =
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

void ExpectUnder(double seconds, std::int64_t mebibytes, double since) {
  if (!kFastBuild) return;
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  EXPECT_LT(CpuSeconds() - since, seconds);
  EXPECT_LT(use.ru_maxrss / 1024, mebibytes);
}

// SCALE-Sim #69: killed for want of memory. 2,067,604 outputs (1078 x 1918 without padding) against
// 288 x 8 weights: K of 288 takes two passes over 256 rows, N of 8 one. Two passes that stream
// every output once are a lower bound; the closed form of one array without overlap is 2 *
// (2,067,604 + 2 * 256 + 256 - 2) = 4,136,740.
TEST(PeerCases, AConvolutionOfAFullHdImageTakesSecondsNotGigabytes) {
  const double since = CpuSeconds();
  const Estimate estimate = Simulate(
      WorkloadOf("  - conv: {name: conv, input: [1, 32, 1080, 1920], out: 8, kernel: 3, bias: "
                 "false}\n"),
      OneArray(256, 256));
  EXPECT_GE(estimate.total, Cycles(2 * 2067604));
  EXPECT_LT(estimate.total, Cycles(3 * 4136740));
  ExpectUnder(1.0, 100, since);
}

// SCALE-Sim #53 needs 8 GB and 310 s, ONNXim 15.9 s.
TEST(PeerCases, ResNet50OnOneArrayTakesMillisecondsAndLittleMemory) {
  const Result<LoadedWorkload> resnet = LoadWorkload("resnet50", Root(), {});
  ASSERT_TRUE(resnet) << resnet.error().Text();
  const Machine machine = OneArray(128, 128);
  const double since = CpuSeconds();
  const Estimate estimate = Simulate(*resnet, machine);
  // 4.09 GMAC on 16,384 multipliers.
  EXPECT_GE(estimate.total, Cycles(4089184256 / 16384));
  ExpectUnder(0.05, 100, since);
}

// PyTorchSim #219: crash. 16384^3 / 16384 MAC = 268,435,456 cycles of compute.
TEST(PeerCases, AProductOf16384CubedRuns) {
  const double since = CpuSeconds();
  const Estimate estimate = Simulate(Product(16384, 16384, 16384), OneArray(128, 128));
  EXPECT_GE(estimate.total, Cycles(268435456));
  EXPECT_LT(estimate.total, Cycles(350000000));
  ExpectUnder(0.5, 100, since);
}

// ONNXim #30: floating point exception with 16 cores. mNPUsim #2: one layer cannot be shared.
TEST(PeerCases, SixteenCoresShareOneLayer) {
  const LoadedWorkload product = Product(4096, 4096, 4096);
  const Estimate one = Simulate(product, OneArray(128, 128));
  const Estimate many =
      Simulate(product, MachineOf("name: peer\nfamily: tpu\nextends: tpu_v4\ncores: 16\n"
                                  "matrix_unit: {rows: 128, columns: 128, count: 1}\n"));
  EXPECT_LT(many.total * 4, one.total);
  // The limiting resource of every layer is said.
  EXPECT_NE(many.kernels[0].bound_by, Category::kLaunch);
  EXPECT_EQ(many.kernels[0].attribution.Sum(), many.kernels[0].cycles);
}

// SCALE-Sim #59: "demands out of sync" where rows and columns differ.
TEST(PeerCases, ArraysNeedNotBeSquare) {
  const LoadedWorkload product = Product(512, 512, 512);
  for (const auto& [rows, columns] : {std::pair{12, 14}, {32, 128}, {256, 8}, {8, 256}}) {
    const Estimate estimate = Simulate(product, OneArray(rows, columns));
    EXPECT_GE(estimate.total, Cycles(512 * 512 * 512 / (rows * columns))) << rows << "x" << columns;
  }
}

// zigzag #119: an output of 156 x 116 killed the search.
TEST(PeerCases, OddExtentsDoNotBlowUpTheSearch) {
  const LoadedWorkload conv =
      WorkloadOf("  - conv: {name: conv, input: [1, 48, 156, 116], out: 96, kernel: 3, pad: 1}\n");
  for (const char* name : {"tpu_v4", "vpu_2_7"}) {
    const Result<Machine> machine = LoadMachine(name, Root());
    ASSERT_TRUE(machine) << machine.error().Text();
    const double since = CpuSeconds();
    EXPECT_GT(Simulate(conv, *machine).total, Cycles(0));
    ExpectUnder(0.5, 100, since);
  }
}

// Accelergy exercises #49: core dump for an architecture without a compute element.
TEST(PeerCases, AMachineWithoutAMatrixUnitIsAnErrorThatNamesTheKey) {
  const Result<Machine> machine =
      LoadMachineText("name: peer\nfamily: tpu\nclock: 1 GHz\n", "peer.yaml", Root());
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().Text(), HasSubstr("matrix_unit"));
}

// timeloop #202, #119, #38: the user's energy table was not used. Doubling one entry moves the
// energy of its kind and no other.
TEST(PeerCases, EveryEntryOfTheEnergyTableIsUsed) {
  const LoadedWorkload product = Product(256, 256, 256);
  const auto energy = [&](const std::string& per_mac, const std::string& static_power) {
    return Simulate(product, OneArray(128, 128,
                                      "energy: {per_mac: {bf16: " + per_mac +
                                          ", int8: 0.1 pJ}, per_vector_op: 1 pJ, "
                                          "static_power: " +
                                          static_power + "}\n"))
        .energy;
  };
  const Energy base = energy("1 pJ", "10 W"), macs = energy("2 pJ", "10 W"),
               idle = energy("1 pJ", "20 W");
  EXPECT_GT(macs.compute, base.compute);
  EXPECT_EQ(macs.off_chip, base.off_chip);
  EXPECT_DOUBLE_EQ(idle.idle.value(), 2 * base.idle.value());
  EXPECT_EQ(idle.compute, base.compute);
}

// ARM #57: a shipped TPU v1 that says output stationary.
TEST(PeerCases, TheFirstTpuIsWeightStationary) {
  const Result<Machine> machine = LoadMachine("tpu_v1", Root());
  ASSERT_TRUE(machine) << machine.error().Text();
  EXPECT_EQ(machine->tpu()->matrix_unit.dataflow, Dataflow::kWeightStationary);
}

// ONNXim: 2 cycles for a Relu, 0 for a residual Add. 1024 x 1024 bf16 in and out are 4 MiB: at
// 1143 B per cycle of HBM at least 3669 cycles where nothing stays on chip.
TEST(PeerCases, ActivationsAndAdditionsTakeTime) {
  for (const char* layer : {"  - relu: {name: op, input: [1024, 1024]}\n",
                            "  - softmax: {name: op, input: [1024, 1024]}\n"}) {
    EXPECT_GE(Simulate(WorkloadOf(layer), OneArray(128, 128)).total, Cycles(3669)) << layer;
  }
}

// ONNXim: allocation dump for a depthwise convolution.
TEST(PeerCases, DepthwiseConvolutionsRun) {
  const LoadedWorkload conv = WorkloadOf(
      "  - depthwise_conv: {name: dw, input: [1, 64, 56, 56], kernel: 3, pad: 1, bias: false}\n");
  EXPECT_EQ(conv.workload.TotalMacs(), Macs(64 * 56 * 56 * 9));
  EXPECT_GT(Simulate(conv, OneArray(128, 128)).total, Cycles(0));
}

// Three peers print 67,284, 89,983 and 165,179 cycles for one product, for they assume different
// overlap and memory. Ours says what it assumes; 1024^3 / 16384 MAC = 65,536 is the bound.
TEST(PeerCases, WhatDecidesTheNumberStandsBesideIt) {
  const Estimate estimate = Simulate(Product(1024, 1024, 1024), OneArray(128, 128));
  EXPECT_GE(estimate.total, Cycles(65536));
  EXPECT_LT(estimate.total, Cycles(89983));
  std::string assumptions;
  for (const std::string& assumption : estimate.assumptions) assumptions += assumption + "\n";
  for (const char* word : {"clock", "dataflow", "overlap", "off-chip memory", "residency"}) {
    EXPECT_THAT(assumptions, HasSubstr(word));
  }
}

}  // namespace
}  // namespace cyclecast
