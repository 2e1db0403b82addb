// The fields of the NPU tasks by name: one table per kind of task, used by the importers (a column
// each) and by the trace format (a "key=value" each). Private to traces/.
//
//   VisitDpuFields(visit) calls visit(name, get, range) for every field; get(task) is a reference
//   to the member.
#pragma once

#include <string_view>

#include "core/npu_tasks.h"
#include "traces/value_text.h"

namespace cyclecast {

inline constexpr ValueRange kExtent = {1, 4294967296.0};  // 2^32
inline constexpr ValueRange kCount = {0, 4294967296.0};
inline constexpr ValueRange kShare = {0, 1};
inline constexpr ValueRange kWide = {0, 9007199254740992.0};  // 2^53: extents of operators

// Names as in the tables of workloads, in their order. The operation and the device come before.
template <class Visit>
void VisitDpuTensors(Visit&& visit) {
  visit(
      "in_w", [](auto& w) -> auto& { return w.input.w; }, kExtent);
  visit(
      "in_h", [](auto& w) -> auto& { return w.input.h; }, kExtent);
  visit(
      "in_c", [](auto& w) -> auto& { return w.input.c; }, kExtent);
  visit(
      "in_b", [](auto& w) -> auto& { return w.input.b; }, kExtent);
  visit(
      "in_dtype", [](auto& w) -> auto& { return w.input.dtype; }, kCount);
  visit(
      "in_layout", [](auto& w) -> auto& { return w.input.layout; }, kCount);
  visit(
      "act_sparsity_enabled", [](auto& w) -> auto& { return w.input.sparse; }, kCount);
  visit(
      "act_sparsity", [](auto& w) -> auto& { return w.activation_sparsity; }, kShare);
  visit(
      "out_w", [](auto& w) -> auto& { return w.output.w; }, kExtent);
  visit(
      "out_h", [](auto& w) -> auto& { return w.output.h; }, kExtent);
  visit(
      "out_c", [](auto& w) -> auto& { return w.output.c; }, kExtent);
  visit(
      "out_b", [](auto& w) -> auto& { return w.output.b; }, kExtent);
  visit(
      "out_dtype", [](auto& w) -> auto& { return w.output.dtype; }, kCount);
  visit(
      "out_layout", [](auto& w) -> auto& { return w.output.layout; }, kCount);
  visit(
      "out_sparsity_enabled", [](auto& w) -> auto& { return w.output.sparse; }, kCount);
}
template <class Visit>
void VisitDpuWindow(Visit&& visit) {
  visit(
      "kw", [](auto& w) -> auto& { return w.window.kernel_w; }, kExtent);
  visit(
      "kh", [](auto& w) -> auto& { return w.window.kernel_h; }, kExtent);
  visit(
      "sw", [](auto& w) -> auto& { return w.window.stride_w; }, kExtent);
  visit(
      "sh", [](auto& w) -> auto& { return w.window.stride_h; }, kExtent);
  visit(
      "pad_top", [](auto& w) -> auto& { return w.window.pad_top; }, kCount);
  visit(
      "pad_bottom", [](auto& w) -> auto& { return w.window.pad_bottom; }, kCount);
  visit(
      "pad_left", [](auto& w) -> auto& { return w.window.pad_left; }, kCount);
  visit(
      "pad_right", [](auto& w) -> auto& { return w.window.pad_right; }, kCount);
}
template <class Visit>
void VisitDpuChoices(Visit&& visit) {
  visit(
      "mpe_mode", [](auto& w) -> auto& { return w.mode; }, kCount);
  visit(
      "activation", [](auto& w) -> auto& { return w.activation; }, kCount);
  visit(
      "wt_dtype", [](auto& w) -> auto& { return w.weight_dtype; }, kCount);
  visit(
      "wt_sparsity_enabled", [](auto& w) -> auto& { return w.weight_sparse; }, kCount);
  visit(
      "wt_sparsity", [](auto& w) -> auto& { return w.weight_sparsity; }, kShare);
  visit(
      "swz_in0", [](auto& w) -> auto& { return w.swizzle_in0; }, kCount);
  visit(
      "swz_in1", [](auto& w) -> auto& { return w.swizzle_in1; }, kCount);
  visit(
      "swz_out", [](auto& w) -> auto& { return w.swizzle_out; }, kCount);
  visit(
      "output_write_tiles", [](auto& w) -> auto& { return w.output_write_tiles; }, kExtent);
  visit(
      "isi_strategy", [](auto& w) -> auto& { return w.isi; }, kCount);
  visit(
      "ihalo_top", [](auto& w) -> auto& { return w.halo_top; }, kCount);
  visit(
      "ihalo_bottom", [](auto& w) -> auto& { return w.halo_bottom; }, kCount);
  visit(
      "inbound_top", [](auto& w) -> auto& { return w.inbound_top; }, kCount);
  visit(
      "inbound_bottom", [](auto& w) -> auto& { return w.inbound_bottom; }, kCount);
  visit(
      "inbound_front", [](auto& w) -> auto& { return w.inbound_front; }, kCount);
  visit(
      "inbound_back", [](auto& w) -> auto& { return w.inbound_back; }, kCount);
}
template <class Visit>
void VisitDpuFields(Visit&& visit) {
  VisitDpuTensors(visit);
  VisitDpuWindow(visit);
  VisitDpuChoices(visit);
}

// Fields that only some tables have; 0 where a table has not.
template <class Visit>
void VisitOptionalDpuFields(Visit&& visit) {
  visit(
      "superdense", [](auto& w) -> auto& { return w.superdense; }, kCount);
  visit(
      "inplace_output", [](auto& w) -> auto& { return w.in_place_output; }, kCount);
  visit(
      "weightless", [](auto& w) -> auto& { return w.weightless; }, kCount);
}

template <class Visit>
void VisitOptionalDmaFields(Visit&& visit) {
  visit(
      "n_dims", [](auto& t) -> auto& { return t.dimensions; }, ValueRange{1, 6});
  visit(
      "line_bytes", [](auto& t) -> auto& { return t.line_bytes; }, kExtent);
  visit(
      "n_lines", [](auto& t) -> auto& { return t.lines; }, kExtent);
  visit(
      "n_planes", [](auto& t) -> auto& { return t.planes; }, kExtent);
  visit(
      "src_line_stride", [](auto& t) -> auto& { return t.source_line_stride; }, kCount);
  visit(
      "dst_line_stride", [](auto& t) -> auto& { return t.destination_line_stride; }, kCount);
  visit(
      "src_plane_stride", [](auto& t) -> auto& { return t.source_plane_stride; }, kCount);
  visit(
      "dst_plane_stride", [](auto& t) -> auto& { return t.destination_plane_stride; }, kCount);
  visit(
      "num_engines", [](auto& t) -> auto& { return t.engines; }, ValueRange{1, 64});
}

template <class Visit>
void VisitDmaFields(Visit&& visit) {
  visit(
      "bytes", [](auto& t) -> auto& { return t.bytes; }, kExtent);
  VisitOptionalDmaFields(visit);
}

template <class Visit>
void VisitShaveFields(Visit&& visit) {
  visit(
      "n_inputs", [](auto& c) -> auto& { return c.inputs; }, ValueRange{0, 64});
  visit(
      "in_w", [](auto& c) -> auto& { return c.input.w; }, kExtent);
  visit(
      "in_h", [](auto& c) -> auto& { return c.input.h; }, kExtent);
  visit(
      "in_c", [](auto& c) -> auto& { return c.input.c; }, kExtent);
  visit(
      "in_b", [](auto& c) -> auto& { return c.input.b; }, kExtent);
  visit(
      "in_dtype", [](auto& c) -> auto& { return c.input.dtype; }, kCount);
  visit(
      "in_layout", [](auto& c) -> auto& { return c.input.layout; }, kCount);
  visit(
      "out_w", [](auto& c) -> auto& { return c.output.w; }, kExtent);
  visit(
      "out_h", [](auto& c) -> auto& { return c.output.h; }, kExtent);
  visit(
      "out_c", [](auto& c) -> auto& { return c.output.c; }, kExtent);
  visit(
      "out_b", [](auto& c) -> auto& { return c.output.b; }, kExtent);
  visit(
      "out_dtype", [](auto& c) -> auto& { return c.output.dtype; }, kCount);
  visit(
      "out_layout", [](auto& c) -> auto& { return c.output.layout; }, kCount);
  visit(
      "param0", [](auto& c) -> auto& { return c.parameter; }, ValueRange{-1e18, 1e18});
}

}  // namespace cyclecast
