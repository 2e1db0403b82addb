// Features of an NPU's own tasks: DPU workloads, DMA transfers, SHAVE calls. 0 (or 1 for a fill)
// where the kernel is something else.
#include "learned/feature_table.h"

namespace cyclecast {
namespace {

using feature::Fill;
using feature::Flag;
using feature::LogOf;
using feature::LogRatio;
using feature::Share;
using Facts = KernelFacts;

// The DPU workload of the kernel, or one with all extents 0.
const DpuWorkload& Dpu(const Facts& f) {
  static const DpuWorkload kNone = [] {
    DpuWorkload none;
    none.input = none.output = DpuTensor{0, 0, 0, 0, DType::kUint8, Layout::kZxy, false};
    return none;
  }();
  return f.kernel->work.dpu ? *f.kernel->work.dpu : kNone;
}

template <DpuOperation O>
FeatureRow OperationRow() {
  return {{"dpu_" + std::string(Name(O)), "flag", "DPU operation " + std::string(Name(O)), false},
          [](const Facts& f) { return Flag(f.kernel->work.dpu && Dpu(f).operation == O); }};
}
template <IsiStrategy S>
FeatureRow StrategyRow() {
  return {{"isi_" + std::string(Name(S)), "flag", "strategy " + std::string(Name(S)), false},
          [](const Facts& f) { return Flag(f.kernel->work.dpu && Dpu(f).isi == S); }};
}
template <DmaDirection D>
FeatureRow DirectionRow() {
  return {{"dma_" + std::string(Name(D)), "flag", "DMA direction " + std::string(Name(D)), false},
          [](const Facts& f) {
            return Flag(f.kernel->work.dma && f.kernel->work.dma->direction == D);
          }};
}

// The MPE modes of the public descriptor.
constexpr std::array<std::string_view, 6> kModes = {"VECTOR",       "MATRIX",      "VECTOR_FP16",
                                                    "CUBOID_16x16", "CUBOID_8x16", "CUBOID_4x16"};
template <std::size_t I>
FeatureRow ModeRow() {
  return {{"mode_" + std::string(kModes[I]), "flag", "MPE mode " + std::string(kModes[I]), false},
          [](const Facts& f) { return Flag(f.kernel->work.dpu && Dpu(f).mode == kModes[I]); }};
}

void AppendDpuKind(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      OperationRow<DpuOperation::kConvolution>(),
      OperationRow<DpuOperation::kDepthwiseConvolution>(),
      OperationRow<DpuOperation::kChannelMajorConvolution>(),
      OperationRow<DpuOperation::kEltwise>(),
      OperationRow<DpuOperation::kEltwiseMul>(),
      OperationRow<DpuOperation::kMaxPool>(),
      OperationRow<DpuOperation::kAveragePool>(),
      OperationRow<DpuOperation::kLayerNorm>(),
      OperationRow<DpuOperation::kReduceMeanSquare>(),
      OperationRow<DpuOperation::kReduceSumSquares>(),
      ModeRow<0>(),
      ModeRow<1>(),
      ModeRow<2>(),
      ModeRow<3>(),
      ModeRow<4>(),
      ModeRow<5>(),
      StrategyRow<IsiStrategy::kClustering>(),
      StrategyRow<IsiStrategy::kSplitOverHeight>(),
      StrategyRow<IsiStrategy::kSplitOverChannel>(),
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

void AppendDpuShape(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      {{"out_w_fill_4", "ratio", "output width / it rounded up to 4", false},
       [](const Facts& f) { return Fill(Dpu(f).output.w, 4); }},
      {{"out_w_fill_16", "ratio", "output width / it rounded up to 16", false},
       [](const Facts& f) { return Fill(Dpu(f).output.w, 16); }},
      {{"out_h_fill_4", "ratio", "output height / it rounded up to 4", false},
       [](const Facts& f) { return Fill(Dpu(f).output.h, 4); }},
      {{"out_h_fill_16", "ratio", "output height / it rounded up to 16", false},
       [](const Facts& f) { return Fill(Dpu(f).output.h, 16); }},
      {{"out_c_fill_32", "ratio", "output channels / them rounded up to 32", false},
       [](const Facts& f) { return Fill(Dpu(f).output.c, 32); }},
      {{"out_c_fill_64", "ratio", "output channels / them rounded up to 64", false},
       [](const Facts& f) { return Fill(Dpu(f).output.c, 64); }},
      {{"in_c_fill_16", "ratio", "input channels / them rounded up to 16", false},
       [](const Facts& f) { return Fill(Dpu(f).input.c, 16); }},
      {{"in_c_fill_32", "ratio", "input channels / them rounded up to 32", false},
       [](const Facts& f) { return Fill(Dpu(f).input.c, 32); }},
      {{"out_aspect", "log2", "output width / height", false},
       [](const Facts& f) { return LogRatio(Dpu(f).output.w, Dpu(f).output.h); }},
      {{"channels_out_in", "log2", "output / input channels", false},
       [](const Facts& f) { return LogRatio(Dpu(f).output.c, Dpu(f).input.c); }},
      {{"out_in_ratio", "log2", "output / input elements", false},
       [](const Facts& f) { return LogRatio(Dpu(f).output.Elements(), Dpu(f).input.Elements()); }},
      {{"out_w", "log2", "output width", true},
       [](const Facts& f) { return LogOf(Dpu(f).output.w); }},
      {{"out_h", "log2", "output height", true},
       [](const Facts& f) { return LogOf(Dpu(f).output.h); }},
      {{"out_c", "log2", "output channels", true},
       [](const Facts& f) { return LogOf(Dpu(f).output.c); }},
      {{"in_w", "log2", "input width", true}, [](const Facts& f) { return LogOf(Dpu(f).input.w); }},
      {{"in_h", "log2", "input height", true},
       [](const Facts& f) { return LogOf(Dpu(f).input.h); }},
      {{"in_c", "log2", "input channels", true},
       [](const Facts& f) { return LogOf(Dpu(f).input.c); }},
      {{"pads_w", "count", "padding along the width", false},
       [](const Facts& f) {
         return static_cast<double>(Dpu(f).window.pad_left + Dpu(f).window.pad_right);
       }},
      {{"pads_h", "count", "padding along the height", false},
       [](const Facts& f) {
         return static_cast<double>(Dpu(f).window.pad_top + Dpu(f).window.pad_bottom);
       }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

void AppendDpuOptions(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      {{"in_bits", "bit", "input element width", false},
       [](const Facts& f) { return f.kernel->work.dpu ? 1.0 * BitsOf(Dpu(f).input.dtype) : 0; }},
      {{"in_float", "flag", "input is a float", false},
       [](const Facts& f) { return Flag(f.kernel->work.dpu && IsFloat(Dpu(f).input.dtype)); }},
      {{"out_bits", "bit", "output element width", false},
       [](const Facts& f) { return f.kernel->work.dpu ? 1.0 * BitsOf(Dpu(f).output.dtype) : 0; }},
      {{"out_float", "flag", "output is a float", false},
       [](const Facts& f) { return Flag(f.kernel->work.dpu && IsFloat(Dpu(f).output.dtype)); }},
      {{"weight_bits", "bit", "weight element width", false},
       [](const Facts& f) { return f.kernel->work.dpu ? 1.0 * BitsOf(Dpu(f).weight_dtype) : 0; }},
      {{"in_layout", "count", "input layout, numbered as in core/tensor.h", false},
       [](const Facts& f) { return static_cast<double>(Dpu(f).input.layout); }},
      {{"out_layout", "count", "output layout, numbered as in core/tensor.h", false},
       [](const Facts& f) { return static_cast<double>(Dpu(f).output.layout); }},
      {{"activated", "flag", "an activation function follows", false},
       [](const Facts& f) { return Flag(Dpu(f).activation != "NONE"); }},
      {{"activation_sparsity", "ratio", "zero activations", false},
       [](const Facts& f) { return Dpu(f).activation_sparsity; }},
      {{"weight_sparsity", "ratio", "zero weights", false},
       [](const Facts& f) { return Dpu(f).weight_sparsity; }},
      {{"in_sparse", "flag", "the input has a sparsity map", false},
       [](const Facts& f) { return Flag(Dpu(f).input.sparse); }},
      {{"out_sparse", "flag", "the output has a sparsity map", false},
       [](const Facts& f) { return Flag(Dpu(f).output.sparse); }},
      {{"weight_sparse", "flag", "the weights are stored sparse", false},
       [](const Facts& f) { return Flag(Dpu(f).weight_sparse); }},
      {{"swizzle_in0", "count", "swizzle key of the input", false},
       [](const Facts& f) { return static_cast<double>(Dpu(f).swizzle_in0); }},
      {{"swizzle_in1", "count", "swizzle key of the weights", false},
       [](const Facts& f) { return static_cast<double>(Dpu(f).swizzle_in1); }},
      {{"swizzle_out", "count", "swizzle key of the output", false},
       [](const Facts& f) { return static_cast<double>(Dpu(f).swizzle_out); }},
      {{"write_tiles", "count", "tiles the output is written to", false},
       [](const Facts& f) {
         return f.kernel->work.dpu ? static_cast<double>(Dpu(f).output_write_tiles) : 0.0;
       }},
      {{"halo", "count", "input halo rows", false},
       [](const Facts& f) { return static_cast<double>(Dpu(f).halo_top + Dpu(f).halo_bottom); }},
      {{"inbound", "count", "output halo received from other tiles", false},
       [](const Facts& f) {
         const DpuWorkload& d = Dpu(f);
         return static_cast<double>(d.inbound_top + d.inbound_bottom + d.inbound_front +
                                    d.inbound_back);
       }},
      {{"superdense", "flag", "output written without channel padding", false},
       [](const Facts& f) { return Flag(Dpu(f).superdense); }},
      {{"in_place", "flag", "output overwrites an input", false},
       [](const Facts& f) { return Flag(Dpu(f).in_place_output); }},
      {{"weightless", "flag", "operation without weights", false},
       [](const Facts& f) { return Flag(Dpu(f).weightless); }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

template <class Get>
double OfDma(const Facts& f, Get get) {
  return f.kernel->work.dma ? get(*f.kernel->work.dma) : 0.0;
}
template <class Get>
double OfShave(const Facts& f, Get get) {
  return f.kernel->work.shave ? get(*f.kernel->work.shave) : 0.0;
}

void AppendDmaAndShave(std::vector<FeatureRow>* t) {
  const std::vector<FeatureRow> rows = {
      DirectionRow<DmaDirection::kDdrToCmx>(),
      DirectionRow<DmaDirection::kCmxToDdr>(),
      DirectionRow<DmaDirection::kCmxToCmx>(),
      DirectionRow<DmaDirection::kDdrToDdr>(),
      {{"dma_dimensions", "count", "dimensions of the descriptor", false},
       [](const Facts& f) {
         return OfDma(f, [](const DmaTransfer& d) { return static_cast<double>(d.dimensions); });
       }},
      {{"dma_engines", "count", "engines the transfer is split over", false},
       [](const Facts& f) {
         return OfDma(f, [](const DmaTransfer& d) { return static_cast<double>(d.engines); });
       }},
      {{"dma_line_share", "ratio", "contiguous run / bytes", false},
       [](const Facts& f) {
         return OfDma(
             f, [](const DmaTransfer& d) { return Share(d.line_bytes.value(), d.bytes.value()); });
       }},
      {{"dma_fill_64", "ratio", "bytes / them rounded up to 64", false},
       [](const Facts& f) {
         return OfDma(f, [](const DmaTransfer& d) { return Fill(d.bytes.value(), 64); });
       }},
      {{"dma_bytes", "log2", "bytes of the transfer", true},
       [](const Facts& f) {
         return OfDma(f, [](const DmaTransfer& d) { return LogOf(d.bytes.value()); });
       }},
      {{"shave_inputs", "count", "operands of the SHAVE call", false},
       [](const Facts& f) {
         return OfShave(f, [](const ShaveCall& s) { return static_cast<double>(s.inputs); });
       }},
      {{"shave_elements", "log2", "output elements of the SHAVE call", true},
       [](const Facts& f) {
         return OfShave(f, [](const ShaveCall& s) { return LogOf(s.output.Elements()); });
       }},
  };
  t->insert(t->end(), rows.begin(), rows.end());
}

}  // namespace

void AppendNpuFeatures(std::vector<FeatureRow>* table) {
  AppendDpuKind(table);
  AppendDpuShape(table);
  AppendDpuOptions(table);
  AppendDmaAndShave(table);
}

}  // namespace cyclecast
