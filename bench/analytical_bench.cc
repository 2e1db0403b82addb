// Speed of the analytical model: microseconds per kernel, whatever the trip counts.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "analytical/analytical_model.h"
#include "bench/nests.h"

namespace {

using namespace cyclecast;  // NOLINT: a program, not a header

void Analyse(benchmark::State& state, const Schedule& schedule) {
  const std::unique_ptr<CostModel> model = MakeAnalyticalModel();
  for (auto _ : state) {
    Result<Estimate> result = model->estimate(schedule);
    if (!result) throw std::runtime_error(result.error().Text());
    benchmark::DoNotOptimize(result);
  }
  state.counters["kernels_per_s"] = benchmark::Counter(
      static_cast<double>(schedule.kernels.size()), benchmark::Counter::kIsIterationInvariantRate);
}

void BM_Product(benchmark::State& state) {
  const std::int64_t tiles = state.range(0) / 512;
  Analyse(state, bench::Chain({bench::Product(tiles, tiles, tiles)}));
}
BENCHMARK(BM_Product)->ArgName("extent")->Arg(4096)->Arg(16384)->Unit(benchmark::kMicrosecond);

void BM_Network(benchmark::State& state) { Analyse(state, bench::Network()); }
BENCHMARK(BM_Network)->Unit(benchmark::kMicrosecond);

}  // namespace
