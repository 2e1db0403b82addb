// The trace format: what is written reads back the same, and what is wrong is named.
#include "traces/trace_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/paths.h"

namespace cyclecast {
namespace {

using ::testing::HasSubstr;
using Random = std::mt19937_64;

std::int64_t Below(Random* random, std::int64_t limit) {
  return static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(limit));
}
bool Coin(Random* random) { return Below(random, 2) == 0; }
double Real(Random* random) {
  return std::ldexp(static_cast<double>((*random)() >> 11),
                    static_cast<int>(Below(random, 60)) - 80);
}
DType AnyType(Random* random) { return static_cast<DType>(Below(random, 9)); }

DpuTensor AnyTensor(Random* random) {
  return {1 + Below(random, 500),
          1 + Below(random, 500),
          1 + Below(random, 500),
          1 + Below(random, 3),
          AnyType(random),
          static_cast<Layout>(Below(random, 7)),
          Coin(random)};
}

DpuWorkload AnyWorkload(Random* random) {
  DpuWorkload work;
  work.operation = static_cast<DpuOperation>(Below(random, 10));
  work.input = AnyTensor(random);
  work.output = AnyTensor(random);
  work.window.kernel_h = 1 + Below(random, 11);
  work.window.kernel_w = 1 + Below(random, 11);
  work.window.stride_h = 1 + Below(random, 3);
  work.window.pad_left = Below(random, 3);
  work.mode = Coin(random) ? "CUBOID_16x16" : "";
  work.weight_dtype = AnyType(random);
  work.activation_sparsity = static_cast<double>(Below(random, 1000)) / 999.0;
  work.weight_sparse = Coin(random);
  work.swizzle_in1 = Below(random, 6);
  work.isi = static_cast<IsiStrategy>(Below(random, 3));
  work.inbound_back = Below(random, 100);
  work.superdense = Coin(random);
  return work;
}

TraceKernel AnyKernel(Random* random) {
  switch (Below(random, 4)) {
    case 0: {
      OpKernel kernel{
          "op" + std::to_string(Below(random, 9)), {}, AnyType(random), Coin(random), ""};
      for (int i = 0; i < Below(random, 5); ++i) {
        kernel.dims.emplace_back("d" + std::to_string(i), Below(random, 1 << 30));
      }
      if (Coin(random)) kernel.text = "params=f32[2, 3]|\"odd\"\nsecond line;# x";
      return kernel;
    }
    case 1:
      return AnyWorkload(random);
    case 2: {
      DmaTransfer transfer;
      transfer.direction = static_cast<DmaDirection>(Below(random, 4));
      transfer.bytes = transfer.line_bytes = Bytes(1 + Below(random, 1 << 20));
      transfer.destination_plane_stride = Below(random, 1 << 20);
      transfer.dimensions = 1 + Below(random, 3);
      return transfer;
    }
    default: {
      ShaveCall call{"vpuem.softmax", Below(random, 3), AnyTensor(random), AnyTensor(random),
                     Real(random)};
      call.input.sparse = call.output.sparse = false;  // SHAVEs know no sparse tensors
      return call;
    }
  }
}

// Rows as an import leaves them: columns in file order, none of them empty.
Trace AnyTrace(std::uint64_t seed) {
  Random random(seed);
  Trace trace;
  const std::vector<std::string> names = {"group", "net work", "nn_cycles", "wl_id"};
  for (std::int64_t i = 0; i < 1 + Below(&random, 30); ++i) {
    TraceRow row;
    row.device = Coin(&random) ? "TPUv9(inferred)" : "# \"x\", y ";
    row.kernel = AnyKernel(&random);
    if (Coin(&random)) row.tile = {Below(&random, 512), Below(&random, 512), Below(&random, 512)};
    if (Coin(&random)) row.measured_us = 1e-3 + Real(&random);
    if (!row.measured_us && Coin(&random)) row.measured_cycles = 1.0 + Real(&random);
    row.std_us = Real(&random);
    row.repeats = Below(&random, 30);
    row.label = static_cast<LabelKind>(Below(&random, 3));
    row.source = "somebody, \"somewhere\"";
    row.notes = Coin(&random) ? "" : "set=a;free text";
    for (const std::string& name : names) {
      if (Coin(&random)) row.columns.emplace_back(name, "v" + std::to_string(Below(&random, 100)));
    }
    trace.rows.push_back(std::move(row));
  }
  return trace;
}

bool operator==(const OpKernel& a, const OpKernel& b) {
  return a.op == b.op && a.dims == b.dims && a.dtype == b.dtype && a.text == b.text &&
         a.operands_on_chip == b.operands_on_chip;
}
bool operator==(const DmaTransfer& a, const DmaTransfer& b) {
  return a.direction == b.direction && a.bytes == b.bytes && a.line_bytes == b.line_bytes &&
         a.dimensions == b.dimensions && a.lines == b.lines && a.planes == b.planes &&
         a.destination_plane_stride == b.destination_plane_stride;
}
bool operator==(const ShaveCall& a, const ShaveCall& b) {
  return a.operation == b.operation && a.inputs == b.inputs && a.input == b.input &&
         a.output == b.output && a.parameter == b.parameter;
}

void ExpectSameRow(const TraceRow& a, const TraceRow& b) {
  EXPECT_EQ(a.device, b.device);
  ASSERT_EQ(a.kernel.index(), b.kernel.index());
  const bool same = std::visit(
      [&](const auto& one) { return one == std::get<std::decay_t<decltype(one)>>(b.kernel); },
      a.kernel);
  EXPECT_TRUE(same) << a.ShapeKey() << "\n" << b.ShapeKey();
  EXPECT_EQ(a.tile.m, b.tile.m);
  EXPECT_EQ(a.tile.n, b.tile.n);
  EXPECT_EQ(a.tile.k, b.tile.k);
  EXPECT_EQ(a.measured_us, b.measured_us);
  EXPECT_EQ(a.measured_cycles, b.measured_cycles);
  EXPECT_EQ(a.std_us, b.std_us);
  EXPECT_EQ(a.repeats, b.repeats);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.columns, b.columns);
}

