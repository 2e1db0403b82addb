// Key tables of what both families share; see machine_keys.h.
#include "io/machine_keys.h"

namespace cyclecast {
namespace {

ValueType<MemoryTechnology> Technology() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(MemoryTechnology::kHostLink); ++i) {
    names.emplace_back(Name(static_cast<MemoryTechnology>(i)));
  }
  return Choice<MemoryTechnology>(
      std::move(names), [](std::string_view text) { return ParseMemoryTechnology(text); },
      [](const MemoryTechnology& technology) { return std::string(Name(technology)); });
}

// Picojoules; what one operation or byte can plausibly cost.
ValueType<double> Picojoules() { return QuantityValue(Dimension::kEnergy, Between(0, 1e6)); }

}  // namespace

const KeyTable<MachineHead>& HeadKeys() {
  static const KeyTable<MachineHead> keys =
      KeyTable<MachineHead>("head", "What every machine file begins with.")
          .Required("name", &MachineHead::name,
                    TextLike("[a-z][a-z0-9_]*", "a name of a-z, 0-9 and _, a letter first"),
                    "What users type; of a shipped machine also the file's name.")
          .Required("family", &MachineHead::family, OneOfTexts({"tpu", "vpu"}),
                    "Which kind of machine it is, and so which keys follow.")
          .Optional("extends", &MachineHead::extends,
                    Described(Text(), "a shipped machine, or a path relative to this file"),
                    "The machine this one differs from. Every key but name, description and "
                    "aliases is taken over unless it is given here; maps are merged key by key, "
                    "and a key without a value takes the other machine's away.")
          .WithDefault("none")
          .Optional("description", &MachineHead::description, Text(),
                    "One line for lists and reports.")
          .Optional("aliases", &MachineHead::aliases, List(Text(), 0, 100),
                    "Device names that traces use for this machine.");
  return keys;
}

const KeyTable<MemorySpec>& MemoryKeys() {
  static const KeyTable<MemorySpec> keys =
      KeyTable<MemorySpec>("memory", "One level of memory.")
          .Required("technology", &MemorySpec::technology, Technology(), "What it is made of.")
          .Required("capacity", &MemorySpec::capacity, Quantity<Bytes>(Between(0, 1e15)),
                    "Its size; 0 B for a link to somebody else's memory.")
          .Required("read_bandwidth", &MemorySpec::read_bandwidth,
                    Quantity<BytesPerSecond>(MoreThanUpTo(0, 1e16)),
                    "Peak rate of reads, all ports and channels together.")
          .Optional("write_bandwidth", &MemorySpec::write_bandwidth,
                    Quantity<BytesPerSecond>(MoreThanUpTo(0, 1e16)),
                    "The same for writes; equal where reads and writes share the ports.")
          .WithDefault("as read_bandwidth")
          .Optional("latency", &MemorySpec::latency, Quantity<Seconds>(Between(0, 1e-2)),
                    "Time to the first byte of an idle access.")
          .Optional("efficiency", &MemorySpec::efficiency, Number(MoreThanUpTo(0, 1)),
                    "Share of the peak rate that a long stream reaches.")
          .Optional("banks", &MemorySpec::banks, Integer(Between(1, 65536)), "Banks per channel.")
          .Optional("channels", &MemorySpec::channels, Integer(Between(1, 65536)),
                    "Independent channels.")
          .Optional("burst", &MemorySpec::burst, Quantity<Bytes>(Between(1, 1 << 20)),
                    "Smallest useful access: each contiguous run of a transfer rounds up to it.")
          .Optional("energy_per_byte", &MemorySpec::pj_per_byte, Picojoules(),
                    "Energy of reading or writing one byte; 0 pJ stands for a typical value of "
                    "the technology.")
          .Then([](const YamlNode& node, MemorySpec* memory, Diagnostics*) {
            if (node.Find("write_bandwidth") == nullptr) {
              memory->write_bandwidth = memory->read_bandwidth;
            }
          });
  return keys;
}

const KeyTable<LaunchSpec>& LaunchKeys() {
  static const KeyTable<LaunchSpec> keys =
      KeyTable<LaunchSpec>("launch", "What starting work costs.")
          .Optional("overhead", &LaunchSpec::overhead, Quantity<Seconds>(Between(0, 1)),
                    "Per kernel, before its first task.")
          .Optional("first", &LaunchSpec::first, Quantity<Seconds>(Between(0, 10)),
                    "Once per execution of a workload: dispatch by the host.");
  return keys;
}

const KeyTable<EnergySpec>& EnergyKeys() {
  static const KeyTable<EnergySpec> keys =
      KeyTable<EnergySpec>("energy", "Energy of computing. What is left out takes typical values.")
          .Optional("per_mac", &EnergySpec::pj_per_mac, PerElementType(Picojoules()),
                    "Energy of one multiply-accumulate by element type.")
          .Optional("per_vector_op", &EnergySpec::pj_per_vector_op, Picojoules(),
                    "Energy of one operation of the vector unit on one element.")
          .Optional("static_power", &EnergySpec::static_power, Quantity<Watts>(Between(0, 1e4)),
                    "Power drawn whatever runs.");
  return keys;
}

const KeyTable<HardwareEffects>& EffectsKeys() {
  static const KeyTable<HardwareEffects> keys =
      KeyTable<HardwareEffects>(
          "effects",
          "Effects of real hardware that only the simulator's hardware variant knows: the source "
          "of synthetic traces. Estimates leave them out.")
          .Optional("bank_conflict", &HardwareEffects::bank_conflict, Number(Between(0, 0.9)),
                    "Mean share of on-chip cycles lost to bank conflicts.")
          .Optional("refresh_share", &HardwareEffects::refresh_share, Number(Between(0, 0.5)),
                    "Share of time the off-chip memory refreshes (tRFC / tREFI).")
          .Optional("refresh_interval", &HardwareEffects::refresh_interval,
                    Quantity<Seconds>(Between(0, 1e-3)), "Time between refreshes (tREFI).")
          .Optional("arbitration", &HardwareEffects::arbitration, Quantity<Cycles>(Between(0, 1e6)),
                    "Added to a transfer while another master uses the memory.")
          .Optional("clock_crossing", &HardwareEffects::clock_crossing,
                    Quantity<Cycles>(Between(0, 1e6)),
                    "Added to each hand-over between clock domains.")
          .Optional("launch_jitter", &HardwareEffects::launch_jitter, Number(Between(0, 1)),
                    "Standard deviation of the launch overhead, relative.")
          .Then([](const YamlNode& node, HardwareEffects* effects, Diagnostics* problems) {
            if (effects->refresh_share > 0 && effects->refresh_interval.value() <= 0) {
              problems->Add(node.Find("refresh_share")->pos(),
                            "'refresh_share' needs 'refresh_interval' beside it, for example "
                            "'refresh_interval: 3900 ns'");
            }
          });
  return keys;
}

}  // namespace cyclecast
