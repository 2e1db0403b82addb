// Whole-number expressions of workload files: "4*hidden", "(seq + 1) // 2", "max(1, i - 1)",
// "i == 0". Private to io.
//
// + - * / // % and comparisons (1 or 0), parentheses, unary minus, min(a, b), max(a, b),
// ceil_div(a, b). "/" must come out whole, "//" rounds down.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/value_types.h"

namespace cyclecast {

struct Expr {
  std::string text;
  SourcePos pos;
};

// The value of a name, or nothing when there is no such name.
using NameLookup = std::function<std::optional<std::int64_t>(const std::string&)>;

using NameList = std::function<std::vector<std::string>()>;

// An Error at the expression's place: unknown name (`names` are suggested from), division that does
// not come out whole, overflow.
Result<std::int64_t> Evaluate(const Expr& expr, const NameLookup& lookup, const NameList& names);

// Only the form, whatever the names stand for.
Status CheckSyntax(const Expr& expr);

// A whole number or an expression, as a value in a file.
ValueType<Expr> ExprValue();

}  // namespace cyclecast
