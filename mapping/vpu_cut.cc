// Cutting of workloads; see vpu_cut.h.
#include "mapping/vpu_cut.h"

#include <algorithm>
#include <array>

#include "core/units.h"
#include "mapping/vpu_rules.h"

namespace cyclecast {
namespace {

constexpr std::array<std::string_view, 4> kStrategies = {"clustering", "split_over_height",
                                                         "split_over_channel", "split_over_batch"};

// The parts of `extent` dealt to `tiles` in steps of `multiple`, in order; empty ones left out.
template <class Visit>
void Deal(std::int64_t extent, std::int64_t tiles, std::int64_t multiple, Visit visit) {
  const std::int64_t part = RoundUp(CeilDiv(extent, tiles), multiple);
  for (std::int64_t begin = 0; begin < extent; begin += part) {
    visit(begin, std::min(begin + part, extent));
  }
}

}  // namespace

std::string_view Name(VpuStrategy strategy) {
  return kStrategies[static_cast<std::size_t>(strategy)];
}

DpuWorkload CutRows(const DpuWorkload& whole, std::int64_t begin, std::int64_t end) {
  const Window& window = whole.window;
  const std::int64_t reach = (window.kernel_h - 1) * window.dilation_h + 1;
  // Input rows first..last (exclusive), counted from the first real row.
  const std::int64_t first = begin * window.stride_h - window.pad_top;
  const std::int64_t last = (end - 1) * window.stride_h - window.pad_top + reach;
  DpuWorkload part = whole;
  part.output.h = end - begin;
  part.window.pad_top = std::max<std::int64_t>(0, -first);
  part.window.pad_bottom = std::max<std::int64_t>(0, last - whole.input.h);
  part.input.h =
      std::max<std::int64_t>(1, std::min(last, whole.input.h) - std::max<std::int64_t>(first, 0));
  return part;
}

DpuWorkload CutChannels(const DpuWorkload& whole, std::int64_t begin, std::int64_t end) {
  DpuWorkload part = whole;
  part.output.c = end - begin;
  if (KeepsChannels(whole.operation)) part.input.c = end - begin;
  return part;
}

std::vector<DpuWorkload> SplitOverTiles(const DpuWorkload& slice, VpuStrategy strategy,
                                        std::int64_t tiles, const DpuRules& rules) {
  std::vector<DpuWorkload> parts;
  switch (strategy) {
    case VpuStrategy::kClustering:
    case VpuStrategy::kSplitBatch:  // copies are dealt outside
      parts.push_back(slice);
      break;
    case VpuStrategy::kSplitHeight:
      Deal(slice.output.h, tiles, 1, [&](std::int64_t begin, std::int64_t end) {
        parts.push_back(CutRows(slice, begin, end));
      });
      break;
    case VpuStrategy::kSplitChannel:
      Deal(slice.output.c, tiles, rules.channel_multiple,
           [&](std::int64_t begin, std::int64_t end) {
             parts.push_back(CutChannels(slice, begin, end));
           });
      if (parts.size() > 1) {
        const auto writes = static_cast<std::int64_t>(parts.size());
        for (DpuWorkload& part : parts) {
          part.output_write_tiles = std::min(writes, rules.max_output_write_tiles);
          if (part.output_write_tiles > 1) part.isi = IsiStrategy::kSplitOverChannel;
        }
      }
      break;
  }
  return parts;
}

std::vector<DpuWorkload> SplitChannelClasses(const DpuWorkload& part, std::int64_t chunk,
                                             const DpuRules& rules) {
  if (!HasChannelClasses(part.operation) || rules.depthwise_channels.empty()) return {part};
  std::vector<std::int64_t> classes = rules.depthwise_channels;
  std::sort(classes.rbegin(), classes.rend());
  std::vector<DpuWorkload> pieces;
  std::int64_t begin = 0;
  while (begin < part.output.c) {
    const std::int64_t left = part.output.c - begin;
    std::int64_t piece = std::min(left, classes.back());
    for (const std::int64_t size : classes) {
      if (size <= chunk && size <= left) {
        piece = size;
        break;
      }
    }
    pieces.push_back(CutChannels(part, begin, begin + piece));
    begin += piece;
  }
  return pieces;
}

ImageShape ImageOf(std::int64_t rows, std::int64_t block_w, std::int64_t block_h,
                   std::int64_t limit) {
  if (rows <= block_w) return {rows, 1};
  ImageShape best;
  std::int64_t best_area = 0;
  // Widths of one block, four (a grid's width), and more where the height would exceed the limit.
  for (std::int64_t blocks : {4, 1, 2, 8, 16, 64, 256, 1024}) {
    const std::int64_t w = blocks * block_w;
    const std::int64_t h = CeilDiv(rows, w);
    if (w > limit || h > limit) continue;
    const std::int64_t area = w * RoundUp(h, block_h);
    if (best_area == 0 || area < best_area) {
      best = {w, h};
      best_area = area;
    }
  }
  // Beyond limit x limit the rows cannot be one image; callers slice.
  return best_area == 0 ? ImageShape{limit, CeilDiv(rows, limit)} : best;
}

}  // namespace cyclecast
