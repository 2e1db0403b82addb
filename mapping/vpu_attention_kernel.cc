// Attention as one kernel: scores on the DPUs, softmax on the SHAVEs, weighted values on the DPUs,
// head by head and slice of rows by slice of rows, so that DPUs and SHAVEs work at the same time
// and scores never leave CMX. Where a head's keys and values do not fit, they come in blocks for
// every slice of rows, and the softmax is kept up to date from block to block (online softmax,
// Milakov and Gimelshein, arXiv 1805.02867): what the blocks so far gave is scaled anew. See
// vpu_kernels.h.
#include <algorithm>

#include "mapping/vpu_kernels.h"
#include "mapping/vpu_rules.h"
#include "timing/dpu.h"
#include "timing/shave.h"

namespace cyclecast {
namespace {

Bytes PageRounded(Bytes bytes, const VpuSpec& vpu) {
  return Bytes(RoundUp(bytes.value(), std::max<std::int64_t>(vpu.cmx.page.value(), 1)));
}

class AttentionKernel {
 public:
  AttentionKernel(const VpuContext& context, const VpuLayer& layer, const MappingPin& pin,
                  const KernelPlace& place)
      : context_(context),
        vpu_(context.vpu),
        layer_(layer),
        shape_(layer.attention),
        place_(place),
        depth_(pin.buffer_depth.value_or(2)),
        tiles_(std::min(pin.units.value_or(vpu_.tiles), shape_.copies)),
        mode_(pin.mpe_mode.value_or("")),
        pinned_rows_(pin.tile_m) {}

  std::optional<BuiltKernel> Run() {
    std::optional<Slice> best;
    // More blocks than the fewest that fit only read keys and values more often.
    for (std::int64_t blocks = 1; blocks < 2 * shape_.keys && !best; blocks *= 2) {
      best = BestRows(RoundUp(CeilDiv(shape_.keys, blocks), blocks == 1 ? 1 : kKeyStep));
    }
    if (!best) return std::nullopt;
    return Build(*best);
  }

 private:
  // Rows of queries against a block of keys.
  struct Slice {
    std::int64_t rows = 1, keys = 1;
  };
  static constexpr std::int64_t kKeyStep = 16;  // channels of a DPU workload

  std::optional<Slice> BestRows(std::int64_t keys) const {
    std::optional<Slice> best;
    Cycles best_time;
    int tried = 0;
    for (std::int64_t count = 1; count < 2 * shape_.rows && tried < 4; count *= 2) {
      const Slice slice{pinned_rows_.value_or(CeilDiv(shape_.rows, count)), keys};
      if (Footprint(slice) <= place_.room) {
        ++tried;
        const Cycles time = Estimate(slice);
        if (!best || time < best_time) {
          best = slice;
          best_time = time;
        }
      }
      if (slice.rows == 1 || pinned_rows_) break;
    }
    return best;
  }

  bool LoadsKeys() const { return shape_.cached || place_.loads.size() < 3 || place_.loads[1]; }

  Bytes RowBytes(std::int64_t rows, std::int64_t width) const {
    return BytesOf(rows * width, shape_.dtype);
  }
  Bytes KeyBytes(std::int64_t keys) const { return RowBytes(keys, shape_.head_dim); }

  Bytes Footprint(const Slice& slice) const {
    const TileAxis axis(shape_.rows, slice.rows), keys(shape_.keys, slice.keys);
    const std::int64_t copies = CeilDiv(shape_.copies, tiles_);
    const std::int64_t by_slice = std::min(depth_, copies * axis.trips());
    const std::int64_t by_block = std::min(depth_, copies * axis.trips() * keys.trips());
    Bytes sum;
    if (LoadsKeys()) {
      const std::int64_t generations = keys.trips() > 1 ? by_block : std::min(depth_, copies);
      sum += PageRounded(KeyBytes(slice.keys), vpu_) * (2 * generations);
    }
    if (place_.loads[0]) {
      sum += PageRounded(RowBytes(slice.rows, shape_.head_dim), vpu_) * by_slice;
    }
    // Scores before and after the softmax.
    sum += PageRounded(RowBytes(slice.rows, slice.keys), vpu_) * (2 * by_block);
    const Bytes out = RowBytes(slice.rows, shape_.head_dim);
    if (keys.trips() > 1) sum += PageRounded(out, vpu_);  // of the blocks so far
    sum += place_.stores ? PageRounded(out, vpu_) * by_slice
                         : PageRounded(RowBytes(shape_.rows, shape_.head_dim), vpu_) * copies;
    return sum;
  }

