// Matrix kernels: times derived by hand, what every tiling must keep, pins.
#include "mapping/tpu_gemm.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/machines.h"

namespace cyclecast {
namespace {

class TpuGemm : public ::testing::Test {
 protected:
  TpuGemm() { spec_ = &std::get<TpuSpec>(machine_.spec); }

  TpuContext Context() const { return TpuContext(machine_, options_); }
  GemmProblem Problem(std::int64_t m, std::int64_t n, std::int64_t k) const {
    GemmProblem problem;
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.budget = spec_->vmem.capacity;
    return problem;
  }
  GemmTiling Searched(const GemmProblem& problem) const {
    const TpuContext context = Context();
    const Result<GemmTiling> tiling = SearchGemm(context, problem);
    EXPECT_TRUE(tiling.ok()) << (tiling.ok() ? "" : tiling.error().Text());
    return tiling.ok() ? *tiling : GemmTiling{};
  }
  std::string ErrorOf(const GemmProblem& problem) const {
    const TpuContext context = Context();
    const Result<GemmTiling> tiling = SearchGemm(context, problem);
    return tiling.ok() ? "no error" : tiling.error().Text();
  }
  Kernel Built(const GemmProblem& problem, const GemmTiling& tiling) const {
    const TpuContext context = Context();
    Schedule schedule;
    schedule.platform = MakeTpuPlatform(machine_);
    schedule.kernels.push_back(BuildGemm(context, problem, tiling).kernel);
    CheckSchedule(schedule);
    return schedule.kernels[0];
  }
  Cycles Time(const GemmProblem& problem, const GemmTiling& tiling) const {
    const TpuContext context = Context();
    return GemmTime(context, problem, tiling);
  }

