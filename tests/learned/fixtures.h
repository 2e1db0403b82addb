// Small hand-made things the tests of learned/ share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cost_model.h"
#include "learned/dataset.h"
#include "learned/train.h"

namespace cyclecast::test {

// Column of a feature by name; throws std::logic_error when there is none.
std::size_t ColumnNamed(const std::string& name);

// One matmul [m, k] x [k, n] on a machine "tiny" of 1 GHz with an 8x8 array (64 MACs per cycle) and
// 16 bytes per cycle from off chip: tiles of 8 x 8 over all of K, a load, a product and a store per
// tile. bf16.
Schedule TinySchedule(std::int64_t m, std::int64_t n, std::int64_t k);
// `kernels` such products one after another.
Schedule TinyChain(int kernels, std::int64_t m, std::int64_t n, std::int64_t k);

// Serial sum of everything a kernel does; a timeline event per kernel. `name` is what it calls
// itself.
std::unique_ptr<CostModel> MakeSerialModel(std::string name);

// A random number in [0, 1) that depends on nothing but its arguments.
double Uniform(std::uint64_t seed, std::uint64_t index);

// Rows whose truth is known: one kernel each on machine "tiny"; features "utilisation" (u) and
// "m_fill_128" (f) are uniform, "is_matmul" 1, the others 0; base time is 1 to 11 us and
//   measured = base * exp(0.6 + (u > 0.5 ? 0.8 : 0) + 0.5 f + noise * N(0,1)-like).
// Three rows share a group (their shape).
std::vector<TraceSample> KnownSamples(int rows, double noise, std::uint64_t seed = 1);
// exp(g) of such a row.
double KnownFactor(double utilisation, double fill);

// Options that train in a moment: one feature set, few trees.
TrainOptions QuickOptions();
// A model trained on KnownSamples(rows, noise).
ResidualModel KnownModel(int rows = 240, double noise = 0.02);

}  // namespace cyclecast::test
