// Overlaying of mapping pins; see mapping.h.
#include "core/mapping.h"

namespace cyclecast {
namespace {

template <class T>
void Overlay(const std::optional<T>& from, std::optional<T>* onto) {
  if (from) *onto = from;
}

}  // namespace

MappingPin MappingPins::For(const std::string& op) const {
  MappingPin pin = all;
  const auto found = by_op.find(op);
  if (found == by_op.end()) return pin;
  const MappingPin& own = found->second;
  Overlay(own.tile_m, &pin.tile_m);
  Overlay(own.tile_n, &pin.tile_n);
  Overlay(own.tile_k, &pin.tile_k);
  Overlay(own.dataflow, &pin.dataflow);
  Overlay(own.buffer_depth, &pin.buffer_depth);
  Overlay(own.units, &pin.units);
  Overlay(own.strategy, &pin.strategy);
  Overlay(own.mpe_mode, &pin.mpe_mode);
  Overlay(own.fuse, &pin.fuse);
  Overlay(own.keep_on_chip, &pin.keep_on_chip);
  Overlay(own.prefetch_weights, &pin.prefetch_weights);
  pin.pos = own.pos;
  return pin;
}

}  // namespace cyclecast
