// Key tables of VPUs; see machine_keys.h.
#include <algorithm>

#include "core/npu_tasks.h"
#include "io/machine_keys.h"

namespace cyclecast {
namespace {

ValueType<std::string> OperationName() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(DpuOperation::kReduceSumSquares); ++i) {
    names.emplace_back(Name(static_cast<DpuOperation>(i)));
  }
  return OneOfTexts(std::move(names));
}

ValueType<std::string> IsiName() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(IsiStrategy::kSplitOverChannel); ++i) {
    names.emplace_back(Name(static_cast<IsiStrategy>(i)));
  }
  return OneOfTexts(std::move(names));
}

const KeyTable<MpeMode>& ModeKeys() {
  static const KeyTable<MpeMode> keys =
      KeyTable<MpeMode>("mpe_mode",
                        "A grid of outputs that the multipliers keep in their accumulators during "
                        "one pass over the input channels.")
          .Required("name", &MpeMode::name, TextLike("[A-Z][A-Z0-9_]*(x[0-9]+)?", "a mode's name"),
                    "As compilers and traces call it: CUBOID_16x16.")
          .Required("grid_w", &MpeMode::grid_w, Integer(Between(1, 8192)),
                    "Outputs along the width.")
          .Required("grid_h", &MpeMode::grid_h, Integer(Between(1, 8192)),
                    "Outputs along the height.")
          .Required("channels", &MpeMode::channels, Integer(Between(1, 8192)),
                    "Output channels at once.")
          .Optional("bits", &MpeMode::bits, Integer(Between(0, 64)),
                    "Width of the input elements that may use the mode; 0 for any.")
          .Optional("operations", &MpeMode::operations, List(OperationName(), 0, 64),
                    "Operations that may use the mode; empty for all.")
          .Optional("read_efficiency", &MpeMode::read_efficiency, Number(MoreThanUpTo(0, 1)),
                    "Share of the reads' rate that activations get in this mode.")
          .Optional(
              "depthwise_efficiency", &MpeMode::depthwise_efficiency, Number(MoreThanUpTo(0, 1)),
              "Share of their rate that depthwise convolutions and average pools reach in it.")
          .Optional("block_w", &MpeMode::block_w, Integer(Between(0, 8192)),
                    "Width of the block of outputs computed at once; 0 for the DPU's own.")
          .Optional("block_h", &MpeMode::block_h, Integer(Between(0, 8192)),
                    "Height of that block; 0 for the DPU's own.");
  return keys;
}

const KeyTable<DpuRate>& DpuRateKeys() {
  static const KeyTable<DpuRate> keys =
      KeyTable<DpuRate>(
          "dpu_rate",
          "Measured rate of an operation that does not use the full width of the multipliers. The "
          "first entry of the list that fits a workload counts.")
          .Required("operation", &DpuRate::operation, OperationName(), "Which operation.")
          .Optional("mode", &DpuRate::mode, Text(), "Which MPE mode.")
          .WithDefault("any")
          .Optional("bits", &DpuRate::bits, Integer(Between(0, 64)),
                    "Width of the input elements; 0 fits any.")
          .Optional("max_channels", &DpuRate::max_channels, Integer(Between(0, 65536)),
                    "Most channels per workload; 0 fits any.")
          .Optional("kernel_w", &DpuRate::kernel_w, Integer(Between(0, 255)),
                    "Kernel width; 0 fits any.")
          .Optional("stride_w", &DpuRate::stride_w, Integer(Between(0, 255)),
                    "Horizontal stride; 0 fits any.")
          .Required("per_cycle", &DpuRate::per_cycle, Number(MoreThanUpTo(0, 1e6)),
                    "Kernel positions times outputs (eltwise: elements) per DPU cycle.")
          .Optional("block_w", &DpuRate::block_w, Integer(Between(0, 8192)),
                    "Outputs round up to this width; 0 for the DPU's own block.")
          .Optional("block_h", &DpuRate::block_h, Integer(Between(0, 8192)),
                    "Outputs round up to this height; 0 for the DPU's own block.")
          .Optional("block_cycles", &DpuRate::block_cycles, Number(Between(0, 1e6)),
                    "Cycles added per block of 16 channels.")
          .Optional("setup", &DpuRate::setup, Quantity<Cycles>(Between(0, 1e6)),
                    "Added to the DPU's start-up.");
  return keys;
}

