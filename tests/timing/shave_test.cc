#include "timing/shave.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace cyclecast {
namespace {

VpuSpec Tiny() {
  VpuSpec vpu = *testing::TinyVpu().vpu();
  vpu.shave["softmax"] = {Cycles(50), 2.0};
  return vpu;
}

// 50 + 100 elements * 2 = 250 SHAVE cycles, at half the reference clock 500 of those.
TEST(ShaveCost, IsStartUpPlusElementsInTheShaveClock) {
  VpuSpec vpu = Tiny();
  EXPECT_EQ(ShaveElementsCost("softmax", 100, vpu).occupancy, Cycles(250));
  EXPECT_EQ(ShaveElementsCost("softmax", 100, vpu).useful, Cycles(200));
  vpu.cmx_clock = Hertz(vpu.dpu_clock.value() / 2);
  EXPECT_EQ(ShaveElementsCost("softmax", 100, vpu).occupancy, Cycles(500));
}

TEST(ShaveCost, CountsOutputElements) {
  ShaveCall call;
  call.operation = "softmax";
  call.input.w = 1000;
  call.output.w = 10;
  call.output.c = 10;
  EXPECT_EQ(ShaveCost(call, Tiny()).occupancy, Cycles(250));
}

TEST(ShaveCost, FindsNamesInAnyCaseAndElseTakesTheDefault) {
  const VpuSpec vpu = Tiny();
  EXPECT_EQ(ShaveElementsCost("SoftMax", 100, vpu).occupancy, Cycles(250));
  EXPECT_EQ(FindShaveRate("nothing_like_it", vpu), nullptr);
  EXPECT_EQ(ShaveElementsCost("nothing_like_it", 100, vpu).occupancy, Cycles(100));
}

}  // namespace
}  // namespace cyclecast
