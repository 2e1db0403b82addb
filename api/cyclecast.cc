// The C interface; see cyclecast.h.
#include "api/cyclecast.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "api/models.h"
#include "api/pricing.h"
#include "mapping/mapper.h"
#include "traces/trace_csv.h"

namespace cyclecast {
namespace {

constexpr std::size_t kCachedKernels = 1'000'000;

void Say(const std::string& text, char* message, std::size_t size) {
  if (message == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  text.copy(message, length);
  message[length] = '\0';
}

const char* OrElse(const char* text, const char* standard) {
  return text == nullptr ? standard : text;
}

}  // namespace
}  // namespace cyclecast

struct cyclecast_session {
  cyclecast_session(cyclecast::ConfigRoot root, cyclecast::Machine machine, std::size_t cache)
      : on{std::move(machine), nullptr}, root_(std::move(root)), cached_kernels_(cache) {
    on.platform = cyclecast::MakePlatform(on.machine);
  }

  // The estimate of one kernel, remembered by everything that tells kernels apart.
  cyclecast::Status Estimate(const cyclecast_kernel& kernel, cyclecast_estimate* estimate) {
    const std::string key = KeyOf(kernel);
    {
      const std::shared_lock<std::shared_mutex> lock(mutex_);
      if (const auto found = known_.find(key); found != known_.end()) {
        *estimate = found->second;
        return cyclecast::Unit{};
      }
    }
    if (cyclecast::Status made = EstimateAnew(kernel, estimate); !made.ok()) return made;
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    if (known_.size() >= cached_kernels_) known_.clear();
    known_.emplace(key, *estimate);
    return cyclecast::Unit{};
  }

  cyclecast::LoadedMachine on;
  std::unique_ptr<cyclecast::CostModel> model;

 private:
  static std::string KeyOf(const cyclecast_kernel& kernel) {
    std::string key;
    for (const char* part : {kernel.kind, kernel.op, kernel.descriptor, kernel.dtype}) {
      key += cyclecast::OrElse(part, "");
      key += '\n';
    }
    for (const std::int64_t part : {kernel.tile_m, kernel.tile_n, kernel.tile_k,
                                    static_cast<std::int64_t>(kernel.on_chip != 0)}) {
      key += std::to_string(part) + '\n';
    }
    return key;
  }

  cyclecast::Status EstimateAnew(const cyclecast_kernel& kernel, cyclecast_estimate* estimate) {
    using cyclecast::OrElse;
    const std::string kind = OrElse(kernel.kind, "op");
    auto parsed = cyclecast::ParseTraceKernel(
        kind, OrElse(kernel.op, ""), OrElse(kernel.descriptor, ""),
        OrElse(kernel.dtype, kind == "op" ? "bf16" : ""), kernel.on_chip != 0);
    if (!parsed.ok()) return parsed.error();
    cyclecast::TraceRow row;
    row.device = on.machine.name;
    row.kernel = *std::move(parsed);
    row.tile = {kernel.tile_m, kernel.tile_n, kernel.tile_k};
    const auto schedule = cyclecast::MapRow(row, on, root_);
    if (!schedule.ok()) return schedule.error();
    const auto made = model->estimate(*schedule);
    if (!made.ok()) return made.error();
    const double microseconds = 1e6 / made->clock.value();
    estimate->cycles = made->total.value();
    estimate->microseconds = static_cast<double>(made->total.value()) * microseconds;
    estimate->lower = static_cast<double>(made->interval.lower.value()) * microseconds;
    estimate->upper = static_cast<double>(made->interval.upper.value()) * microseconds;
    estimate->coverage = made->interval.coverage;
    estimate->in_domain = 1;
    for (const cyclecast::KernelEstimate& part : made->kernels) {
      if (!part.in_domain) estimate->in_domain = 0;
    }
    return cyclecast::Unit{};
  }

  cyclecast::ConfigRoot root_;
  std::size_t cached_kernels_;
  std::shared_mutex mutex_;  // of known_
  std::unordered_map<std::string, cyclecast_estimate> known_;
};

namespace cyclecast {
namespace {

Result<std::unique_ptr<cyclecast_session>> Open(const char* machine,
                                                const cyclecast_options& options,
                                                std::string* warning) {
  if (machine == nullptr) return Error("no machine is named");
  const std::string name = OrElse(options.model, "analytical");
  if (name != "analytical" && name != "simulated" && name != "corrected") {
    return Error("there is no model '" + name + "'; give analytical, simulated or corrected");
  }
  const char* from_environment =
      std::getenv("CYCLECAST_CONFIG_DIR");  // NOLINT(concurrency-mt-unsafe)
  const ConfigRoot root{OrElse(options.config_dir, OrElse(from_environment, ""))};
  Result<Machine> loaded = LoadMachine(machine, root);
  if (!loaded.ok()) return loaded.error();
  auto session = std::make_unique<cyclecast_session>(
      root, *std::move(loaded),
      options.cache_kernels == 0 ? kCachedKernels : options.cache_kernels);
  ModelOptions wanted;
  wanted.residual = OrElse(options.residual, "");
  auto made = MakeModel(name, wanted, session->on.machine, root);
  if (!made.ok()) return made.error();
  session->model = std::move(made->model);
  *warning = made->warning;
  return session;
}

}  // namespace
}  // namespace cyclecast

cyclecast_session* cyclecast_open(const char* machine, const cyclecast_options* options,
                                  char* message, size_t size) {
  try {
    std::string warning;
    auto session =
        cyclecast::Open(machine, options == nullptr ? cyclecast_options{} : *options, &warning);
    cyclecast::Say(session.ok() ? warning : session.error().Text(), message, size);
    return session.ok() ? session->release() : nullptr;
  } catch (const std::exception& error) {  // out of memory, a failing lock
    cyclecast::Say(error.what(), message, size);
    return nullptr;
  }
}

void cyclecast_close(cyclecast_session* session) { delete session; }

size_t cyclecast_estimate_batch(cyclecast_session* session, const cyclecast_kernel* kernels,
                                size_t count, cyclecast_estimate* estimates, char* message,
                                size_t size) {
  for (size_t i = 0; i < count; ++i) {
    try {
      const cyclecast::Status done = session->Estimate(kernels[i], &estimates[i]);
      if (done.ok()) continue;
      cyclecast::Say(done.error().Text(), message, size);
    } catch (const std::exception& error) {
      cyclecast::Say(error.what(), message, size);
    }
    return i;
  }
  cyclecast::Say("", message, size);
  return count;
}

const char* cyclecast_version(void) { return CYCLECAST_VERSION; }