// Every rate's mode must be one the DPU has.
void CheckRateModes(const YamlNode& node, DpuSpec* dpu, Diagnostics* problems) {
  std::vector<std::string> names;
  for (const MpeMode& mode : dpu->modes) names.push_back(mode.name);
  for (std::size_t i = 0; i < dpu->rates.size(); ++i) {
    const std::string& mode = dpu->rates[i].mode;
    if (mode.empty() || std::find(names.begin(), names.end(), mode) != names.end()) continue;
    const YamlNode* value = node.FindPath("rates[" + std::to_string(i) + "].mode");
    problems->Add(value != nullptr ? value->pos() : node.pos(),
                  "'" + mode + "' is none of this DPU's modes" + Suggestion(mode, names));
  }
}

const KeyTable<DpuSpec>& DpuKeys() {
  static const KeyTable<DpuSpec> keys =
      KeyTable<DpuSpec>("dpu", "One data processing unit: the multipliers and what feeds them.")
          .Required("macs_per_cycle", &DpuSpec::macs_per_cycle, Integer(Between(1, 1 << 24)),
                    "Multiply-accumulates per cycle on 8-bit elements.")
          .Optional("input_channel_macs", &DpuSpec::input_channel_macs, Integer(Between(1, 65536)),
                    "Input channels one output takes per cycle.")
          .Optional("ppe", &DpuSpec::ppe, Integer(Between(1, 65536)),
                    "Post-processing elements: outputs that leave per cycle.")
          .Optional("passes", &DpuSpec::passes, PerElementType(Number(MoreThanUpTo(0, 256))),
                    "Cycles a multiplication takes by element type, in those of 8 bits.")
          .Required("modes", &DpuSpec::modes, List(Nested(ModeKeys()), 1, 64), "MPE modes.")
          .Optional("startup", &DpuSpec::startup, Quantity<Cycles>(Between(0, 1e6)),
                    "Per workload, before the first output.")
          .Optional("mac_efficiency", &DpuSpec::mac_efficiency, Number(MoreThanUpTo(0, 1)),
                    "Share of the multipliers' peak rate that convolutions reach.")
          .Optional("block_w", &DpuSpec::block_w, Integer(Between(1, 8192)),
                    "Width of the block of outputs computed at once.")
          .Optional("block_h", &DpuSpec::block_h, Integer(Between(1, 8192)),
                    "Height of the block of outputs computed at once.")
          .Optional("pass_cycles", &DpuSpec::pass_cycles, Number(Between(0, 1e6)),
                    "Cycles added per pass of the grid.")
          .Optional("read_efficiency", &DpuSpec::read_efficiency, Number(MoreThanUpTo(0, 1)),
                    "Share of CMX's read ports that operands get.")
          .Optional("write_words_per_cycle", &DpuSpec::write_words_per_cycle,
                    Number(Between(0, 1e6)), "CMX words written per cycle; 0 for no limit.")
          .Optional("broadcast_words_per_cycle", &DpuSpec::broadcast_words_per_cycle,
                    Number(Between(0, 1e6)),
                    "The same when the output goes to several tiles; 0 for no limit.")
          .Optional("rates", &DpuSpec::rates, List(Nested(DpuRateKeys())),
                    "Measured rates; they go before the three general ones below.")
          .Optional("depthwise_ops_per_cycle", &DpuSpec::depthwise_ops_per_cycle,
                    Number(MoreThanUpTo(0, 1e6)),
                    "Kernel positions times outputs of a depthwise convolution per cycle, 8-bit.")
          .Optional("eltwise_elements_per_cycle", &DpuSpec::eltwise_elements_per_cycle,
                    Number(MoreThanUpTo(0, 1e6)), "Elements of an eltwise operation per cycle.")
          .Optional("pool_ops_per_cycle", &DpuSpec::pool_ops_per_cycle,
                    Number(MoreThanUpTo(0, 1e6)),
                    "Kernel positions times outputs of a pooling per cycle, 8-bit.")
          .Then(CheckRateModes);
  return keys;
}

