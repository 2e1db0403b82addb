// Sums over the tasks of a tiled matrix kernel; see tpu_gemm_totals.h.
#include "mapping/tpu_gemm_totals.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;
using Mode = GemmPieces::Mode;

// Sums of one kind of task: busy cycles of the first core, bytes of all cores.
struct Sum {
  Int busy = 0, bytes = 0;
};

class Summer {
 public:
  Summer(const GemmProblem& problem, const GemmTiling& tiling, const GemmPieces& pieces,
         const GemmEngines& engines)
      : problem_(problem), tiling_(tiling), pieces_(pieces), engines_(engines) {}

  GemmTotals Run() {
    SumProducts();
    SumLoads();
    SumResults();
    return totals_;
  }

 private:
  void SumProducts() {
    ForEachSize(pieces_.m, [&](Int m, Int m_count, Int) {
      ForEachSize(pieces_.n, [&](Int n, Int n_count, Int) {
        if (m_count * n_count == 0) return;
        ForEachSize(pieces_.k, [&](Int k, Int k_count, Int) {
          const Int cycles = pieces_.Multiply(m, n, k).occupancy.value() * k_count;
          totals_.matrix += m_count * n_count * cycles;
        });
      });
    });
    totals_.matrix *= pieces_.batch.trips();
  }

  // A load per product of an operand that varies over `axis` and K, repeated over `other`.
  template <class CostOf>
  Sum Stream(const TileAxis& axis, const TileAxis& other, CostOf cost_of) const {
    Sum sum;
    ForEachSize(axis, [&](Int items, Int part_count, Int all_count) {
      ForEachSize(pieces_.k, [&](Int k, Int k_count, Int) {
        const TaskCost span = cost_of(items, k);
        sum.busy += span.occupancy.value() * k_count * part_count;
        sum.bytes += span.bytes.value() * k_count * all_count;
      });
    });
    return {sum.busy * other.trips() * pieces_.batch.trips(),
            sum.bytes * other.tiles() * pieces_.batch.tiles()};
  }
  template <class CostOf>
  Sum Panel(const TileAxis& axis, const TileAxis& other, CostOf cost_of) const {
    Sum sum;
    ForEachSize(axis, [&](Int items, Int part_count, Int all_count) {
      const TaskCost span = cost_of(items, pieces_.k.extent());
      sum.busy += span.occupancy.value() * part_count;
      sum.bytes += span.bytes.value() * all_count;
    });
    return {sum.busy * pieces_.batch.trips(), sum.bytes * other.parts() * pieces_.batch.tiles()};
  }
  template <class WholeOf>
  Sum Whole(const TileAxis& axis, const TileAxis& other, WholeOf cost_of) const {
    Sum sum;
    sum.busy = cost_of(0).occupancy.value() * pieces_.batch.trips();
    for (Int part = 0; part < axis.parts(); ++part) {
      sum.bytes += cost_of(part).bytes.value() * other.parts() * pieces_.batch.tiles();
    }
    return sum;
  }

  void SumLoads() {
    const auto lhs = [&](Int items, Int k) { return pieces_.LoadLhs(items, k); };
    const auto rhs = [&](Int items, Int k) { return pieces_.LoadRhs(k, items); };
    const auto add = [&](Mode mode, const TileAxis& axis, const TileAxis& other,
                         const auto& tile_cost, const auto& whole_cost, std::size_t engine,
                         Place place) {
      Sum sum;
      if (mode == Mode::kStream) sum = Stream(axis, other, tile_cost);
      if (mode == Mode::kPanel) sum = Panel(axis, other, tile_cost);
      if (mode == Mode::kWhole) sum = Whole(axis, other, whole_cost);
      totals_.loads[engine] += sum.busy;
      totals_.bytes[place == Place::kCmem ? 1 : 0] += sum.bytes;
    };
    add(
        pieces_.lhs_mode(), pieces_.m, pieces_.n, lhs,
        [&](Int part) { return pieces_.LoadWholeLhs(part); }, engines_.lhs, problem_.lhs);
    add(
        pieces_.rhs_mode(), pieces_.n, pieces_.m, rhs,
        [&](Int part) { return pieces_.LoadWholeRhs(part); }, engines_.rhs, problem_.rhs);
    if (pieces_.LoadsConstants()) {
      const TaskCost span = pieces_.LoadConstants();
      totals_.loads[engines_.extra] += span.occupancy.value();
      totals_.bytes[problem_.epilogue.constants_at == Place::kCmem ? 1 : 0] +=
          span.bytes.value() * tiling_.parts;
    }
  }

  void SumResults() {
    const Int batches = pieces_.batch.trips(), all_batches = pieces_.batch.tiles();
    ForEachSize(pieces_.m, [&](Int m, Int m_part, Int m_all) {
      ForEachSize(pieces_.n, [&](Int n, Int n_part, Int n_all) {
        const Int part = m_part * n_part * batches, all = m_all * n_all * all_batches;
        for (const ExtraOperand& extra : problem_.epilogue.extras) {
          if (extra.place == Place::kVmem) continue;
          const TaskCost span = pieces_.LoadExtra(extra, m, n);
          totals_.loads[engines_.extra] += span.occupancy.value() * part;
          totals_.bytes[extra.place == Place::kCmem ? 1 : 0] += span.bytes.value() * all;
        }
        if (pieces_.HasEpilogue()) {
          totals_.vector += pieces_.Finish(m, n).occupancy.value() * part;
        }
        if (pieces_.Stores()) {
          const TaskCost span = pieces_.Store(m, n);
          totals_.store += span.occupancy.value() * part;
          totals_.bytes[problem_.out == Place::kCmem ? 1 : 0] += span.bytes.value() * all;
        }
      });
    });
  }

  const GemmProblem& problem_;
  const GemmTiling& tiling_;
  const GemmPieces& pieces_;
  const GemmEngines& engines_;
  GemmTotals totals_;
};

}  // namespace

GemmTotals SumGemm(const GemmProblem& problem, const GemmTiling& tiling, const GemmPieces& pieces,
                   const GemmEngines& engines) {
  return Summer(problem, tiling, pieces, engines).Run();
}

}  // namespace cyclecast