// Every number is written as the shortest text that reads back as the same double, every field of
// a task that differs from its default is in the descriptor, so nothing is lost.
TEST(TraceCsv, ReadsBackWhatWasWritten) {
  const test::ScratchDir scratch;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Trace trace = AnyTrace(seed);
    const std::string path =
        (scratch / ("t" + std::to_string(seed) + ".csv")).string() + (seed % 2 == 0 ? ".gz" : "");
    ASSERT_TRUE(WriteTrace(trace, path).ok());
    const Result<Trace> read = ReadTrace(path);
    ASSERT_TRUE(read.ok()) << read.error().Text();
    ASSERT_EQ(read->rows.size(), trace.rows.size());
    for (std::size_t i = 0; i < trace.rows.size(); ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " row " + std::to_string(i));
      ExpectSameRow(trace.rows[i], read->rows[i]);
    }
  }
}

// Rows whose columns contradict each other in order have no common one: what is read then has
// the file's order, and from there on it is stable.
TEST(TraceCsv, ContradictingOrdersOfColumnsKeepTheirValues) {
  Trace trace;
  for (const bool swapped : {false, true}) {
    TraceRow& row = trace.rows.emplace_back();
    row.device = "chip";
    row.kernel = OpKernel{"add", {{"n", 4}}, DType::kBf16, false, ""};
    row.columns = {{"a", "1"}, {"b", "2"}};
    if (swapped) std::swap(row.columns[0], row.columns[1]);
  }
  const std::string text = TraceText(trace);
  const Result<Trace> read = ParseTrace(text, "t.csv");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(ColumnOf(read->rows[1], "a"), "1");
  EXPECT_EQ(ColumnOf(read->rows[1], "b"), "2");
  EXPECT_EQ(TraceText(*read), text);
}

TEST(TraceCsv, ARowCarriesItsPlace) {
  const Result<Trace> read = ParseTrace(
      "trace_version,kind,device,op,descriptor,dtype\n"
      "1,op,chip,matmul,M=1;K=2;N=3,bf16\n"
      "1,dma,chip,DDR2CMX,bytes=64,\n",
      "t.csv");
  ASSERT_TRUE(read.ok()) << read.error().Text();
  ASSERT_EQ(read->rows.size(), 2U);
  EXPECT_EQ(read->rows[1].pos.line, 3);
  EXPECT_FALSE(read->rows[0].measured_us.has_value());
  EXPECT_EQ(std::get<OpKernel>(read->rows[0].kernel).Dim("N"), 3);
  EXPECT_EQ(std::get<DmaTransfer>(read->rows[1].kernel).bytes, Bytes(64));
}

struct BadRow {
  const char* row;
  const char* message;
};

class TraceCsvError : public ::testing::TestWithParam<BadRow> {};

TEST_P(TraceCsvError, NamesPlaceAndRemedy) {
  const std::string text =
      "trace_version,kind,device,op,descriptor,dtype,on_chip,tile_m,measured,unit,label\n" +
      std::string(GetParam().row) + "\n";
  const Result<Trace> read = ParseTrace(text, "t.csv");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().Text(), HasSubstr(GetParam().message));
  EXPECT_THAT(read.error().Text(), HasSubstr("t.csv:2:"));
}

