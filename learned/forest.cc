// Walks and the binary form of flat forests; see forest.h. Reading XGBoost's JSON is in
// forest_json.cc.
#include "learned/forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cyclecast {
namespace {

constexpr int kLanes = 8;
constexpr std::size_t kMaxNodes = std::size_t{1} << 26;

// Numbers are written little-endian, the way this machine must hold them.
static_assert(std::endian::native == std::endian::little);

template <class T>
void Put(const T* from, std::size_t count, std::string* bytes) {
  const std::size_t at = bytes->size();
  bytes->resize(at + count * sizeof(T));
  if (count > 0) std::memcpy(bytes->data() + at, from, count * sizeof(T));
}

// Takes `count` values off the front; false when they are not there.
template <class T>
bool Take(std::string_view* bytes, std::size_t count, T* onto) {
  if (bytes->size() / sizeof(T) < count) return false;
  if (count > 0) std::memcpy(onto, bytes->data(), count * sizeof(T));
  bytes->remove_prefix(count * sizeof(T));
  return true;
}

}  // namespace

template <int Lanes>
void Forest::Walk(std::size_t tree, const float* row, std::int32_t* leaves) const {
  const Node* nodes = nodes_.data();
  std::int32_t at[Lanes];
  std::int32_t steps = 0;
  for (int lane = 0; lane < Lanes; ++lane) {
    at[lane] = roots_[tree + static_cast<std::size_t>(lane)];
    steps = std::max(steps, depths_[tree + static_cast<std::size_t>(lane)]);
  }
  for (std::int32_t step = 0; step < steps; ++step) {
    for (int lane = 0; lane < Lanes; ++lane) {
      const Node& node = nodes[at[lane]];
      at[lane] = node.left + static_cast<std::int32_t>(row[node.feature] >= node.threshold);
    }
  }
  for (int lane = 0; lane < Lanes; ++lane) leaves[lane] = at[lane];
}

float Forest::Predict(const float* row) const {
  float sum = base_score_;
  std::int32_t leaves[kLanes];
  std::size_t tree = 0;
  for (; tree + kLanes <= trees(); tree += kLanes) {
    Walk<kLanes>(tree, row, leaves);
    for (const std::int32_t leaf : leaves) sum += values_[static_cast<std::size_t>(leaf)];
  }
  for (; tree < trees(); ++tree) {
    Walk<1>(tree, row, leaves);
    sum += values_[static_cast<std::size_t>(leaves[0])];
  }
  return sum;
}

void Forest::Predict(const float* rows, std::size_t count, std::size_t stride, float* sums) const {
  // Trees outside, rows inside: a group of trees stays in the first-level cache for the block.
  constexpr std::size_t kBlock = 64;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    std::fill(sums + begin, sums + end, base_score_);
    std::int32_t leaves[kLanes];
    std::size_t tree = 0;
    for (; tree + kLanes <= trees(); tree += kLanes) {
      for (std::size_t i = begin; i < end; ++i) {
        Walk<kLanes>(tree, rows + i * stride, leaves);
        for (const std::int32_t leaf : leaves) sums[i] += values_[static_cast<std::size_t>(leaf)];
      }
    }
    for (; tree < trees(); ++tree) {
      for (std::size_t i = begin; i < end; ++i) {
        Walk<1>(tree, rows + i * stride, leaves);
        sums[i] += values_[static_cast<std::size_t>(leaves[0])];
      }
    }
  }
}

void Forest::TreeValues(const float* row, float* values) const {
  std::int32_t leaf = 0;
  for (std::size_t tree = 0; tree < trees(); ++tree) {
    Walk<1>(tree, row, &leaf);
    values[tree] = values_[static_cast<std::size_t>(leaf)];
  }
}

void Forest::Truncate(std::size_t count) {
  if (count >= trees()) return;
  const auto nodes = static_cast<std::size_t>(roots_[count]);
  nodes_.resize(nodes);
  values_.resize(nodes);
  roots_.resize(count);
  depths_.resize(count);
}

bool Forest::CheckAndMeasure() {
  depths_.assign(roots_.size(), 0);
  std::vector<std::int32_t> depth(nodes_.size(), -1);
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    const std::int32_t begin = roots_[tree];
    const auto end =
        tree + 1 < roots_.size() ? roots_[tree + 1] : static_cast<std::int32_t>(nodes_.size());
    if (begin < 0 || begin >= end || static_cast<std::size_t>(end) > nodes_.size()) return false;
    if (tree == 0 && begin != 0) return false;
    depth[static_cast<std::size_t>(begin)] = 0;
    for (std::int32_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Node& node = nodes_[at];
      // Every node but the root is the child of exactly one earlier node.
      if (depth[at] < 0) return false;
      depths_[tree] = std::max(depths_[tree], depth[at]);
      if (node.feature < 0 || static_cast<std::size_t>(node.feature) >= columns_) return false;
      if (std::isnan(node.threshold)) {
        if (node.left != i || !std::isfinite(values_[at])) return false;
        continue;
      }
      if (node.left <= i || node.left >= end - 1) return false;
      for (const std::int32_t child : {node.left, node.left + 1}) {
        if (depth[static_cast<std::size_t>(child)] >= 0) return false;
        depth[static_cast<std::size_t>(child)] = depth[at] + 1;
      }
    }
  }
  return !roots_.empty() && columns_ > 0;
}

std::string Forest::Bytes() const {
  std::string bytes;
  const std::uint32_t counts[] = {static_cast<std::uint32_t>(columns_),
                                  static_cast<std::uint32_t>(roots_.size()),
                                  static_cast<std::uint32_t>(nodes_.size())};
  Put(counts, 3, &bytes);
  Put(&base_score_, 1, &bytes);
  Put(roots_.data(), roots_.size(), &bytes);
  Put(nodes_.data(), nodes_.size(), &bytes);
  Put(values_.data(), values_.size(), &bytes);
  return bytes;
}

Result<Forest> Forest::FromBytes(std::string_view bytes) {
  const Error damaged("the trees of the model file are damaged: train the model again");
  Forest forest;
  std::uint32_t counts[3] = {};
  if (!Take(&bytes, 3, counts) || !Take(&bytes, 1, &forest.base_score_)) return damaged;
  if (counts[1] > counts[2] || counts[2] > kMaxNodes ||
      counts[2] > bytes.size() / (sizeof(Node) + sizeof(float)))
    return damaged;
  forest.columns_ = counts[0];
  forest.roots_.resize(counts[1]);
  forest.nodes_.resize(counts[2]);
  forest.values_.resize(counts[2]);
  if (!Take(&bytes, counts[1], forest.roots_.data()) ||
      !Take(&bytes, counts[2], forest.nodes_.data()) ||
      !Take(&bytes, counts[2], forest.values_.data()) || !bytes.empty())
    return damaged;
  if (!std::isfinite(forest.base_score_) || !forest.CheckAndMeasure()) return damaged;
  return forest;
}

bool Forest::operator==(const Forest& other) const { return Bytes() == other.Bytes(); }

}  // namespace cyclecast
