// Builders of the workloads that operators stand for. Private to traces/; operators.cc has the
// table that refers to them. Shapes are those of the operator's extents.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traces/operators.h"

namespace cyclecast {

// A workload under construction in one element type. Add returns the name of the new tensor.
class PlanGraph {
 public:
  explicit PlanGraph(const OpKernel& kernel)
      : builder_(kernel.op), dtype_(kernel.dtype), kernel_(&kernel) {}

  // An extent that CheckOperator made sure of; `otherwise` for an optional one.
  std::int64_t operator[](std::string_view name) const;
  std::int64_t Get(std::string_view name, std::int64_t otherwise) const;

  std::string Input(Shape shape) { return Input(std::move(shape), dtype_); }
  std::string Input(Shape shape, DType dtype);
  std::string Add(Op op, std::vector<std::string> inputs);
  void Output(const std::string& tensor) { builder_.MarkOutput(tensor); }
  void Note(std::string note) { notes_.push_back(std::move(note)); }

  Result<KernelPlan> Finish() &&;

 private:
  WorkloadBuilder builder_;
  DType dtype_;
  const OpKernel* kernel_;
  int inputs_ = 0, ops_ = 0;
  std::vector<std::string> notes_;
};

// Pads a window of a square stride: `pad` on every side, or with same_pad so that the output extent
// is the input's divided by the stride, rounded up (the excess at bottom and right).
void PadWindow(const OpKernel& kernel, std::int64_t height, std::int64_t width, Window* window);

// The tensor of an elementwise operator: d0 x d1 x ..., or a row of n.
Shape ShapeOf(const OpKernel& kernel);

// operators_dense.cc
Result<KernelPlan> BuildMatmul(const OpKernel& kernel);  // [B,] M, K, N
Result<KernelPlan> BuildConv2d(const OpKernel& kernel);
Result<KernelPlan> BuildWindowed(const OpKernel& kernel);  // depthwise convolution, pools
Result<KernelPlan> BuildElementwise(const OpKernel& kernel);
Result<KernelPlan> BuildSoftmax(const OpKernel& kernel);
Result<KernelPlan> BuildNorm(const OpKernel& kernel);
Result<KernelPlan> BuildCopy(const OpKernel& kernel);
Result<KernelPlan> BuildStream(const OpKernel& kernel);
Result<KernelPlan> BuildReduce(const OpKernel& kernel);
Result<KernelPlan> BuildTranspose(const OpKernel& kernel);
Result<KernelPlan> BuildReadOnly(const OpKernel& kernel);
Result<KernelPlan> BuildDotProduct(const OpKernel& kernel);
std::vector<std::string> ElementwiseOperatorNames();

// operators_blocks.cc
Result<KernelPlan> BuildFeedForward(const OpKernel& kernel);
Result<KernelPlan> BuildAttention(const OpKernel& kernel);
Result<KernelPlan> BuildMaterialisedAttention(const OpKernel& kernel);
Result<KernelPlan> BuildResnetBlock(const OpKernel& kernel);
Result<KernelPlan> BuildSelfAttentionBlock(const OpKernel& kernel);
Result<KernelPlan> BuildConvStack(const OpKernel& kernel);
Result<KernelPlan> BuildDenseStack(const OpKernel& kernel);
Result<KernelPlan> BuildApplication(const OpKernel& kernel);
Result<KernelPlan> BuildAllReduce(const OpKernel& kernel);

// operators_xla.cc
Result<KernelPlan> BuildXlaFusion(const OpKernel& kernel);

}  // namespace cyclecast
