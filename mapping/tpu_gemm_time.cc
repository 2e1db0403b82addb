// Closed form of a tiled matrix kernel; see GemmTime in tpu_gemm.h.
//
// Heads and tails follow the first and the last tile through loads, products, epilogue and store;
// between them every resource is busy with all of its tasks.
#include <algorithm>
#include <array>

#include "mapping/tpu_gemm.h"
#include "mapping/tpu_gemm_totals.h"

namespace cyclecast {
namespace {

using Mode = GemmPieces::Mode;
using Int = std::int64_t;

struct Span {
  Int occupancy = 0, latency = 0;
};
Span SpanOf(const TaskCost& cost) { return {cost.occupancy.value(), cost.latency.value()}; }

Int First(const TileAxis& axis) { return axis.At(axis.trips() == 1); }

class Timer {
 public:
  Timer(const TpuContext& context, const GemmProblem& problem, const GemmTiling& tiling)
      : context_(context),
        problem_(problem),
        tiling_(tiling),
        pieces_(context, problem, tiling),
        engines_(context),
        totals_(SumGemm(problem, tiling, pieces_, engines_)) {}

  // Below it no path can be: what the busiest resource or memory does in all.
  Int Least() const {
    Int least = std::max({totals_.matrix, totals_.vector, totals_.store});
    for (Int busy : totals_.loads) least = std::max(least, busy);
    for (std::size_t i = 0; i < totals_.bytes.size(); ++i) {
      if (totals_.bytes[i] == 0) continue;
      const Place place = i == 1 ? Place::kCmem : Place::kOffChip;
      least =
          std::max(least, CeilCycles(Bytes(totals_.bytes[i]), context_.Bandwidth(place)).value());
    }
    return least;
  }

  Int Time() {
    FollowFirstTile();
    Finish();
    return time_;
  }

 private:
  void Raise(Int time) { time_ = std::max(time_, time); }

  Int Load(std::size_t engine, const TaskCost& cost) {
    engine_[engine] += cost.occupancy.value();
    return engine_[engine] + cost.latency.value();
  }

  // The first tile of the result: when each resource starts.
  void FollowFirstTile() {
    const Int m = First(pieces_.m), n = First(pieces_.n), k = First(pieces_.k);
    const Int k_all = pieces_.k.extent();
    Int constants = 0, operands = 0;
    if (pieces_.LoadsConstants()) constants = Load(engines_.extra, pieces_.LoadConstants());
    if (pieces_.lhs_mode() == Mode::kWhole) {
      operands = std::max(operands, Load(engines_.lhs, pieces_.LoadWholeLhs(0)));
    }
    if (pieces_.rhs_mode() == Mode::kWhole) {
      operands = std::max(operands, Load(engines_.rhs, pieces_.LoadWholeRhs(0)));
    }
    panel_head_ = engine_[tiling_.n_outside ? engines_.rhs : engines_.lhs];
    if (pieces_.lhs_mode() == Mode::kPanel) {
      operands = std::max(operands, Load(engines_.lhs, pieces_.LoadLhs(m, k_all)));
    }
    if (pieces_.rhs_mode() == Mode::kPanel) {
      operands = std::max(operands, Load(engines_.rhs, pieces_.LoadRhs(k_all, n)));
    }
    product_done_ = operands;
    FollowProducts(m, n, k);
    Int ready = product_done_ + pieces_.Multiply(m, n, pieces_.k.Last()).latency.value();
    if (pieces_.HasEpilogue()) {
      ready = std::max(ready, constants);
      for (const ExtraOperand& extra : problem_.epilogue.extras) {
        if (extra.place == Place::kVmem) continue;
        ready = std::max(ready, Load(engines_.extra, pieces_.LoadExtra(extra, m, n)));
      }
      vector_head_ = ready;
      const Span finish = SpanOf(pieces_.Finish(m, n));
      ready += finish.occupancy + finish.latency;
    }
    store_head_ = ready;
  }

