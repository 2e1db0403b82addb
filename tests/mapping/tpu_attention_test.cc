// Fused attention kernels on a small TPU.
#include "tests/mapping/tpu_mapper_fixture.h"

namespace cyclecast::testing {
namespace {

using ::testing::HasSubstr;

// Attention of `heads` heads on `kv` key/value heads, head size 8.
Workload AttentionOf(std::int64_t queries, std::int64_t cache, std::int64_t heads, std::int64_t kv,
                     bool causal) {
  Attention op;
  op.heads = heads;
  op.kv_heads = kv;
  op.head_dim = 8;
  op.cache_length = cache;
  op.causal = causal;
  return Single(op, Shape{1, queries, heads * 8});
}

TEST_F(TpuMapper, AttentionStreamsKeysAndValuesOnceAndNeverWritesScores) {
  // 64 queries and keys, 2 heads: queries, keys, values and results are 2 KiB each.
  const Schedule schedule = Map(AttentionOf(64, 0, 2, 2, false));
  ASSERT_EQ(schedule.kernels.size(), 1U);
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kLoad), Bytes(3 * 64 * 16 * 2));
  EXPECT_EQ(MovedBy(schedule.kernels[0], TaskKind::kStore), Bytes(64 * 16 * 2));
  // Every product once: 2 heads x 64 x 64 x 8 x 2, 16 a cycle.
  EXPECT_GE(BusyOf(schedule.kernels[0], TaskKind::kMatrix), Cycles(2 * 64 * 64 * 8 * 2 / 16));
}

TEST_F(TpuMapper, CausalAttentionSkipsBlocksAboveTheDiagonal) {
  // 64 queries in 4 blocks of 16: 1+2+3+4 = 10 of 16 blocks; in 3 blocks of 24: 6 of 9.
  MappingPins pins;
  pins.by_op["op"].tile_m = pins.by_op["op"].tile_n = 16;
  const Cycles full =
      BusyOf(Map(AttentionOf(64, 0, 1, 1, false), pins).kernels[0], TaskKind::kMatrix);
  const Schedule causal = Map(AttentionOf(64, 0, 1, 1, true), pins);
  EXPECT_EQ(BusyOf(causal.kernels[0], TaskKind::kMatrix).value() * 16, full.value() * 10);
  EXPECT_THAT(causal.kernels[0].mapping, HasSubstr("causal blocks skipped"));
  // With 64 keys before the queries each block needs 4 more: 10 + 16 of 32.
  const Cycles longer =
      BusyOf(Map(AttentionOf(64, 64, 1, 1, false), pins).kernels[0], TaskKind::kMatrix);
  const Schedule after = Map(AttentionOf(64, 64, 1, 1, true), pins);
  EXPECT_EQ(BusyOf(after.kernels[0], TaskKind::kMatrix).value() * 32, longer.value() * 26);
}

TEST_F(TpuMapper, GroupedQueriesShareTheLoadOfTheirKeys) {
  // Decode: one query, 8 heads; with 2 key/value heads a quarter of the cache is read.
  const auto load = [&](std::int64_t kv) {
    return MovedBy(Map(AttentionOf(1, 255, 8, kv, true)).kernels[0], TaskKind::kLoad);
  };
  EXPECT_EQ(load(8), Bytes(2 * 256 * 8 * 8 * 2 + 8 * 8 * 2));
  EXPECT_EQ(load(2), Bytes(2 * 256 * 2 * 8 * 2 + 8 * 8 * 2));
}

TEST_F(TpuMapper, AttentionPinsAreHonouredOrRefused) {
  MappingPins pins;
  pins.by_op["op"].tile_m = 8;
  pins.by_op["op"].tile_n = 32;
  const Schedule schedule = Map(AttentionOf(64, 0, 1, 1, false), pins);
  EXPECT_EQ(schedule.kernels[0].work.tile_m, 8);
  EXPECT_EQ(schedule.kernels[0].work.tile_n, 32);
  pins.by_op["op"].tile_k = 4;
  EXPECT_THAT(ErrorOf(AttentionOf(64, 0, 1, 1, false), pins),
              HasSubstr("tile_k: attention is tiled by tile_m (queries) and tile_n (keys)"));
}

}  // namespace
}  // namespace cyclecast::testing
