// The key tables of machine files. Private to io.
#pragma once

#include <string>
#include <vector>

#include "core/machine.h"
#include "io/key_table.h"

namespace cyclecast {

// What every machine file begins with.
struct MachineHead {
  std::string name, description, family, extends;
  std::vector<std::string> aliases;
};

// The two kinds of machine files.
struct TpuDocument {
  MachineHead head;
  TpuSpec spec;
};
struct VpuDocument {
  MachineHead head;
  VpuSpec spec;
};

const KeyTable<MachineHead>& HeadKeys();
const KeyTable<TpuDocument>& TpuKeys();
const KeyTable<VpuDocument>& VpuKeys();

// Parts both families have.
const KeyTable<MemorySpec>& MemoryKeys();
const KeyTable<LaunchSpec>& LaunchKeys();
const KeyTable<EnergySpec>& EnergyKeys();
const KeyTable<HardwareEffects>& EffectsKeys();

}  // namespace cyclecast
