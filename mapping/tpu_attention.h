// Fused attention on a TPU with an online softmax (Milakov and Gimelshein 2018; Dao et al. 2022):
// scores are never written off chip.
//
//   loop head             one key/value head of one batch entry, dealt to the cores
//     [load keys] [load values]          kept for all queries where they fit
//     loop q                             a block of queries of all heads that share the keys
//       load queries
//       loop kv
//         [load keys] [load values]
//         products      queries x keys, and the weights of the step before x values
//         softmax       new maximum, exponentials, sums, rescaled result
//       normalise
//       store
//
// With causal attention blocks of queries and keys have one size, and blocks above the diagonal are
// skipped: query block i of nq needs i + 1 key blocks. Blocks i and nq - 1 - i are done in one
// iteration of q, so that all iterations are alike (an odd block out is the last iteration).
#pragma once

#include <cstdint>
#include <optional>

#include "core/error.h"
#include "core/schedule.h"
#include "mapping/tpu_context.h"

namespace cyclecast {

struct AttentionProblem {
  std::int64_t batch = 1, kv_heads = 1;
  std::int64_t group = 1;  // query heads per key/value head
  std::int64_t head_dim = 64;
  std::int64_t queries = 1, keys = 1;
  bool causal = false;
  DType dtype = DType::kBf16;
  std::int64_t bits = 16;
  Place q = Place::kOffChip, kv = Place::kOffChip, out = Place::kOffChip;
  Bytes budget;
  // Pinned: tile_m counts queries, tile_n keys.
  std::optional<std::int64_t> tile_m, tile_n, depth, units;
  Dataflow dataflow = Dataflow::kWeightStationary;
  bool operator==(const AttentionProblem&) const = default;
};

struct AttentionTiling {
  std::int64_t tile_q = 1, tile_kv = 1;
  bool keep_kv = false;  // keys and values of a head are loaded once
  bool skip = false;     // blocks above the diagonal are skipped
  std::int64_t depth = 2;
  std::int64_t parts = 1;
};

// The tiling with the least time that fits; errors as SearchGemm.
Result<AttentionTiling> SearchAttention(const TpuContext& context, const AttentionProblem& problem);

Cycles AttentionTime(const TpuContext& context, const AttentionProblem& problem,
                     const AttentionTiling& tiling);

// The nest and its buffers; of the work everything but MACs and vector operations.
TpuKernel BuildAttention(const TpuContext& context, const AttentionProblem& problem,
                         const AttentionTiling& tiling);

}  // namespace cyclecast