  // Products of the first tile along K. A path through them leaves its load engine at the first
  // iteration, at the last, or just before a remainder.
  void FollowProducts(Int m, Int n, Int k) {
    const Int trips = pieces_.k.trips(), k_last = pieces_.k.Last();
    const Int full = pieces_.Multiply(m, n, k).occupancy.value();
    const Int last = pieces_.Multiply(m, n, k_last).occupancy.value();
    const bool lhs = pieces_.lhs_mode() == Mode::kStream;
    const bool rhs = pieces_.rhs_mode() == Mode::kStream;
    // When the operands of `count` further products are there. On one engine the loads alternate.
    const auto loads = [&](Int items_k, Int count) {
      const Span left = lhs ? SpanOf(pieces_.LoadLhs(m, items_k)) : Span{};
      const Span right = rhs ? SpanOf(pieces_.LoadRhs(items_k, n)) : Span{};
      engine_[engines_.lhs] += left.occupancy * count;
      engine_[engines_.rhs] += right.occupancy * count;
      const Int behind = engines_.lhs == engines_.rhs ? right.occupancy : 0;
      const Int left_ready = lhs ? engine_[engines_.lhs] - behind + left.latency : 0;
      const Int right_ready = rhs ? engine_[engines_.rhs] + right.latency : 0;
      return std::max(left_ready, right_ready);
    };
    lhs_head_ = engine_[engines_.lhs];
    rhs_head_ = engine_[engines_.rhs] +
                (lhs && engines_.lhs == engines_.rhs ? SpanOf(pieces_.LoadLhs(m, k)).occupancy : 0);
    matrix_head_ = std::max(product_done_, loads(k, 1));
    Int done = matrix_head_ + full * (trips - 1) + last;
    if (trips > 2) done = std::max(done, loads(k, trips - 2) + full + last);
    if (trips > 1) done = std::max(done, loads(k_last, 1) + last);
    product_done_ = done;
  }

  // Tails of the last tile, and the bounds they complete.
  void Finish() {
    const Int m = pieces_.m.Last(), n = pieces_.n.Last(), k = pieces_.k.Last();
    Int tail = 0;
    Int memory_tail = -1, after_vector = 0;
    if (pieces_.Stores()) {
      const Span store = SpanOf(pieces_.Store(m, n));
      tail = store.latency;
      memory_tail = tail;
      Raise(store_head_ + totals_.store + tail);
      tail += store.occupancy;
    }
    if (pieces_.HasEpilogue()) {
      const Span finish = SpanOf(pieces_.Finish(m, n));
      tail += finish.latency;
      after_vector = tail;
      Raise(vector_head_ + totals_.vector + tail);
      tail += finish.occupancy;
    }
    const Int vector_tail = tail;
    const Span last = SpanOf(pieces_.Multiply(m, n, k));
    tail += last.latency;
    Raise(matrix_head_ + totals_.matrix + tail);
    const Int product_tail = tail + last.occupancy;
    FollowLastLoads(m, n, k, vector_tail, product_tail);
    if (memory_tail < 0) memory_tail = std::max<Int>(shortest_tail_, 0);
    const Int memory_head = totals_.bytes[0] + totals_.bytes[1] > 0 && AnyLoad() ? 0 : store_head_;
    for (std::size_t i = 0; i < totals_.bytes.size(); ++i) {
      if (totals_.bytes[i] == 0) continue;
      const Cycles flow = CeilCycles(Bytes(totals_.bytes[i]),
                                     context_.Bandwidth(i == 1 ? Place::kCmem : Place::kOffChip));
      Raise(memory_head + flow.value() + memory_tail);
    }
    BoundBySlots(product_tail - last.occupancy, after_vector);
  }

  bool AnyLoad() const {
    return std::any_of(totals_.loads.begin(), totals_.loads.end(),
                       [](Int busy) { return busy > 0; });
  }

