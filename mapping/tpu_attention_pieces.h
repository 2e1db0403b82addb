// Sizes and costs of the pieces of an attention kernel: its search and its nest both ask here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mapping/tile_axis.h"
#include "mapping/tpu_attention.h"
#include "timing/matrix_unit.h"
#include "timing/vector_unit.h"

namespace cyclecast {

class AttentionPieces {
 public:
  using Int = std::int64_t;
  static constexpr Int kSumBytes = 4;  // scores and sums are fp32

  AttentionPieces(const TpuContext& context, const AttentionProblem& problem,
                  const AttentionTiling& tiling)
      : heads(problem.batch * problem.kv_heads, 1, tiling.parts),
        q(problem.queries, tiling.tile_q),
        kv(problem.keys, tiling.tile_kv),
        context_(context),
        problem_(problem),
        tiling_(tiling) {}

  TileAxis heads, q, kv;

  // Blocks of queries an iteration of q does, and the shape of the two inner loops.
  Int BlocksPerIteration() const { return tiling_.skip ? 2 : 1; }
  Int QueryTrips() const { return CeilDiv(q.tiles(), BlocksPerIteration()); }
  bool LastQueryDiffers() const { return QueryTrips() > 1 && Queries(true) != Queries(false); }
  Int KeyTrips() const {
    if (!tiling_.skip) return kv.tiles();
    const Int before = CeilDiv(problem_.keys - problem_.queries, tiling_.tile_kv);
    return q.tiles() % 2 == 0 ? 2 * before + q.tiles() + 1 : 2 * before + q.tiles();
  }
  bool LastKeyDiffers() const { return !tiling_.skip && kv.LastDiffers(); }

  // Queries of an iteration of q, and keys of one of kv.
  Int Queries(bool last) const {
    const Int blocks = BlocksPerIteration();
    const Int before = (QueryTrips() - 1) * blocks * tiling_.tile_q;
    return last ? problem_.queries - before : std::min(problem_.queries, blocks * tiling_.tile_q);
  }
  // Queries a step works on: one block, or less of it in a lone last one.
  Int StepQueries(bool last) const { return std::min(tiling_.tile_q, Queries(last)); }
  Int Keys(bool last) const {
    return !tiling_.skip && last ? kv.Last() : std::min(tiling_.tile_kv, problem_.keys);
  }

  Bytes QueryBytes(Int queries) const {
    return Bytes(CeilDiv(queries * problem_.group * problem_.head_dim * problem_.bits, 8));
  }
  Bytes KeyBytes(Int keys) const {
    return Bytes(CeilDiv(keys * problem_.head_dim * problem_.bits, 8));
  }
  TaskCost LoadQueries(Int queries) const {
    return TransferCost(context_.ReadPath(problem_.q), QueryBytes(queries), RowRun(problem_.group));
  }
  TaskCost LoadKeys(Int keys) const {
    return TransferCost(context_.ReadPath(problem_.kv), KeyBytes(keys), RowRun(1));
  }
  TaskCost Store(Int queries) const {
    return TransferCost(context_.WritePath(problem_.out), QueryBytes(queries),
                        RowRun(problem_.group));
  }

  TaskCost Scores(Int queries, Int keys) const {
    return Product({queries * problem_.group, keys, problem_.head_dim});
  }
  TaskCost Values(Int queries, Int keys) const {
    return Product({queries * problem_.group, problem_.head_dim, keys});
  }
  // Both products of a step; the second belongs to the step before and costs the same.
  TaskCost Products(Int queries, Int keys) const {
    const TaskCost scores = Scores(queries, keys), values = Values(queries, keys);
    TaskCost cost = scores;
    cost.occupancy += values.occupancy;
    cost.useful += values.useful;
    cost.weight_load += values.weight_load;
    return cost;
  }

