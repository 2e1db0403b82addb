// See fixtures.h.
#include "tests/learned/fixtures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "learned/hash.h"

namespace cyclecast::test {
namespace {

std::shared_ptr<const Platform> TinyPlatform() {
  auto platform = std::make_shared<Platform>();
  platform->machine = "tiny";
  platform->clock = Hertz(1e9);
  platform->resources = {{"seq", ResourceKind::kSequencer},
                         {"mxu", ResourceKind::kMatrixUnit},
                         {"dma.load", ResourceKind::kDma},
                         {"dma.store", ResourceKind::kDma}};
  platform->memories = {{"dram", MemoryLevel::kOffChip, BytesPerCycle(16), 1.0}};
  platform->peak_macs_per_cycle = {{DType::kBf16, 64.0}};
  return platform;
}

Task MakeTask(std::string name, TaskKind kind, ResourceId resource, TaskCost cost) {
  Task task;
  task.name = std::move(name);
  task.kind = kind;
  task.resource = resource;
  task.costs = {cost};
  if (kind != TaskKind::kMatrix) {
    task.memory = 0;
    task.rate = BytesPerCycle(16);
  }
  return task;
}

TaskCost Transfer(std::int64_t bytes) {
  TaskCost cost;
  cost.bytes = Bytes(bytes);
  cost.overhead = Cycles(2);
  cost.occupancy = cost.overhead + CeilCycles(cost.bytes, BytesPerCycle(16));
  return cost;
}

Kernel TinyKernel(std::int64_t m, std::int64_t n, std::int64_t k) {
  Kernel kernel;
  kernel.name = "product";
  kernel.launch = Cycles(10);
  const std::int64_t tiles = CeilDiv(m, 8) * CeilDiv(n, 8);
  kernel.loops = {Loop{"root", 1, false, {LoopItem(1)}}, Loop{"tile", tiles, false, {}}};
  TaskCost product;
  product.occupancy = Cycles(k);
  product.useful = Cycles(k * m * n / (tiles * 64));
  kernel.tasks = {MakeTask("load", TaskKind::kLoad, 2, Transfer(2 * 16 * k)),
                  MakeTask("multiply", TaskKind::kMatrix, 1, product),
                  MakeTask("store", TaskKind::kStore, 3, Transfer(2 * 64))};
  kernel.loops[1].body = {TaskItem(0), TaskItem(1), TaskItem(2)};
  kernel.buffers = {{"in", 1, 2, Bytes(2 * 16 * k)}, {"out", 1, 2, Bytes(2 * 64)}};
  kernel.tasks[0].writes = {0};
  kernel.tasks[1].reads = {0};
  kernel.tasks[1].writes = {1};
  kernel.tasks[2].reads = {1};
  KernelWork& work = kernel.work;
  work.gemm = {1, m, k, n, true};
  work.tile_m = work.tile_n = 8;
  work.macs = Macs(m * n * k);
  work.padded_macs = Macs(tiles * 64 * k);
  work.input_bytes = Bytes(2 * m * k);
  work.weight_bytes = Bytes(2 * k * n);
  work.output_bytes = Bytes(2 * m * n);
  work.footprint = Bytes(4 * (16 * k + 64));
  work.capacity = Bytes(1 << 20);
  return kernel;
}

class SerialModel final : public CostModel {
 public:
  explicit SerialModel(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Result<Estimate> estimate(const Schedule& schedule) const override {
    Estimate estimate;
    estimate.model = name_;
    estimate.workload = schedule.workload;
    estimate.machine = schedule.platform->machine;
    estimate.clock = schedule.platform->clock;
    estimate.dispatch = schedule.first_launch;
    estimate.total = estimate.dispatch;
    Cycles multiplying;
    for (std::size_t i = 0; i < schedule.kernels.size(); ++i) {
      const Kernel& kernel = schedule.kernels[i];
      const KernelIndex index(kernel);
      KernelEstimate one = StartKernelEstimate(schedule, kernel);
      one.attribution[Category::kLaunch] = kernel.launch;
      one.attribution[Category::kCompute] = index.Busy(1);
      one.attribution[Category::kExposedMemory] = index.Busy(0) + index.Busy(2);
      one.cycles = one.attribution.Sum();
      one.start = estimate.total;
      estimate.total += one.cycles;
      one.end = estimate.total;
      multiplying += index.Busy(1);
      estimate.timeline.push_back({1, static_cast<KernelId>(i), 1, one.start, one.cycles});
      FinishKernelEstimate(schedule, kernel, &one);
      estimate.kernels.push_back(one);
    }
    estimate.resources = {{"mxu", multiplying}};
    FinishEstimate(&estimate);
    return estimate;
  }

 private:
  std::string name_;
};

}  // namespace

std::size_t ColumnNamed(const std::string& name) {
  const std::vector<FeatureInfo>& infos = DescribeFeatures();
  for (std::size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name) return i;
  throw std::logic_error("no feature " + name);
}

Schedule TinyChain(int kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  Schedule schedule;
  schedule.workload = "products";
  schedule.platform = TinyPlatform();
  for (int i = 0; i < kernels; ++i) {
    schedule.kernels.push_back(TinyKernel(m, n, k));
    if (i > 0) schedule.kernels.back().after = {static_cast<KernelId>(i - 1)};
  }
  CheckSchedule(schedule);
  return schedule;
}

Schedule TinySchedule(std::int64_t m, std::int64_t n, std::int64_t k) {
  return TinyChain(1, m, n, k);
}

std::unique_ptr<CostModel> MakeSerialModel(std::string name) {
  return std::make_unique<SerialModel>(std::move(name));
}

double Uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(MixBits(MixBits(seed) + index) >> 11) * 0x1p-53;
}

double KnownFactor(double utilisation, double fill) {
  return std::exp(0.6 + (utilisation > 0.5 ? 0.8 : 0.0) + 0.5 * fill);
}

std::vector<TraceSample> KnownSamples(int rows, double noise, std::uint64_t seed) {
  std::vector<TraceSample> samples;
  for (int i = 0; i < rows; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double u = Uniform(seed, 8 * at), f = Uniform(seed, 8 * at + 1);
    KernelSample kernel;
    kernel.features.assign(DescribeFeatures().size(), 0.0F);
    kernel.features[ColumnNamed("utilisation")] = static_cast<float>(u);
    kernel.features[ColumnNamed("m_fill_128")] = static_cast<float>(f);
    kernel.features[ColumnNamed("is_matmul")] = 1.0F;
    kernel.base_us = 1.0 + 10.0 * Uniform(seed, 8 * at + 2);
    kernel.bound_us = 0.5 * kernel.base_us;
    // The sum of three uniform numbers has variance 1/4: twice the centred sum has variance 1.
    const double normal = 2.0 * (Uniform(seed, 8 * at + 3) + Uniform(seed, 8 * at + 4) +
                                 Uniform(seed, 8 * at + 5) - 1.5);
    TraceSample sample;
    OpKernel op;
    op.op = "matmul";
    op.dims = {{"M", 1 + i / 3}, {"K", 64}, {"N", 64}};
    sample.row.kernel = op;
    sample.row.device = "TINY";
    sample.row.source = "known";
    sample.row.columns = {{"network", "net" + std::to_string(i % 7)}};
    sample.row.measured_us = kernel.base_us * KnownFactor(u, f) * std::exp(noise * normal);
    sample.machine = "tiny";
    sample.label = "row " + std::to_string(i);
    sample.clock = Hertz(1e9);
    sample.simulated.kernels = {kernel};
    samples.push_back(std::move(sample));
  }
  return samples;
}

TrainOptions QuickOptions() {
  TrainOptions options;
  options.features = FeatureSet::kAll;
  options.huber_delta = 0.1;
  options.params = {{"trees", "60"}, {"max_depth", "4"}, {"learning_rate", "0.15"}};
  options.members = 3;
  return options;
}

ResidualModel KnownModel(int rows, double noise) {
  Result<ResidualModel> model = TrainResidual(KnownSamples(rows, noise), QuickOptions());
  if (!model.ok()) throw std::logic_error(model.error().Text());
  return *std::move(model);
}

}  // namespace cyclecast::test
