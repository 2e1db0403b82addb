// The --set values of one load: typed access, and an error for those nothing used. Private to io.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"
#include "core/workload.h"
#include "io/workload_options.h"

namespace cyclecast {

inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;
inline constexpr std::size_t kMaxOps = 200'000;

class WorkloadSettings {
 public:
  explicit WorkloadSettings(const WorkloadOptions& options) : options_(options) {}

  // The value of `name`, a whole number from 1 to 2^31, or nothing when it is not set (or wrong,
  // which is kept for Finish).
  std::optional<std::int64_t> Extent(const std::string& name);
  // The value of `name` as extents "1x3x224x224", each from 1 to 2^31; one number is one extent.
  std::optional<std::vector<std::int64_t>> Extents(const std::string& name);
  // An element type, or nothing.
  std::optional<DType> Type(const std::string& name = "dtype");
  bool Has(const std::string& name) const { return options_.set.count(name) > 0; }

  const std::vector<Diagnostic>& wrong() const { return wrong_; }

  // Everything that was wrong, and every setting that nothing asked for; `known` are the names the
  // workload has.
  std::vector<Diagnostic> Finish(const std::vector<std::string>& known) const;

 private:
  // Marks `name` as used and keeps `what` for Finish the first time.
  void Refuse(const std::string& name, const std::string& what);

  const WorkloadOptions& options_;
  std::set<std::string> used_;
  std::vector<Diagnostic> wrong_;
};

// Elements of a shape, in floating point: never overflows.
double CountElements(const std::vector<std::int64_t>& dims);

// An Error that names the first op whose tensors or MACs are beyond what 64-bit counts hold with
// room to spare (2^50 elements, 2^60 MACs); such numbers are typing errors.
Status CheckSizes(const Workload& workload);

}  // namespace cyclecast
