// Typical energies; see energy.h.
//
// Sources: Jouppi et al., "Ten Lessons From Three Generations Shaped Google's TPUv4i", ISCA 2021,
// table 2 (pJ per operation at 7 nm; DRAM and SRAM per 64-bit access), quoted from memory;
// Horowitz, "Computing's energy problem", ISSCC 2014, for the ratios between types.
#include "timing/energy.h"

namespace cyclecast {

double TypicalPicojoulesPerByte(MemoryTechnology technology) {
  switch (technology) {
    case MemoryTechnology::kSram:
      return 1.75;  // 1 MB SRAM: 14 pJ per 64 bit
    case MemoryTechnology::kEdram:
      return 2.5;  // estimate: SRAM plus refresh
    case MemoryTechnology::kHbm:
      return 43.75;  // HBM2: 250 to 450 pJ per 64 bit
    case MemoryTechnology::kDdr:
      return 162.5;  // DDR3/4: 1300 pJ per 64 bit
    case MemoryTechnology::kLpddr:
      return 50.0;  // estimate: about 6 pJ per bit with the PHY
    case MemoryTechnology::kNvm:
      return 25.0;  // estimate: read of an embedded resistive or magnetic array
    case MemoryTechnology::kHostLink:
      return 200.0;  // estimate: host DRAM plus the link
  }
  return 0.0;
}

double PicojoulesPerByte(const MemorySpec& memory) {
  return memory.pj_per_byte > 0 ? memory.pj_per_byte : TypicalPicojoulesPerByte(memory.technology);
}

double TypicalPicojoulesPerMac(DType dtype) {
  switch (dtype) {
    case DType::kInt4:
      return 0.02;  // estimate: a quarter of the int8 multiplier
    case DType::kInt8:
    case DType::kUint8:
      return 0.10;  // int8 multiply 0.07 + int32 add 0.03
    case DType::kFp8:
      return 0.20;  // estimate: between int8 and bf16
    case DType::kInt16:
      return 0.30;  // estimate: four int8 multipliers
    case DType::kFp16:
      return 0.72;  // fp16 multiply 0.34 + fp32 add 0.38
    case DType::kBf16:
      return 0.59;  // bf16 multiply 0.21 + fp32 add 0.38
    case DType::kInt32:
      return 1.51;  // int32 multiply 1.48 + add 0.03
    case DType::kFp32:
      return 1.69;  // fp32 multiply 1.31 + add 0.38
  }
  return 0.0;
}

EnergySpec CompleteEnergy(const EnergySpec& energy) {
  EnergySpec complete = energy;
  // A table that names some types sets the level of the others.
  double scale = 1.0;
  if (!energy.pj_per_mac.empty()) {
    const auto& [dtype, value] = *energy.pj_per_mac.begin();
    scale = value / TypicalPicojoulesPerMac(dtype);
  }
  for (int i = static_cast<int>(DType::kInt4); i <= static_cast<int>(DType::kFp32); ++i) {
    const auto dtype = static_cast<DType>(i);
    complete.pj_per_mac.emplace(dtype, scale * TypicalPicojoulesPerMac(dtype));
  }
  // A vector operation is an fp32 multiply or add between registers: half a fp32 MAC.
  if (complete.pj_per_vector_op <= 0) complete.pj_per_vector_op = 0.85;
  return complete;
}

}  // namespace cyclecast
