// Drawing and labelling of rows; see row_source.h.
#include "traces/row_source.h"

#include <algorithm>
#include <utility>

#include "mapping/mapper.h"
#include "traces/trace_schedule.h"

namespace cyclecast {
namespace {

constexpr int kMostDraws = 500;
constexpr std::int64_t kProbes = 24;  // rows whose schedules stand for the whole in a fingerprint
// Larger kernels are rare in networks, and slow to measure for real.
constexpr double kMostMacs = 4e12;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

bool TooLarge(const Schedule& schedule) {
  double macs = 0;
  std::int64_t bytes = 0;
  for (const Kernel& kernel : schedule.kernels) {
    macs += static_cast<double>(kernel.work.macs.value());
    bytes +=
        (kernel.work.input_bytes + kernel.work.weight_bytes + kernel.work.output_bytes).value();
  }
  return macs > kMostMacs || bytes > kMostBytes;
}

// FNV-1a over numbers.
class NumberHash {
 public:
  NumberHash& Add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash_ = (hash_ ^ ((value >> shift) & 0xFFU)) * 0x100000001B3U;
    }
    return *this;
  }
  NumberHash& Add(std::int64_t value) { return Add(static_cast<std::uint64_t>(value)); }
  NumberHash& Add(double value) {
    std::uint64_t bits = 0;
    static_assert(sizeof(bits) == sizeof(value));
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return Add(bits);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

void AddPlatform(const Platform& platform, NumberHash* hash) {
  const HardwareEffects& effects = platform.effects;
  hash->Add(platform.clock.value()).Add(effects.bank_conflict).Add(effects.refresh_share);
  hash->Add(effects.refresh_interval.value()).Add(effects.arbitration.value());
  hash->Add(effects.clock_crossing.value()).Add(effects.launch_jitter);
  for (const SharedMemory& memory : platform.memories) hash->Add(memory.bandwidth.value());
}

void AddSchedule(const Schedule& schedule, NumberHash* hash) {
  for (const Kernel& kernel : schedule.kernels) {
    hash->Add(kernel.launch.value());
    for (const Loop& loop : kernel.loops) hash->Add(loop.trips);
    for (const Task& task : kernel.tasks) {
      for (const TaskCost& cost : task.costs) {
        hash->Add(cost.occupancy.value()).Add(cost.latency.value()).Add(cost.bytes.value());
      }
    }
  }
}

}  // namespace

RowSource::RowSource(const std::vector<Machine>& machines, const std::vector<Workload>& workloads,
                     const GenerateOptions& options)
    : seed_(options.seed), source_(options.label_source) {
  for (const Machine& machine : machines) {
    targets_.push_back({&machine, MakePlatform(machine), Sampler(machine, workloads)});
  }
}

Result<RowSource::Candidate> RowSource::Draw(std::int64_t index) const {
  const Target& target = targets_[static_cast<std::size_t>(index) % targets_.size()];
  Random random(seed_, static_cast<std::uint64_t>(index));
  const std::uint64_t model_seed = random.Next();
  std::string last;
  for (int attempt = 0; attempt < kMostDraws; ++attempt) {
    cyclecast::Draw draw = target.sampler.Next(&random);
    TraceRow row;
    row.device = target.machine->name;
    row.kernel = std::move(draw.kernel);
    row.tile = draw.tile;
    row.label = LabelKind::kSynthetic;
    row.source = source_;
    row.columns = {{"family", std::move(draw.family)}, {"seed", std::to_string(seed_)}};
    Result<Schedule> schedule = ScheduleOf(row, *target.machine, target.platform);
    if (schedule && !TooLarge(*schedule)) {
      return Candidate{std::move(row), std::move(schedule).value(), model_seed};
    }
    last = schedule ? "the kernel is too large" : schedule.error().Text();
  }
  return Error("no kernel drawn for '" + target.machine->name + "' in " +
               std::to_string(kMostDraws) + " attempts can be mapped; the last one: " + last);
}

Result<TraceRow> RowSource::Row(std::int64_t index, const ModelFactory& make_model) const {
  Result<Candidate> candidate = Draw(index);
  if (!candidate) return candidate.error();
  const std::unique_ptr<CostModel> model = make_model(candidate->model_seed);
  const Result<Estimate> estimate = model->estimate(candidate->schedule);
  if (!estimate) return estimate.error();
  TraceRow row = std::move(candidate->row);
  row.measured_cycles = static_cast<double>(std::max<std::int64_t>(1, estimate->total.value()));
  return row;
}

std::uint64_t RowSource::Fingerprint() const {
  NumberHash hash;
  for (const Target& target : targets_) AddPlatform(*target.platform, &hash);
  for (std::int64_t index = 0; index < kProbes; ++index) {
    const Result<Candidate> candidate = Draw(index);
    if (candidate) AddSchedule(candidate->schedule, &hash);
  }
  return hash.value();
}

}  // namespace cyclecast
