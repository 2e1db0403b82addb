// Parsing and evaluation in one pass; see workload_expr.h.
#include "io/workload_expr.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "io/nearest.h"

namespace cyclecast {
namespace {

constexpr int kMaxDepth = 32;

// Evaluates, or checks the form only when there is no lookup. The first problem is kept and ends
// the text, so that every function below returns at once.
class Evaluator {
 public:
  Evaluator(std::string_view text, const NameLookup* lookup, const NameList* names)
      : text_(text), lookup_(lookup), names_(names) {}

  Result<std::int64_t> Run(const SourcePos& pos) {
    const std::int64_t value = Comparison(0);
    Skip();
    if (problem_.empty() && at_ < text_.size()) {
      Fail("'" + std::string(1, text_[at_]) + "' is not expected there");
    }
    if (problem_.empty()) return value;
    return Error(pos, "in '" + std::string(text_) + "': " + problem_);
  }

 private:
  void Fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    at_ = text_.size();
  }
  void Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(std::string_view token) {
    Skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool Checking() const { return lookup_ == nullptr; }

  std::int64_t Comparison(int depth) {
    const std::int64_t left = Sum(depth);
    if (Take("==")) return left == Sum(depth) ? 1 : 0;
    if (Take("!=")) return left != Sum(depth) ? 1 : 0;
    if (Take("<=")) return left <= Sum(depth) ? 1 : 0;
    if (Take(">=")) return left >= Sum(depth) ? 1 : 0;
    if (Take("<")) return left < Sum(depth) ? 1 : 0;
    if (Take(">")) return left > Sum(depth) ? 1 : 0;
    return left;
  }

  std::int64_t Sum(int depth) {
    std::int64_t value = Product(depth);
    while (problem_.empty()) {
      if (Take("+")) {
        if (__builtin_add_overflow(value, Product(depth), &value)) Fail("the sum is too large");
      } else if (Take("-")) {
        if (__builtin_sub_overflow(value, Product(depth), &value)) Fail("the sum is too large");
      } else {
        break;
      }
    }
    return value;
  }

  std::int64_t Product(int depth) {
    std::int64_t value = Factor(depth);
    while (problem_.empty()) {
      if (Take("*")) {
        if (__builtin_mul_overflow(value, Factor(depth), &value)) Fail("the product is too large");
      } else if (Take("//")) {
        value = FloorDivide(value, Factor(depth));
      } else if (Take("/")) {
        const std::int64_t by = Factor(depth);
        const std::int64_t whole = FloorDivide(value, by);
        if (problem_.empty() && !Checking() && whole * by != value) {
          Fail(std::to_string(value) + " / " + std::to_string(by) +
               " is not a whole number; '//' rounds down");
        }
        value = whole;
      } else if (Take("%")) {
        const std::int64_t by = Factor(depth);
        value -= FloorDivide(value, by) * (Checking() ? 1 : by);
      } else {
        break;
      }
    }
    return value;
  }

  std::int64_t FloorDivide(std::int64_t value, std::int64_t by) {
    if (Checking()) return 1;
    if (by == 0) Fail("division by zero");
    if (by == -1 && value == INT64_MIN) Fail("the quotient is too large");
    if (!problem_.empty()) return 1;
    const std::int64_t whole = value / by;
    return value % by != 0 && (value < 0) != (by < 0) ? whole - 1 : whole;
  }

  std::int64_t Factor(int depth) {
    if (depth > kMaxDepth) {
      Fail("too many parentheses");
      return 1;
    }
    Skip();
    if (Take("-")) {
      const std::int64_t value = Factor(depth + 1);
      if (value == INT64_MIN) Fail("the number is too large");
      return problem_.empty() ? -value : 1;
    }
    if (Take("(")) {
      const std::int64_t value = Comparison(depth + 1);
      if (problem_.empty() && !Take(")")) Fail("a ')' is missing");
      return value;
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      return Number();
    }
    std::string name;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      name += text_[at_++];
    }
    if (name.empty()) {
      Fail(at_ < text_.size()
               ? "a number or name is expected before '" + std::string(text_.substr(at_)) + "'"
               : "a number or name is expected at the end");
      return 1;
    }
    return Take("(") ? Function(name, depth) : Name(name);
  }

  std::int64_t Number() {
    std::int64_t value = 0;
    const auto [end, code] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) Fail("the number is too large");
    if (problem_.empty()) at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e')) {
      Fail("only whole numbers are allowed");
    }
    return value;
  }

  std::int64_t Name(const std::string& name) {
    if (Checking()) return 1;
    const std::optional<std::int64_t> value = (*lookup_)(name);
    if (!value) Fail("unknown name '" + name + "'" + Suggestion(name, (*names_)()));
    return value.value_or(1);
  }

  std::int64_t Function(const std::string& name, int depth) {
    const std::int64_t a = Comparison(depth + 1);
    if (problem_.empty() && !Take(",")) Fail(name + " takes two values, '" + name + "(a, b)'");
    const std::int64_t b = Comparison(depth + 1);
    if (problem_.empty() && !Take(")")) Fail("a ')' is missing");
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (name == "ceil_div") return a == INT64_MIN ? 1 : -FloorDivide(-a, b);
    Fail("unknown function '" + name + "'; min, max and ceil_div exist");
    return 1;
  }

  std::string_view text_;
  const NameLookup* lookup_;
  const NameList* names_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace

Result<std::int64_t> Evaluate(const Expr& expr, const NameLookup& lookup, const NameList& names) {
  return Evaluator(expr.text, &lookup, &names).Run(expr.pos);
}

Status CheckSyntax(const Expr& expr) {
  const Result<std::int64_t> checked = Evaluator(expr.text, nullptr, nullptr).Run(expr.pos);
  if (!checked) return checked.error();
  return Unit{};
}

ValueType<Expr> ExprValue() {
  ValueType<Expr> type;
  type.info.kind = ValueKind::kOneOf;
  type.info.inner.resize(2);
  type.info.inner[0].kind = ValueKind::kInteger;
  type.info.inner[1].kind = ValueKind::kText;
  type.info.note = "whole number or expression of dims";
  type.read = [](const YamlNode& node, const std::string& key, Expr* out, Diagnostics* problems) {
    const std::string* text =
        ScalarText(node, key, "a whole number or an expression such as 4*hidden", true, problems);
    if (text == nullptr) return false;
    const Expr expr{*text, node.pos()};
    if (const Status checked = CheckSyntax(expr); !checked) {
      for (const Diagnostic& d : checked.error().diagnostics()) {
        problems->Add(d.pos, "'" + key + "': " + d.message);
      }
      return false;
    }
    *out = expr;
    return true;
  };
  type.write = [](const Expr& expr) { return expr.text; };
  return type;
}

}  // namespace cyclecast