  // Online softmax of a block: scale, maximum, subtract, exp, sum per score, compare and select
  // where a mask is; rescale and add per element of the result; an exp and the bookkeeping of
  // maximum and sum per row.
  TaskCost Softmax(Int queries, Int keys) const {
    const VectorUnitSpec& unit = context_.spec().vector_unit;
    const Int rows = queries * problem_.group;
    const double row_groups = static_cast<double>(CeilDiv(rows, unit.sublanes));
    VectorWork work;
    work.elements = rows * keys;
    work.registers = RowRegisters(unit, rows, keys);
    work.ops = {problem_.causal ? 6.0 : 4.0, 1.0};
    work.cross_lane = 2.0 * row_groups;
    work.row_slots = row_groups * (unit.transcendental_cycles + 3.0) +
                     2.0 * static_cast<double>(RowRegisters(unit, rows, problem_.head_dim));
    work.loads = Bytes(2 * rows * keys * kSumBytes + rows * problem_.head_dim * kSumBytes);
    work.stores = Bytes(rows * keys * (kSumBytes + 2) + rows * problem_.head_dim * kSumBytes);
    work.packed = work.registers * unit.lanes * unit.sublanes;
    return OnVectorUnit(work);
  }
  // The vector unit goes on with the next block meanwhile: the result is there when the last
  // product has left the array.
  TaskCost Normalise(Int queries) const {
    const VectorUnitSpec& unit = context_.spec().vector_unit;
    const Int rows = queries * problem_.group;
    VectorWork work;
    work.elements = rows * problem_.head_dim;
    work.registers = RowRegisters(unit, rows, problem_.head_dim);
    work.ops = {1.0, 0.0};
    work.row_slots = static_cast<double>(CeilDiv(rows, unit.sublanes)) * unit.transcendental_cycles;
    work.loads = Bytes(work.elements * kSumBytes);
    work.stores = QueryBytes(queries);
    work.packed = work.elements;
    TaskCost cost = OnVectorUnit(work);
    const TaskCost values = Values(StepQueries(false), Keys(false));
    cost.latency += values.occupancy + values.latency;
    return cost;
  }

  bool LoadsQueries() const { return problem_.q != Place::kVmem; }
  bool LoadsKeys() const { return problem_.kv != Place::kVmem; }
  bool Stores() const { return problem_.out != Place::kVmem; }

  Bytes KeySlot() const { return KeyBytes(tiling_.keep_kv ? problem_.keys : Keys(false)); }
  Bytes ScoreSlot() const {
    return Bytes(StepQueries(false) * problem_.group * Keys(false) * kSumBytes);
  }
  Bytes SumSlot() const {
    return Bytes(Queries(false) * problem_.group * problem_.head_dim * kSumBytes);
  }

  Bytes Footprint() const {
    const Int q_turns = heads.trips() * QueryTrips();
    const auto slots = [&](Int generations) { return std::min(tiling_.depth, generations); };
    Bytes bytes;
    if (LoadsQueries()) bytes += QueryBytes(Queries(false)) * slots(q_turns);
    if (LoadsKeys()) {
      const Int turns = tiling_.keep_kv ? heads.trips() : q_turns * KeyTrips();
      bytes += KeySlot() * (2 * slots(turns));
    }
    bytes += ScoreSlot() * slots(q_turns * KeyTrips());
    bytes += SumSlot() * slots(q_turns);
    if (Stores()) bytes += QueryBytes(Queries(false)) * slots(q_turns);
    return bytes;
  }

 private:
  // A head's rows lie `heads x head_dim` apart.
  Bytes RowRun(Int neighbours) const {
    return Bytes(CeilDiv(neighbours * problem_.head_dim * problem_.bits, 8) *
                 context_.spec().matrix_unit.row_align);
  }
  TaskCost Product(const MatrixTile& tile) const {
    return MatrixTaskCost(context_.spec().matrix_unit, problem_.dataflow, problem_.dtype, tile);
  }
  TaskCost OnVectorUnit(const VectorWork& work) const {
    const TpuSpec& spec = context_.spec();
    return VectorTaskCost(spec.vector_unit, spec.vmem, spec.clock, problem_.dtype, work);
  }

  const TpuContext& context_;
  const AttentionProblem& problem_;
  const AttentionTiling& tiling_;
};

}  // namespace cyclecast