  // rows x k times k x n in the best mode; extents beyond the limit run as several workloads.
  TaskCost ProductCost(std::int64_t rows, std::int64_t k, std::int64_t n,
                       DpuWorkload* workload) const {
    const std::int64_t limit = vpu_.rules.max_dimension;
    const std::int64_t sums = CeilDiv(k, limit), parts = CeilDiv(n, limit);
    const ImageShape image = ImageOf(rows, vpu_.dpu.block_w, vpu_.dpu.block_h, limit);
    DpuWorkload product;
    product.operation = DpuOperation::kConvolution;
    product.input = {image.w,      image.h, RoundUp(CeilDiv(k, sums), 16), 1, shape_.dtype,
                     Layout::kZxy, false};
    product.output = product.input;
    product.output.c = RoundUp(CeilDiv(n, parts), 16);
    product.weight_dtype = shape_.dtype;
    TaskCost best;
    for (const MpeMode& mode : vpu_.dpu.modes) {
      if (!ModeFits(mode, product.operation, shape_.dtype)) continue;
      if (!mode_.empty() && mode.name != mode_) continue;
      product.mode = mode.name;
      const TaskCost cost = DpuCost(product, vpu_);
      if (best.occupancy == Cycles(0) || cost.occupancy < best.occupancy) {
        best = cost;
        *workload = product;
      }
    }
    best.occupancy = best.occupancy * (sums * parts);
    best.useful = best.useful * (sums * parts);
    best.latency = vpu_.barrier;
    return best;
  }
  TaskCost ScoresCost(const Slice& slice, DpuWorkload* workload) const {
    return ProductCost(slice.rows, shape_.head_dim, slice.keys, workload);
  }
  TaskCost ValuesCost(const Slice& slice, DpuWorkload* workload) const {
    return ProductCost(slice.rows, slice.keys, shape_.head_dim, workload);
  }
  // With several blocks, each scales what the ones before it gave.
  TaskCost SoftmaxCost(const Slice& slice, bool blocks) const {
    TaskCost cost = ShaveElementsCost("softmax", slice.rows * slice.keys, vpu_);
    if (blocks) {
      const TaskCost scaling = ShaveElementsCost("mul", slice.rows * shape_.head_dim, vpu_);
      cost.occupancy += scaling.occupancy;
      cost.useful += scaling.useful;
    }
    cost.latency = vpu_.barrier;
    return cost;
  }

  Cycles Estimate(const Slice& slice) const {
    DpuWorkload unused;
    const TileAxis keys(shape_.keys, slice.keys);
    const Cycles dpu = ScoresCost(slice, &unused).occupancy + ValuesCost(slice, &unused).occupancy;
    const Cycles shave = SoftmaxCost(slice, keys.trips() > 1).occupancy;
    Cycles load;
    if (LoadsKeys() && keys.trips() > 1) {
      const BytesPerCycle rate = context_.platform.memories.front().bandwidth;
      load = CeilCycles(KeyBytes(slice.keys) * (2 * tiles_), rate);
    }
    const std::int64_t slices =
        CeilDiv(shape_.copies, tiles_) * CeilDiv(shape_.rows, slice.rows) * keys.trips();
    if (depth_ < 2) return (dpu + shave + load) * slices;
    return std::max({dpu, shave, load}) * (slices - 1) + dpu + shave + load;
  }

