// The registers of a systolic array and what one clock edge does to them.
//
//            values of the stationary operand and partial sums move down
//                 |      |      |
//   moving   --> PE --> PE --> PE      weight and input stationary: a PE holds one value, adds
//   operand       |      |      |      value x moving to the sum from above, passes both on
//            --> PE --> PE --> PE      output stationary: both operands move, the sum stays
//
// Operands enter skewed, one cycle later per row and column. With double buffering a PE keeps the
// next value in a shadow register and takes it over when the first vector of the next fold comes
// by. Values to be stationary carry the row they are for; shadows load from above while the stream
// of the present fold passes.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/array/array_run.h"

namespace cyclecast::sim {

// One fold: the stationary operand's piece and the vectors that stream past it.
struct ArrayWork {
  bool output_stationary = false;
  std::int64_t rows = 1, columns = 1;  // of the array
  std::int64_t row_extent = 1, column_extent = 1, streamed = 1;
  std::int64_t passes = 1;
  std::int64_t load_lanes = 1;  // rows of the stationary operand that enter per cycle
  bool overlap = true;
  // moving[v * row_extent + r]: the streamed operand, part after part of each vector in `parts`.
  // held[r * column_extent + c]: the operand that stays, or the second one that moves.
  std::vector<float> moving, held;
};

// T: type of sums.
template <class T>
class ArrayCore {
 public:
  explicit ArrayCore(const ArrayWork& work);
  // One clock edge; false once everything has left the array.
  bool Step();
  std::int64_t cycles() const { return last_ + 1; }
  // [streamed, column_extent], or [row_extent, column_extent] when output stationary.
  const std::vector<T>& result() const { return result_; }

 private:
  struct Moving {
    float value = 0;
    bool valid = false, first = false, last = false;  // of its fold's stream
    std::int64_t vector = 0, fold = 0;
  };
  struct Loading {
    float value = 0;
    bool valid = false;
    std::int64_t row = 0;
  };
  struct Element {
    Moving moving;
    float down = 0;  // output stationary: the operand from above
    std::vector<Loading> loading;
    float active = 0, shadow = 0;
    T sum = 0;
  };

  std::int64_t Folds() const { return row_folds_ * column_folds_; }
  std::int64_t Length() const;  // cycles a fold's stream takes to enter
  void StartFolds();
  // The step of a fold's stream that passes an edge now, where it arrives `skew` cycles late.
  struct Entry {
    std::int64_t fold = -1, step = 0;  // fold -1: nothing passes
  };
  Entry EntryAt(std::int64_t skew) const;
  Moving MovingAt(std::int64_t row) const;  // what enters at the left of a row now
  float DownAt(std::int64_t column) const;  // what enters at the top of a column now
  Loading LoadingAt(std::int64_t column, std::int64_t lane) const;
  float Part(float value, std::int64_t pass) const;
  void StepStationary();
  void StepOutput();
  // A sum is complete: of a vector (or row) of the result and a column of the array, in a fold.
  void Leaves(std::int64_t vector, std::int64_t fold, std::int64_t column, T sum);

  Element& At(std::int64_t r, std::int64_t c) {
    return elements_[static_cast<std::size_t>(r * work_.columns + c)];
  }

  const ArrayWork& work_;
  std::int64_t row_folds_ = 1, column_folds_ = 1;
  std::vector<Element> elements_;
  // By fold: when its load and its stream start; -1: not yet known.
  std::vector<std::int64_t> load_start_, stream_start_;
  std::int64_t now_ = 0, last_ = 0, left_ = 0, wanted_ = 0, left_of_fold_ = 0;
  std::vector<T> result_;
};

}  // namespace cyclecast::sim
