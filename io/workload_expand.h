// From a workload file as written to a workload: dims get their values, blocks and repeats are
// expanded, names resolved, shapes inferred. Private to io.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/workload.h"
#include "io/workload_scope.h"
#include "io/workload_settings.h"

namespace cyclecast {

class WorkloadExpander {
 public:
  // `settings` override dims and element types.
  WorkloadExpander(const WorkloadFile& file, WorkloadSettings* settings, Diagnostics* problems)
      : file_(file), settings_(settings), problems_(problems) {}

  // The finished workload; nothing after reporting problems.
  std::optional<Workload> Run();

 private:
  struct FreshInput {
    std::string name;
    TensorType type;
    SourcePos pos;
  };
  struct ExpandedOp {
    std::string name;
    Op op;
    std::vector<TensorRef> inputs;
    DType weights = DType::kBf16;
    SourcePos pos;
    std::optional<TensorType> type;  // unset: not known here, or wrong
  };

  void ReadDims();
  void ReadInputs();
  // True, and reported, once the file expands to too much; counts `steps` more.
  bool Enough(const SourcePos& pos, std::int64_t steps);
  void ExpandLayers(const std::vector<Layer>& layers, Scope* scope, int depth);
  void ExpandLayer(const Layer& layer, Scope* scope, int depth);
  void ExpandRepeat(const Layer& layer, const std::string& name, Scope* scope, int depth);
  void ExpandBlock(const Layer& layer, const Block& block, const std::string& name, Scope* scope,
                   int depth);
  bool BindParams(const Layer& layer, const Block& block, const Scope& caller, Scope* inner);
  void ExpandOp(const Layer& layer, const std::string& name, Scope* scope);
  // Adds an op and returns what it makes.
  TensorRef AddOp(ExpandedOp op);

  // The layer's full name: its own with the scope's prefix, or one made from its kind.
  std::string NameOf(const Layer& layer, const Scope& scope);
  void Define(const std::string& name, const TensorRef& ref);
  // Looks `name` up from the scope `prefix` outwards.
  TensorRef Find(const std::string& name, const std::string& prefix, const SourcePos& pos) const;
  std::vector<TensorRef> InputsOf(const Layer& layer, const std::string& name, const Scope& scope);
  TensorRef InputRef(const LayerInput& input, const std::string& layer, const Scope& scope);
  std::optional<TensorType> TypeOf(const TensorRef& ref) const;
  // The name of the tensor behind a reference once everything is defined.
  std::optional<std::string> FinalName(const TensorRef& ref);
  std::vector<std::string> KnownNames() const;

  const WorkloadFile& file_;
  WorkloadSettings* settings_;
  Diagnostics* problems_;
  DType dtype_ = DType::kBf16, weight_dtype_ = DType::kBf16;
  Scope root_;
  std::vector<FreshInput> inputs_;
  std::vector<ExpandedOp> ops_;
  std::unordered_map<std::string, TensorRef> names_;
  std::unordered_set<std::string> taken_;  // names of layers, also of those that make no tensor
  std::unordered_map<std::string, int> counters_;
  std::vector<const Layer*> unmodelled_;  // declared movements, once however often they are used
  std::size_t steps_ = 0;
  bool too_much_ = false;
};

}  // namespace cyclecast
