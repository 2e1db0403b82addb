// Import of the public tables, on small ones with invented numbers.
#include "traces/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "tests/traces/data_files.h"
#include "traces/trace_csv.h"

namespace cyclecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTpuHeader =
    "source,device,op,M,K,N,dims,dtype,time_us,time_std_us,flops,bytes,notes\n";
const std::string kDpuColumns =
    "device,op,in_w,in_h,in_c,in_b,in_dtype,in_layout,act_sparsity_enabled,act_sparsity,out_w,"
    "out_h,out_c,out_b,out_dtype,out_layout,out_sparsity_enabled,kw,kh,sw,sh,pad_top,pad_bottom,"
    "pad_left,pad_right,mpe_mode,activation,wt_dtype,wt_sparsity_enabled,wt_sparsity,swz_in0,"
    "swz_in1,swz_out,output_write_tiles,isi_strategy,ihalo_top,ihalo_bottom,inbound_top,"
    "inbound_bottom,inbound_front,inbound_back";
const std::string kDpuRow =
    "VPU_2_7,CONVOLUTION,10,12,32,1,UINT8,ZMAJOR,0,0,10,10,48,1,FLOAT16,ZXY,0,1,3,1,1,0,0,0,0,"
    "CUBOID_16x16,NONE,INT8,1,0.25,5,4,3,2,SplitOverK,0,0,1,2,3,4";

class Import : public ::testing::Test {
 protected:
  Result<Trace> Read(const std::string& format, const std::string& text,
                     const ImportOptions& options = {}) {
    const std::string path = scratch_.Write("table.csv", text).string();
    return ImportTrace(format, {path}, options);
  }
  Result<Trace> ReadTpu(const std::string& rows, bool skip_bad = false) {
    return Read("tpu-kernels", kTpuHeader + rows, {"", skip_bad});
  }
  test::ScratchDir scratch_;
};

using Dims = std::vector<std::pair<std::string, std::int64_t>>;

TEST_F(Import, TakesATpuKernel) {
  const Result<Trace> trace = ReadTpu(
      "somebody,TPUx,matmul,8,16,32,M=8;K=16;N=32,f16,1.25,0.5,8192,99,set=a;reps=7;free text\n");
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  ASSERT_EQ(trace->rows.size(), 1U);
  const TraceRow& row = trace->rows[0];
  const OpKernel& kernel = std::get<OpKernel>(row.kernel);
  EXPECT_EQ(row.device, "TPUx");
  EXPECT_EQ(row.source, "somebody");
  EXPECT_EQ(kernel.op, "matmul");
  EXPECT_EQ(kernel.Dim("K"), 16);
  EXPECT_EQ(kernel.dtype, DType::kFp16);
  EXPECT_FALSE(kernel.operands_on_chip);
  EXPECT_EQ(row.measured_us, 1.25);
  EXPECT_EQ(row.std_us, 0.5);
  EXPECT_EQ(row.repeats, 7);
  EXPECT_EQ(row.label, LabelKind::kMeasured);
  EXPECT_EQ(row.pos.line, 2);
  EXPECT_EQ(row.notes, "set=a;reps=7;free text");
  EXPECT_EQ(ColumnOf(row, "set"), "a");
  EXPECT_EQ(ColumnOf(row, "flops"), "8192");
  EXPECT_EQ(ColumnOf(row, "timing"), "device");
}

