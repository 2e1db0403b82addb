// SCALE-Sim topology files, with the inputs its users stumbled over.
#include "io/scalesim_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cyclecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kConvHeader[] =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";

Workload Load(const std::string& text, const WorkloadOptions& options = {}) {
  Result<Workload> workload = LoadScaleSimText(text, "net.csv", options);
  if (!workload) ADD_FAILURE() << workload.error().Text();
  return workload ? *workload : Workload();
}

std::string ErrorOf(const std::string& text, const WorkloadOptions& options = {}) {
  const Result<Workload> workload = LoadScaleSimText(text, "net.csv", options);
  return workload ? "no error" : workload.error().Text();
}

Shape OutputOf(const Workload& workload, OpId id) { return workload.OutputType(id).shape; }

// SCALE-Sim #38 and #106: a product without header and final comma. 4*4*4 MACs.
TEST(ScaleSim, ReadsAProductWithoutHeaderAndFinalComma) {
  const Workload workload = Load("a,4,4,4");
  ASSERT_EQ(workload.ops().size(), 1U);
  EXPECT_EQ(workload.name(), "net");
  EXPECT_EQ(workload.TotalMacs(), Macs(64));
}

// M=2, N=3, K=5: [2,5] x [5,3].
TEST(ScaleSim, ProductsAreMNK) {
  const Workload workload = Load("Layer, M, N, K,\ngemm,2,3,5,\n");
  EXPECT_EQ(workload.tensor(0).type.shape, (Shape{2, 5}));
  EXPECT_EQ(OutputOf(workload, 0), (Shape{2, 3}));
}

TEST(ScaleSim, AHeaderInAnotherOrderIsFollowed) {
  const Workload workload = Load("Layer, M, K, N\ngemm,2,5,3\n");
  EXPECT_EQ(workload.tensor(0).type.shape, (Shape{2, 5}));
}

// 224x224x3, 7x7, stride 2, no padding: floor(217/2)+1 = 109.
TEST(ScaleSim, ReadsAConvolutionWithAndWithoutHeaderAndFinalComma) {
  for (const std::string& text :
       {std::string(kConvHeader) + "Conv1, 224, 224, 7, 7, 3, 64, 2,\n",
        std::string(kConvHeader) + "Conv1, 224, 224, 7, 7, 3, 64, 2",
        std::string("Conv1,224,224,7,7,3,64,2\n"), std::string("Conv1,224,224,7,7,3,64,2,\n")}) {
    const Workload workload = Load(text);
    ASSERT_EQ(workload.ops().size(), 1U);
    EXPECT_EQ(OutputOf(workload, 0), (Shape{1, 64, 109, 109}));
  }
}

// ARM #40/#41: stride_h 1, stride_w 2, no final comma. 9x9, 3x3: 7 rows, floor(6/2)+1 = 4 columns.
TEST(ScaleSim, HonoursBothStrides) {
  const Workload workload = Load("c,9,9,3,3,2,4,1,2");
  EXPECT_EQ(OutputOf(workload, 0), (Shape{1, 4, 7, 4}));
  EXPECT_EQ(OutputOf(Load(std::string(kConvHeader) + "c,9,9,3,3,2,4,1,2,\n"), 0),
            (Shape{1, 4, 7, 4}));
}

TEST(ScaleSim, SkipsCommentsAndBlankLines) {
  EXPECT_EQ(Load("#c\na,4,4,4\n\n# d\nb,4,4,4\n").ops().size(), 2U);
}

// SCALE-Sim #49: the bundled ResNet-50 has columns after the stride; empty ones say nothing, others
// are named.
TEST(ScaleSim, NamesExtraColumnsInANote) {
  EXPECT_THAT(Load("Conv1,224,224,7,7,3,64,1,,,\n").notes(), IsEmpty());
  const Workload workload = Load(
      "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,"
      "Strides,Sparsity\nc,8,8,3,3,4,4,1,2:4\nd,8,8,3,3,4,4,1,2:4\n");
  EXPECT_THAT(workload.notes(), ElementsAre(HasSubstr("column 9 ('Sparsity')")));
}

TEST(ScaleSim, StatesWhereTheOutputRuleDiffers) {
  // (6 - 3) is not a multiple of 2: SCALE-Sim has ceil((6-3+2)/2) = 3 rows, here 2.
  const Workload workload = Load("c,6,6,3,3,1,1,2\nd,7,7,3,3,1,1,2\n");
  EXPECT_EQ(OutputOf(workload, 0), (Shape{1, 1, 2, 2}));
  EXPECT_THAT(workload.notes(), ElementsAre(HasSubstr("1 layers differ, the first is 'c'")));
}

TEST(ScaleSim, APaddingColumnIsHonoured) {
  // 224 + 2*3 - 7 = 223, / 2 + 1 = 112.
  const Workload workload = Load(
      "Layer,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,"
      "Strides,Padding\nc,224,224,7,7,3,64,2,3\n");
  EXPECT_EQ(OutputOf(workload, 0), (Shape{1, 64, 112, 112}));
}

