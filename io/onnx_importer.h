// Turns an ONNX graph into a workload by walking its nodes once, in order, with concrete shapes.
// Private to io.
//
// Every tensor of the graph has an OnnxValue. A node whose inputs are all constants is folded or
// leaves a constant of known shape; any other node is handed to the handler of its operator
// (onnx_ops.h), which emits workload ops. What nothing reads in the end is left out.
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/workload.h"
#include "io/onnx_node.h"
#include "io/workload_settings.h"

namespace cyclecast {

class OnnxImporter {
 public:
  OnnxImporter(const onnx::ModelProto& model, std::string file, const WorkloadOptions& options);

  Result<Workload> Run();

  // --- for the operator handlers ---

  // Adds an op that reads `inputs` and returns its output. It is called like the node, with
  // "/suffix" behind unless that is empty. Constants among the inputs become inputs of the
  // workload. `weights` is what the op's implied weights are stored as.
  Result<OnnxValue> Emit(const OnnxNode& node, const std::string& suffix, Op op,
                         std::vector<OnnxValue> inputs,
                         std::optional<DType> weights = std::nullopt);
  // `value` in the shape `dims`: a Reshape op, a renamed constant, or the value itself.
  Result<OnnxValue> View(const OnnxNode& node, const std::string& suffix, const OnnxValue& value,
                         OnnxDims dims);
  // Makes `value` the node's output `i`.
  void Set(const OnnxNode& node, std::size_t i, OnnxValue value);
  // Whether something reads output `i`.
  bool Wanted(const OnnxNode& node, std::size_t i) const;
  // True if the only reader of input 0 is this node and it comes straight from a convolution or
  // product with weights, which now has a bias: an affine map per channel disappears into it.
  bool FoldIntoProducer(const OnnxNode& node);
  // The node as declared data movement, or an Error in strict mode. `why` ends the sentence
  // "... is not modelled".
  Status Unmodelled(const OnnxNode& node, const std::string& why = "");
  // What real numbers of this element type are stored as, --set dtype included.
  DType Storage(int elem) const;
  void AddNote(std::string note);
  void CountFolded() { ++folded_norms_; }

  // The function of the model file that the node calls, or null.
  const onnx::FunctionProto* FunctionOf(const OnnxNode& node) const;
  Status ImportFunction(const OnnxNode& node, const onnx::FunctionProto& function);
  Status ImportIf(const OnnxNode& node);
  Status ImportLoop(const OnnxNode& node);

 private:
  struct PendingOp {
    std::string name, onnx_name;
    Op op;
    std::vector<std::string> inputs;
    DType weights;
  };
  struct PendingInput {
    std::string name;
    TensorType type;
    bool weight = false;  // a constant of the model that an op reads as a tensor
  };
  // What has been read so far; copied to try a branch and go back.
  struct State {
    std::unordered_map<std::string, OnnxValue> values;
    std::vector<PendingOp> ops;
    std::vector<PendingInput> inputs;
    std::set<std::string> names;
    std::unordered_map<std::string, std::size_t> producers;  // tensor -> index of its op
    std::map<std::string, std::vector<std::string>> unmodelled;
    std::vector<std::string> notes;
  };
  struct Declared {
    int elem = 0;
    const onnx::TensorShapeProto* shape = nullptr;
  };

  Error Wrong(const std::string& what) const { return Error(SourcePos{file_, 0, 0}, what); }
  Status ReadOpsets();
  void CheckOperators(const onnx::GraphProto& graph, std::vector<Diagnostic>* wrong) const;
  Status ReadInitializers(const onnx::GraphProto& graph);
  Status ReadInputs(const onnx::GraphProto& graph);
  Status ReadInput(const onnx::ValueInfoProto& input);
  Result<OnnxDims> InputDims(const onnx::ValueInfoProto& input);
  std::optional<std::int64_t> SymbolExtent(const std::string& symbol, const std::string& place,
                                           bool outermost);
  void ReadDeclared(const onnx::GraphProto& graph);
  void CountReaders(const onnx::GraphProto& graph);
  Status ReadNodes(const onnx::GraphProto& graph);
  Status ReadNode(const onnx::NodeProto& proto);
  Status FoldOrHandle(OnnxNode* node);
  Status LeaveConstants(const OnnxNode& node, bool* done);
  // Reads int8 tensors instead of dequantised ones where the node runs on them (QDQ models).
  void UseQuantised(OnnxNode* node, std::vector<OnnxValue>* storage);
  bool EndsQuantised(const std::string& tensor, int depth) const;
  Result<OnnxValue> Activation(const OnnxNode& node, OnnxValue value);
  Result<Workload> Finish();

  std::string UniqueName(const std::string& wanted);
  std::string NameOf(const onnx::NodeProto& proto) const;
  // Dims declared for a tensor in value_info or the graph's outputs, symbols resolved.
  std::optional<OnnxDims> DeclaredDims(const std::string& tensor, int* elem);
  void ForActivations(const OnnxNode& node, const onnx::GraphProto& branch,
                      std::vector<OnnxValue>* inputs) const;
  // Reads a branch in place; its outputs become the node's.
  Status Inline(const OnnxNode& node, const onnx::GraphProto& branch);

  const onnx::ModelProto& model_;
  std::string file_;
  bool strict_;
  WorkloadSettings settings_;
  std::optional<DType> real_type_;
  std::map<std::string, int> opsets_;
  std::unordered_map<std::string, int> readers_;
  std::unordered_map<std::string, const onnx::NodeProto*> single_reader_;
  std::unordered_map<std::string, Declared> declared_;
  std::set<std::string> symbols_, defaulted_;
  bool has_batch_ = false;
  State state_;
  std::deque<onnx::GraphProto> inlined_;  // bodies of functions, alive as long as this
  int folded_norms_ = 0;
  int depth_ = 0;
};

}  // namespace cyclecast