  BuiltKernel Build(const Slice& slice) {
    const std::int64_t rows = slice.rows;
    copies_axis_ = TileAxis(shape_.copies, 1, tiles_);
    rows_axis_ = TileAxis(shape_.rows, rows);
    keys_axis_ = TileAxis(shape_.keys, slice.keys);
    copies_ = nest_.AddLoop(0, "heads", copies_axis_);
    rows_ = nest_.AddLoop(copies_.id, "rows", rows_axis_);
    keys_ = nest_.AddLoop(rows_.id, "keys", keys_axis_);
    const std::vector<BufferId> keys = AddKeys();
    std::vector<BufferId> score_reads, value_reads;
    if (!keys.empty()) {
      score_reads = {keys[0]};
      value_reads = {keys[1]};
    }
    AddQueries(rows, &score_reads);
    const Bytes scores = PageRounded(RowBytes(rows, slice.keys), vpu_);
    const BufferId raw = nest_.AddBuffer("scores", keys_.id, depth_, scores);
    const BufferId weights = nest_.AddBuffer("probabilities", keys_.id, depth_, scores);
    std::vector<BufferId> outputs;
    if (place_.stores) {
      outputs = {nest_.AddBuffer("output", rows_.id, depth_,
                                 PageRounded(RowBytes(rows, shape_.head_dim), vpu_))};
    }
    value_reads.push_back(weights);
    AddStage("scores", TaskKind::kDpu, score_reads, {raw});
    AddStage("softmax", TaskKind::kShave, {raw}, {weights});
    AddStage("values", TaskKind::kDpu, value_reads, outputs);
    if (place_.stores) AddStore(outputs.front());
    return Finish(slice);
  }

  std::int64_t ActiveTiles(const NestBuilder::Corner& corner) const {
    const bool last = corner.IsLast(copies_);
    std::int64_t active = 0;
    for (std::int64_t tile = 0; tile < tiles_; ++tile) active += copies_axis_.At(last, tile);
    return active;
  }

  std::vector<BufferId> AddKeys() {
    if (!LoadsKeys()) return {};
    // A head's keys serve all its rows where they are in CMX as a whole.
    const LoopId scope = keys_axis_.trips() > 1 ? keys_.id : copies_.id;
    const Bytes slot = PageRounded(KeyBytes(keys_axis_.tile()), vpu_);
    std::vector<BufferId> buffers;
    for (const char* name : {"keys", "values"}) {
      buffers.push_back(nest_.AddBuffer(name, scope, depth_, slot));
      TransferSpec spec;
      spec.name = std::string("load ") + name;
      spec.engines = place_.load_engines;
      spec.run = RowBytes(1, shape_.head_dim);
      spec.writes = {buffers.back()};
      AddTransfer(
          context_, spec, scope,
          [&](const NestBuilder::Corner& corner) {
            return KeyBytes(keys_axis_.At(corner.IsLast(keys_))) * ActiveTiles(corner);
          },
          &nest_);
    }
    return buffers;
  }

  void AddQueries(std::int64_t rows, std::vector<BufferId>* reads) {
    if (!place_.loads[0]) return;
    TransferSpec spec;
    spec.name = "load queries";
    spec.engines = place_.load_engines;
    spec.run = RowBytes(1, shape_.head_dim);
    spec.writes = {nest_.AddBuffer("queries", rows_.id, depth_,
                                   PageRounded(RowBytes(rows, shape_.head_dim), vpu_))};
    AddTransfer(
        context_, spec, rows_.id,
        [&](const NestBuilder::Corner& corner) { return OutputBytes(corner); }, &nest_);
    reads->push_back(spec.writes.front());
  }

  Bytes OutputBytes(const NestBuilder::Corner& corner) const {
    return RowBytes(rows_axis_.At(corner.IsLast(rows_)), shape_.head_dim) * ActiveTiles(corner);
  }

  void AddStore(BufferId output) {
    TransferSpec spec;
    spec.name = "store output";
    spec.kind = TaskKind::kStore;
    spec.direction = DmaDirection::kCmxToDdr;
    spec.first_engine = static_cast<std::int64_t>(context_.resources.dma.size()) - 1;
    spec.run = RowBytes(1, shape_.head_dim);
    spec.reads = {output};
    AddTransfer(
        context_, spec, rows_.id,
        [&](const NestBuilder::Corner& corner) { return OutputBytes(corner); }, &nest_);
  }

