// What the tasks of a tiled matrix kernel add up to: busy cycles of the first core's resources and
// bytes that all cores draw from each memory.
#pragma once

#include <array>
#include <cstdint>

#include "mapping/tpu_gemm.h"

namespace cyclecast {

// Engines are few; those beyond share a slot here, which only makes the time pessimistic.
inline constexpr std::size_t kLoadEngineSlots = 4;

struct GemmTotals {
  std::int64_t matrix = 0, vector = 0, store = 0;      // busy cycles
  std::array<std::int64_t, kLoadEngineSlots> loads{};  // busy cycles per load engine
  std::array<std::int64_t, 2> bytes{};                 // off chip, CMEM
};

// Load engines of a kernel's operands, as slots.
struct GemmEngines {
  explicit GemmEngines(const TpuContext& context)
      : lhs(context.EngineOf(0) % kLoadEngineSlots),
        rhs(context.EngineOf(1) % kLoadEngineSlots),
        extra(context.EngineOf(2) % kLoadEngineSlots) {}
  std::size_t lhs, rhs, extra;
};

// Calls visit(items, count of the first core, count of all cores) for the tile sizes of an axis.
template <class Visit>
void ForEachSize(const TileAxis& axis, Visit visit) {
  const std::int64_t tail = axis.extent() - (axis.tiles() - 1) * axis.tile();
  const std::int64_t last = axis.Last(0);
  if (tail == axis.tile()) {
    visit(tail, axis.trips(), axis.tiles());
    return;
  }
  const std::int64_t full = axis.trips() - (last == axis.tile() ? 0 : 1);
  if (axis.tiles() > 1) visit(axis.tile(), full, axis.tiles() - 1);
  visit(tail, std::int64_t{last == tail ? 1 : 0}, std::int64_t{1});
}

GemmTotals SumGemm(const GemmProblem& problem, const GemmTiling& tiling, const GemmPieces& pieces,
                   const GemmEngines& engines);

}  // namespace cyclecast
