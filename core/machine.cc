// Names, cross-field checks and derived peaks of machines; see machine.h.
#include "core/machine.h"

#include <algorithm>

namespace cyclecast {
namespace {

constexpr std::array<std::string_view, 3> kDataflows = {"weight_stationary", "output_stationary",
                                                        "input_stationary"};
constexpr std::array<std::string_view, 7> kTechnologies = {"sram",  "edram", "hbm",      "ddr",
                                                           "lpddr", "nvm",   "host_link"};
constexpr std::array<std::string_view, 4> kDirections = {"DDR2CMX", "CMX2DDR", "CMX2CMX",
                                                         "DDR2DDR"};

template <class Enum, std::size_t N>
std::optional<Enum> Parse(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

class Findings {
 public:
  void Require(bool holds, std::string message) {
    if (!holds) found_.push_back({SourcePos{}, std::move(message)});
  }
  Status Take() && {
    if (found_.empty()) return Unit{};
    return Error(std::move(found_));
  }

 private:
  std::vector<Diagnostic> found_;
};

void CheckMemory(const std::string& name, const MemorySpec& memory, Findings* findings) {
  findings->Require(memory.burst <= memory.capacity || memory.capacity.value() == 0,
                    "'" + name + ".burst' is larger than '" + name + ".capacity'");
  findings->Require(memory.efficiency > 0 && memory.efficiency <= 1,
                    "'" + name + ".efficiency' must be above 0 and at most 1");
}

void Check(const TpuSpec& tpu, Findings* findings) {
  CheckMemory("vmem", tpu.vmem, findings);
  CheckMemory("dram", tpu.dram, findings);
  if (tpu.cmem) CheckMemory("cmem", *tpu.cmem, findings);
  const MatrixUnitSpec& mxu = tpu.matrix_unit;
  const std::int64_t weights = mxu.rows * mxu.columns;
  findings->Require(weights <= tpu.vmem.capacity.value(),
                    "'vmem.capacity' (" + std::to_string(tpu.vmem.capacity.value()) +
                        " B) does not hold one weight tile of 'matrix_unit.rows' x 'columns' (" +
                        std::to_string(weights) + " B at 8 bits)");
  findings->Require(mxu.weight_rows_per_cycle <= mxu.rows,
                    "'matrix_unit.weight_rows_per_cycle' exceeds 'matrix_unit.rows'");
  if (tpu.cmem) {
    findings->Require(tpu.cmem->capacity >= tpu.vmem.capacity,
                      "'cmem.capacity' is smaller than 'vmem.capacity': CMEM is the larger level");
  }
}

void Check(const VpuSpec& vpu, Findings* findings) {
  CheckMemory("cmx.memory", vpu.cmx.memory, findings);
  CheckMemory("ddr", vpu.ddr, findings);
  findings->Require(vpu.cmx.page <= vpu.cmx.memory.capacity,
                    "'cmx.page' is larger than 'cmx.memory.capacity'");
  findings->Require(!vpu.dpu.modes.empty(), "'dpu.modes' needs at least one MPE mode");
  findings->Require(vpu.shave.count("default") == 1,
                    "'shave' needs a 'default' entry for operations it does not list");
  for (const MpeMode& mode : vpu.dpu.modes) {
    findings->Require(
        std::count_if(vpu.dpu.modes.begin(), vpu.dpu.modes.end(),
                      [&](const MpeMode& other) { return other.name == mode.name; }) == 1,
        "'dpu.modes' names '" + mode.name + "' twice");
  }
  for (std::int64_t channels : vpu.rules.depthwise_channels) {
    findings->Require(channels % vpu.rules.channel_multiple == 0,
                      "'rules.depthwise_channels' holds " + std::to_string(channels) +
                          ", not a multiple of 'rules.channel_multiple'");
  }
}

}  // namespace

std::string_view Name(Dataflow dataflow) { return kDataflows[static_cast<std::size_t>(dataflow)]; }
std::optional<Dataflow> ParseDataflow(std::string_view text) {
  return Parse<Dataflow>(kDataflows, text);
}
std::string_view Name(MemoryTechnology technology) {
  return kTechnologies[static_cast<std::size_t>(technology)];
}
std::optional<MemoryTechnology> ParseMemoryTechnology(std::string_view text) {
  return Parse<MemoryTechnology>(kTechnologies, text);
}
std::string_view Name(DmaDirection direction) {
  return kDirections[static_cast<std::size_t>(direction)];
}
std::optional<DmaDirection> ParseDmaDirection(std::string_view text) {
  return Parse<DmaDirection>(kDirections, text);
}

Status Validate(const Machine& machine) {
  Findings findings;
  std::visit([&](const auto& spec) { Check(spec, &findings); }, machine.spec);
  return std::move(findings).Take();
}

double ForDType(const PerDType& table, DType dtype) {
  if (const auto found = table.find(dtype); found != table.end()) return found->second;
  const auto lookup = [&](DType other) {
    const auto found = table.find(other);
    return found == table.end() ? 0.0 : found->second;
  };
  double value = 0.0;
  switch (dtype) {
    case DType::kInt4:
    case DType::kUint8:
      value = lookup(DType::kInt8);
      break;
    case DType::kInt8:
      value = lookup(DType::kUint8);
      break;
    case DType::kFp8:
      value = lookup(DType::kInt8);
      break;
    case DType::kFp16:
      value = lookup(DType::kBf16);
      break;
    case DType::kInt16:
    case DType::kBf16:
      value = lookup(DType::kFp16);
      break;
    case DType::kInt32:
      value = lookup(DType::kFp32);
      break;
    case DType::kFp32:
      break;
  }
  return value > 0.0 ? value : 1.0;
}

double PeakMacsPerCycle(const Machine& machine, DType dtype) {
  if (const TpuSpec* tpu = machine.tpu()) {
    const MatrixUnitSpec& mxu = tpu->matrix_unit;
    return static_cast<double>(tpu->cores * mxu.count * mxu.rows * mxu.columns) *
           mxu.rows_per_cycle / ForDType(mxu.passes, dtype);
  }
  const VpuSpec& vpu = *machine.vpu();
  return static_cast<double>(vpu.tiles * vpu.dpus_per_tile * vpu.dpu.macs_per_cycle) /
         ForDType(vpu.dpu.passes, dtype);
}

BytesPerCycle PeakDramRate(const Machine& machine) {
  const MemorySpec& dram = machine.tpu() ? machine.tpu()->dram : machine.vpu()->ddr;
  return PerCycle(std::max(dram.read_bandwidth, dram.write_bandwidth), machine.clock());
}

double PeakVectorOpsPerCycle(const Machine& machine) {
  if (const TpuSpec* tpu = machine.tpu()) {
    const VectorUnitSpec& unit = tpu->vector_unit;
    return static_cast<double>(tpu->cores * unit.lanes * unit.sublanes) * unit.alus;
  }
  const VpuSpec& vpu = *machine.vpu();
  const double rate = vpu.shave.at("default").cycles_per_element;
  return rate > 0 ? vpu.cmx_clock / vpu.dpu_clock / rate : 1.0;
}

}  // namespace cyclecast
