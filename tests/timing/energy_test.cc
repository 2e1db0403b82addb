// Which energies win, and that none is missing.
#include "timing/energy.h"

#include <gtest/gtest.h>

namespace cyclecast {
namespace {

TEST(Energy, OwnValuesWinOverTypicalOnes) {
  MemorySpec memory;
  memory.technology = MemoryTechnology::kHbm;
  EXPECT_DOUBLE_EQ(PicojoulesPerByte(memory), TypicalPicojoulesPerByte(MemoryTechnology::kHbm));
  memory.pj_per_byte = 3.0;
  EXPECT_DOUBLE_EQ(PicojoulesPerByte(memory), 3.0);
}

TEST(Energy, EveryTypeOfAPartialTableKeepsTheTypicalRatio) {
  // bf16 is given at twice the typical energy: int8 follows, bf16 stays.
  EnergySpec energy;
  energy.pj_per_mac = {{DType::kBf16, 2 * TypicalPicojoulesPerMac(DType::kBf16)}};
  const EnergySpec complete = CompleteEnergy(energy);
  EXPECT_EQ(complete.pj_per_mac.size(), DTypeNames().size());
  EXPECT_DOUBLE_EQ(complete.pj_per_mac.at(DType::kInt8), 2 * TypicalPicojoulesPerMac(DType::kInt8));
  EXPECT_DOUBLE_EQ(complete.pj_per_mac.at(DType::kBf16), energy.pj_per_mac.at(DType::kBf16));
}

TEST(Energy, OffChipAccessesCostMoreThanOnChipOnes) {
  EXPECT_GT(TypicalPicojoulesPerByte(MemoryTechnology::kHbm),
            TypicalPicojoulesPerByte(MemoryTechnology::kSram));
  EXPECT_GT(TypicalPicojoulesPerByte(MemoryTechnology::kDdr),
            TypicalPicojoulesPerByte(MemoryTechnology::kHbm));
  EXPECT_GT(TypicalPicojoulesPerMac(DType::kFp32), TypicalPicojoulesPerMac(DType::kBf16));
  EXPECT_GT(TypicalPicojoulesPerMac(DType::kBf16), TypicalPicojoulesPerMac(DType::kInt8));
}

}  // namespace
}  // namespace cyclecast
