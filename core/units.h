// Strong unit types: a number that knows what it counts.
//
// Construction from a plain number is explicit, nothing converts back implicitly, and only the
// products that mean something exist (Bytes / BytesPerSecond, never Bytes + Cycles). Rounding is
// always a named function. tests/core/units_test.cc proves the illegal forms do not compile.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace cyclecast {

// An integer count of one thing. `Tag` makes counts of different things different types.
template <class Tag>
class Count {
 public:
  constexpr Count() = default;
  constexpr explicit Count(std::int64_t value) : value_(value) {}
  constexpr std::int64_t value() const { return value_; }

  constexpr auto operator<=>(const Count&) const = default;
  constexpr Count operator+(Count other) const { return Count(value_ + other.value_); }
  constexpr Count operator-(Count other) const { return Count(value_ - other.value_); }
  constexpr Count operator*(std::int64_t times) const { return Count(value_ * times); }
  constexpr Count& operator+=(Count other) { return *this = *this + other; }
  constexpr Count& operator-=(Count other) { return *this = *this - other; }

 private:
  std::int64_t value_ = 0;
};

// A real-valued quantity of one dimension.
template <class Tag>
class Measure {
 public:
  constexpr Measure() = default;
  constexpr explicit Measure(double value) : value_(value) {}
  constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Measure&) const = default;
  constexpr Measure operator+(Measure other) const { return Measure(value_ + other.value_); }
  constexpr Measure operator-(Measure other) const { return Measure(value_ - other.value_); }
  constexpr Measure operator*(double times) const { return Measure(value_ * times); }
  constexpr Measure operator/(double by) const { return Measure(value_ / by); }
  constexpr double operator/(Measure other) const { return value_ / other.value_; }
  constexpr Measure& operator+=(Measure other) { return *this = *this + other; }

 private:
  double value_ = 0.0;
};

using Cycles = Count<struct CyclesTag>;  // of the machine's reference clock unless said otherwise
using Bytes = Count<struct BytesTag>;
using Macs = Count<struct MacsTag>;  // multiply-accumulates; one MAC is two FLOP

using Hertz = Measure<struct HertzTag>;
using Seconds = Measure<struct SecondsTag>;
using BytesPerCycle = Measure<struct BytesPerCycleTag>;
using BytesPerSecond = Measure<struct BytesPerSecondTag>;
using Joules = Measure<struct JoulesTag>;
using Watts = Measure<struct WattsTag>;

// How many times `part` goes into `whole`; a plain ratio.
template <class Tag>
constexpr double Ratio(Count<Tag> whole, Count<Tag> part) {
  return static_cast<double>(whole.value()) / static_cast<double>(part.value());
}

constexpr std::int64_t CeilDiv(std::int64_t numerator, std::int64_t denominator) {
  return (numerator + denominator - 1) / denominator;
}
constexpr std::int64_t RoundUp(std::int64_t value, std::int64_t multiple) {
  return CeilDiv(value, multiple) * multiple;
}

constexpr Seconds ToSeconds(Cycles cycles, Hertz clock) {
  return Seconds(static_cast<double>(cycles.value()) / clock.value());
}
constexpr Seconds operator/(Bytes bytes, BytesPerSecond rate) {
  return Seconds(static_cast<double>(bytes.value()) / rate.value());
}
constexpr BytesPerCycle PerCycle(BytesPerSecond rate, Hertz clock) {
  return BytesPerCycle(rate.value() / clock.value());
}
constexpr BytesPerSecond PerSecond(BytesPerCycle rate, Hertz clock) {
  return BytesPerSecond(rate.value() * clock.value());
}
constexpr Joules operator*(Watts power, Seconds time) {
  return Joules(power.value() * time.value());
}

// The whole cycles that `time` takes, rounded up. A relative slack of 1e-9 keeps a product such as
// 3 us * 1 GHz at 3000 and not 3001.
inline Cycles CeilCycles(Seconds time, Hertz clock) {
  const double exact = time.value() * clock.value();
  return Cycles(static_cast<std::int64_t>(std::ceil(exact - std::abs(exact) * 1e-9)));
}
// The whole cycles that a fractional number of cycles takes, rounded up with the same slack.
inline Cycles CeilCycles(double cycles) {
  return Cycles(static_cast<std::int64_t>(std::ceil(cycles - std::abs(cycles) * 1e-9)));
}

// Transfer rates are quantised to 2^-16 byte per cycle so that the closed form and the event
// simulation, which adds up many small pieces, compute the same integers.
inline constexpr int kRateFractionBits = 16;
inline std::int64_t QuantisedRate(BytesPerCycle rate) {
  const double scaled = rate.value() * static_cast<double>(std::int64_t{1} << kRateFractionBits);
  return scaled < 1.0 ? 1 : static_cast<std::int64_t>(scaled + 0.5);
}
// Cycles to move `bytes` at a constant `rate`, rounded up to whole cycles.
inline Cycles CeilCycles(Bytes bytes, BytesPerCycle rate) {
  return Cycles(CeilDiv(bytes.value() << kRateFractionBits, QuantisedRate(rate)));
}

}  // namespace cyclecast