TEST_F(Import, ReadsEveryFormOfExtents) {
  const Result<Trace> trace = ReadTpu(
      "s,T,add,,,,shape=4x8x2;n=64,f16,1,,,,\n"
      "s,T,layernorm,,,,shape=4x8x2;n=64,f16,1,,,,\n"
      "s,T,resnet_block,,,,\"(16, 18, 2)\",bf16?,1,,,,\n"
      "s,T,app,,,,app=MLP9;layers=5;weights=20M;ops_per_weight_byte=7;batch=7,int8,1,,,,\n"
      "s,T,conv_stack,,,,layers=2;H=8;W=8;Cin=3;K=4;R=3;S=3;stride=1;pad=same,int8,1,,,,\n"
      "s,T,conv2d,1,2,3,N=1;H=8;W=8;C=3;K=4;R=3;S=3;stride=1;pad=VALID;layout=NCHW,f16,1,,,,\n"
      "s,T,model,,,,some_net.tflite,int8,1,,,,\n"
      "s,T,matmul,8,16,32,,bf16,1,,,,\n"
      "s,T,allreduce,,,,bytes=64,,1,,,,\n");
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  const auto kernel = [&](std::size_t i) { return std::get<OpKernel>(trace->rows[i].kernel); };
  EXPECT_EQ(kernel(0).dims, (Dims{{"d0", 4}, {"d1", 8}, {"d2", 2}, {"n", 64}}));
  EXPECT_EQ(kernel(1).Dim("rows"), 32);
  EXPECT_EQ(kernel(1).Dim("cols"), 2);
  EXPECT_EQ(kernel(2).dims, (Dims{{"M", 16}, {"K", 18}, {"N", 2}}));
  EXPECT_EQ(kernel(2).dtype, DType::kBf16);
  EXPECT_EQ(ColumnOf(trace->rows[2], "dtype_assumed"), "1");
  EXPECT_EQ(kernel(3).Dim("weights"), 20000000);
  EXPECT_EQ(kernel(3).text, "MLP9");
  EXPECT_EQ(kernel(4).Dim("same_pad"), 1);
  EXPECT_EQ(kernel(5).Dim("pad"), 0);
  EXPECT_EQ(ColumnOf(trace->rows[5], "layout"), "NCHW");
  EXPECT_EQ(kernel(6).text, "some_net.tflite");
  EXPECT_EQ(kernel(7).Dim("N"), 32);
  EXPECT_EQ(kernel(8).Dim("bytes"), 64);
}

TEST_F(Import, TakesResidencyAndTimingFromTheNotes) {
  const Result<Trace> trace = ReadTpu(
      "s,T,matmul_vmem,8,8,8,M=8;K=8;N=8,bf16,1,,,,slope of repetitions\n"
      "s,T,add,,,,n=64,bf16,1,,,,chained elementwise slope;vmem_resident=1\n"
      "s,T,add,,,,n=64,bf16,1,,,,chained elementwise slope;vmem_resident=0\n"
      "s,T,matmul_chain,8,8,8,M=8;K=8;N=8,bf16,1,,,,wall-clock of 16-step chain /16 (includes "
      "~90us dispatch/16)\n"
      "s,T,matmul,8,8,8,M=8;K=8;N=8,bf16,1,,,,mode=wallclock;launch_overhead_us=9.5\n"
      "s,T,read_only,,,,n=64,bf16,1,,,,chained slope;vmem_resident=1\n");
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  std::vector<bool> on_chip;
  std::vector<std::string> timing;
  for (const TraceRow& row : trace->rows) {
    on_chip.push_back(std::get<OpKernel>(row.kernel).operands_on_chip);
    timing.emplace_back(ColumnOf(row, "timing"));
  }
  EXPECT_THAT(on_chip, ElementsAre(true, true, false, true, false, false));
  EXPECT_THAT(timing, ElementsAre("slope", "slope", "slope", "wall", "wall", "slope"));
  EXPECT_EQ(ColumnOf(trace->rows[3], "dispatch_us"), "90");
  EXPECT_EQ(ColumnOf(trace->rows[4], "dispatch_us"), "9.5");
  EXPECT_EQ(ColumnOf(trace->rows[3], "steps"), "16");
  EXPECT_EQ(ColumnOf(trace->rows[4], "launch_overhead_us"), "9.5");
}

// Bounds count 8 sublanes and 128 lanes: [2, 3, 4] is 2*3*8 = 48 by 4*128 = 512; the kernel's
// [3, 1, 4, 2] is 3*1*4*8 = 96 of the contraction.
TEST_F(Import, SeparatesAFusionFromItsTile) {
  const Result<Trace> trace = ReadTpu(
      "s,T,xla_conv_dot_fusion,,,,\"kernel=1:f.9;params=f32[2, 3]|f32[];key_ops=;"
      "kernel_bounds=[3, 1, 4, 2];output_bounds=[2, 3, 4];input_bounds=None;default=0\",,1,,,,\n"
      "s,T,xla_fusion,,,,kernel=1:f.9;params=;key_ops=;output_bounds=None;default=1,,1,,,,\n");
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  const TraceRow& row = trace->rows[0];
  EXPECT_EQ(std::get<OpKernel>(row.kernel).text, "kernel=1:f.9;params=f32[2, 3]|f32[];key_ops=");
  EXPECT_EQ(row.tile.m, 48);
  EXPECT_EQ(row.tile.n, 512);
  EXPECT_EQ(row.tile.k, 96);
  EXPECT_EQ(ColumnOf(row, "output_bounds"), "[2, 3, 4]");
  EXPECT_EQ(ColumnOf(row, "default"), "0");
  EXPECT_THAT(row.ShapeKey(), Not(HasSubstr("bounds")));
  EXPECT_EQ(trace->rows[1].tile.m, 0);
}

