// Speed of features, single and batched prediction, loading and training of the learned correction.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "learned/features.h"
#include "learned/hash.h"
#include "learned/residual.h"
#include "learned/train.h"

namespace {

using namespace cyclecast;  // NOLINT: a program, not a header

constexpr int kRows = 2000;

double Uniform(std::uint64_t index) { return static_cast<double>(MixBits(index) >> 11) * 0x1p-53; }

// A tiled product with a load, a multiplication and a store per tile.
Schedule ProductSchedule() {
  auto platform = std::make_shared<Platform>();
  platform->machine = "bench";
  platform->clock = Hertz(1e9);
  platform->resources = {{"seq", ResourceKind::kSequencer},
                         {"mxu", ResourceKind::kMatrixUnit},
                         {"dma.load", ResourceKind::kDma},
                         {"dma.store", ResourceKind::kDma}};
  platform->memories = {{"dram", MemoryLevel::kOffChip, BytesPerCycle(1000), 1.0}};
  platform->peak_macs_per_cycle = {{DType::kBf16, 16384.0}};
  Kernel kernel;
  kernel.name = "product";
  kernel.loops = {Loop{"root", 1, false, {LoopItem(1)}},
                  Loop{"m", 8, false, {LoopItem(2), TaskItem(2)}},
                  Loop{"k", 4, true, {TaskItem(0), TaskItem(1)}}};
  const auto task = [](TaskKind kind, ResourceId resource, std::int64_t cycles) {
    Task t;
    t.name = "task";
    t.kind = kind;
    t.resource = resource;
    TaskCost cost;
    cost.occupancy = Cycles(cycles);
    if (kind != TaskKind::kMatrix) {
      t.memory = 0;
      cost.bytes = Bytes(1000 * cycles);
    }
    t.costs = {cost};
    return t;
  };
  kernel.tasks = {task(TaskKind::kLoad, 2, 100), task(TaskKind::kMatrix, 1, 150),
                  task(TaskKind::kStore, 3, 40)};
  for (const int i : {0, 1}) kernel.tasks[static_cast<std::size_t>(i)].costs.resize(2);
  kernel.work.gemm = {1, 1024, 512, 256, true};
  kernel.work.macs = kernel.work.padded_macs = Macs(1024 * 512 * 256);
  kernel.work.capacity = Bytes(1 << 24);
  Schedule schedule;
  schedule.platform = platform;
  schedule.kernels = {kernel};
  return schedule;
}

Estimate ProductEstimate(const Schedule& schedule) {
  Estimate estimate;
  KernelEstimate kernel = StartKernelEstimate(schedule, schedule.kernels[0]);
  kernel.attribution[Category::kCompute] = Cycles(4800);
  kernel.attribution[Category::kExposedMemory] = Cycles(400);
  kernel.cycles = Cycles(5200);
  FinishKernelEstimate(schedule, schedule.kernels[0], &kernel);
  estimate.kernels = {kernel};
  return estimate;
}

// Rows with forty features that vary and a label that depends on four of them.
std::vector<TraceSample> RandomSamples(int rows) {
  std::vector<TraceSample> samples(static_cast<std::size_t>(rows));
  std::uint64_t draw = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    KernelSample kernel;
    kernel.features.assign(DescribeFeatures().size(), 0.0F);
    for (std::size_t f = 0; f < 40; ++f) kernel.features[f] = static_cast<float>(Uniform(++draw));
    const std::vector<float>& x = kernel.features;
    kernel.base_us = 10.0;
    samples[i].row.measured_us =
        10.0 * (1.0 + static_cast<double>(x[0] * x[1]) + (x[2] > 0.5F ? 0.5 : 0.0)) *
        (0.98 + 0.04 * Uniform(++draw));
    OpKernel op;
    op.op = "matmul";
    op.dims = {{"M", static_cast<std::int64_t>(i)}};
    samples[i].row.kernel = op;
    samples[i].machine = "bench";
    samples[i].simulated.kernels = {kernel};
  }
  return samples;
}

const std::vector<TraceSample>& Samples() {
  static const std::vector<TraceSample> kSamples = RandomSamples(kRows);
  return kSamples;
}

const ResidualModel& Model() {
  static const ResidualModel kModel = [] {
    Result<ResidualModel> model = TrainResidual(Samples(), TrainOptions{});
    if (!model.ok()) throw std::runtime_error(model.error().Text());
    return *std::move(model);
  }();
  return kModel;
}

void BM_ExtractFeatures(benchmark::State& state) {
  const Schedule schedule = ProductSchedule();
  const Estimate estimate = ProductEstimate(schedule);
  std::vector<float> features;
  for (auto _ : state) {
    ExtractFeatures(schedule, schedule.kernels[0], estimate.kernels[0], &features);
    benchmark::DoNotOptimize(features.data());
  }
}
BENCHMARK(BM_ExtractFeatures);

// One kernel: ensemble, spread, range checks, interval.
void BM_CorrectKernel(benchmark::State& state) {
  const ResidualModel& model = Model();
  std::size_t row = 0;
  for (auto _ : state) {
    const std::vector<float>& features = Samples()[row].simulated.kernels[0].features;
    benchmark::DoNotOptimize(model.Correct(features, OpClass::kMatmul, "bench"));
    row = (row + 1) % kRows;
  }
  double trees = 0;
  for (const Forest& member : model.members()) trees += static_cast<double>(member.trees());
  state.counters["trees"] = trees;
}
BENCHMARK(BM_CorrectKernel);

std::vector<float> DenseRows(std::size_t width) {
  std::vector<float> rows;
  for (const TraceSample& sample : Samples()) {
    const std::vector<float>& features = sample.simulated.kernels[0].features;
    rows.insert(rows.end(), features.begin(),
                features.begin() + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

void BM_ForestBatch(benchmark::State& state) {
  const Forest& forest = Model().members().front();
  const std::vector<float> rows = DenseRows(forest.columns());
  std::vector<float> sums(kRows);
  for (auto _ : state) {
    forest.Predict(rows.data(), kRows, forest.columns(), sums.data());
    benchmark::DoNotOptimize(sums.data());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_ForestBatch);

// The same trees by XGBoost, as many rows at a time as the argument says.
void BM_XgboostPredict(benchmark::State& state) {
  const Booster booster = Model().LoadBooster(0).value();
  const std::vector<float> rows = DenseRows(booster.columns());
  const auto count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(booster.Predict({rows.data(), count, booster.columns()}).value());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_XgboostPredict)->Arg(1)->Arg(kRows);

void BM_LoadModel(benchmark::State& state) {
  const std::string bytes = Model().Bytes();
  for (auto _ : state)
    benchmark::DoNotOptimize(ResidualModel::FromBytes(bytes, "bench").value().members().size());
  state.counters["bytes"] = static_cast<double>(bytes.size());
}
BENCHMARK(BM_LoadModel)->Unit(benchmark::kMillisecond);

void BM_Train(benchmark::State& state) {
  const std::vector<TraceSample> samples = RandomSamples(static_cast<int>(state.range(0)));
  TrainOptions options;
  options.threads = 2;
  for (auto _ : state)
    benchmark::DoNotOptimize(TrainResidual(samples, options).value().members().size());
}
BENCHMARK(BM_Train)->Arg(1000)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

}  // namespace