  // What one tile of the result keeps busy: its loads per engine, its products.
  struct TileWork {
    std::array<Int, kLoadEngineSlots> loads{}, extras{};  // extras are part of loads
    Int products = 0;
  };
  TileWork WorkOfTile(Int m, Int n) const {
    TileWork work;
    for (const ExtraOperand& extra : problem_.epilogue.extras) {
      if (extra.place == Place::kVmem) continue;
      work.extras[engines_.extra] += SpanOf(pieces_.LoadExtra(extra, m, n)).occupancy;
    }
    work.loads = work.extras;
    ForEachSize(pieces_.k, [&](Int k, Int count, Int) {
      work.products += count * pieces_.Multiply(m, n, k).occupancy.value();
      if (pieces_.lhs_mode() == Mode::kStream) {
        work.loads[engines_.lhs] += count * SpanOf(pieces_.LoadLhs(m, k)).occupancy;
      }
      if (pieces_.rhs_mode() == Mode::kStream) {
        work.loads[engines_.rhs] += count * SpanOf(pieces_.LoadRhs(k, n)).occupancy;
      }
    });
    return work;
  }
  // All inner tiles of an outer one of `items`.
  TileWork WorkOfOuter(Int items) const {
    TileWork sum;
    const bool n_outside = tiling_.n_outside;
    ForEachSize(n_outside ? pieces_.m : pieces_.n, [&](Int inner, Int count, Int) {
      const TileWork tile = n_outside ? WorkOfTile(inner, items) : WorkOfTile(items, inner);
      sum.products += count * tile.products;
      for (std::size_t e = 0; e < kLoadEngineSlots; ++e) sum.loads[e] += count * tile.loads[e];
    });
    return sum;
  }

  // A path leaves a load engine at the last load of an operand: `later` cycles of loads follow on
  // the engine, `tail` cycles until the end of the kernel.
  void Leave(std::size_t engine, Int later, Int tail) {
    Raise(totals_.loads[engine] - later + tail);
    shortest_tail_ = shortest_tail_ < 0 ? tail : std::min(shortest_tail_, tail);
  }

  void FollowLastLoads(Int m, Int n, Int k, Int vector_tail, Int product_tail) {
    const TileWork last = WorkOfTile(m, n);
    Int later = last.extras[engines_.extra];
    for (const ExtraOperand& extra : problem_.epilogue.extras) {
      if (extra.place == Place::kVmem) continue;
      const Span span = SpanOf(pieces_.LoadExtra(extra, m, n));
      later -= span.occupancy;
      Leave(engines_.extra, later, span.latency + vector_tail);
    }
    const bool rhs = pieces_.rhs_mode() == Mode::kStream;
    const Span right = rhs ? SpanOf(pieces_.LoadRhs(k, n)) : Span{};
    if (rhs) Leave(engines_.rhs, last.extras[engines_.rhs], right.latency + product_tail);
    if (pieces_.lhs_mode() == Mode::kStream) {
      const Int behind = engines_.lhs == engines_.rhs ? right.occupancy : 0;
      const Span left = SpanOf(pieces_.LoadLhs(m, k));
      Leave(engines_.lhs, last.extras[engines_.lhs] + behind, left.latency + product_tail);
    }
    const Int after_product = product_tail - pieces_.Multiply(m, n, k).occupancy.value();
    const bool lhs_outer = !tiling_.n_outside;
    const std::size_t outer_engine = lhs_outer ? engines_.lhs : engines_.rhs;
    if ((lhs_outer ? pieces_.lhs_mode() : pieces_.rhs_mode()) == Mode::kPanel) {
      const TileWork outer = WorkOfOuter(lhs_outer ? pieces_.m.Last() : pieces_.n.Last());
      const TransferPath& path = context_.ReadPath(lhs_outer ? problem_.lhs : problem_.rhs);
      Leave(outer_engine, outer.loads[outer_engine],
            path.latency.value() + outer.products + after_product);
    }
    if ((lhs_outer ? pieces_.rhs_mode() : pieces_.lhs_mode()) == Mode::kWhole) {
      const std::size_t engine = lhs_outer ? engines_.rhs : engines_.lhs;
      const Int batches = pieces_.batch.trips();
      const Span span = SpanOf(lhs_outer ? pieces_.LoadWholeRhs(0) : pieces_.LoadWholeLhs(0));
      const Int others = (totals_.loads[engine] - Constants(engine)) / batches - span.occupancy;
      Leave(engine, others, span.latency + totals_.matrix / batches + after_product);
    }
  }

  Int Constants(std::size_t engine) const {
    if (engine != engines_.extra || !pieces_.LoadsConstants()) return 0;
    return pieces_.LoadConstants().occupancy.value();
  }

