// Features of any kernel: where the base model sees its time go, how its extents fit the tiles and
// the array, its traffic, its kind and its machine.
#include "learned/feature_table.h"

namespace cyclecast {
namespace {

using feature::Fill;
using feature::Flag;
using feature::LogOf;
using feature::LogRatio;
using feature::Share;
using Facts = KernelFacts;

double Value(Bytes bytes) { return static_cast<double>(bytes.value()); }
double Value(Macs macs) { return static_cast<double>(macs.value()); }

template <Category C>
double ShareOf(const Facts& f) {
  return static_cast<double>(f.estimate->attribution[C].value()) / f.cycles;
}
template <OpClass C>
double IsClass(const Facts& f) {
  return Flag(f.kernel->op_class == C);
}
template <DType T>
double IsDType(const Facts& f) {
  return Flag(f.kernel->work.dtype == T);
}

void AppendShares(std::vector<FeatureRow>* t) {
  const auto add = [t](Category c, const char* doc, double (*value)(const Facts&)) {
    t->push_back({{"share_" + std::string(Name(c)), "ratio", doc, false}, value});
  };
  add(Category::kCompute, "base time spent in useful matrix work", ShareOf<Category::kCompute>);
  add(Category::kPadding, "base time spent on padding and remainders", ShareOf<Category::kPadding>);
  add(Category::kWeightLoad, "base time the array waits for weights",
      ShareOf<Category::kWeightLoad>);
  add(Category::kVector, "base time only the vector unit works", ShareOf<Category::kVector>);
  add(Category::kExposedMemory, "base time only transfers are under way",
      ShareOf<Category::kExposedMemory>);
  add(Category::kContention, "base time lost to transfers slowing each other",
      ShareOf<Category::kContention>);
  add(Category::kFillDrain, "base time results are only on their way",
      ShareOf<Category::kFillDrain>);
  add(Category::kLaunch, "base time of launch and barriers", ShareOf<Category::kLaunch>);
  add(Category::kWait, "base time nothing is under way", ShareOf<Category::kWait>);
}

void AppendBounds(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      {{"bound_share", "ratio", "physical lower bound / base time", false},
       [](const Facts& f) { return static_cast<double>(f.estimate->bound.value()) / f.cycles; }},
      {{"utilisation", "ratio", "useful MACs / (base time x peak)", false},
       [](const Facts& f) { return f.estimate->utilisation; }},
      {{"busy_matrix", "ratio", "busiest matrix unit or DPU / base time", false},
       [](const Facts& f) { return f.busy_matrix / f.cycles; }},
      {{"busy_vector", "ratio", "busiest vector unit or SHAVE / base time", false},
       [](const Facts& f) { return f.busy_vector / f.cycles; }},
      {{"busy_load", "ratio", "busiest load engine / base time", false},
       [](const Facts& f) { return f.busy_load / f.cycles; }},
      {{"busy_store", "ratio", "busiest store engine / base time", false},
       [](const Facts& f) { return f.busy_store / f.cycles; }},
      {{"busy_move", "ratio", "busiest engine moving on-chip data / base time", false},
       [](const Facts& f) { return f.busy_move / f.cycles; }},
      {{"second_bound", "ratio", "second busiest resource / busiest", false},
       [](const Facts& f) { return Share(f.busy_second, f.busy_first); }},
      {{"bound_sum", "ratio", "all resources' busy time / the busiest's", false},
       [](const Facts& f) { return Share(f.busy_sum, f.busy_first); }},
      {{"overlap_loss", "ratio", "base time beyond the busiest resource / base time", false},
       [](const Facts& f) { return 1.0 - std::min(1.0, f.busy_first / f.cycles); }},
      {{"issue_share", "ratio", "descriptor issue of all transfers / base time", false},
       [](const Facts& f) { return f.transfer_overhead / f.cycles; }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

template <int Align>
void AppendFills(std::vector<FeatureRow>* t) {
  const std::string suffix = "_fill_" + std::to_string(Align);
  const std::string doc = " / it rounded up to " + std::to_string(Align);
  t->push_back({{"m" + suffix, "ratio", "M of the product" + doc, false},
                [](const Facts& f) { return Fill(f.kernel->work.gemm.m, Align); }});
  t->push_back({{"n" + suffix, "ratio", "N of the product" + doc, false},
                [](const Facts& f) { return Fill(f.kernel->work.gemm.n, Align); }});
  t->push_back({{"k" + suffix, "ratio", "K of the product" + doc, false},
                [](const Facts& f) { return Fill(f.kernel->work.gemm.k, Align); }});
}

void AppendTiles(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      {{"m_tile_fill", "ratio", "M / (tiles along M x tile)", false},
       [](const Facts& f) { return Fill(f.kernel->work.gemm.m, f.kernel->work.tile_m); }},
      {{"n_tile_fill", "ratio", "N / (tiles along N x tile)", false},
       [](const Facts& f) { return Fill(f.kernel->work.gemm.n, f.kernel->work.tile_n); }},
      {{"k_tile_fill", "ratio", "K / (tiles along K x tile)", false},
       [](const Facts& f) { return Fill(f.kernel->work.gemm.k, f.kernel->work.tile_k); }},
      {{"tile_m_share", "ratio", "tile along M / M, at most 1", false},
       [](const Facts& f) { return 1.0 / f.tiles_m; }},
      {{"tile_n_share", "ratio", "tile along N / N, at most 1", false},
       [](const Facts& f) { return 1.0 / f.tiles_n; }},
      {{"tile_k_share", "ratio", "tile along K / K, at most 1", false},
       [](const Facts& f) { return 1.0 / f.tiles_k; }},
      {{"wave_fill", "ratio", "tiles / (waves over the parallel units x units)", false},
       [](const Facts& f) {
         const double units =
             static_cast<double>(std::max<std::int64_t>(1, f.kernel->work.parallel_units));
         const double tiles = f.tiles_m * f.tiles_n;
         return tiles / (std::ceil(tiles / units) * units);
       }},
      {{"padding_fill", "ratio", "useful MACs / MACs with padding to the array", false},
       [](const Facts& f) {
         const KernelWork& w = f.kernel->work;
         return w.padded_macs.value() > 0 ? Share(Value(w.macs), Value(w.padded_macs)) : 1.0;
       }},
      {{"m_over_n", "log2", "aspect of the product, M / N", false},
       [](const Facts& f) { return LogRatio(f.kernel->work.gemm.m, f.kernel->work.gemm.n); }},
      {{"m_over_k", "log2", "aspect of the product, M / K", false},
       [](const Facts& f) { return LogRatio(f.kernel->work.gemm.m, f.kernel->work.gemm.k); }},
      {{"k_over_n", "log2", "aspect of the product, K / N", false},
       [](const Facts& f) { return LogRatio(f.kernel->work.gemm.k, f.kernel->work.gemm.n); }},
      {{"weight_operand", "flag", "the right operand is a weight", false},
       [](const Facts& f) { return Flag(f.kernel->work.gemm.rhs_is_weight); }},
      {{"parallel_units", "log2", "cores or tiles the kernel is split over", false},
       [](const Facts& f) { return LogOf(f.kernel->work.parallel_units); }},
      {{"parallel_share", "ratio", "cores or tiles used / there", false},
       [](const Facts& f) {
         return Share(static_cast<double>(f.kernel->work.parallel_units), f.cores);
       }},
      {{"tiles", "log2", "output tiles", true},
       [](const Facts& f) { return std::log2(f.tiles_m * f.tiles_n); }},
      {{"tiles_k", "log2", "tiles along K", true},
       [](const Facts& f) { return std::log2(f.tiles_k); }},
      {{"tile_m", "log2", "tile along M, 0 when not tiled", true},
       [](const Facts& f) { return LogOf(f.kernel->work.tile_m); }},
      {{"tile_n", "log2", "tile along N, 0 when not tiled", true},
       [](const Facts& f) { return LogOf(f.kernel->work.tile_n); }},
      {{"tile_k", "log2", "tile along K, 0 when not tiled", true},
       [](const Facts& f) { return LogOf(f.kernel->work.tile_k); }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
  AppendFills<8>(t);
  AppendFills<128>(t);
  AppendFills<256>(t);
  AppendFills<512>(t);
  AppendFills<1024>(t);
}

void AppendTraffic(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      {{"intensity", "log2", "time of the MACs at peak / time of the compulsory bytes", false},
       [](const Facts& f) {
         return LogRatio(Value(f.kernel->work.macs) / f.peak_macs,
                         f.compulsory_bytes / f.off_chip_rate);
       }},
      {{"bytes_per_mac", "log2", "compulsory bytes / MACs, 0 without MACs", false},
       [](const Facts& f) {
         const Macs macs = f.kernel->work.macs;
         return macs.value() > 0 ? LogRatio(f.compulsory_bytes, Value(macs)) : 0.0;
       }},
      {{"reread", "ratio", "off-chip bytes / compulsory bytes", false},
       [](const Facts& f) {
         return std::min(1e6, Share(Value(f.estimate->off_chip_bytes), f.compulsory_bytes));
       }},
      {{"on_chip_reuse", "log2", "on-chip traffic / off-chip traffic", false},
       [](const Facts& f) {
         return LogRatio(Value(f.estimate->on_chip_bytes), Value(f.estimate->off_chip_bytes));
       }},
      {{"input_share", "ratio", "inputs / compulsory bytes", false},
       [](const Facts& f) { return Share(Value(f.kernel->work.input_bytes), f.compulsory_bytes); }},
      {{"weight_share", "ratio", "weights / compulsory bytes", false},
       [](const Facts& f) {
         return Share(Value(f.kernel->work.weight_bytes), f.compulsory_bytes);
       }},
      {{"output_share", "ratio", "outputs / compulsory bytes", false},
       [](const Facts& f) {
         return Share(Value(f.kernel->work.output_bytes), f.compulsory_bytes);
       }},
      {{"footprint_share", "ratio", "peak on-chip allocation / capacity", false},
       [](const Facts& f) {
         return Share(Value(f.kernel->work.footprint), Value(f.kernel->work.capacity));
       }},
      {{"compulsory_over_capacity", "log2", "compulsory bytes / on-chip capacity", false},
       [](const Facts& f) { return LogRatio(f.compulsory_bytes, Value(f.kernel->work.capacity)); }},
      {{"contiguous_run", "log2", "shortest contiguous run of the main transfer, up to 64 KiB",
        false},
       [](const Facts& f) { return std::min(16.0, LogOf(f.kernel->work.contiguous_bytes)); }},
      {{"bytes_per_transfer", "log2", "mean size of an off-chip transfer", true},
       [](const Facts& f) { return LogOf(Share(f.off_chip_bytes, f.off_chip_transfers)); }},
      {{"transfers", "log2", "transfers in all", true},
       [](const Facts& f) { return LogOf(f.transfers); }},
      {{"task_executions", "log2", "executions of tasks that compute", true},
       [](const Facts& f) { return LogOf(f.task_executions); }},
      {{"vector_ops_per_byte", "log2", "vector operations / output byte", false},
       [](const Facts& f) {
         return LogOf(Share(f.kernel->work.vector_ops, Value(f.kernel->work.output_bytes)));
       }},
      {{"transcendental_share", "ratio", "transcendental / all vector operations", false},
       [](const Facts& f) {
         return Share(f.kernel->work.transcendental_ops, f.kernel->work.vector_ops);
       }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

void AppendSizes(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      {{"m", "log2", "M of the product", true},
       [](const Facts& f) { return LogOf(f.kernel->work.gemm.m); }},
      {{"n", "log2", "N of the product", true},
       [](const Facts& f) { return LogOf(f.kernel->work.gemm.n); }},
      {{"k", "log2", "K of the product", true},
       [](const Facts& f) { return LogOf(f.kernel->work.gemm.k); }},
      {{"batch", "log2", "independent products", true},
       [](const Facts& f) { return LogOf(f.kernel->work.gemm.batch); }},
      {{"macs", "log2", "useful MACs", true},
       [](const Facts& f) { return LogOf(f.kernel->work.macs.value()); }},
      {{"input_bytes", "log2", "inputs read once", true},
       [](const Facts& f) { return LogOf(Value(f.kernel->work.input_bytes)); }},
      {{"weight_bytes", "log2", "weights read once", true},
       [](const Facts& f) { return LogOf(Value(f.kernel->work.weight_bytes)); }},
      {{"output_bytes", "log2", "outputs written once", true},
       [](const Facts& f) { return LogOf(Value(f.kernel->work.output_bytes)); }},
      {{"vector_ops", "log2", "elementary vector operations", true},
       [](const Facts& f) { return LogOf(f.kernel->work.vector_ops); }},
      {{"base_cycles", "log2", "base estimate", true},
       [](const Facts& f) { return std::log2(f.cycles); }},
      {{"bound_cycles", "log2", "physical lower bound", true},
       [](const Facts& f) { return LogOf(f.estimate->bound.value()); }},
      {{"kernel_h", "count", "window height", false},
       [](const Facts& f) { return static_cast<double>(f.kernel->work.window.kernel_h); }},
      {{"kernel_w", "count", "window width", false},
       [](const Facts& f) { return static_cast<double>(f.kernel->work.window.kernel_w); }},
      {{"stride_h", "count", "window stride along the height", false},
       [](const Facts& f) { return static_cast<double>(f.kernel->work.window.stride_h); }},
      {{"stride_w", "count", "window stride along the width", false},
       [](const Facts& f) { return static_cast<double>(f.kernel->work.window.stride_w); }},
      {{"dilation", "count", "window dilation, the larger of the two", false},
       [](const Facts& f) {
         const Window& w = f.kernel->work.window;
         return static_cast<double>(std::max(w.dilation_h, w.dilation_w));
       }},
      {{"head_group", "count", "query heads that share keys and values, 0 without attention",
        false},
       [](const Facts& f) { return static_cast<double>(f.kernel->work.head_group); }},
      {{"fused_ops", "count", "ops the kernel covers", false},
       [](const Facts& f) { return static_cast<double>(f.kernel->ops.size()); }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

template <OpClass C>
FeatureRow ClassRow() {
  return {
      {"is_" + std::string(Name(C)), "flag", "class of the op is " + std::string(Name(C)), false},
      IsClass<C>};
}
template <DType T>
FeatureRow DTypeRow() {
  return {
      {"dtype_" + std::string(Name(T)), "flag", "element type is " + std::string(Name(T)), false},
      IsDType<T>};
}

void AppendKinds(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      ClassRow<OpClass::kMatmul>(),       ClassRow<OpClass::kConv>(),
      ClassRow<OpClass::kDepthwise>(),    ClassRow<OpClass::kPool>(),
      ClassRow<OpClass::kElementwise>(),  ClassRow<OpClass::kActivation>(),
      ClassRow<OpClass::kSoftmax>(),      ClassRow<OpClass::kNorm>(),
      ClassRow<OpClass::kAttention>(),    ClassRow<OpClass::kReduce>(),
      ClassRow<OpClass::kDataMovement>(), ClassRow<OpClass::kConvert>(),
      ClassRow<OpClass::kDma>(),          ClassRow<OpClass::kShave>(),
      ClassRow<OpClass::kApplication>(),  ClassRow<OpClass::kNotModelled>(),
      DTypeRow<DType::kInt4>(),           DTypeRow<DType::kInt8>(),
      DTypeRow<DType::kUint8>(),          DTypeRow<DType::kInt16>(),
      DTypeRow<DType::kInt32>(),          DTypeRow<DType::kFp8>(),
      DTypeRow<DType::kFp16>(),           DTypeRow<DType::kBf16>(),
      DTypeRow<DType::kFp32>(),
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

void AppendMachine(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      {{"machine_balance", "log2", "peak MACs per off-chip byte", false},
       [](const Facts& f) { return LogRatio(f.peak_macs, f.off_chip_rate); }},
      {{"machine_on_off", "log2", "on-chip / off-chip bandwidth", false},
       [](const Facts& f) { return LogRatio(f.on_chip_rate, f.off_chip_rate); }},
      {{"machine_buffer", "log2", "cycles to fill the on-chip memory from off chip", true},
       [](const Facts& f) { return LogOf(Value(f.kernel->work.capacity) / f.off_chip_rate); }},
      {{"machine_peak", "log2", "peak MACs per cycle", true},
       [](const Facts& f) { return LogOf(f.peak_macs); }},
      {{"machine_clock", "GHz", "reference clock", true},
       [](const Facts& f) { return f.clock_ghz; }},
      {{"machine_cores", "count", "cores or tiles", true}, [](const Facts& f) { return f.cores; }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

}  // namespace

void AppendKernelFeatures(std::vector<FeatureRow>* table) {
  AppendShares(table);
  AppendBounds(table);
  AppendTiles(table);
  AppendTraffic(table);
  AppendSizes(table);
  AppendKinds(table);
  AppendMachine(table);
}

}  // namespace cyclecast
