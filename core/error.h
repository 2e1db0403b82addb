// Errors of the user's input as values: where, what, and what would be right.
//
// A Result<T> holds a T or an Error. An Error carries one or more diagnostics, so a reader can
// report everything wrong with a file at once. Only apps/ prints them:
//   configs/tpu/x.yaml:12:9: error: 'clock' needs a unit, for example '940 MHz'
// Bugs are a different matter: CYCLECAST_CHECK throws std::logic_error.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cyclecast {

// A place in a file. Line and column count from 1; 0 means unknown.
struct SourcePos {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Diagnostic {
  SourcePos pos;
  std::string message;  // what is wrong and what would be right, no trailing newline
};

// "file:line:column: error: message"; leaves out the parts that are unknown.
std::string Format(const Diagnostic& diagnostic);

class Error {
 public:
  explicit Error(std::string message) : diagnostics_{{SourcePos{}, std::move(message)}} {}
  Error(SourcePos pos, std::string message) : diagnostics_{{std::move(pos), std::move(message)}} {}
  explicit Error(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {}

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // All diagnostics, a line each.
  std::string Text() const;
  // The same error with `pos` filled in for the diagnostics that have no place yet.
  Error At(const SourcePos& pos) const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

struct Unit {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value; throws std::logic_error when there is none (a bug in the caller).
  const T& value() const& {
    Require();
    return std::get<0>(state_);
  }
  T& value() & {
    Require();
    return std::get<0>(state_);
  }
  T&& value() && {
    Require();
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  void Require() const {
    if (!ok()) throw std::logic_error("Result has no value: " + error().Text());
  }
  std::variant<T, Error> state_;
};

using Status = Result<Unit>;

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace cyclecast

// For bugs only, never for input: throws std::logic_error naming the condition and the place.
#define CYCLECAST_CHECK(condition) \
  ((condition) ? void() : ::cyclecast::CheckFailed(#condition, __FILE__, __LINE__))