  Machine machine_ = testing::TinyTpu();
  TpuSpec* spec_ = nullptr;
  MapOptions options_;
};

// Sums over the executions of all tasks of a kind.
struct Totals {
  Cycles occupancy, useful;
  Bytes bytes;
};
Totals TotalsOf(const Kernel& kernel, TaskKind kind) {
  const KernelIndex index(kernel);
  Totals totals;
  for (std::size_t t = 0; t < kernel.tasks.size(); ++t) {
    if (kernel.tasks[t].kind != kind) continue;
    index.ForEachCost(static_cast<TaskId>(t), [&](const TaskCost& cost, std::int64_t count) {
      totals.occupancy += cost.occupancy * count;
      totals.useful += cost.useful * count;
      totals.bytes += cost.bytes * count;
    });
  }
  return totals;
}

TEST_F(TpuGemm, OneTileTakesLoadsProductSkewAndStore) {
  // 4x4x4 in bf16: both operands of 32 B at 8 B/cycle take 4 cycles each, one after the other: 8.
  // Product: load 4, stream 4, skew 4+4-2 = 6: 14. Store 32 B: 4. In all 26.
  const GemmProblem problem = Problem(4, 4, 4);
  EXPECT_EQ(Time(problem, Searched(problem)), Cycles(26));
}

TEST_F(TpuGemm, LoadsOfTheNextTileRunUnderThePresentOne) {
  // 4x4x16 in four tiles of K: a tile loads for 4+4 cycles and multiplies for 4. Loads: 32 cycles;
  // then the last product of 4, its load and skew of 10, the store of 4: 50.
  GemmProblem problem = Problem(4, 4, 16);
  GemmTiling tiling;
  tiling.tile_m = tiling.tile_n = tiling.tile_k = 4;
  EXPECT_EQ(Time(problem, tiling), Cycles(50));
}

TEST_F(TpuGemm, MemoryBoundProductTakesItsBytesOverTheBandwidth) {
  // One row: 64x64 weights of 8 KiB at 8 B/cycle are 1024 cycles, the row and the result 16 each.
  const GemmProblem problem = Problem(1, 64, 64);
  const Cycles time = Time(problem, Searched(problem));
  EXPECT_GE(time, Cycles(1024 + 16));
  EXPECT_LE(time, Cycles(1024 + 16 + 100));
}

TEST_F(TpuGemm, HeldOperandsLeaveOnlyTheArray) {
  GemmProblem problem = Problem(16, 4, 4);
  problem.lhs = problem.rhs = problem.out = Place::kVmem;
  const Kernel kernel = Built(problem, Searched(problem));
  ASSERT_EQ(kernel.tasks.size(), 1U);
  EXPECT_EQ(kernel.tasks[0].kind, TaskKind::kMatrix);
  // load 4 + stream 16 + skew 6.
  EXPECT_EQ(Time(problem, Searched(problem)), Cycles(26));
}

TEST_F(TpuGemm, EpilogueRunsOnTheVectorUnitBesideTheArray) {
  GemmProblem problem = Problem(16, 4, 4);
  problem.epilogue.ops.simple = 1;
  problem.epilogue.extras.push_back({Place::kOffChip, 16});
  const Kernel kernel = Built(problem, Searched(problem));
  // 64 results, 4 lanes: 16 cycles in all; the residual of 128 B is loaded.
  EXPECT_EQ(TotalsOf(kernel, TaskKind::kVector).occupancy, Cycles(16));
  EXPECT_EQ(TotalsOf(kernel, TaskKind::kLoad).bytes, Bytes(16 * 4 * 2 + 4 * 4 * 2 + 128));
}

TEST_F(TpuGemm, TilingsFitCoverEveryMacOnceAndMoveAtLeastTheCompulsoryBytes) {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<std::int64_t> from) {
    return *(from.begin() + static_cast<std::ptrdiff_t>(random() % from.size()));
  };
  for (int i = 0; i < 300; ++i) {
    spec_->cores = pick({1, 1, 2, 3});
    spec_->dma.engines = pick({1, 2, 3});
    GemmProblem problem =
        Problem(4 * pick({1, 2, 5, 16}), 4 * pick({1, 3, 8}), 4 * pick({1, 3, 16}));
    problem.batch = pick({1, 1, 2, 5});
    problem.budget = Bytes(pick({1024, 4096, 65536}));
    if (pick({0, 1}) == 1) problem.tile_k = 4 * pick({1, 2});
    if (pick({0, 1}) == 1) problem.tile_m = 4 * pick({1, 2, 3});
    const GemmTiling tiling = Searched(problem);
    const Kernel kernel = Built(problem, tiling);
    // All tiles are multiples of the 4x4x4 array: a useful cycle is 16 MACs.
    const std::int64_t macs = problem.batch * problem.m * problem.n * problem.k;
    EXPECT_EQ(TotalsOf(kernel, TaskKind::kMatrix).useful, Cycles(macs / 16)) << kernel.mapping;
    const std::int64_t lhs = problem.batch * problem.m * problem.k * 2;
    const std::int64_t rhs = problem.batch * problem.k * problem.n * 2;
    EXPECT_GE(TotalsOf(kernel, TaskKind::kLoad).bytes, Bytes(lhs + rhs)) << kernel.mapping;
    EXPECT_EQ(TotalsOf(kernel, TaskKind::kStore).bytes,
              Bytes(problem.batch * problem.m * problem.n * 2));
    Bytes buffers;
    for (const Buffer& buffer : kernel.buffers) buffers += buffer.slot * buffer.depth;
    EXPECT_LE(buffers, problem.budget * tiling.parts) << kernel.mapping;
    EXPECT_EQ(kernel.work.footprint * tiling.parts, buffers) << kernel.mapping;
  }
}

TEST_F(TpuGemm, MoreVmemOrBandwidthIsNeverSlower) {
  for (std::int64_t m : {1, 12, 64, 200}) {
    for (std::int64_t k : {16, 60, 256}) {
      Cycles before(std::numeric_limits<std::int64_t>::max());
      for (std::int64_t budget = 1024; budget <= 1 << 20; budget *= 2) {
        GemmProblem problem = Problem(m, 40, k);
        problem.budget = Bytes(budget);
        const Cycles time = Time(problem, Searched(problem));
        EXPECT_LE(time, before) << m << " x 40 x " << k << " in " << budget;
        before = time;
      }
      before = Cycles(std::numeric_limits<std::int64_t>::max());
      for (double rate : {2e9, 4e9, 8e9, 32e9}) {
        spec_->dram.read_bandwidth = spec_->dram.write_bandwidth = BytesPerSecond(rate);
        spec_->dma.bandwidth = BytesPerSecond(rate);
        const GemmProblem problem = Problem(m, 40, k);
        const Cycles time = Time(problem, Searched(problem));
        EXPECT_LE(time, before) << m << " x 40 x " << k << " at " << rate;
        before = time;
      }
    }
  }
}

TEST_F(TpuGemm, CoresSplitTheKernelAndShareTheMemory) {
  GemmProblem problem = Problem(64, 4, 64);
  problem.lhs = problem.rhs = problem.out = Place::kVmem;
  const Cycles one = Time(problem, Searched(problem));
  spec_->cores = 2;
  const GemmTiling split = Searched(problem);
  EXPECT_EQ(split.parts, 2);
  // The array is all there is: half the rows each, less than half the skew apart.
  EXPECT_LE(Time(problem, split), Cycles(one.value() / 2 + 10));
  // From memory both draw the same 8 B/cycle: 64*64*2 + 64*4*2*2 bytes at least.
  GemmProblem moved = Problem(64, 4, 64);
  EXPECT_GE(Time(moved, Searched(moved)), Cycles((64 * 64 * 2 + 2 * 64 * 4 * 2) / 8));
}

TEST_F(TpuGemm, EveryTileOfSeveralCostsTheOverhead) {
  // 100 cycles for each of two tiles of M: the array is busy 200 cycles more, and so is the kernel
  // at least. A kernel of one tile has no loop.
  const GemmProblem problem = Problem(16, 8, 8);
  GemmTiling one = Searched(problem), two = one;
  one.tile_m = 16;
  two.tile_m = 8;
  one.tile_n = one.tile_k = two.tile_n = two.tile_k = 8;
  const Cycles alone = Time(problem, one);
  const Cycles busy = TotalsOf(Built(problem, two), TaskKind::kMatrix).occupancy;
  spec_->matrix_unit.tile_overhead = Seconds(100 / spec_->clock.value());
  EXPECT_EQ(Time(problem, one), alone);
  EXPECT_EQ(TotalsOf(Built(problem, two), TaskKind::kMatrix).occupancy, busy + Cycles(200));
  EXPECT_GE(Time(problem, two), busy + Cycles(200));
}

TEST_F(TpuGemm, TilesKeepToTheCompilersLimitUnlessTheyArePinned) {
  const auto tile_bytes = [&](const GemmProblem& problem) {
    const TpuContext context = Context();
    const GemmTiling tiling = Searched(problem);
    const GemmPieces pieces(context, problem, tiling);
    return pieces.Footprint() - pieces.WholeSlots();
  };
  spec_->vmem.capacity = Bytes(64 << 10);
  const GemmProblem problem = Problem(64, 64, 64);
  EXPECT_GT(tile_bytes(problem), Bytes(512));
  spec_->staging.tiles = Bytes(512);
  EXPECT_LE(tile_bytes(problem), Bytes(512));
  // Whoever writes tiles down knows what they do; and where nothing fits, something must run.
  GemmProblem pinned = problem;
  pinned.tile_m = pinned.tile_n = pinned.tile_k = 64;
  EXPECT_GT(tile_bytes(pinned), Bytes(512));
  spec_->staging.tiles = Bytes(1);
  EXPECT_GT(tile_bytes(problem), Bytes(1));
}

TEST_F(TpuGemm, PinsAreHonoured) {
  GemmProblem problem = Problem(32, 16, 32);
  problem.tile_m = 8;
  problem.tile_n = 4;
  problem.tile_k = 16;
  problem.depth = 1;
  const Kernel kernel = Built(problem, Searched(problem));
  EXPECT_EQ(kernel.work.tile_m, 8);
  EXPECT_EQ(kernel.work.tile_n, 4);
  EXPECT_EQ(kernel.work.tile_k, 16);
  for (const Buffer& buffer : kernel.buffers) EXPECT_EQ(buffer.depth, 1);
  GemmProblem larger = Problem(32, 16, 32);
  larger.tile_k = 1000;  // more than there is: all of it
  EXPECT_EQ(Built(larger, Searched(larger)).work.tile_k, 32);
}

TEST_F(TpuGemm, ImpossiblePinsNameTheLimit) {
  // K tile of 1024 against one row and column: 2 KiB each for lhs and rhs and 4 B of sums do not
  // fit 4 KiB; two operands of 2 B x k and 4 B leave k = 1023.
  GemmProblem problem = Problem(64, 64, 1024);
  problem.tile_k = 1024;
  problem.depth = 1;
  EXPECT_EQ(ErrorOf(problem), "error: tile_k 1024 needs 4 KiB of VMEM, 4 KiB there; at most 1023");
  problem.budget = Bytes(2048);
  EXPECT_EQ(ErrorOf(problem), "error: tile_k 1024 needs 4 KiB of VMEM, 2 KiB there; at most 511");
  GemmProblem negative = Problem(8, 8, 8);
  negative.tile_m = 0;
  EXPECT_EQ(ErrorOf(negative), "error: tile_m is 0; it must be at least 1");
  GemmProblem cores = Problem(8, 8, 8);
  cores.units = 2;
  EXPECT_EQ(ErrorOf(cores), "error: units is 2; the machine has 1 core");
}

TEST_F(TpuGemm, ProblemThatFitsInNoTilingSaysWhatItNeeds) {
  GemmProblem problem = Problem(8, 8, 8);
  problem.budget = Bytes(8);
  EXPECT_EQ(ErrorOf(problem).substr(0, 22), "error: needs at least ");
}

TEST(InputWindow, CountsTheRowsAndHalosThatOutputsNeed) {
  // 3x3, stride 1, padding 1 on 8x8: one output row needs three input rows, two need four.
  InputWindow window;
  window.in_h = window.in_w = window.out_h = window.out_w = 8;
  window.window = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(window.Positions(8), 3 * 8);
  EXPECT_EQ(window.Positions(16), 4 * 8);
  EXPECT_EQ(window.Positions(64), 64);
  // Half a row: three rows of 4 + 2 columns.
  EXPECT_EQ(window.Positions(4), 3 * 6);
  // Two images.
  window.images = 2;
  EXPECT_EQ(window.Positions(128), 128);
}

TEST(InputWindow, StridedRowsReadTheGapsToo) {
  // 1x1, stride 2 on 8x8: 4x4 outputs; one output row reads two input rows.
  InputWindow window;
  window.in_h = window.in_w = 8;
  window.out_h = window.out_w = 4;
  window.window.stride_h = window.window.stride_w = 2;
  EXPECT_EQ(window.Positions(4), 2 * 8);
  EXPECT_EQ(window.Positions(16), 64);
}

}  // namespace
}  // namespace cyclecast
