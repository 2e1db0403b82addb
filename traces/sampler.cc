// Kernels named by operators, and the choice between families; see sampler.h.
#include "traces/sampler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "traces/kernel_of_op.h"

namespace cyclecast {
namespace {

bool IsProduct(const OpKernel& kernel) {
  return kernel.op == "matmul" || kernel.op == "batched_matmul" || kernel.op == "conv2d";
}

std::int64_t* Find(OpKernel* kernel, std::string_view name) {
  for (auto& [key, value] : kernel->dims) {
    if (key == name) return &value;
  }
  return nullptr;
}

// The extents of a layer that may differ in another network: sizes, not windows and head counts.
bool MayScale(std::string_view name) {
  static const std::vector<std::string_view> kScalable = {
      "M", "K", "N", "B", "S", "H", "W", "C", "rows", "cols", "d0", "d1", "d2", "d3"};
  return std::find(kScalable.begin(), kScalable.end(), name) != kScalable.end();
}

// n follows the shape.
void UpdateElements(OpKernel* kernel) {
  std::int64_t* elements = Find(kernel, "n");
  if (elements == nullptr || Find(kernel, "d0") == nullptr) return;
  *elements = 1;
  for (const auto& [name, value] : kernel->dims) {
    if (name.size() == 2 && name[0] == 'd') *elements *= value;
  }
}

void Perturb(OpKernel* kernel, Random* random) {
  static const std::vector<double> kFactors = {0.25, 0.5, 0.75, 1.5, 2.0, 4.0};
  const bool window = Find(kernel, "R") != nullptr;
  for (auto& [name, value] : kernel->dims) {
    // S and N of a windowed op are its window and its batch.
    if (!MayScale(name) || (window && name == "S") || !random->Chance(0.35)) continue;
    double scaled = static_cast<double>(value) * random->Pick(kFactors);
    if (random->Chance(0.25)) scaled *= 0.9 + 0.2 * random->Share();
    value = std::max<std::int64_t>(1, static_cast<std::int64_t>(scaled));
  }
  // Images stay large enough for their window.
  for (const auto& [extent, size] : {std::pair{"H", "R"}, std::pair{"W", "S"}}) {
    std::int64_t* value = Find(kernel, extent);
    const std::int64_t* least = window ? Find(kernel, size) : nullptr;
    if (value != nullptr && least != nullptr) *value = std::max(*value, *least);
  }
  if (std::int64_t* groups = Find(kernel, "groups")) *groups = 1;
  UpdateElements(kernel);
}

std::vector<DType> TypesOf(const Machine& machine) {
  const PerDType& passes =
      machine.tpu() ? machine.tpu()->matrix_unit.passes : machine.vpu()->dpu.passes;
  std::vector<DType> types;
  for (const auto& [dtype, value] : passes) {
    if (value > 0) types.push_back(dtype);
  }
  if (types.empty()) types.push_back(DType::kBf16);
  return types;
}

}  // namespace

Sampler::Sampler(const Machine& machine, const std::vector<Workload>& workloads)
    : machine_(&machine), types_(TypesOf(machine)) {
  for (const Workload& workload : workloads) {
    Network network{"layer:" + workload.name(), {}};
    std::set<std::string> seen;  // repeated blocks count once
    for (OpId id = 0; id < static_cast<OpId>(workload.ops().size()); ++id) {
      const std::optional<OpKernel> kernel = KernelOf(workload, id);
      if (!kernel) continue;
      TraceRow row;
      row.kernel = *kernel;
      if (seen.insert(row.ShapeKey()).second) network.layers.push_back(*kernel);
    }
    if (!network.layers.empty()) networks_.push_back(std::move(network));
  }
}

Draw Sampler::Next(Random* random) const {
  if (machine_->tpu() != nullptr) return DrawOp(random);
  switch (random->PickWeighted({75, 12, 6, 7})) {
    case 0:
      return DrawDpu(random);
    case 1:
      return DrawDma(random);
    case 2:
      return DrawShave(random);
    default:
      return DrawOp(random);
  }
}

Draw Sampler::DrawOp(Random* random) const {
  Draw draw;
  OpKernel kernel;
  switch (random->PickWeighted({networks_.empty() ? 0.0 : 30, 35, 20, 15})) {
    case 0:
      kernel = DrawLayer(random, &draw.family);
      break;
    case 1:
      kernel = DrawSweep(random);
      draw.family = "sweep";
      break;
    case 2:
      kernel = DrawTransformer(random);
      draw.family = "transformer";
      break;
    default:
      kernel = DrawCnn(random);
      draw.family = "cnn";
  }
  kernel.dtype = DrawType(random);
  if (machine_->tpu() != nullptr) {
    // Some kernels are measured with everything on chip; only small ones fit.
    const bool simple = kernel.op == "matmul" || kernel.Dim("n").has_value();
    kernel.operands_on_chip = simple && random->Chance(0.12);
    draw.tile = DrawTile(kernel, random);
  }
  draw.kernel = std::move(kernel);
  return draw;
}

OpKernel Sampler::DrawLayer(Random* random, std::string* family) const {
  const Network& network = random->Pick(networks_);
  *family = network.family;
  OpKernel kernel = random->Pick(network.layers);
  if (random->Chance(0.75)) Perturb(&kernel, random);
  return kernel;
}

// The types most work is done in more often than the others.
DType Sampler::DrawType(Random* random) const {
  const bool tpu = machine_->tpu() != nullptr;
  std::vector<double> weights;
  for (const DType dtype : types_) {
    double weight = 1.0;
    if (dtype == (tpu ? DType::kBf16 : DType::kUint8)) weight = 6.0;
    if (dtype == DType::kFp16) weight = tpu ? 2.0 : 5.0;
    if (dtype == DType::kInt8) weight = 2.0;
    weights.push_back(weight);
  }
  return types_[random->PickWeighted(weights)];
}

// A third of the products has part of its tile pinned, in multiples of the array.
TileChoice Sampler::DrawTile(const OpKernel& kernel, Random* random) const {
  TileChoice tile;
  if (!IsProduct(kernel) || !random->Chance(0.35)) return tile;
  const MatrixUnitSpec& unit = machine_->tpu()->matrix_unit;
  const auto multiple = [&](std::int64_t step, std::int64_t most) {
    return step * random->LogBetween(1, most);
  };
  if (random->Chance(0.7)) tile.m = multiple(unit.row_align, 256);
  if (random->Chance(0.7)) tile.n = multiple(unit.columns, 16);
  if (random->Chance(0.5)) tile.k = multiple(unit.rows, 16);
  return tile;
}

}  // namespace cyclecast