INSTANTIATE_TEST_SUITE_P(
    All, TraceCsvError,
    ::testing::Values(
        BadRow{"2,op,chip,add,n=1,bf16,,,,,",
               "'trace_version' is '2'; this program reads version 1"},
        BadRow{"1,kernel,chip,add,n=1,bf16,,,,,", "give op, dpu, dma or shave"},
        BadRow{"1,op,,add,n=1,bf16,,,,,", "'device' is empty"},
        BadRow{"1,op,chip,add,n,bf16,,,,,", "write parts as key=value"},
        BadRow{"1,op,chip,add,n=x,bf16,,,,,", "gives 'n', which is 'x'; give a whole number"},
        BadRow{"1,op,chip,add,n=1;n=2,bf16,,,,,", "gives 'n' twice"},
        BadRow{"1,op,chip,add,n=1,f17,,,,,", "'dtype' is 'f17'"},
        BadRow{"1,op,chip,add,n=1,bf16,,-1,,,", "'tile_m' is '-1', out of range"},
        BadRow{"1,op,chip,add,n=1,bf16,,,5,ms,", "'unit' is 'ms'; give us or cycles"},
        BadRow{"1,op,chip,add,n=1,bf16,,,0,us,", "'measured' is '0'"},
        BadRow{"1,op,chip,add,n=1,bf16,,,,us,", "'measured' is empty"},
        BadRow{"1,op,chip,add,n=1,bf16,,,5,us,guess", "measured, predicted or synthetic"},
        BadRow{"1,dpu,chip,CONV,in_w=1,uint8,,,,,", "'op' is 'CONV', no DPU operation"},
        BadRow{"1,dpu,chip,CONVOLUTION,in_x=1,uint8,,,,,", "unknown key 'in_x'"},
        BadRow{"1,dpu,chip,CONVOLUTION,in_w=0,uint8,,,,,", "'in_w', which is '0', out of range"},
        BadRow{"1,dpu,chip,CONVOLUTION,in_w=8,uint8,1,,,,", "'on_chip' is set"},
        BadRow{"1,dma,chip,DDR2DDR2,bytes=1,,,,,,", "give one such as DDR2CMX"},
        BadRow{"1,dma,chip,DDR2CMX,bytes=1,uint8,,,,,", "'dtype' is set"}));

TEST(TraceCsv, ReportsAllFaultyRowsUpToALimitWithACount) {
  std::string text = "trace_version,kind,device,op,descriptor,dtype\n";
  for (int i = 0; i < 50; ++i) text += "1,op,chip,add,n=x,bf16\n";
  const Result<Trace> read = ParseTrace(text, "t.csv");
  ASSERT_FALSE(read.ok());
  // 20 in full and one with the count of the other 30.
  EXPECT_EQ(read.error().diagnostics().size(), 21U);
  EXPECT_THAT(read.error().Text(), HasSubstr("30 more rows are faulty"));
  EXPECT_THAT(read.error().Text(), HasSubstr("50 rows: 'descriptor' gives"));
}

TEST(TraceCsv, RefusesToReplaceAFileUnlessTold) {
  const test::ScratchDir scratch;
  const std::string path = scratch.Write("t.csv", "mine\n").string();
  EXPECT_FALSE(WriteTrace(AnyTrace(1), path).ok());
  EXPECT_EQ(test::ReadFile(path), "mine\n");
  EXPECT_TRUE(WriteTrace(AnyTrace(1), path, true).ok());
  EXPECT_EQ(test::ReadFile(path), TraceText(AnyTrace(1)));
}

TEST(TraceCsv, CellsFollowTheColumns) {
  Trace trace;
  for (const char* name : {"a", "b"}) {
    TraceRow& row = trace.rows.emplace_back();
    row.device = "chip";
    row.kernel = OpKernel{"add", {{"n", 4}}, DType::kBf16, false, ""};
    row.columns = {{name, "1"}};
  }
  const std::vector<std::string> columns = TraceColumns(trace);
  ASSERT_GE(columns.size(), 2U);
  EXPECT_EQ(columns[columns.size() - 2], "a");
  EXPECT_EQ(columns.back(), "b");
  const std::vector<std::string> second = TraceCells(trace.rows[1], columns);
  ASSERT_EQ(second.size(), columns.size());
  EXPECT_EQ(second[columns.size() - 2], "");
  EXPECT_EQ(second.back(), "1");
}

TEST(ShapeKey, LeavesOutWhatACompilerChooses) {
  TraceRow a, b;
  DpuWorkload work;
  work.input = work.output = {56, 56, 64, 1, DType::kUint8, Layout::kZxy, false};
  work.mode = "CUBOID_16x16";
  a.kernel = work;
  work.mode = "CUBOID_4x16";
  work.swizzle_in0 = 5;
  work.output_write_tiles = 2;
  b.kernel = work;
  b.device = "another";
  EXPECT_EQ(a.ShapeKey(), b.ShapeKey());
  work.window.kernel_h = 3;
  b.kernel = work;
  EXPECT_NE(a.ShapeKey(), b.ShapeKey());
}

}  // namespace
}  // namespace cyclecast