struct BadTpuRow {
  const char* row;
  const char* message;
};

class TpuImportError : public Import, public ::testing::WithParamInterface<BadTpuRow> {};

TEST_P(TpuImportError, NamesLineColumnAndReason) {
  const Result<Trace> trace = ReadTpu(std::string(GetParam().row) + "\n");
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().Text(), HasSubstr(GetParam().message));
  EXPECT_THAT(trace.error().Text(), HasSubstr("table.csv:2:"));
}

INSTANTIATE_TEST_SUITE_P(
    All, TpuImportError,
    ::testing::Values(
        BadTpuRow{"s,,add,,,,n=4,f16,1,,,,", "'device' is empty"},
        BadTpuRow{"s,T,adds,,,,n=4,f16,1,,,,", "'op' is 'adds', no operator"},
        BadTpuRow{"s,T,add,,,,m=4,f16,1,,,,", "'dims' lacks 'n'"},
        BadTpuRow{"s,T,add,,,,n=4.5,f16,1,,,,", "which is '4.5'; give a whole number"},
        BadTpuRow{"s,T,add,,,,n=4;q=1,f16,1,,,,", "gives 'q', which is no extent"},
        BadTpuRow{"s,T,add,,,,n=4;n=4,f16,1,,,,", "gives 'n' twice"},
        BadTpuRow{"s,T,add,,,,shape=4xx;n=4,f16,1,,,,", "gives a shape"},
        BadTpuRow{"s,T,matmul,9,8,8,M=8;K=8;N=8,f16,1,,,,", "the column M says '9'"},
        BadTpuRow{"s,T,resnet_block,,,,\"(16, 18)\",f16,1,,,,", "needs 3 extents as (a, b, ...)"},
        BadTpuRow{"s,T,add,,,,n=4,f17,1,,,,", "'dtype' is 'f17'"},
        BadTpuRow{"s,T,add,,,,n=4,,1,,,,", "'dtype' is ''"},
        BadTpuRow{"s,T,add,,,,n=4,f16,,,,,", "'time_us' is empty"},
        BadTpuRow{"s,T,add,,,,n=4,f16,0,,,,", "'time_us' is '0'"},
        BadTpuRow{"s,T,add,,,,n=4,f16,-3,,,,", "'time_us' is '-3', out of range"},
        BadTpuRow{"s,T,add,,,,n=4,f16,nan,,,,", "'time_us' is 'nan'"},
        BadTpuRow{"s,T,add,,,,n=4,f16,1,x,,,", "'time_std_us' is 'x'"}));

TEST_F(Import, SkipsBadRowsOnlyWhenToldAndCountsThemByReason) {
  const std::string rows =
      "s,T,add,,,,n=4,f16,1,,,,\n"
      "s,T,add,,,,n=4,f16,,,,,\n"
      "s,T,add,,,,n=4,f16,,,,,\n"
      "s,T,addd,,,,n=4,f16,2,,,,\n";
  EXPECT_FALSE(ReadTpu(rows).ok());
  const Result<Trace> trace = ReadTpu(rows, true);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->rows.size(), 1U);
  ASSERT_EQ(trace->warnings.size(), 2U);
  EXPECT_THAT(trace->warnings[0], HasSubstr("skipped 2 rows: 'time_us' is empty"));
  EXPECT_THAT(trace->warnings[1], HasSubstr("skipped 1 row: 'op' is '...', no operator"));
}

TEST_F(Import, TakesADpuWorkload) {
  const Result<Trace> trace =
      Read("vpu-workloads",
           "wl_id,network," + kDpuColumns + ",nn_cycles,gt_cycles,gt_quality\n" + "7,net_a," +
               kDpuRow + ",900,1000,confirmed\n",
           {"gt_cycles", false});
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  const TraceRow& row = trace->rows.at(0);
  DpuWorkload want;
  want.input = {10, 12, 32, 1, DType::kUint8, Layout::kZxy, false};
  want.output = {10, 10, 48, 1, DType::kFp16, Layout::kZxy, false};
  want.window.kernel_h = 3;
  want.mode = "CUBOID_16x16";
  want.weight_dtype = DType::kInt8;
  want.weight_sparse = true;
  want.weight_sparsity = 0.25;
  want.swizzle_in0 = 5;
  want.swizzle_in1 = 4;
  want.swizzle_out = 3;
  want.output_write_tiles = 2;
  want.isi = IsiStrategy::kSplitOverChannel;
  want.inbound_top = 1;
  want.inbound_bottom = 2;
  want.inbound_front = 3;
  want.inbound_back = 4;
  EXPECT_EQ(std::get<DpuWorkload>(row.kernel), want);
  EXPECT_EQ(row.device, "VPU_2_7");
  EXPECT_EQ(row.measured_cycles, 1000.0);
  EXPECT_EQ(row.label, LabelKind::kMeasured);
  EXPECT_EQ(row.source, "table.csv:gt_cycles");
  EXPECT_EQ(row.columns,
            (std::vector<std::pair<std::string, std::string>>{{"wl_id", "7"},
                                                              {"network", "net_a"},
                                                              {"nn_cycles", "900"},
                                                              {"gt_quality", "confirmed"}}));
}

