#include "traces/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace cyclecast {
namespace {

using ::testing::HasSubstr;

Choice ChoiceOf(std::vector<std::vector<std::size_t>> tiles, double peer) {
  Choice choice;
  choice.tiles = std::move(tiles);
  choice.peer_cycles = peer;
  return choice;
}

// Tile 0 runs 10, 20 and 30 on two DPUs: 10 and 20 start, 30 follows 10, done at 40. Tile 1
// runs 25.
TEST(LayerCycles, TheSlowestTileDecidesAndItsDpusShareTheWorkloads) {
  const std::vector<double> cycles = {10, 20, 30, 25};
  EXPECT_EQ(LayerCycles(ChoiceOf({{0, 1, 2}, {3}}, 1), cycles, 2), 40);
  EXPECT_EQ(LayerCycles(ChoiceOf({{0, 1, 2}, {3}}, 1), cycles, 1), 60);
}

// The peer says 100, 150 and 120. A picker that prefers the second regrets 50 %; one that cannot
// tell the first from the third is charged with the worse of the two, 20 %.
TEST(Regret, IsInThePeersCyclesAndTiesCountAsTheWorst) {
  ChoiceGroup group;
  group.choices = {ChoiceOf({}, 100), ChoiceOf({}, 150), ChoiceOf({}, 120)};
  const std::vector<ChoiceGroup> groups = {group, group};
  const RegretFigures figures = Regret(groups, {{9, 5, 7}, {4, 6, 4}}, {true, true});
  EXPECT_EQ(figures.groups, 2);
  EXPECT_NEAR(figures.mean, 35.0, 1e-9);
  EXPECT_NEAR(figures.max, 50.0, 1e-9);
  EXPECT_EQ(figures.best, 0);
  EXPECT_NEAR(Regret(groups, {{9, 5, 7}, {4, 6, 5}}, {false, true}).best, 100.0, 1e-9);
}

class ReadChoicesTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / name;
    std::ofstream(path) << text;
    return path.string();
  }
  static std::string Workloads() {
    std::string text =
        "wl_id,device,op,in_w,in_h,in_c,in_b,in_dtype,in_layout,act_sparsity_enabled,act_sparsity,"
        "out_w,out_h,out_c,out_b,out_dtype,out_layout,out_sparsity_enabled,kw,kh,sw,sh,pad_top,"
        "pad_bottom,pad_left,pad_right,mpe_mode,activation,wt_dtype,wt_sparsity_enabled,"
        "wt_sparsity,swz_in0,swz_in1,swz_out,output_write_tiles,isi_strategy,ihalo_top,"
        "ihalo_bottom,inbound_top,inbound_bottom,inbound_front,inbound_back,nn_cycles\n";
    for (const char* id : {"7", "9"}) {
      text +=
          std::string(id) +
          ",VPU_2_7,CONVOLUTION,16,16,64,1,UINT8,ZXY,0,0,16,16,64,1,UINT8,ZXY,0,1,1,1,1,0,0,0,0,"
          "CUBOID_16x16,NONE,UINT8,0,0,5,5,5,1,Clustering,0,0,0,0,0,0,900\n";
    }
    return text;
  }
  static constexpr const char* kHeader =
      "cand_id,group,strategy,n_tiles,mpe_mode,intra_split,n_workloads,layer_nn_cycles,"
      "layer_theoretical_cycles,layer_ideal_cycles,cmx_bytes_max_tile,energy_pv_total,"
      "wl_ids_per_tile\n";
};

TEST_F(ReadChoicesTest, GroupsWhatMayBeComparedAndFindsTheWorkloads) {
  const std::string table = std::string(kHeader) +
                            "0,net/a,NONE,1,M,none,1,200,90,80,1,1,7\n"
                            "1,net/a,SOHO,2,M,none,2,100,45,40,1,1,7 9|9\n"
                            "2,net/a,SOK,2,M,none,2,110,45,40,1,1,9|9\n"
                            "3,net/a,SOHO_K_SWITCH,2,M,none,2,120,45,40,1,1,9|9\n"
                            "4,net/b,NONE,1,M,none,1,200,90,80,1,1,7\n"
                            "5,net/b,SOHO,1,M,none,1,,90,80,1,1,7\n";
  const Result<Choices> choices =
      ReadChoices(Write("cand.csv", table), Write("wl.csv", Workloads()));
  ASSERT_TRUE(choices.ok()) << choices.error().Text();
  ASSERT_EQ(choices->groups.size(), 2U);  // net/b has one candidate with the peer's cycles
  EXPECT_EQ(choices->without_peer, 1U);
  EXPECT_EQ(choices->groups[0].network, "net");
  EXPECT_EQ(choices->groups[0].choices[1].tiles,
            (std::vector<std::vector<std::size_t>>{{0, 1}, {1}}));
  EXPECT_EQ(choices->groups[1].name, "net/a (broadcast)");
  EXPECT_EQ(choices->groups[1].choices.size(), 2U);
}

TEST_F(ReadChoicesTest, AnUnknownWorkloadIsNamedWithItsPlace) {
  const std::string file =
      Write("bad.csv", std::string(kHeader) + "0,net/a,NONE,1,M,none,1,200,90,80,1,1,8\n");
  const Result<Choices> choices = ReadChoices(file, Write("wl.csv", Workloads()));
  ASSERT_FALSE(choices.ok());
  EXPECT_THAT(choices.error().Text(), HasSubstr("bad.csv:2:"));
  EXPECT_THAT(choices.error().Text(), HasSubstr("not in the table of workloads"));
}

}  // namespace
}  // namespace cyclecast
