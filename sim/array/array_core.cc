// Clock edges of a systolic array; see array_core.h.
#include "sim/array/array_core.h"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace cyclecast::sim {
namespace {

using Int = std::int64_t;

std::size_t Index(Int i) { return static_cast<std::size_t>(i); }

// The upper 16 bits: bf16 by truncation.
float Truncated(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= 0xFFFF0000U;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

template <class T>
ArrayCore<T>::ArrayCore(const ArrayWork& work)
    : work_(work),
      row_folds_(CeilDiv(work.row_extent, work.rows)),
      column_folds_(CeilDiv(work.column_extent, work.columns)),
      elements_(Index(work.rows * work.columns)),
      load_start_(Index(Folds()), -1),
      stream_start_(Index(Folds()), -1) {
  for (Element& element : elements_) element.loading.resize(Index(work.load_lanes));
  const Int results = work.output_stationary ? work.row_extent : work.streamed;
  result_.assign(Index(results * work.column_extent), T(0));
  wanted_ = Folds() * work.rows * work.columns;
  if (!work.output_stationary) wanted_ = Folds() * work.streamed * work.passes * work.columns;
  load_start_[0] = 0;
}

template <class T>
Int ArrayCore<T>::Length() const {
  return work_.streamed * work_.passes;
}

// Decides when loads and streams begin, from what is known by now.
template <class T>
void ArrayCore<T>::StartFolds() {
  const Int load = work_.output_stationary ? 0 : CeilDiv(work_.rows, work_.load_lanes);
  for (Int f = 0; f < Folds(); ++f) {
    const std::size_t i = Index(f);
    const bool first = f == 0;
    if (!first && !work_.overlap && left_of_fold_ < f) return;  // the fold before is under way
    if (load_start_[i] < 0) {
      // The shadows are free once the fold before takes them over, a wave that the load follows.
      if (stream_start_[i - 1] < 0 || now_ < stream_start_[i - 1]) return;
      load_start_[i] = now_;
    }
    if (stream_start_[i] < 0) {
      const bool loaded = now_ >= load_start_[i] + load;
      const bool free = first || now_ >= stream_start_[i - 1] + Length();
      if (!loaded || !free) return;
      stream_start_[i] = now_;
    }
  }
}

// Part `pass` of a value cut into work.passes parts whose sum it is: digits of an integer, ever
// finer bf16 remainders of a fraction.
template <class T>
float ArrayCore<T>::Part(float value, Int pass) const {
  float rest = value;
  for (Int p = 0;; ++p) {
    const bool last = p == work_.passes - 1;
    float part = rest;
    if constexpr (std::is_integral_v<T>) {
      const float unit = std::ldexp(1.0F, static_cast<int>(4 * (work_.passes - 1 - p)));
      if (!last) part = std::trunc(rest / unit) * unit;
    } else {
      if (!last) part = Truncated(rest);
    }
    if (p == pass) return part;
    rest -= part;
  }
}

template <class T>
typename ArrayCore<T>::Entry ArrayCore<T>::EntryAt(Int skew) const {
  for (Int f = 0; f < Folds() && stream_start_[Index(f)] >= 0; ++f) {
    const Int step = now_ - stream_start_[Index(f)] - skew;
    if (step >= 0 && step < Length()) return {f, step};
  }
  return {};
}

template <class T>
typename ArrayCore<T>::Moving ArrayCore<T>::MovingAt(Int row) const {
  const Entry entry = EntryAt(row);
  Moving moving;
  if (entry.fold < 0) return moving;
  moving.valid = true;
  moving.first = entry.step == 0;
  moving.last = entry.step == Length() - 1;
  moving.vector = entry.step / work_.passes;
  moving.fold = entry.fold;
  const Int r = (entry.fold / column_folds_) * work_.rows + row;
  if (r < work_.row_extent) {
    moving.value =
        Part(work_.moving[Index(moving.vector * work_.row_extent + r)], entry.step % work_.passes);
  }
  return moving;
}

template <class T>
float ArrayCore<T>::DownAt(Int column) const {
  const Entry entry = EntryAt(column);
  if (entry.fold < 0) return 0;
  const Int c = (entry.fold % column_folds_) * work_.columns + column;
  if (c >= work_.column_extent) return 0;
  return work_.held[Index(entry.step / work_.passes * work_.column_extent + c)];
}

// The rows of a fold enter a column from the last to the first, so that each is in place when the
// first vector reaches it.
template <class T>
typename ArrayCore<T>::Loading ArrayCore<T>::LoadingAt(Int column, Int lane) const {
  Loading loading;
  for (Int f = 0; f < Folds(); ++f) {
    const Int start = load_start_[Index(f)];
    if (start < 0) break;
    const Int step = now_ - start - column;
    if (step < 0) continue;
    const Int from_last = step * work_.load_lanes + lane;
    if (from_last >= work_.rows) continue;
    loading.valid = true;
    loading.row = work_.rows - 1 - from_last;
    const Int r = (f / column_folds_) * work_.rows + loading.row;
    const Int c = (f % column_folds_) * work_.columns + column;
    if (r < work_.row_extent && c < work_.column_extent) {
      loading.value = work_.held[Index(r * work_.column_extent + c)];
    }
  }
  return loading;
}

template <class T>
void ArrayCore<T>::Leaves(Int vector, Int fold, Int column, T sum) {
  ++left_;
  last_ = now_;
  const Int per_fold = wanted_ / Folds();
  if (left_ % per_fold == 0) left_of_fold_ = left_ / per_fold;
  const Int c = (fold % column_folds_) * work_.columns + column;
  const std::size_t place = Index(vector * work_.column_extent + c);
  if (c < work_.column_extent && place < result_.size()) result_[place] += sum;
}

// From the far corner back, so that every element still sees what its neighbours held before.
template <class T>
void ArrayCore<T>::StepStationary() {
  for (Int r = work_.rows - 1; r >= 0; --r) {
    for (Int c = work_.columns - 1; c >= 0; --c) {
      Element& element = At(r, c);
      const Moving moving = c == 0 ? MovingAt(r) : At(r, c - 1).moving;
      const T above = r == 0 ? T(0) : At(r - 1, c).sum;
      if (moving.valid && moving.first) element.active = element.shadow;
      element.sum = moving.valid
                        ? above + static_cast<T>(moving.value) * static_cast<T>(element.active)
                        : T(0);
      element.moving = moving;
      for (Int lane = 0; lane < work_.load_lanes; ++lane) {
        const Loading loading = r == 0 ? LoadingAt(c, lane) : At(r - 1, c).loading[Index(lane)];
        if (loading.valid && loading.row == r) element.shadow = loading.value;
        element.loading[Index(lane)] = loading;
      }
      if (r == work_.rows - 1 && moving.valid) Leaves(moving.vector, moving.fold, c, element.sum);
    }
  }
}

template <class T>
void ArrayCore<T>::StepOutput() {
  for (Int r = work_.rows - 1; r >= 0; --r) {
    for (Int c = work_.columns - 1; c >= 0; --c) {
      Element& element = At(r, c);
      const Moving moving = c == 0 ? MovingAt(r) : At(r, c - 1).moving;
      const float down = r == 0 ? DownAt(c) : At(r - 1, c).down;
      if (moving.valid) {
        const T product = static_cast<T>(moving.value) * static_cast<T>(down);
        element.sum = moving.first ? product : element.sum + product;
        if (moving.last) {
          Leaves(moving.fold / column_folds_ * work_.rows + r, moving.fold, c, element.sum);
        }
      }
      element.moving = moving;
      element.down = down;
    }
  }
}

template <class T>
bool ArrayCore<T>::Step() {
  StartFolds();
  if (work_.output_stationary) {
    StepOutput();
  } else {
    StepStationary();
  }
  ++now_;
  return left_ < wanted_;
}

template class ArrayCore<std::int32_t>;
template class ArrayCore<float>;

}  // namespace cyclecast::sim
