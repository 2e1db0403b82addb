// Max-min shares in integers.
#include "sim/memory/fair_share.h"

#include <gtest/gtest.h>

#include <random>

namespace cyclecast::sim {
namespace {

std::vector<std::int64_t> Rates(const FairShare& share) {
  std::vector<std::int64_t> rates;
  for (const FairShare::Flow& flow : share.flows()) rates.push_back(flow.rate);
  return rates;
}

TEST(FairShare, AStreamAloneFlowsAtTheLowerOfItsOwnRateAndTheBandwidth) {
  FairShare share;
  share.Reset(100);
  share.Add(0, 30, 1000);
  EXPECT_EQ(Rates(share), (std::vector<std::int64_t>{30}));
  EXPECT_EQ(share.NextDone(), 34);  // ceil(1000 / 30)
  share.Reset(100);
  share.Add(0, 300, 1000);
  EXPECT_EQ(Rates(share), (std::vector<std::int64_t>{100}));
  EXPECT_EQ(share.NextDone(), 10);
}

TEST(FairShare, WhatModestStreamsLeaveIsDividedEqually) {
  // 100 for 10 + 60 + 80: the first gets its 10, the others (100 - 10) / 2.
  FairShare share;
  share.Reset(100);
  share.Add(0, 60, 1000);
  share.Add(1, 10, 1000);
  share.Add(2, 80, 1000);
  EXPECT_EQ(Rates(share), (std::vector<std::int64_t>{45, 10, 45}));
  EXPECT_EQ(share.total_rate(), 100);
}

TEST(FairShare, AStreamBelowTheRaisedShareIsServedInFull) {
  // 90 for 10 + 38 + 80: equal share 30, then (90 - 10) / 2 = 40 >= 38, then 90 - 48 = 42.
  FairShare share;
  share.Reset(90);
  share.Add(0, 10, 1000);
  share.Add(1, 38, 1000);
  share.Add(2, 80, 1000);
  EXPECT_EQ(Rates(share), (std::vector<std::int64_t>{10, 38, 42}));
}

TEST(FairShare, ADoneStreamLeavesItsShareToTheOthers) {
  FairShare share;
  share.Reset(100);
  share.Add(0, 100, 500);
  share.Add(1, 100, 1500);
  ASSERT_EQ(share.NextDone(), 10);  // 500 at 50
  share.Advance(9);
  std::vector<std::int32_t> done;
  share.TakeDone(&done);
  EXPECT_TRUE(done.empty());
  share.Advance(1);
  share.TakeDone(&done);
  EXPECT_EQ(done, (std::vector<std::int32_t>{0}));
  EXPECT_EQ(Rates(share), (std::vector<std::int64_t>{100}));
  EXPECT_EQ(share.NextDone(), 10);  // 1500 - 500 at 100
}

TEST(FairShare, SharesAreMaxMinFairAndWithinTheBandwidth) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    const std::int64_t bandwidth = 1 + random() % 1000;
    FairShare share;
    share.Reset(bandwidth);
    const int streams = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < streams; ++i) share.Add(i, 1 + random() % 600, 1);
    std::int64_t total = 0, most = 0;
    for (const FairShare::Flow& flow : share.flows()) {
      total += flow.rate;
      most = std::max(most, flow.rate);
      EXPECT_LE(flow.rate, flow.wanted);
    }
    if (bandwidth >= streams) {
      EXPECT_LE(total, bandwidth);
    }
    for (const FairShare::Flow& flow : share.flows()) {
      // Whoever is held back gets as much as anybody; rounding loses less than one per stream.
      if (flow.rate < flow.wanted) {
        EXPECT_EQ(flow.rate, most);
        EXPECT_GT(total, bandwidth - streams);
      }
    }
  }
}

}  // namespace
}  // namespace cyclecast::sim