const KeyTable<CmxSpec>& CmxKeys() {
  static const KeyTable<CmxSpec> keys =
      KeyTable<CmxSpec>("cmx", "The connection matrix: the memory of one tile.")
          .Required("memory", &CmxSpec::memory, Nested(MemoryKeys()), "The memory itself.")
          .Optional("word_bytes", &CmxSpec::word_bytes, Integer(Between(1, 4096)),
                    "Bytes of one access.")
          .Optional("read_ports", &CmxSpec::read_ports, Integer(Between(1, 1024)),
                    "Words a DPU reads per CMX cycle.")
          .Optional("page", &CmxSpec::page, Quantity<Bytes>(Between(1, 1 << 24)),
                    "Tensors begin at a multiple of this.");
  return keys;
}

const KeyTable<DmaRate>& DmaRateKeys() {
  static const KeyTable<DmaRate> keys =
      KeyTable<DmaRate>("dma_rate", "Transfers in one direction, in cycles of the CMX clock.")
          .Required("startup", &DmaRate::startup, Quantity<Cycles>(Between(0, 1e7)),
                    "Time before data flows.")
          .Required("rate", &DmaRate::rate, Quantity<BytesPerCycle>(MoreThanUpTo(0, 1e5)),
                    "Rate of one engine.")
          .Optional("window", &DmaRate::window, Quantity<Bytes>(Between(0, 1e9)),
                    "Bytes an engine has in flight; 0 where larger transfers do not wait again.")
          .Optional("refill", &DmaRate::refill, Quantity<Cycles>(Between(0, 1e7)),
                    "Wait, once, of a transfer larger than the window.");
  return keys;
}

using DmaRates = std::array<DmaRate, 4>;

const KeyTable<DmaRates>& DmaRatesKeys() {
  static const KeyTable<DmaRates> keys = [] {
    KeyTable<DmaRates> table("dma_rates", "What a DMA engine reaches, by direction.");
    for (std::size_t i = 0; i < std::tuple_size_v<DmaRates>; ++i) {
      table.Required(
          std::string(Name(static_cast<DmaDirection>(i))),
          [i](DmaRates& rates) -> DmaRate& { return rates[i]; }, Nested(DmaRateKeys()),
          "Transfers in this direction.");
    }
    return table;
  }();
  return keys;
}

const KeyTable<ShaveRate>& ShaveRateKeys() {
  static const KeyTable<ShaveRate> keys =
      KeyTable<ShaveRate>("shave_rate",
                          "A SHAVE operation, in cycles of the CMX clock, all SHAVEs of a tile "
                          "together.")
          .Optional("startup", &ShaveRate::startup, Quantity<Cycles>(Between(0, 1e9)), "Per call.")
          .Required("cycles_per_element", &ShaveRate::cycles_per_element,
                    Number(MoreThanUpTo(0, 1e6)), "Per element of the output.");
  return keys;
}

