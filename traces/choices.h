// Ways to run a layer, and how good a model is at picking one.
//
// Two tables belong together: one of DPU workloads (wl_id and the columns of vpu-workloads) and one
// of candidates, each a strategy, a number of tiles, an MPE mode and a split, with the workloads it
// runs on every tile and what a peer's model says the layer takes (docs/traces.md). The tables come
// without measurements, so a choice is judged in the peer's own cycles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/trace.h"

namespace cyclecast {

struct Choice {
  std::string strategy, mode, split;
  double peer_cycles = 0;    // layer_nn_cycles
  double theory_cycles = 0;  // layer_theoretical_cycles, the peer's closed form
  // By tile, the workloads it runs, in order: rows of Choices::workloads.
  std::vector<std::vector<std::size_t>> tiles;
};

// The candidates of one layer that may be compared: those that write their output to all tiles
// leave another state behind than those that do not, and form a group of their own.
struct ChoiceGroup {
  std::string name;
  std::string network;  // the part of the name before the first '/'
  std::vector<Choice> choices;
};

struct Choices {
  Trace workloads;
  std::vector<ChoiceGroup> groups;  // of two or more choices
  std::size_t without_peer = 0;     // candidates left out for want of the peer's cycles
};

// Errors name the cell: columns that are missing, ids that the table of workloads does not have.
Result<Choices> ReadChoices(const std::string& candidates, const std::string& workloads);

// Cycles of the layer: every tile deals its workloads in order to the DPU that is free first, and
// the slowest tile decides. `cycles` is by row of Choices::workloads.
double LayerCycles(const Choice& choice, const std::vector<double>& cycles,
                   std::int64_t dpus_per_tile);

// Regret of a pick: the peer's cycles of it over the least of the group, less one. Of candidates
// the picker finds equal the worst counts.
struct RegretFigures {
  int groups = 0;
  double mean = 0, median = 0, p90 = 0, max = 0;  // percent
  double best = 0;                                // percent of groups whose pick is the best one
};
// `predicted[g][i]`: what the picker says of choice i of group g; `taken`: the groups that count.
RegretFigures Regret(const std::vector<ChoiceGroup>& groups,
                     const std::vector<std::vector<double>>& predicted,
                     const std::vector<bool>& taken);

}  // namespace cyclecast
