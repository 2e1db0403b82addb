// Random numbers that are the same on every platform and for every division of the work: an own
// generator and own distributions (those of the standard library may differ). Private to traces/.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace cyclecast {

// SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
class Random {
 public:
  // Streams of different `stream` are independent of each other.
  Random(std::uint64_t seed, std::uint64_t stream) : state_(Mix(seed) ^ Mix(~Mix(stream))) {}

  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15U;
    return Mix(state_);
  }
  // In [0, 1).
  double Share() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  bool Chance(double probability) { return Share() < probability; }
  // In [low, high], every value equally likely.
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(Next() % span);
  }
  // In [low, high], every factor of two equally likely.
  std::int64_t LogBetween(std::int64_t low, std::int64_t high) {
    const double from = std::log2(static_cast<double>(low));
    const double to = std::log2(static_cast<double>(high) + 1.0);
    const auto value = static_cast<std::int64_t>(std::exp2(from + (to - from) * Share()));
    return value < low ? low : value > high ? high : value;
  }
  template <class T>
  const T& Pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(Next() % values.size())];
  }
  // An index with probability proportional to its weight.
  std::size_t PickWeighted(const std::vector<double>& weights) {
    double total = 0;
    for (const double weight : weights) total += weight;
    double left = Share() * total;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
      if (left < weights[i]) return i;
      left -= weights[i];
    }
    return weights.size() - 1;
  }

 private:
  static std::uint64_t Mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace cyclecast