  // A buffer whose generations follow each other in its slots: how many there are, how long they
  // hold a slot in all, when the first writer starts, what the writer's resource does per
  // generation, and the way from the last use on.
  struct Turn {
    Int count = 0, held = 0, head = 0, busy = 0, tail = 0;
    bool uniform = true;
  };
  void Raise(const Turn& turn) {
    const Int depth = tiling_.depth;
    if (turn.count <= depth) return;
    const Int hold = turn.uniform ? CeilDiv(turn.count, depth) * (turn.held / turn.count)
                                  : CeilDiv(turn.held, depth);
    const Int before = turn.uniform ? (turn.count - 1) % depth * turn.busy : 0;
    Raise(turn.head + before + hold + turn.tail);
  }
  // hold(m, n) of every tile of the result, or hold(m, n, k) of every product.
  template <class Hold>
  Turn OverTiles(Int head, Int busy, Int tail, Hold hold) const {
    Turn turn{0, 0, head, busy, tail, !pieces_.m.LastDiffers() && !pieces_.n.LastDiffers()};
    const Int batches = pieces_.batch.trips();
    ForEachSize(pieces_.m, [&](Int m, Int m_count, Int) {
      ForEachSize(pieces_.n, [&](Int n, Int n_count, Int) {
        const Int count = batches * m_count * n_count;
        if (count == 0) return;
        turn.count += count;
        turn.held += count * hold(m, n);
      });
    });
    return turn;
  }
  template <class Hold>
  Turn OverProducts(Int head, Int busy, Int tail, Hold hold) const {
    const Turn tiles = OverTiles(head, busy, tail, [&](Int m, Int n) {
      Int held = 0;
      ForEachSize(pieces_.k, [&](Int k, Int count, Int) { held += count * hold(m, n, k); });
      return held;
    });
    return {tiles.count * pieces_.k.trips(),          tiles.held, head, busy, tail,
            tiles.uniform && !pieces_.k.LastDiffers()};
  }

  void BoundBySlots(Int after_product, Int after_vector) {
    const Int m = First(pieces_.m), n = First(pieces_.n), k = First(pieces_.k);
    const bool lhs = pieces_.lhs_mode() == Mode::kStream;
    const bool rhs = pieces_.rhs_mode() == Mode::kStream;
    const bool shared = engines_.lhs == engines_.rhs;
    const auto left = [&](Int rows, Int depth) {
      return lhs ? SpanOf(pieces_.LoadLhs(rows, depth)) : Span{};
    };
    const auto right = [&](Int depth, Int columns) {
      return rhs ? SpanOf(pieces_.LoadRhs(depth, columns)) : Span{};
    };
    const auto product = [&](Int rows, Int columns, Int depth) {
      return pieces_.Multiply(rows, columns, depth).occupancy.value();
    };
    const Int both = left(m, k).occupancy + right(k, n).occupancy;
    if (rhs) {
      Raise(OverProducts(rhs_head_, shared ? both : right(k, n).occupancy, after_product,
                         [&](Int rows, Int columns, Int depth) {
                           const Span load = right(depth, columns);
                           return load.occupancy + load.latency + product(rows, columns, depth);
                         }));
    }
    if (lhs) {
      Raise(OverProducts(lhs_head_, shared ? both : left(m, k).occupancy, after_product,
                         [&](Int rows, Int columns, Int depth) {
                           const Span load = left(rows, depth);
                           const Int behind = shared ? right(depth, columns).occupancy : 0;
                           return load.occupancy + behind + load.latency +
                                  product(rows, columns, depth);
                         }));
    }
    BoundByPanel(after_product);
    BoundByWhole(after_product);
    BoundByResults(after_vector);
  }

  // The outer loop's operand, held for all inner tiles; what streams on the same engine follows it.
  void BoundByPanel(Int after_product) {
    const bool lhs_outer = !tiling_.n_outside;
    if ((lhs_outer ? pieces_.lhs_mode() : pieces_.rhs_mode()) != Mode::kPanel) return;
    const TileAxis& outer = lhs_outer ? pieces_.m : pieces_.n;
    const std::size_t engine = lhs_outer ? engines_.lhs : engines_.rhs;
    const Int last =
        SpanOf(pieces_.Multiply(First(pieces_.m), First(pieces_.n), pieces_.k.Last())).occupancy;
    Turn turn{0, 0, panel_head_, 0, after_product, !outer.LastDiffers()};
    ForEachSize(outer, [&](Int items, Int count, Int) {
      if (count == 0) return;
      const Span panel = SpanOf(lhs_outer ? pieces_.LoadLhs(items, pieces_.k.extent())
                                          : pieces_.LoadRhs(pieces_.k.extent(), items));
      const TileWork inner = WorkOfOuter(items);
      const Int streamed = inner.loads[engine];
      const Int use = std::max(inner.products, streamed > 0 ? streamed + last : 0);
      turn.count += count * pieces_.batch.trips();
      turn.held += count * pieces_.batch.trips() * (panel.occupancy + panel.latency + use);
      turn.busy = panel.occupancy + streamed;
    });
    Raise(turn);
  }

