// Helpers of the tile searches: candidate sizes, pins and their messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"

namespace cyclecast {

// Sizes that cut `extent` into 1, 2, 3, 4, 6, 8, 12, ... tiles of about equal size, in multiples of
// `unit`, largest first: none above `largest` (unless the extent is smaller). The search ends with
// the first size of `smallest` or less, but not before there are `tiles` of them. Without `thirds`
// only 1, 2, 4, 8, ... cuts are made.
std::vector<std::int64_t> EvenTiles(std::int64_t extent, std::int64_t unit, std::int64_t largest,
                                    std::int64_t smallest, std::int64_t tiles = 1,
                                    bool thirds = true);

// "16 MiB", "1.5 KiB".
std::string SizeText(Bytes bytes);

// Errors without a place: a pin below 1; more units than cores.
Status PositivePin(const char* name, const std::optional<std::int64_t>& pin);
Status CheckUnits(const std::optional<std::int64_t>& units, std::int64_t cores);

// The largest size up to `size` for which needs(size) <= budget, 0 if none; `needs` grows with
// size.
template <class Needs>
std::int64_t LargestThatFits(std::int64_t size, Bytes budget, const Needs& needs) {
  if (needs(size) <= budget) return size;
  std::int64_t low = 0, high = size;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (needs(middle) <= budget ? low : high) = middle;
  }
  return low;
}

}  // namespace cyclecast
