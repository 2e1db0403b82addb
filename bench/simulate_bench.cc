// Speed of the simulator: events and events per second, beside the bare SystemC kernel's.
#include <benchmark/benchmark.h>

#include <stdexcept>
#include <systemc>

#include "bench/nests.h"
#include "sim/simulated_model.h"

namespace {

using namespace cyclecast;  // NOLINT: a program, not a header

void Simulate(benchmark::State& state, const Schedule& schedule, const SimulatedOptions& options) {
  const std::unique_ptr<CostModel> model = MakeSimulatedModel(options);
  Estimate estimate;
  for (auto _ : state) {
    Result<Estimate> result = model->estimate(schedule);
    if (!result) throw std::runtime_error(result.error().Text());
    estimate = std::move(result).value();
  }
  const auto events = static_cast<double>(estimate.events);
  state.counters["events"] = events;
  state.counters["events_per_s"] =
      benchmark::Counter(events, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["cycles_per_s"] = benchmark::Counter(
      static_cast<double>(estimate.total.value()), benchmark::Counter::kIsIterationInvariantRate);
}

// Product of 4096^3 or 16384^3 in tiles of 512^3: the trip counts must not matter.
void BM_Product(benchmark::State& state) {
  const std::int64_t tiles = state.range(0) / 512;
  SimulatedOptions options;
  options.exact = state.range(1) != 0;
  Simulate(state, bench::Chain({bench::Product(tiles, tiles, tiles)}), options);
}
BENCHMARK(BM_Product)
    ->ArgNames({"extent", "exact"})
    ->Args({4096, 0})
    ->Args({16384, 0})
    ->Args({4096, 1})
    ->Unit(benchmark::kMicrosecond);

// One kernel of one task: what an estimate costs at least.
void BM_OneTask(benchmark::State& state) {
  Kernel kernel;
  kernel.loops = {{"root", 1, false, {TaskItem(0)}}};
  kernel.tasks = {bench::MakeTask(TaskKind::kMatrix, 4, 100, {}, {})};
  Simulate(state, bench::Chain({kernel}), {});
}
BENCHMARK(BM_OneTask)->Unit(benchmark::kMicrosecond);

void BM_Network(benchmark::State& state) {
  SimulatedOptions options;
  options.exact = state.range(0) != 0;
  options.hardware_effects = state.range(1) != 0;
  Simulate(state, bench::Network(), options);
}
BENCHMARK(BM_Network)
    ->ArgNames({"exact", "effects"})
    ->Args({0, 0})
    ->Args({1, 0})
    ->Args({0, 1})
    ->Unit(benchmark::kMillisecond);

// The bare kernel: `processes` methods that do nothing but come back some cycles later.
class Ticker : public sc_core::sc_module {
 public:
  explicit Ticker(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Ticker);
    SC_METHOD(OnTick);
    sensitive << tick;
    dont_initialize();
  }
  void OnTick() {
    if (--left > 0)
      tick.notify(sc_core::sc_time::from_value(period + static_cast<unsigned>(left % 7)));
  }
  sc_core::sc_event tick;
  std::int64_t left = 0;
  unsigned period = 100;  // different for each, so that few ticks coincide
};

void BM_BareSystemC(benchmark::State& state) {
  static std::vector<std::unique_ptr<Ticker>>* const tickers = [] {
    auto* made = new std::vector<std::unique_ptr<Ticker>>;
    for (int i = 0; i < 20; ++i) {
      made->push_back(std::make_unique<Ticker>(("ticker" + std::to_string(i)).c_str()));
      made->back()->period += 37 * static_cast<unsigned>(i);
    }
    return made;
  }();
  constexpr std::int64_t kTicks = 1000;
  for (auto _ : state) {
    for (const auto& ticker : *tickers) {
      ticker->left = kTicks;
      ticker->tick.notify(sc_core::SC_ZERO_TIME);
    }
    sc_core::sc_start();
  }
  state.counters["events_per_s"] =
      benchmark::Counter(static_cast<double>(kTicks) * static_cast<double>(tickers->size()),
                         benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

// SystemC allows one elaboration per process, the simulator's: the bare kernel is measured in a
// process of its own, when asked for by its name: --benchmark_filter=BareSystemC.
int main(int argc, char** argv) {
  bool bare = false;
  for (int i = 1; i < argc; ++i) {
    bare = bare || std::string(argv[i]).find("BareSystemC") != std::string::npos;
  }
  if (bare) benchmark::RegisterBenchmark("BM_BareSystemC", BM_BareSystemC);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
