// Sizes and costs of the pieces of a stream kernel: its search and its nest both ask here.
#pragma once

#include "mapping/tile_axis.h"
#include "mapping/tpu_stream.h"

namespace cyclecast {

class StreamPieces {
 public:
  StreamPieces(const TpuContext& context, const StreamProblem& problem)
      : context_(context), problem_(problem) {}

  static bool LoadsTile(const StreamOperand& input) {
    return !input.is_constant && input.place != Place::kVmem && input.bytes > Bytes(0);
  }
  static bool LoadsConstant(const StreamOperand& input) {
    return input.is_constant && input.place != Place::kVmem && input.bytes > Bytes(0);
  }
  bool Stores() const { return problem_.output.place != Place::kVmem; }

  // Bytes of input `index` that `items` items need.
  Bytes InputBytes(std::size_t index, std::int64_t items) const {
    const StreamOperand& input = problem_.inputs[index];
    if (index > 0 || !problem_.window) return Share(input, items);
    const InputWindow& window = *problem_.window;
    const std::int64_t all = window.images * window.in_h * window.in_w;
    return Bytes(CeilDiv(input.bytes.value() * window.Positions(items), all));
  }
  Bytes OutputBytes(std::int64_t items) const { return Share(problem_.output, items); }

  TaskCost LoadTile(std::size_t index, std::int64_t items) const {
    const StreamOperand& input = problem_.inputs[index];
    return Move(context_.ReadPath(input.place), input, InputBytes(index, items));
  }
  TaskCost LoadConstant(const StreamOperand& input) const {
    return Move(context_.ReadPath(input.place), input, input.bytes);
  }
  TaskCost Store(std::int64_t items) const {
    return Move(context_.WritePath(problem_.output.place), problem_.output, OutputBytes(items));
  }
  TaskCost Vector(const BlockWork& work, std::int64_t items) const {
    if (!work || items == 0) return {};
    const TpuSpec& spec = context_.spec();
    return VectorTaskCost(spec.vector_unit, spec.vmem, spec.clock, problem_.dtype, work(items));
  }

 private:
  Bytes Share(const StreamOperand& operand, std::int64_t items) const {
    return Bytes(CeilDiv(operand.bytes.value() * items, problem_.items));
  }
  static TaskCost Move(const TransferPath& path, const StreamOperand& operand, Bytes bytes) {
    const std::int64_t descriptors = operand.per_descriptor > Bytes(0)
                                         ? CeilDiv(bytes.value(), operand.per_descriptor.value())
                                         : 1;
    return TransferCost(path, bytes, operand.run, descriptors);
  }

  const TpuContext& context_;
  const StreamProblem& problem_;
};

}  // namespace cyclecast
