// A workload: a directed acyclic graph of ops joined by activation tensors.
//
// Readers fill a WorkloadBuilder with named nodes in any order; Build() resolves names, refuses
// cycles (naming one), orders topologically and infers every shape. The finished Workload is
// immutable; ops are stored in topological order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/op.h"
#include "core/tensor.h"

namespace cyclecast {

using OpId = std::int32_t;
using TensorId = std::int32_t;

struct WorkloadTensor {
  std::string name;
  TensorType type;
  OpId producer = -1;           // -1: an input of the workload
  std::vector<OpId> consumers;  // ascending
  bool is_output = false;
};

struct WorkloadOp {
  std::string name;
  Op op;
  std::vector<TensorId> inputs;
  TensorId output = -1;
  DType weight_dtype = DType::kBf16;
  SourcePos pos;
};

class Workload {
 public:
  const std::string& name() const { return name_; }
  const std::vector<WorkloadOp>& ops() const { return ops_; }  // topological order
  const std::vector<WorkloadTensor>& tensors() const { return tensors_; }
  const WorkloadOp& op(OpId id) const { return ops_[static_cast<std::size_t>(id)]; }
  const WorkloadTensor& tensor(TensorId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  // Things the reader wants the user to know (ops not modelled, defaults taken), for every report.
  const std::vector<std::string>& notes() const { return notes_; }

  std::vector<TensorType> InputTypes(OpId id) const;
  const TensorType& OutputType(OpId id) const { return tensor(op(id).output).type; }
  OpWork Work(OpId id) const;
  Macs TotalMacs() const;
  // Ops whose outputs `id` reads, ascending and without repeats.
  std::vector<OpId> Predecessors(OpId id) const;

  // The heaviest path from an input to an output where op i weighs weight(i): its ops in order.
  std::vector<OpId> CriticalPath(const std::function<double(OpId)>& weight) const;
  // Graphviz text of the graph: ops as boxes, tensors as labelled edges.
  std::string Dot() const;

 private:
  friend class WorkloadBuilder;
  std::string name_;
  std::vector<WorkloadOp> ops_;
  std::vector<WorkloadTensor> tensors_;
  std::vector<std::string> notes_;
};

class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(std::string name) { workload_name_ = std::move(name); }

  void AddInput(std::string name, TensorType type, SourcePos pos = {});
  // A node whose single output tensor bears the node's name. `inputs` name inputs or other nodes,
  // declared before or after. `weight_dtype` is what its implied weights are stored as.
  void AddOp(std::string name, Op op, std::vector<std::string> inputs,
             DType weight_dtype = DType::kBf16, SourcePos pos = {});
  void MarkOutput(std::string name, SourcePos pos = {});
  void AddNote(std::string note) { notes_.push_back(std::move(note)); }

  // Errors, all of them together: duplicate or unknown names, cycles, shapes that do not fit, an
  // empty graph. Without MarkOutput every tensor nobody reads is an output.
  Result<Workload> Build() &&;

 private:
  struct Node {
    std::string name;
    Op op;
    std::vector<std::string> inputs;
    DType weight_dtype;
    SourcePos pos;
  };
  struct Input {
    std::string name;
    TensorType type;
    SourcePos pos;
  };
  struct Output {
    std::string name;
    SourcePos pos;
  };
  std::string workload_name_;
  std::vector<Node> nodes_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<std::string> notes_;
};

}  // namespace cyclecast
