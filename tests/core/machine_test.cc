// Derived peaks, per-type lookup and cross-field checks of machines; errors as text.
#include "core/machine.h"

#include <gtest/gtest.h>

#include "core/mapping.h"
#include "tests/support/machines.h"

namespace cyclecast {
namespace {

TEST(Machine, PeakFollowsFromTheArray) {
  // 4x4 array, one row a cycle: 16 MAC/cycle; fp32 takes 4 passes.
  const Machine tpu = testing::TinyTpu();
  EXPECT_DOUBLE_EQ(PeakMacsPerCycle(tpu, DType::kBf16), 16);
  EXPECT_DOUBLE_EQ(PeakMacsPerCycle(tpu, DType::kFp32), 4);
  // Two tiles of 64 MAC/cycle; fp16 at half rate.
  const Machine vpu = testing::TinyVpu();
  EXPECT_DOUBLE_EQ(PeakMacsPerCycle(vpu, DType::kUint8), 128);
  EXPECT_DOUBLE_EQ(PeakMacsPerCycle(vpu, DType::kFp16), 64);
}

TEST(Machine, PerTypeTablesFallBackWithinTheKind) {
  const PerDType table = {{DType::kInt8, 1.0}, {DType::kBf16, 2.0}};
  EXPECT_DOUBLE_EQ(ForDType(table, DType::kUint8), 1.0);
  EXPECT_DOUBLE_EQ(ForDType(table, DType::kFp16), 2.0);
  EXPECT_DOUBLE_EQ(ForDType(PerDType{}, DType::kFp32), 1.0);
}

TEST(Validate, AcceptsTheTinyMachines) {
  EXPECT_TRUE(Validate(testing::TinyTpu()).ok());
  EXPECT_TRUE(Validate(testing::TinyVpu()).ok());
}

TEST(Validate, FindsEverythingThatIsInconsistent) {
  Machine machine = testing::TinyTpu();
  TpuSpec tpu = *machine.tpu();
  tpu.vmem.capacity = Bytes(8);  // one 4x4 tile of weights needs 16 bytes
  tpu.dram.efficiency = 1.5;
  machine.spec = tpu;
  const Status status = Validate(machine);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().diagnostics().size(), 2u) << status.error().Text();
}

TEST(Validate, ShaveNeedsADefault) {
  Machine machine = testing::TinyVpu();
  VpuSpec vpu = *machine.vpu();
  vpu.shave.clear();
  machine.spec = vpu;
  ASSERT_FALSE(Validate(machine).ok());
  EXPECT_NE(Validate(machine).error().Text().find("default"), std::string::npos);
}

TEST(Error, FormatsPlaceAndMessageLikeACompiler) {
  EXPECT_EQ(Error({"a.yaml", 12, 9}, "no unit").Text(), "a.yaml:12:9: error: no unit");
  EXPECT_EQ(Error("plain").Text(), "error: plain");
  EXPECT_EQ(Error("plain").At({"b.yaml", 3, 1}).Text(), "b.yaml:3:1: error: plain");
}

TEST(Result, ValueOfAnErrorThrows) {
  const Result<int> bad = Error("no");
  EXPECT_FALSE(bad.ok());
  EXPECT_THROW(static_cast<void>(bad.value()), std::logic_error);
}

TEST(MappingPins, OwnPinsWinFieldByField) {
  MappingPins pins;
  pins.all.tile_m = 64;
  pins.all.buffer_depth = 1;
  pins.by_op["conv1"].tile_m = 128;
  EXPECT_EQ(pins.For("conv1").tile_m, 128);
  EXPECT_EQ(pins.For("conv1").buffer_depth, 1);
  EXPECT_EQ(pins.For("other").tile_m, 64);
}

}  // namespace
}  // namespace cyclecast
