// Variables and expressions in a scope; see workload_scope.h.
#include "io/workload_scope.h"

#include "io/workload_settings.h"

namespace cyclecast {

std::optional<std::int64_t> Scope::Lookup(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    const auto found = scope->variables.find(name);
    if (found != scope->variables.end()) return found->second;
  }
  return std::nullopt;
}

std::vector<std::string> Scope::Names() const {
  std::vector<std::string> names;
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    for (const auto& [name, value] : scope->variables) names.push_back(name);
  }
  return names;
}

std::optional<std::int64_t> ScopedNumbers::Number(const Expr& expr, const std::string& what,
                                                  std::int64_t least) const {
  const Result<std::int64_t> value = Evaluate(
      expr, [this](const std::string& name) { return scope_.Lookup(name); },
      [this] { return scope_.Names(); });
  if (!value) {
    for (const Diagnostic& d : value.error().diagnostics()) {
      problems_->Add(d.pos, "'" + what + "': " + d.message);
    }
    return std::nullopt;
  }
  if (*value < least || *value > kMaxExtent) {
    const bool number = std::to_string(*value) == expr.text;
    problems_->Add(expr.pos, "'" + what + "' is " + std::to_string(*value) +
                                 (number ? "" : " (" + expr.text + ")") + "; it must be " +
                                 std::to_string(least) + " to 2147483648");
    return std::nullopt;
  }
  return *value;
}

std::optional<std::int64_t> ScopedNumbers::Number(const std::optional<Expr>& expr,
                                                  std::int64_t otherwise, const std::string& what,
                                                  std::int64_t least) const {
  return expr ? Number(*expr, what, least) : otherwise;
}

std::optional<std::vector<std::int64_t>> ScopedNumbers::Numbers(const std::vector<Expr>& exprs,
                                                                const std::string& what,
                                                                std::int64_t least) const {
  std::vector<std::int64_t> values;
  for (const Expr& expr : exprs) {
    const std::optional<std::int64_t> value = Number(expr, what, least);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<std::string> ScopedNumbers::Interpolate(const std::string& name,
                                                      const SourcePos& pos) const {
  std::string text;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = name.find('{', at);
    text += name.substr(at, open - at);
    if (open == std::string::npos) return text;
    const std::size_t close = name.find('}', open);
    if (close == std::string::npos) {
      problems_->Add(pos, "the name '" + name + "' lacks a '}'");
      return std::nullopt;
    }
    const Expr expr{name.substr(open + 1, close - open - 1), pos};
    const std::optional<std::int64_t> value = Number(expr, name, 0);
    if (!value) return std::nullopt;
    text += std::to_string(*value);
    at = close + 1;
  }
}

}  // namespace cyclecast
