// Candidate tiles and messages; see tile_search.h.
#include "mapping/tile_search.h"

namespace cyclecast {

std::vector<std::int64_t> EvenTiles(std::int64_t extent, std::int64_t unit, std::int64_t largest,
                                    std::int64_t smallest, std::int64_t tiles, bool thirds) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](std::int64_t cuts) {
    const std::int64_t size = std::min(extent, RoundUp(CeilDiv(extent, cuts), unit));
    if (size > largest && extent > largest && size > unit) return;
    if (sizes.empty() || size < sizes.back()) sizes.push_back(size);
  };
  for (std::int64_t cuts = 1;; cuts *= 2) {
    add(cuts);
    const std::int64_t size = CeilDiv(extent, cuts);
    if (size <= unit || (size <= smallest && cuts >= tiles)) break;
    if (cuts > 1 && thirds) add(cuts + cuts / 2);
  }
  return sizes;
}

std::string SizeText(Bytes bytes) {
  double value = static_cast<double>(bytes.value()) / 1024.0;
  const char* unit = " KiB";
  if (value >= 1024.0) {
    value /= 1024.0;
    unit = " MiB";
  }
  std::string text = std::to_string(value);
  text.resize(text.find('.') + 2);
  if (text.back() == '0') text.resize(text.size() - 2);
  return text + unit;
}

Status PositivePin(const char* name, const std::optional<std::int64_t>& pin) {
  if (!pin || *pin >= 1) return Unit{};
  return Error(std::string(name) + " is " + std::to_string(*pin) + "; it must be at least 1");
}

Status CheckUnits(const std::optional<std::int64_t>& units, std::int64_t cores) {
  if (Status status = PositivePin("units", units); !status.ok()) return status;
  if (!units || *units <= cores) return Unit{};
  return Error("units is " + std::to_string(*units) + "; the machine has " + std::to_string(cores) +
               (cores > 1 ? " cores" : " core"));
}

}  // namespace cyclecast
