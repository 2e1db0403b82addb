// Tile axes and nests.
#include <gtest/gtest.h>

#include "mapping/nest_builder.h"
#include "mapping/tile_search.h"

namespace cyclecast {
namespace {

TEST(TileAxis, PartsCoverEveryItemExactlyOnce) {
  for (std::int64_t extent = 1; extent <= 40; ++extent) {
    for (std::int64_t tile = 1; tile <= extent; ++tile) {
      for (std::int64_t parts : {1, 2, 3}) {
        const TileAxis axis(extent, tile, parts);
        std::int64_t items = 0;
        for (std::int64_t part = 0; part < parts; ++part) {
          items += (axis.trips() - 1) * axis.At(false, part) + axis.Last(part);
        }
        ASSERT_EQ(items, extent) << tile << " of " << parts;
      }
    }
  }
}

TEST(TileAxis, LastIterationIsShorterOnlyWhereSomePartHasLess) {
  EXPECT_FALSE(TileAxis(12, 4).LastDiffers());
  EXPECT_TRUE(TileAxis(13, 4).LastDiffers());
  EXPECT_FALSE(TileAxis(16, 4, 2).LastDiffers());
  EXPECT_TRUE(TileAxis(12, 4, 2).LastDiffers());  // tiles 0,2 and 1,-
  EXPECT_EQ(TileAxis(12, 4, 2).Last(1), 0);
  EXPECT_FALSE(TileAxis(3, 4).LastDiffers());  // one iteration is not a remainder
}

TEST(EvenTiles, CutsIntoEqualPartsInMultiplesOfTheUnit) {
  // 100 in multiples of 8: whole, halves of 56, thirds of 40, quarters of 32, sixths of 24, ...
  EXPECT_EQ(EvenTiles(100, 8, 1000, 1), (std::vector<std::int64_t>{100, 56, 40, 32, 24, 16, 8}));
  // None above 40, the search ends once a cut is at most 32.
  EXPECT_EQ(EvenTiles(100, 8, 40, 32), (std::vector<std::int64_t>{40, 32}));
  EXPECT_EQ(EvenTiles(5, 8, 1000, 1), (std::vector<std::int64_t>{5}));
}

TEST(SizeText, PicksTheUnit) {
  EXPECT_EQ(SizeText(Bytes(1536)), "1.5 KiB");
  EXPECT_EQ(SizeText(Bytes(16 << 20)), "16 MiB");
}

TEST(NestBuilder, CornersFollowTheRemaindersAroundATask) {
  NestBuilder nest;
  const TileAxis rows(10, 4), columns(8, 4), depth(5, 2);
  const AxisLoop m = nest.AddLoop(0, "m", rows);
  const AxisLoop n = nest.AddLoop(m.id, "n", columns);
  const AxisLoop k = nest.AddLoop(n.id, "k", depth);
  // Bit 0: last m, bit 1: last k; n has no remainder.
  const std::vector<TaskCost> costs = nest.Costs(k.id, [&](const NestBuilder::Corner& corner) {
    TaskCost cost;
    cost.occupancy = Cycles(100 * rows.At(corner.IsLast(m)) + 10 * columns.At(corner.IsLast(n)) +
                            depth.At(corner.IsLast(k)));
    return cost;
  });
  ASSERT_EQ(costs.size(), 4U);
  EXPECT_EQ(costs[0].occupancy, Cycles(442));
  EXPECT_EQ(costs[1].occupancy, Cycles(242));
  EXPECT_EQ(costs[2].occupancy, Cycles(441));
  EXPECT_EQ(costs[3].occupancy, Cycles(241));
}

TEST(NestBuilder, LoopsThatRunOnceAreLeftOutAndBuffersAreNoDeeperThanNeeded) {
  NestBuilder nest;
  const AxisLoop once = nest.AddLoop(0, "m", TileAxis(4, 4));
  EXPECT_FALSE(once.own);
  EXPECT_EQ(once.id, 0);
  nest.AddBuffer("a", once.id, 2, Bytes(100));
  const AxisLoop loop = nest.AddLoop(0, "n", TileAxis(12, 4));
  nest.AddBuffer("b", loop.id, 2, Bytes(10));
  EXPECT_EQ(nest.Footprint(), Bytes(120));
}

}  // namespace
}  // namespace cyclecast
