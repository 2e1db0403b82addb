// verify-array: the tile-level cost of a matrix unit against its registers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "apps/commands.h"
#include "io/report/table.h"
#include "sim/array/array_run.h"
#include "timing/matrix_unit.h"

namespace cyclecast {
namespace {

using Int = std::int64_t;

constexpr std::array<Dataflow, 3> kDataflows = {
    Dataflow::kWeightStationary, Dataflow::kOutputStationary, Dataflow::kInputStationary};

// Draws cases; the same for a seed on every platform (no standard distribution is used).
class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed) {}

  ArrayCase Case() {
    ArrayCase drawn;
    drawn.unit.rows = Between(1, 8);
    drawn.unit.columns = Between(1, 8);
    drawn.unit.row_align = 1;
    drawn.unit.weight_rows_per_cycle = Between(0, 2) == 0 ? Between(1, drawn.unit.rows) : 1;
    drawn.unit.weight_double_buffering = Between(0, 1) == 1;
    drawn.dataflow = kDataflows[static_cast<std::size_t>(Between(0, 2))];
    drawn.dtype = Between(0, 1) == 1 ? DType::kInt8 : DType::kBf16;
    drawn.unit.passes[drawn.dtype] = static_cast<double>(Between(0, 2) == 0 ? Between(2, 3) : 1);
    drawn.m = Extent(), drawn.k = Extent(), drawn.n = Extent();
    return drawn;
  }

  // int8: all values. bf16: 16ths below 16, whose products and sums fp32 holds exactly, so that
  // the order of the sums does not matter.
  std::vector<float> Values(DType dtype, Int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
      value = dtype == DType::kInt8 ? static_cast<float>(Between(-128, 127))
                                    : static_cast<float>(Between(-128, 127)) / 16.0F;
    }
    return values;
  }

 private:
  Int Between(Int low, Int high) {
    return low + static_cast<Int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Int Extent() { return Between(0, 5) == 0 ? 1 : Between(1, 20); }

  std::mt19937_64 random_;
};

std::vector<double> PlainProduct(const ArrayCase& c, const std::vector<float>& lhs,
                                 const std::vector<float>& rhs) {
  std::vector<double> product;
  for (Int m = 0; m < c.m; ++m) {
    for (Int n = 0; n < c.n; ++n) {
      double sum = 0;
      for (Int k = 0; k < c.k; ++k) {
        sum += static_cast<double>(lhs[static_cast<std::size_t>(m * c.k + k)]) *
               static_cast<double>(rhs[static_cast<std::size_t>(k * c.n + n)]);
      }
      product.push_back(sum);
    }
  }
  return product;
}

std::string Describe(const ArrayCase& c) {
  return fmt::format("{}x{}x{} {} {} on {}x{}, {} rows of weights a cycle, {} passes, overlap {}",
                     c.m, c.k, c.n, Name(c.dtype), Name(c.dataflow), c.unit.rows, c.unit.columns,
                     c.unit.weight_rows_per_cycle, ForDType(c.unit.passes, c.dtype),
                     c.unit.weight_double_buffering ? "on" : "off");
}

struct Tally {
  Int cases = 0, cycles_differ = 0, products_differ = 0;
};

}  // namespace

Status RunVerifyArray(const VerifyCommand& command) {
  if (Status free = CheckOutput(command.output); !free.ok()) return free;
  Drawer drawer(command.seed);
  std::map<std::pair<std::string, bool>, Tally> tallies;
  std::string first;
  Int bad = 0;
  ProgressLine progress("verifying the array");
  for (Int i = 0; i < command.cases; ++i) {
    if (Interrupted()) return Error("interrupted");
    const ArrayCase drawn = drawer.Case();
    const std::vector<float> lhs = drawer.Values(drawn.dtype, drawn.m * drawn.k);
    const std::vector<float> rhs = drawer.Values(drawn.dtype, drawn.k * drawn.n);
    const Result<ArrayProduct> registers = MultiplyOnArray(drawn, lhs, rhs);
    if (!registers.ok()) return registers.error();
    const TaskCost cost =
        MatrixTaskCost(drawn.unit, drawn.dataflow, drawn.dtype, {drawn.m, drawn.n, drawn.k});
    const Cycles tiles = cost.occupancy + cost.latency;
    Tally& tally = tallies[{std::string(Name(drawn.dataflow)), drawn.unit.weight_double_buffering}];
    ++tally.cases;
    const bool same_cycles = registers->cycles == tiles;
    const bool same_product = registers->values == PlainProduct(drawn, lhs, rhs);
    if (!same_cycles) ++tally.cycles_differ;
    if (!same_product) ++tally.products_differ;
    if (!same_cycles || !same_product) {
      if (bad++ == 0) {
        first = fmt::format("{}: {} cycles by the registers, {} by the tile-level model{}",
                            Describe(drawn), registers->cycles.value(), tiles.value(),
                            same_product ? "" : "; another product");
      }
    }
    progress.Update(static_cast<double>(i + 1) / static_cast<double>(command.cases));
  }
  TextTable table;
  table.Column("dataflow");
  table.Column("overlap");
  for (const char* name : {"cases", "cycles differ", "products differ"}) {
    table.Column(name, true);
  }
  for (const auto& [key, tally] : tallies) {
    table.Row({key.first, key.second ? "on" : "off", std::to_string(tally.cases),
               std::to_string(tally.cycles_differ), std::to_string(tally.products_differ)});
  }
  if (Status written = WriteOutput(command.output, table.Text()); !written.ok()) return written;
  if (bad == 0) return Unit{};
  return Error(std::to_string(bad) + " of " + std::to_string(command.cases) +
               " cases differ; the first: " + first);
}

}  // namespace cyclecast
