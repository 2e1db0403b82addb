// A 64-bit FNV-1a hash: names the feature table and the training data, and finds damaged files.
// Not cryptographic.
#pragma once

#include <cstdint>
#include <string_view>

namespace cyclecast {

class Fnv64 {
 public:
  Fnv64& Add(std::string_view bytes) {
    for (const char c : bytes) Mix(static_cast<unsigned char>(c));
    return *this;
  }
  Fnv64& Add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) Mix((number >> shift) & 0xff);
    return *this;
  }
  std::uint64_t value() const { return state_; }

 private:
  void Mix(std::uint64_t byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

// Spreads the bits of a counter or a seed (the finaliser of SplitMix64, Steele et al. 2014).
inline std::uint64_t MixBits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace cyclecast