  // An operand kept for a whole batch entry.
  void BoundByWhole(Int after_product) {
    const bool lhs = pieces_.lhs_mode() == Mode::kWhole, rhs = pieces_.rhs_mode() == Mode::kWhole;
    if (!lhs && !rhs) return;
    const Span span = SpanOf(lhs ? pieces_.LoadWholeLhs(0) : pieces_.LoadWholeRhs(0));
    const std::size_t engine = lhs ? engines_.lhs : engines_.rhs;
    const Int batches = pieces_.batch.trips();
    const Int hold = span.occupancy + span.latency + totals_.matrix / batches;
    Raise(Turn{batches, batches * hold, 0, totals_.loads[engine] / batches, after_product, true});
  }

  // Accumulator, operands of the epilogue and its result.
  void BoundByResults(Int after_vector) {
    const auto finish = [&](Int m, Int n) {
      return pieces_.HasEpilogue() ? SpanOf(pieces_.Finish(m, n)) : Span{};
    };
    const auto store = [&](Int m, Int n) {
      return pieces_.Stores() ? SpanOf(pieces_.Store(m, n)) : Span{};
    };
    const Int m_first = First(pieces_.m), n_first = First(pieces_.n);
    const Int after_store = store(pieces_.m.Last(), pieces_.n.Last()).latency;
    const bool epilogue = pieces_.HasEpilogue();
    if (pieces_.HasAccumulator()) {
      const Int latency = pieces_.Multiply(m_first, n_first, pieces_.k.Last()).latency.value();
      Raise(OverTiles(matrix_head_, WorkOfTile(m_first, n_first).products,
                      epilogue ? after_vector : after_store, [&](Int m, Int n) {
                        const Int use = epilogue ? finish(m, n).occupancy : store(m, n).occupancy;
                        return WorkOfTile(m, n).products + latency + use;
                      }));
    }
    if (!epilogue) return;
    for (const ExtraOperand& extra : problem_.epilogue.extras) {
      if (extra.place == Place::kVmem) continue;
      const auto load = [&](Int m, Int n) { return SpanOf(pieces_.LoadExtra(extra, m, n)); };
      Raise(OverTiles(0, load(m_first, n_first).occupancy, after_vector, [&](Int m, Int n) {
        return load(m, n).occupancy + load(m, n).latency + finish(m, n).occupancy;
      }));
    }
    if (!pieces_.Stores()) return;
    Raise(
        OverTiles(vector_head_, finish(m_first, n_first).occupancy, after_store, [&](Int m, Int n) {
          return finish(m, n).occupancy + finish(m, n).latency + store(m, n).occupancy;
        }));
  }

  const TpuContext& context_;
  const GemmProblem& problem_;
  const GemmTiling& tiling_;
  GemmPieces pieces_;
  GemmEngines engines_;
  GemmTotals totals_;
  std::array<Int, kLoadEngineSlots> engine_{};  // when each is done with the first tile's loads
  Int product_done_ = 0, matrix_head_ = 0, vector_head_ = 0, store_head_ = 0;
  Int lhs_head_ = 0, rhs_head_ = 0, panel_head_ = 0;
  Int shortest_tail_ = -1;
  Int time_ = 0;
};

}  // namespace

Cycles GemmTime(const TpuContext& context, const GemmProblem& problem, const GemmTiling& tiling,
                Cycles limit) {
  Timer timer(context, problem, tiling);
  if (timer.Least() > limit.value()) return Cycles(timer.Least());
  return Cycles(timer.Time());
}

}  // namespace cyclecast
