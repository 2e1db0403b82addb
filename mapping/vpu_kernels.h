// Loop nests of VPU layers: one kernel per layer, its loads, its work on every tile and its stores
// joined by buffers.
#pragma once

#include <string>
#include <vector>

#include "core/machine.h"
#include "core/schedule.h"
#include "core/workload.h"
#include "mapping/nest_builder.h"
#include "mapping/vpu_layer.h"
#include "mapping/vpu_platform.h"
#include "mapping/vpu_search.h"

namespace cyclecast {

// What all kernels of a schedule share.
struct VpuContext {
  const Workload& workload;
  const VpuSpec& vpu;
  const Platform& platform;
  VpuResources resources;
};

// Where a layer's data are when its kernel runs.
struct KernelPlace {
  std::vector<bool> loads;        // by input of the layer: comes from DDR
  std::vector<Placement> inputs;  // of those that do not
  bool stores = true;             // the output goes to DDR
  Bytes room;                     // CMX per tile
  std::int64_t load_engines = 1;  // DMA engines that share the loads
  bool prefetch = false;          // weights may be fetched before the kernel is launched
};

// A kernel and where its output is afterwards.
struct BuiltKernel {
  Kernel kernel;
  Placement output;
  Bytes footprint;  // CMX per tile, buffers and what it leaves of its output
  bool uses_weights = false;
};

// Adds a transfer of `bytes_of(corner)` bytes to loop `loop`, shared by `engines` engines from the
// first on (from `first_engine`). `run`: contiguous bytes, 0 for all of it.
struct TransferSpec {
  std::string name;
  TaskKind kind = TaskKind::kLoad;
  DmaDirection direction = DmaDirection::kDdrToCmx;
  std::int64_t first_engine = 0, engines = 1;
  Bytes run;
  std::vector<BufferId> reads, writes;
  bool prefetch = false;
};
template <class BytesOf>
void AddTransfer(const VpuContext& context, const TransferSpec& spec, LoopId loop, BytesOf bytes_of,
                 NestBuilder* nest);

BuiltKernel BuildDpuKernel(const VpuContext& context, const VpuLayer& layer,
                           const VpuTiling& tiling, const KernelPlace& place);

// SHAVE and DMA layers plan themselves: slices that fit the room, as few as overlap transfers with
// work. Nothing when not even the smallest slice fits.
std::optional<BuiltKernel> BuildShaveKernel(const VpuContext& context, const VpuLayer& layer,
                                            const MappingPin& pin, const KernelPlace& place);
std::optional<BuiltKernel> BuildDmaKernel(const VpuContext& context, const VpuLayer& layer,
                                          const KernelPlace& place);
std::optional<BuiltKernel> BuildAttentionKernel(const VpuContext& context, const VpuLayer& layer,
                                                const MappingPin& pin, const KernelPlace& place);

// Bytes of the tensor that holds an activation.
Bytes StoredBytes(const Workload& workload, TensorId tensor);
// Work of all ops of the layer, and where its data cross the chip's border.
KernelWork LayerWork(const VpuContext& context, const VpuLayer& layer, const KernelPlace& place);

// --- Definitions of templates ---------------------------------------------------------------

Task TransferTask(const VpuContext& context, const TransferSpec& spec, std::int64_t engine);
TaskCost TransferCost(const VpuContext& context, const TransferSpec& spec, Bytes share);

template <class BytesOf>
void AddTransfer(const VpuContext& context, const TransferSpec& spec, LoopId loop, BytesOf bytes_of,
                 NestBuilder* nest) {
  for (std::int64_t e = 0; e < spec.engines; ++e) {
    Task task = TransferTask(context, spec, spec.first_engine + e);
    task.costs = nest->Costs(loop, [&](const NestBuilder::Corner& corner) {
      const std::int64_t bytes = bytes_of(corner).value();
      const Bytes share(bytes * (e + 1) / spec.engines - bytes * e / spec.engines);
      return TransferCost(context, spec, share);
    });
    if (spec.kind == TaskKind::kStore) {
      nest->AddTask(loop, std::move(task));
    } else {
      nest->AddTaskBeforeLoops(loop, std::move(task));
    }
  }
}

}  // namespace cyclecast
