// Energy of memory accesses and arithmetic where a machine's file gives none: typical values by
// technology and element type, each with its source. They are estimates of the right size, for
// comparing mappings and machines; a machine's own numbers win.
#pragma once

#include "core/machine.h"

namespace cyclecast {

// Energy of reading or writing one byte, pJ.
double TypicalPicojoulesPerByte(MemoryTechnology technology);

// The machine's own value where it is given (> 0), else the typical one.
double PicojoulesPerByte(const MemorySpec& memory);

// Energy of one multiply-accumulate at a 7 nm node, pJ.
double TypicalPicojoulesPerMac(DType dtype);

// The table with every element type filled in: own values stay, the others keep the typical ratio
// to the first own one.
EnergySpec CompleteEnergy(const EnergySpec& energy);

}  // namespace cyclecast