TEST_F(Import, NeverCallsAPredictionMeasured) {
  const std::string text = kDpuColumns + ",nn_cycles,theoretical_cycles\n" + kDpuRow + ",900,800\n";
  for (const char* label : {"nn_cycles", "theoretical_cycles"}) {
    const Result<Trace> trace = Read("vpu-workloads", text, {label, false});
    ASSERT_TRUE(trace.ok()) << trace.error().Text();
    EXPECT_EQ(trace->rows.at(0).label, LabelKind::kPredicted);
  }
}

TEST_F(Import, TakesTheOptionalFieldsOfADpuWorkload) {
  const Result<Trace> trace =
      Read("vpu-workloads",
           kDpuColumns + ",superdense,inplace_output,weightless,lut_cycles,suspect\n" + kDpuRow +
               ",1,0,1,70,\n",
           {"lut_cycles", false});
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  const DpuWorkload& work = std::get<DpuWorkload>(trace->rows.at(0).kernel);
  EXPECT_TRUE(work.superdense);
  EXPECT_FALSE(work.in_place_output);
  EXPECT_TRUE(work.weightless);
  EXPECT_TRUE(trace->rows[0].columns.empty());  // an empty cell is no column
}

TEST_F(Import, ListsWhatLooksLikeALabel) {
  const std::string text =
      kDpuColumns + ",gt_cycles,gt_vpu_clk_cycles,nn_cycles\n" + kDpuRow + ",1,1,1\n";
  for (const char* label : {"", "cycles"}) {
    const Result<Trace> trace = Read("vpu-workloads", text, {label, false});
    ASSERT_FALSE(trace.ok());
    EXPECT_THAT(trace.error().Text(), HasSubstr("look like labels: gt_cycles, nn_cycles"));
  }
  const Result<Trace> other = Read("vpu-workloads", text, {"gt_vpu_clk_cycles", false});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().Text(), HasSubstr("another clock"));
  EXPECT_FALSE(Read("tpu-kernels", kTpuHeader, {"nn_cycles", false}).ok());
}

TEST_F(Import, NamesMissingColumns) {
  const Result<Trace> trace =
      Read("vpu-workloads", "device,op,in_w\nV,CONVOLUTION,1\n", {"x", false});
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().Text(), HasSubstr("'in_h', 'in_c'"));
}

TEST_F(Import, RefusesTablesOfLayers) {
  const Result<Trace> trace =
      Read("vpu-workloads", "cand_id,group,strategy,n_tiles\n0,a,NONE,1\n", {"nn_cycles", false});
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().Text(), HasSubstr("holds whole layers"));
}

TEST_F(Import, TakesTransfersShortAndLong) {
  const Result<Trace> sweep =
      Read("vpu-dma",
           "device,clock_setting,direction,bytes,gt_vpu_clk_cycles,gt_dpu_cycles\n"
           "V,default,DDR2CMX,4096,300,400\n"
           "V,gear4,DDR2CMX,4096,330,440\n",
           {"gt_dpu_cycles", false});
  ASSERT_TRUE(sweep.ok()) << sweep.error().Text();
  const DmaTransfer& line = std::get<DmaTransfer>(sweep->rows.at(0).kernel);
  EXPECT_EQ(line.direction, DmaDirection::kDdrToCmx);
  EXPECT_EQ(line.line_bytes, Bytes(4096));
  EXPECT_EQ(ColumnOf(sweep->rows[0], "clock_setting"), "default");
  EXPECT_EQ(sweep->rows[0].device, "V");
  EXPECT_EQ(sweep->rows.at(1).device, "V@gear4");
  EXPECT_EQ(ColumnOf(sweep->rows[0], "gt_vpu_clk_cycles"), "300");

  const std::string header =
      "device,direction,bytes,n_dims,line_bytes,n_lines,n_planes,src_line_stride,dst_line_stride,"
      "src_plane_stride,dst_plane_stride,num_engines,nn_cycles\n";
  const Result<Trace> planes =
      Read("vpu-dma", header + "V,CMX2CMX,96,3,16,3,2,20,16,60,48,2,70\n", {"nn_cycles", false});
  ASSERT_TRUE(planes.ok()) << planes.error().Text();
  const DmaTransfer& transfer = std::get<DmaTransfer>(planes->rows.at(0).kernel);
  EXPECT_EQ(transfer.lines, 3);
  EXPECT_EQ(transfer.source_plane_stride, 60);
  EXPECT_EQ(transfer.engines, 2);
  // 16*3*2 = 96 is not 95.
  const Result<Trace> wrong =
      Read("vpu-dma", header + "V,CMX2CMX,95,3,16,3,2,20,16,60,48,2,70\n", {"nn_cycles", false});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().Text(), HasSubstr("not the product of line_bytes"));
}

