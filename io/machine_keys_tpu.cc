// Key tables of TPUs; see machine_keys.h.
#include "io/machine_keys.h"

namespace cyclecast {
namespace {

ValueType<Dataflow> DataflowType() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Dataflow::kInputStationary); ++i) {
    names.emplace_back(Name(static_cast<Dataflow>(i)));
  }
  return Choice<Dataflow>(
      std::move(names), [](std::string_view text) { return ParseDataflow(text); },
      [](const Dataflow& dataflow) { return std::string(Name(dataflow)); });
}

const KeyTable<MatrixUnitSpec>& MatrixUnitKeys() {
  static const KeyTable<MatrixUnitSpec> keys =
      KeyTable<MatrixUnitSpec>("matrix_unit", "The systolic arrays of one core.")
          .Required("rows", &MatrixUnitSpec::rows, Integer(Between(1, 65536)),
                    "Multipliers along the contraction (K) when weights are stationary.")
          .Required("columns", &MatrixUnitSpec::columns, Integer(Between(1, 65536)),
                    "Multipliers along the outputs (N) when weights are stationary.")
          .Optional("count", &MatrixUnitSpec::count, Integer(Between(1, 1024)), "Arrays per core.")
          .Optional("rows_per_cycle", &MatrixUnitSpec::rows_per_cycle,
                    Number(MoreThanUpTo(0, 1024)), "Activation rows an array accepts per cycle.")
          .Optional("dataflow", &MatrixUnitSpec::dataflow, DataflowType(),
                    "Which operand stays in the array.")
          .Optional("weight_double_buffering", &MatrixUnitSpec::weight_double_buffering, Boolean(),
                    "Whether the next weights load while the present ones are used.")
          .Optional("weight_rows_per_cycle", &MatrixUnitSpec::weight_rows_per_cycle,
                    Integer(Between(1, 65536)), "Rows of weights that enter an array per cycle.")
          .Optional("passes", &MatrixUnitSpec::passes, PerElementType(Number(MoreThanUpTo(0, 256))),
                    "Passes through the array a product takes by element type: 1 is the native "
                    "rate, 0.5 twice that. A type left out takes the value of the next wider one "
                    "of its kind, else 1.")
          .Optional("row_align", &MatrixUnitSpec::row_align, Integer(Between(1, 65536)),
                    "Rows of activations (M) are padded to a multiple of this.")
          .Optional("row_groups", &MatrixUnitSpec::row_groups, Integer(Between(1, 64)),
                    "Groups of rows that work on vectors of their own where the contraction fits "
                    "one group.")
          .Optional("tile_overhead", &MatrixUnitSpec::tile_overhead,
                    Quantity<Seconds>(Between(0, 1e-3)),
                    "Time the matrix unit spends per tile beside its products where a kernel has "
                    "several: its loop, draining before the next tile.");
  return keys;
}

const KeyTable<VectorUnitSpec>& VectorUnitKeys() {
  static const KeyTable<VectorUnitSpec> keys =
      KeyTable<VectorUnitSpec>("vector_unit", "The vector unit of one core.")
          .Required("lanes", &VectorUnitSpec::lanes, Integer(Between(1, 65536)),
                    "Lanes: elements of the innermost axis side by side.")
          .Optional("sublanes", &VectorUnitSpec::sublanes, Integer(Between(1, 65536)),
                    "Elements per lane.")
          .Optional("alus", &VectorUnitSpec::alus, Number(MoreThanUpTo(0, 256)),
                    "Operations per lane, sublane and cycle.")
          .Optional("transcendental_cycles", &VectorUnitSpec::transcendental_cycles,
                    Number(Between(0, 1000)), "ALU slots one exp, log, root or reciprocal takes.")
          .Optional("reduce_cycles", &VectorUnitSpec::reduce_cycles, Number(Between(0, 1000)),
                    "Cycles per vector register a step across lanes adds.")
          .Optional("latency", &VectorUnitSpec::latency, Quantity<Cycles>(Between(0, 1e6)),
                    "Cycles from the issue of an operation to its result.")
          .Optional("native_bits", &VectorUnitSpec::native_bits, Integer(Between(1, 64)),
                    "Width of the elements the ALUs work at.")
          .Optional("pack_slots", &VectorUnitSpec::pack_slots,
                    PerElementType(Number(Between(0, 1000))),
                    "ALU slots per vector register that packing results of this type takes, where "
                    "it is narrower than native_bits; 0 for types that are not given.");
  return keys;
}