const KeyTable<DpuRules>& RulesKeys() {
  static const KeyTable<DpuRules> keys =
      KeyTable<DpuRules>("rules", "What a DPU of this generation accepts.")
          .Optional("max_dimension", &DpuRules::max_dimension, Integer(Between(1, 1 << 24)),
                    "Largest extent of a tensor.")
          .Optional("max_kernel", &DpuRules::max_kernel, Integer(Between(1, 255)),
                    "Largest kernel extent.")
          .Optional("max_stride", &DpuRules::max_stride, Integer(Between(1, 255)),
                    "Largest stride.")
          .Optional("channel_multiple", &DpuRules::channel_multiple, Integer(Between(1, 4096)),
                    "Channels come in multiples of this.")
          .Optional("max_output_write_tiles", &DpuRules::max_output_write_tiles,
                    Integer(Between(1, 64)), "Tiles one output may be written to.")
          .Optional("weight_align", &DpuRules::weight_align, Integer(Between(1, 4096)),
                    "Elements of a filter round up to a multiple of this.")
          .Optional("depthwise_channels", &DpuRules::depthwise_channels,
                    List(Integer(Between(1, 65536)), 0, 64),
                    "Channels a depthwise or pooling workload may have; empty for any multiple.")
          .Required("operations", &DpuRules::operations, List(OperationName(), 1, 64),
                    "Operations it has.")
          .Required("isi_strategies", &DpuRules::isi_strategies, List(IsiName(), 1, 8),
                    "Ways to split a layer over tiles.");
  return keys;
}

const KeyTable<VpuSpec>& VpuSpecKeys() {
  static const KeyTable<VpuSpec> keys =
      KeyTable<VpuSpec>("vpu", "Keys of a VPU.")
          .Required("dpu_clock", &VpuSpec::dpu_clock, Quantity<Hertz>(Between(1e6, 2e10)),
                    "Clock of the DPUs; cycle counts are in it.")
          .Required("cmx_clock", &VpuSpec::cmx_clock, Quantity<Hertz>(Between(1e6, 2e10)),
                    "Clock of CMX, DMA and SHAVEs.")
          .Required("tiles", &VpuSpec::tiles, Integer(Between(1, 64)), "Tiles.")
          .Optional("dpus_per_tile", &VpuSpec::dpus_per_tile, Integer(Between(1, 64)),
                    "DPUs per tile.")
          .Optional("shaves_per_tile", &VpuSpec::shaves_per_tile, Integer(Between(1, 64)),
                    "SHAVE processors per tile.")
          .Required("dpu", &VpuSpec::dpu, Nested(DpuKeys()), "One DPU.")
          .Required("cmx", &VpuSpec::cmx, Nested(CmxKeys()), "The memory of one tile.")
          .Required("ddr", &VpuSpec::ddr, Nested(MemoryKeys()), "Off-chip memory.")
          .Optional("dma_engines", &VpuSpec::dma_engines, Integer(Between(1, 64)), "DMA engines.")
          .Required("dma", &VpuSpec::dma, Nested(DmaRatesKeys()), "Transfers by direction.")
          .Required("shave", &VpuSpec::shave, NamedTable(Nested(ShaveRateKeys()), 1),
                    "SHAVE operations by name; 'default' stands for all that are not listed.")
          .Optional("launch", &VpuSpec::launch, Nested(LaunchKeys()), "Cost of starting work.")
          .Optional("barrier", &VpuSpec::barrier, Quantity<Cycles>(Between(0, 1e6)),
                    "Cost of a barrier between dependent tasks.")
          .Optional("energy", &VpuSpec::energy, Nested(EnergyKeys()), "Energy of computing.")
          .Required("rules", &VpuSpec::rules, Nested(RulesKeys()), "What a DPU accepts.")
          .Optional("effects", &VpuSpec::effects, Nested(EffectsKeys()),
                    "Effects of the simulator's hardware variant.");
  return keys;
}

}  // namespace

const KeyTable<VpuDocument>& VpuKeys() {
  static const KeyTable<VpuDocument> keys =
      KeyTable<VpuDocument>("A VPU", "The keys of a machine file with `family: vpu`.")
          .Include(HeadKeys(), &VpuDocument::head)
          .Include(VpuSpecKeys(), &VpuDocument::spec);
  return keys;
}

}  // namespace cyclecast