  // One task per tile.
  void AddStage(const std::string& name, TaskKind kind, const std::vector<BufferId>& reads,
                const std::vector<BufferId>& writes) {
    for (std::int64_t tile = 0; tile < tiles_; ++tile) {
      const auto index = static_cast<std::size_t>(tile);
      Task task;
      task.name = name;
      task.kind = kind;
      task.resource = kind == TaskKind::kDpu ? context_.resources.dpu[index].front()
                                             : context_.resources.shave[index];
      task.reads = reads;
      task.writes = writes;
      task.costs = nest_.Costs(keys_.id, [&](const NestBuilder::Corner& corner) {
        if (copies_axis_.At(corner.IsLast(copies_), tile) == 0) return TaskCost{};
        const Slice slice{rows_axis_.At(corner.IsLast(rows_)), keys_axis_.At(corner.IsLast(keys_))};
        if (kind == TaskKind::kShave) return SoftmaxCost(slice, keys_axis_.trips() > 1);
        return name == "scores" ? ScoresCost(slice, &scores_) : ValuesCost(slice, &values_);
      });
      nest_.AddTask(keys_.id, std::move(task));
    }
  }

  BuiltKernel Finish(const Slice& slice) {
    BuiltKernel built;
    built.footprint = Footprint(slice);
    built.kernel = std::move(nest_).Take();
    if (!place_.stores) built.output = {Spread::kByBatch, tiles_};
    KernelWork& work = built.kernel.work;
    work = LayerWork(context_, layer_, place_);
    work.footprint = built.footprint;
    work.parallel_units = tiles_;
    work.tile_m = slice.rows;
    work.tile_n = slice.keys;
    work.tile_k = shape_.head_dim;
    work.gemm = {shape_.copies, shape_.rows, shape_.head_dim, shape_.keys, false};
    work.head_group = shape_.group;
    work.padded_macs = Macs(std::max(
        work.macs.value(),
        2 * shape_.copies * shape_.rows * RoundUp(shape_.keys, 16) * RoundUp(shape_.head_dim, 16)));
    work.dpu = scores_;
    const std::int64_t key_reads = keys_axis_.trips() > 1 ? rows_axis_.trips() : 1;
    work.on_chip_bytes = (KeyBytes(shape_.keys) * (2 * key_reads) +
                          RowBytes(shape_.rows, 2 * shape_.head_dim + 4 * shape_.keys)) *
                         shape_.copies;
    work.contiguous_bytes = RowBytes(1, shape_.head_dim).value();
    built.kernel.mapping = "heads dealt to " + std::to_string(tiles_) + " tile(s), " +
                           std::to_string(rows_axis_.trips()) + " slice(s) of " +
                           std::to_string(slice.rows) + " rows, " + scores_.mode;
    if (keys_axis_.trips() > 1) {
      built.kernel.mapping += ", " + std::to_string(keys_axis_.trips()) + " blocks of " +
                              std::to_string(slice.keys) + " keys";
    }
    if (!place_.stores) built.kernel.mapping += ", output kept in CMX";
    return built;
  }

  const VpuContext& context_;
  const VpuSpec& vpu_;
  const VpuLayer& layer_;
  const AttentionShape& shape_;
  const KernelPlace& place_;
  std::int64_t depth_, tiles_;
  std::string mode_;
  std::optional<std::int64_t> pinned_rows_;
  NestBuilder nest_;
  TileAxis copies_axis_, rows_axis_, keys_axis_;
  AxisLoop copies_, rows_, keys_;
  DpuWorkload scores_, values_;
};

}  // namespace

std::optional<BuiltKernel> BuildAttentionKernel(const VpuContext& context, const VpuLayer& layer,
                                                const MappingPin& pin, const KernelPlace& place) {
  return AttentionKernel(context, layer, pin, place).Run();
}

}  // namespace cyclecast