const KeyTable<DmaSpec>& DmaKeys() {
  static const KeyTable<DmaSpec> keys =
      KeyTable<DmaSpec>("dma", "Engines that move data on and off the chip.")
          .Optional("engines", &DmaSpec::engines, Integer(Between(1, 1024)),
                    "How many each core has; from two on, one of them stores and the others load.")
          .Required("bandwidth", &DmaSpec::bandwidth,
                    Quantity<BytesPerSecond>(MoreThanUpTo(0, 1e16)), "Rate of one engine.")
          .Optional("issue", &DmaSpec::issue, Quantity<Cycles>(Between(0, 1e6)),
                    "Time an engine takes per descriptor before data flows.")
          .Optional("descriptor_row", &DmaSpec::descriptor_row,
                    Quantity<Bytes>(Between(0, 1 << 20)),
                    "Contiguous run below which a transfer takes the engine as long as this; 0 B "
                    "for no such limit.");
  return keys;
}

const KeyTable<StagingSpec>& StagingKeys() {
  static const KeyTable<StagingSpec> keys =
      KeyTable<StagingSpec>("staging",
                            "What the compiler moves as a whole, not tile by tile under the work.")
          .Optional("tiles", &StagingSpec::tiles, Quantity<Bytes>(Between(0, 1LL << 40)),
                    "Most that the tiles of a matrix kernel take of VMEM where the compiler "
                    "chooses them, not counting operands it holds whole; 0 B for all there is.")
          .WithDefault("0 B")
          .Optional("operands", &StagingSpec::operands, Number(Between(0, 1)),
                    "Operands of a matrix kernel are brought to VMEM before its first product when "
                    "they take at most this share of it; 0 for never.")
          .Optional(
              "results", &StagingSpec::results, Boolean(),
              "Whether the result, where it fits too, leaves after the last product, and vector "
              "kernels that fit load, compute and store one after the other.")
          .Optional("norm_readings", &StagingSpec::norm_readings, Integer(Between(1, 8)),
                    "How often a softmax or norm that stands alone reads its operand: 1 where one "
                    "kernel does it all, 3 where each of two statistics and the result are kernels "
                    "of their own.");
  return keys;
}

const KeyTable<InterconnectSpec>& InterconnectKeys() {
  static const KeyTable<InterconnectSpec> keys =
      KeyTable<InterconnectSpec>("interconnect", "Links to other chips of the same kind.")
          .Required("link_bandwidth", &InterconnectSpec::link_bandwidth,
                    Quantity<BytesPerSecond>(MoreThanUpTo(0, 1e15)), "Of one link, one way.")
          .Required("links", &InterconnectSpec::links, Integer(Between(1, 64)), "Links per device.")
          .Optional("hop_latency", &InterconnectSpec::hop_latency,
                    Quantity<Seconds>(Between(0, 1e-2)), "Time a message takes over one link.");
  return keys;
}

const KeyTable<TpuSpec>& TpuSpecKeys() {
  static const KeyTable<TpuSpec> keys =
      KeyTable<TpuSpec>("tpu", "Keys of a TPU.")
          .Required("clock", &TpuSpec::clock, Quantity<Hertz>(Between(1e6, 2e10)),
                    "Clock of the core; cycle counts are in it.")
          .Optional("cores", &TpuSpec::cores, Integer(Between(1, 1024)),
                    "Cores per logical device; more than one share each kernel (megacore).")
          .Required("matrix_unit", &TpuSpec::matrix_unit, Nested(MatrixUnitKeys()),
                    "The systolic arrays of one core.")
          .Required("vector_unit", &TpuSpec::vector_unit, Nested(VectorUnitKeys()),
                    "The vector unit of one core.")
          .Required("vmem", &TpuSpec::vmem, Nested(MemoryKeys()),
                    "Vector memory or unified buffer of one core.")
          .Optional("cmem", &TpuSpec::cmem, Nested(MemoryKeys()),
                    "Common memory, on the chip between VMEM and DRAM.")
          .Required("dram", &TpuSpec::dram, Nested(MemoryKeys()),
                    "Off-chip memory of the device: HBM or DDR, or the link to the host's memory.")
          .Required("dma", &TpuSpec::dma, Nested(DmaKeys()), "DMA engines.")
          .Optional("staging", &TpuSpec::staging, Nested(StagingKeys()),
                    "Operands and results that are moved as a whole.")
          .Optional("launch", &TpuSpec::launch, Nested(LaunchKeys()), "Cost of starting work.")
          .Optional("interconnect", &TpuSpec::interconnect, Nested(InterconnectKeys()),
                    "Links to other chips.")
          .WithDefault("none")
          .Optional("energy", &TpuSpec::energy, Nested(EnergyKeys()), "Energy of computing.")
          .Optional("effects", &TpuSpec::effects, Nested(EffectsKeys()),
                    "Effects of the simulator's hardware variant.");
  return keys;
}

}  // namespace

const KeyTable<TpuDocument>& TpuKeys() {
  static const KeyTable<TpuDocument> keys =
      KeyTable<TpuDocument>("A TPU", "The keys of a machine file with `family: tpu`.")
          .Include(HeadKeys(), &TpuDocument::head)
          .Include(TpuSpecKeys(), &TpuDocument::spec);
  return keys;
}

}  // namespace cyclecast
