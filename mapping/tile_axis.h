// One axis of an iteration space cut into tiles, dealt in turn to the parts (cores) that share it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/schedule.h"
#include "core/units.h"

namespace cyclecast {

// `extent` items in tiles of `tile`, the last one shorter. Part p takes tiles p, p + parts, ... and
// makes `trips` iterations; in the last one it may have a shorter tile or none.
class TileAxis {
 public:
  TileAxis() = default;
  TileAxis(std::int64_t extent, std::int64_t tile, std::int64_t parts = 1)
      : extent_(extent),
        tile_(std::min(tile, extent)),
        parts_(parts),
        tiles_(CeilDiv(extent_, tile_)),
        trips_(CeilDiv(tiles_, parts_)) {}

  std::int64_t extent() const { return extent_; }
  std::int64_t tile() const { return tile_; }
  std::int64_t tiles() const { return tiles_; }
  std::int64_t trips() const { return trips_; }
  std::int64_t parts() const { return parts_; }

  // Items of part `part` in its last iteration, or in any other. An axis that is not dealt out is
  // the same for every part.
  std::int64_t Last(std::int64_t part = 0) const {
    const std::int64_t index = (trips_ - 1) * parts_ + (parts_ > 1 ? part : 0);
    if (index < tiles_ - 1) return tile_;
    return index == tiles_ - 1 ? extent_ - (tiles_ - 1) * tile_ : 0;
  }
  std::int64_t At(bool last, std::int64_t part = 0) const { return last ? Last(part) : tile_; }
  // The last of several iterations is shorter for some part.
  bool LastDiffers() const { return trips_ > 1 && Last(parts_ - 1) != tile_; }

  // Calls visit(items, count) for the tiles of a part, equal ones together.
  template <class Visit>
  void ForEach(std::int64_t part, Visit visit) const {
    if (trips_ > 1) visit(tile_, trips_ - 1);
    const std::int64_t last = Last(part);
    if (last > 0) visit(last, std::int64_t{1});
  }

 private:
  std::int64_t extent_ = 1, tile_ = 1, parts_ = 1, tiles_ = 1, trips_ = 1;
};

}  // namespace cyclecast
