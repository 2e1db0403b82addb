// The closed forms the tile searches minimise against the analytical model's walk over the nest.
#include <gtest/gtest.h>

#include <random>

#include "analytical/analytical_model.h"
#include "mapping/tpu_gemm.h"
#include "mapping/tpu_stream.h"
#include "tests/support/machines.h"

namespace cyclecast {
namespace {

class TpuAgreement : public ::testing::Test {
 protected:
  std::int64_t Pick(std::initializer_list<std::int64_t> from) {
    return *(from.begin() + static_cast<std::ptrdiff_t>(random_() % from.size()));
  }
  void RandomMachine() {
    TpuSpec& spec = std::get<TpuSpec>(machine_.spec);
    spec.dram.latency = Seconds(static_cast<double>(Pick({0, 0, 5, 40})) * 1e-9);
    spec.dma.issue = Cycles(Pick({0, 0, 2}));
    spec.dma.engines = Pick({1, 2, 3});
    spec.dma.bandwidth = BytesPerSecond(static_cast<double>(Pick({4, 8, 16})) * 1e9);
    spec.vector_unit.latency = Cycles(Pick({0, 2}));
  }
  Cycles Walked(Kernel kernel) const {
    Schedule schedule;
    schedule.platform = MakeTpuPlatform(machine_);
    schedule.kernels.push_back(std::move(kernel));
    const Result<Estimate> estimate = MakeAnalyticalModel()->estimate(schedule);
    EXPECT_TRUE(estimate.ok());
    return estimate->total;
  }

  std::mt19937 random_{3};
  Machine machine_ = testing::TinyTpu();
  MapOptions options_;
};

TEST_F(TpuAgreement, UniformMatrixNestsAgreeExactly) {
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    RandomMachine();
    const TpuContext context(machine_, options_);
    GemmProblem problem;
    problem.m = Pick({4, 8, 32, 64});
    problem.n = Pick({4, 8, 32});
    problem.k = Pick({4, 16, 64});
    problem.budget = Bytes(1 << 20);
    if (Pick({0, 1}) == 1) problem.epilogue.ops.simple = static_cast<double>(Pick({1, 4, 30}));
    if (Pick({0, 3}) == 0) problem.lhs = Place::kVmem;
    if (Pick({0, 3}) == 0) problem.out = Place::kVmem;
    GemmTiling tiling;
    tiling.tile_m = Pick({4, 8, 16});
    tiling.tile_n = Pick({4, 8});
    tiling.tile_k = Pick({4, 8, 16});
    tiling.n_outside = Pick({0, 1}) == 1;
    if (problem.m % tiling.tile_m != 0 || problem.n % tiling.tile_n != 0 ||
        problem.k % tiling.tile_k != 0) {
      continue;
    }
    const Kernel kernel = BuildGemm(context, problem, tiling).kernel;
    EXPECT_EQ(GemmTime(context, problem, tiling), Walked(kernel))
        << problem.m << "x" << problem.n << "x" << problem.k << " " << kernel.mapping;
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST_F(TpuAgreement, MatrixNestsWithRemaindersPanelsAndKeptOperandsAgreeWithinAFifth) {
  int compared = 0, equal = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomMachine();
    const TpuContext context(machine_, options_);
    GemmProblem problem;
    problem.batch = Pick({1, 1, 3});
    problem.m = Pick({1, 8, 13, 32, 64});
    problem.n = Pick({4, 8, 17, 32});
    problem.k = Pick({4, 19, 64});
    problem.budget = Bytes(Pick({1024, 4096, 100000}));
    problem.epilogue.ops.simple = static_cast<double>(Pick({0, 1, 30}));
    if (problem.epilogue.ops.simple > 0) problem.epilogue.extras.push_back({Place::kOffChip, 16});
    if (Pick({0, 1, 2}) == 0) problem.tile_k = Pick({4, 8, 16});
    if (Pick({0, 1, 2}) == 0) problem.tile_m = Pick({4, 8, 16});
    const Result<GemmTiling> tiling = SearchGemm(context, problem);
    if (!tiling.ok()) continue;
    const Kernel kernel = BuildGemm(context, problem, *tiling).kernel;
    const Cycles time = GemmTime(context, problem, *tiling), walked = Walked(kernel);
    EXPECT_NEAR(Ratio(time, walked), 1.0, 0.2) << kernel.mapping;
    ++compared;
    equal += time == walked ? 1 : 0;
  }
  EXPECT_GT(compared, 900);
  EXPECT_GT(equal, compared * 85 / 100);
}

TEST_F(TpuAgreement, StreamNestsAgreeWithinFivePercent) {
  for (int i = 0; i < 1000; ++i) {
    RandomMachine();
    const TpuContext context(machine_, options_);
    const VectorUnitSpec& unit = context.spec().vector_unit;
    StreamProblem problem;
    problem.items = 4 * Pick({1, 7, 64, 1000});
    problem.granule = 4;
    problem.budget = Bytes(Pick({256, 4096, 100000}));
    StreamOperand operand;
    operand.bytes = Bytes(problem.items * 2);
    problem.inputs.push_back(operand);
    if (Pick({0, 1}) == 1) problem.inputs.push_back(operand);
    problem.output.bytes = Bytes(problem.items * 2);
    if (Pick({0, 1, 2}) == 0) problem.output.place = Place::kVmem;
    const double ops = static_cast<double>(Pick({1, 8}));
    problem.work = [&unit, ops](std::int64_t items) {
      return ElementwiseWork(unit, items, {ops, 0.0}, Bytes(items * 2), Bytes(items * 2));
    };
    const Result<StreamTiling> tiling = SearchStream(context, problem);
    ASSERT_TRUE(tiling.ok()) << tiling.error().Text();
    const Kernel kernel = BuildStream(context, problem, *tiling).kernel;
    EXPECT_NEAR(Ratio(StreamTime(context, problem, *tiling), Walked(kernel)), 1.0, 0.05)
        << problem.items << " " << kernel.mapping;
  }
}

}  // namespace
}  // namespace cyclecast
