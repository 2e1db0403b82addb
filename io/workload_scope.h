// Names and numbers in force at one place of a workload file. Private to io.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/op.h"
#include "io/workload_syntax.h"

namespace cyclecast {

// What a layer reads or makes: an input of the workload or an op, by index; or a name that is not
// defined yet.
struct TensorRef {
  enum class Kind { kNone, kInput, kOp, kLater };
  Kind kind = Kind::kNone;
  std::size_t index = 0;
  std::string name;    // kLater: as written
  std::string prefix;  // kLater: the scope it is looked up from
  SourcePos pos;
  bool IsNone() const { return kind == Kind::kNone; }
};

// Variables are looked up here, then in `outer`; a block's scope has the file's dims as outer.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, std::int64_t> variables;
  std::string prefix;  // of names made here: "layer.3."
  TensorRef previous;  // what the next layer reads

  std::optional<std::int64_t> Lookup(const std::string& name) const;
  std::vector<std::string> Names() const;
};

// Evaluates expressions in a scope; reports what is wrong and answers nothing.
class ScopedNumbers {
 public:
  ScopedNumbers(const Scope& scope, Diagnostics* problems) : scope_(scope), problems_(problems) {}

  // Within [least, 2^31], called `what` in messages.
  std::optional<std::int64_t> Number(const Expr& expr, const std::string& what,
                                     std::int64_t least = 1) const;
  // `otherwise` where there is no expression.
  std::optional<std::int64_t> Number(const std::optional<Expr>& expr, std::int64_t otherwise,
                                     const std::string& what, std::int64_t least = 1) const;
  std::optional<std::vector<std::int64_t>> Numbers(const std::vector<Expr>& exprs,
                                                   const std::string& what,
                                                   std::int64_t least = 1) const;
  // A name with every {expression} replaced by its value.
  std::optional<std::string> Interpolate(const std::string& name, const SourcePos& pos) const;

 private:
  const Scope& scope_;
  Diagnostics* problems_;
};

// The op a layer stands for (norm and act apart), given the types of its inputs: unset for those
// whose producer comes later or failed. Nothing after reporting a problem.
std::optional<Op> MakeLayerOp(const Layer& layer,
                              const std::vector<std::optional<TensorType>>& inputs, DType dtype,
                              const ScopedNumbers& numbers, Diagnostics* problems);

}  // namespace cyclecast