// Names that begin with DP mean nothing: one filter over four channels is one output channel.
TEST(ScaleSim, NamesDoNotChangeTheOperator) {
  const Workload workload = Load("DP_conv,5,5,3,3,4,1,1\n");
  EXPECT_EQ(OutputOf(workload, 0), (Shape{1, 1, 3, 3}));
  EXPECT_EQ(workload.TotalMacs(), Macs(9 * 9 * 4));
}

TEST(ScaleSim, EveryLayerHasItsOwnInputAndName) {
  const Workload workload = Load("a,4,4,4\na,8,8,8\n,2,2,2\n");
  ASSERT_EQ(workload.ops().size(), 3U);
  EXPECT_EQ(workload.op(1).name, "a_2");
  EXPECT_EQ(workload.op(2).name, "layer3");
  EXPECT_TRUE(workload.Predecessors(1).empty());
  EXPECT_THAT(workload.notes(), ElementsAre(HasSubstr("1 layers bear the name")));
}

TEST(ScaleSim, BatchAndTypeAreSettable) {
  WorkloadOptions options;
  options.set = {{"batch", "8"}, {"dtype", "int8"}};
  const Workload workload = Load("c,8,8,3,3,4,4,1\ng,2,3,5\n", options);
  EXPECT_EQ(OutputOf(workload, 0), (Shape{8, 4, 6, 6}));
  EXPECT_EQ(OutputOf(workload, 1), (Shape{8, 2, 3}));
  EXPECT_EQ(workload.op(0).weight_dtype, DType::kInt8);
}

TEST(ScaleSimErrors, FilterLargerThanImageNamesLayerPlaceAndCause) {
  const std::string text = ErrorOf("ok,4,4,4\nbad,2,2,3,3,1,1,1\n");
  EXPECT_THAT(text, HasSubstr("net.csv:2:9: error: layer 'bad': the filter height (3) exceeds"));
  EXPECT_THAT(text, HasSubstr("check the order of the columns"));
}

TEST(ScaleSimErrors, ZeroExtentsNameTheColumn) {
  EXPECT_THAT(
      ErrorOf("g,0,4,4\n"),
      HasSubstr(
          "net.csv:1:3: error: layer 'g': M must be a whole number from 1 to 2147483648, not '0'"));
}

TEST(ScaleSimErrors, NumbersThatAreNoneAreReportedTogether) {
  const std::string text = ErrorOf("a,4,x,4\nb,4,4,4.5\nc,9,9,3,3,2,4,-1\n");
  EXPECT_THAT(text, HasSubstr("net.csv:1:5: error: layer 'a': N must be"));
  EXPECT_THAT(text, HasSubstr("net.csv:2:7: error: layer 'b': K must be"));
  EXPECT_THAT(text, HasSubstr("net.csv:3:15: error: layer 'c': stride height must be"));
}

TEST(ScaleSimErrors, RowsOfAStrangeWidthSayWhatIsExpected) {
  EXPECT_THAT(ErrorOf("a,4,4,4,4,4\n"), HasSubstr("net.csv:1:1: error: this row has 6 cells; a "));
  EXPECT_THAT(ErrorOf("4,4,4\n"), HasSubstr("the name is missing here"));
  EXPECT_THAT(ErrorOf(std::string(kConvHeader) + "g,4,4,4\n"),
              HasSubstr("net.csv:2:1: error: layer 'g': filter width is missing; a convolution"));
}

TEST(ScaleSimErrors, HeadersThatLackColumnsNameThem) {
  EXPECT_THAT(ErrorOf("Layer,M,N\nx,1,2\n"), HasSubstr("error: the header lacks 'K'"));
}

TEST(ScaleSimErrors, FilesWithoutLayersAreRefused) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("net.csv:1:1: error: no layers in this file"));
  EXPECT_THAT(ErrorOf(kConvHeader), HasSubstr("no layers in this file"));
}

TEST(ScaleSimErrors, UnknownSettingsAndAbsurdSizesAreRefused) {
  WorkloadOptions options;
  options.set = {{"sequence", "8"}};
  EXPECT_THAT(ErrorOf("a,4,4,4\n", options),
              HasSubstr("--set sequence=8: the workload has no 'sequence'; it has: batch, dtype"));
  options.set = {{"batch", "0"}};
  EXPECT_THAT(ErrorOf("a,4,4,4\n", options), HasSubstr("'batch' must be a whole number from 1"));
  EXPECT_THAT(ErrorOf("a,2000000000,4,2000000000\n"), HasSubstr("more than 2^50 elements"));
  EXPECT_THAT(ErrorOf("a,2000000000,200000,2000000000\n"), HasSubstr("check its extents"));
}

}  // namespace
}  // namespace cyclecast