TEST_F(Import, TakesShaveCallsOfBothTables) {
  const Result<Trace> real =
      Read("vpu-shave",
           "device,op,in_b,in_c,in_h,in_w,in_dtype,in_layout,out_b,out_c,out_h,out_w,out_dtype,"
           "out_layout,real_cycles\n"
           "V,greater,1,2,3,4,FLOAT16,ZXY,1,2,3,5,INT8,XYZ,77\n",
           {"real_cycles", false});
  ASSERT_TRUE(real.ok()) << real.error().Text();
  const ShaveCall& call = std::get<ShaveCall>(real->rows.at(0).kernel);
  EXPECT_EQ(call.operation, "greater");
  EXPECT_EQ(call.input, (DpuTensor{4, 3, 2, 1, DType::kFp16, Layout::kZxy, false}));
  EXPECT_EQ(call.output, (DpuTensor{5, 3, 2, 1, DType::kInt8, Layout::kXyz, false}));
  EXPECT_EQ(real->rows[0].label, LabelKind::kMeasured);

  const Result<Trace> fits =
      Read("vpu-shave",
           "device,op,n_inputs,w,h,c,dtype,layout,param0,elements,cycles_dpu\n"
           "V,MVN,2,4,3,2,FLOAT16,XYZ,3,24,88\nV,abs,1,4,3,2,FLOAT16,XYZ,,24,9\n",
           {"cycles_dpu", false});
  ASSERT_TRUE(fits.ok()) << fits.error().Text();
  const ShaveCall& mvn = std::get<ShaveCall>(fits->rows.at(0).kernel);
  EXPECT_EQ(mvn.inputs, 2);
  EXPECT_EQ(mvn.parameter, 3.0);
  EXPECT_EQ(mvn.output, mvn.input);
  EXPECT_EQ(fits->rows[0].label, LabelKind::kPredicted);
  EXPECT_EQ(std::get<ShaveCall>(fits->rows.at(1).kernel).parameter, 0.0);
}

TEST_F(Import, RenamesColumnsCalledLikeOurs) {
  const Result<Trace> trace =
      Read("vpu-dma", "device,direction,bytes,label,my_cycles\nV,DDR2CMX,64,red,5\n",
           {"my_cycles", false});
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  EXPECT_EQ(ColumnOf(trace->rows.at(0), "original_label"), "red");
  EXPECT_TRUE(ParseTrace(TraceText(*trace), "t.csv").ok());
}

TEST_F(Import, KnowsItsFormats) {
  const Result<Trace> trace = ImportTrace("vpu-work", {}, {});
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(ImportFormats(), ElementsAre("tpu-kernels", "vpu-workloads", "vpu-dma", "vpu-shave"));
}

class MeasuredData : public ::testing::TestWithParam<test::DataFile> {};

// Every row of the public tables is imported, and writing and reading keeps all of them.
TEST_P(MeasuredData, IsImportedWholeAndRoundTrips) {
  CYCLECAST_DATA_OR_SKIP(path, GetParam().file);
  const Result<Trace> trace =
      ImportTrace(GetParam().format, {path.string()}, {GetParam().label, false});
  ASSERT_TRUE(trace.ok()) << trace.error().Text();
  EXPECT_FALSE(trace->rows.empty());
  const std::string text = TraceText(*trace);
  const Result<Trace> again = ParseTrace(text, "t.csv");
  ASSERT_TRUE(again.ok()) << again.error().Text();
  EXPECT_EQ(TraceText(*again), text);
}

INSTANTIATE_TEST_SUITE_P(Files, MeasuredData, ::testing::ValuesIn(test::WholeTables()));

}  // namespace
}  // namespace cyclecast
