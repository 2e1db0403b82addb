// Synthetic traces in pieces; see generate.h.
#include "traces/generate.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "io/file.h"
#include "traces/gzip.h"
#include "traces/process_pool.h"
#include "traces/row_source.h"
#include "traces/trace_csv.h"

namespace cyclecast {
namespace {

namespace fs = std::filesystem;

// Raised whenever the same settings give other rows.
constexpr int kGeneratorVersion = 1;
// Small enough to share the work evenly and to lose little when interrupted.
constexpr std::int64_t kRowsPerPiece = 250;

std::string Hex(std::uint64_t value) {
  std::ostringstream text;
  text << std::hex << value;
  return text.str();
}

// What a run is, a line each; two runs with the same text write the same file.
std::string SettingsText(const std::vector<Machine>& machines,
                         const std::vector<Workload>& workloads, const RowSource& source,
                         const GenerateOptions& options) {
  std::string text = "generator " + std::to_string(kGeneratorVersion) + "\n";
  text += "trace_version " + std::to_string(kTraceVersion) + "\n";
  text += "rows " + std::to_string(options.rows) + "\n";
  text += "seed " + std::to_string(options.seed) + "\n";
  text += "label " + options.label_source + "\n";
  for (const Machine& machine : machines) text += "machine " + machine.name + "\n";
  for (const Workload& workload : workloads) text += "workload " + workload.name() + "\n";
  return text + "content " + Hex(source.Fingerprint()) + "\n";
}

// The first lines in which two settings differ: "rows 100, not rows 200".
std::string Difference(const std::string& found, const std::string& wanted) {
  std::istringstream a(found), b(wanted);
  std::string left, right;
  while (true) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left) left = "nothing";
    if (!more_right) right = "nothing";
    if (left != right || (!more_left && !more_right)) return "'" + left + "', not '" + right + "'";
  }
}

// The folder of pieces beside the output, locked against a second run.
class Pieces {
 public:
  explicit Pieces(const GenerateOptions& options)
      : folder_(options.path + ".parts"), options_(options) {}
  ~Pieces() {
    if (lock_ >= 0) close(lock_);
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  Status Open(const std::string& settings) {
    std::error_code code;
    fs::create_directories(folder_, code);
    if (code) return Error("cannot create the folder " + folder_.string() + ": " + code.message());
    lock_ = open((folder_ / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      return Error("another run is writing to " + folder_.string() +
                   "; wait for it or choose another output");
    }
    const std::string path = (folder_ / "settings").string();
    if (fs::exists(path, code)) {
      const Result<std::string> found = ReadFile(path);
      if (!found) return found.error();
      if (*found == settings) return Unit{};
      if (!options_.overwrite) {
        return Error("the folder " + folder_.string() +
                     " holds pieces of an interrupted run with other settings (" +
                     Difference(*found, settings) +
                     "); repeat that run, remove the folder, or ask to overwrite");
      }
      for (std::int64_t piece = 0; piece < Count() || fs::exists(PathOf(piece), code); ++piece) {
        fs::remove(PathOf(piece), code);
      }
    }
    return AtomicWrite(path, settings, Existing::kReplace);
  }

  std::int64_t Count() const { return CeilDiv(options_.rows, kRowsPerPiece); }
  std::int64_t Begin(std::int64_t piece) const { return piece * kRowsPerPiece; }
  std::int64_t End(std::int64_t piece) const {
    return std::min(options_.rows, Begin(piece) + kRowsPerPiece);
  }
  std::string PathOf(std::int64_t piece) const {
    return (folder_ / ("piece" + std::to_string(piece) + ".csv")).string();
  }
  std::vector<std::int64_t> Missing() const {
    std::vector<std::int64_t> missing;
    std::error_code code;
    for (std::int64_t piece = 0; piece < Count(); ++piece) {
      if (!fs::exists(PathOf(piece), code)) missing.push_back(piece);
    }
    return missing;
  }

  // The whole trace: the pieces one after another, under one header.
  Result<std::string> Join() const {
    std::string all;
    for (std::int64_t piece = 0; piece < Count(); ++piece) {
      const Result<std::string> text = ReadFile(PathOf(piece));
      if (!text) return text.error();
      all.append(*text, piece == 0 ? 0 : text->find('\n') + 1, std::string::npos);
    }
    return all;
  }
  void Remove() const {
    std::error_code code;  // what cannot be removed is left
    fs::remove_all(folder_, code);
  }

 private:
  fs::path folder_;
  const GenerateOptions& options_;
  int lock_ = -1;
};

// Writes one piece; stops without it when told to.
Status WritePiece(const Pieces& pieces, std::int64_t piece, const RowSource& source,
                  const ModelFactory& make_model, PoolWorker* worker) {
  Trace trace;
  for (std::int64_t index = pieces.Begin(piece); index < pieces.End(piece); ++index) {
    if (worker->Stopped()) return Unit{};
    Result<TraceRow> row = source.Row(index, make_model);
    if (!row) return row.error();
    trace.rows.push_back(std::move(row).value());
    worker->Advance(1);
  }
  return AtomicWrite(pieces.PathOf(piece), TraceText(trace), Existing::kReplace);
}

Status WriteResult(const std::string& text, const GenerateOptions& options) {
  const bool compress =
      options.path.size() > 3 && options.path.compare(options.path.size() - 3, 3, ".gz") == 0;
  return AtomicWrite(options.path, compress ? Gzip(text) : text,
                     options.overwrite ? Existing::kReplace : Existing::kRefuse);
}

Status CheckOptions(const std::vector<Machine>& machines, const GenerateOptions& options) {
  if (machines.empty()) return Error("name at least one machine to draw kernels for");
  if (options.rows < 1) return Error("the number of rows must be at least 1");
  std::error_code code;
  if (!options.overwrite && fs::exists(options.path, code)) {
    return Error(SourcePos{options.path, 0, 0},
                 "the file is already there; choose another name or ask to overwrite it");
  }
  return Unit{};
}

}  // namespace

Result<GenerateReport> GenerateTrace(const std::vector<Machine>& machines,
                                     const std::vector<Workload>& workloads,
                                     const ModelFactory& make_model,
                                     const GenerateOptions& options) {
  const Status valid = CheckOptions(machines, options);
  if (!valid) return valid.error();
  const RowSource source(machines, workloads, options);
  Pieces pieces(options);
  const Status open = pieces.Open(SettingsText(machines, workloads, source, options));
  if (!open) return open.error();
  const std::vector<std::int64_t> missing = pieces.Missing();
  std::int64_t to_do = 0;
  for (const std::int64_t piece : missing) to_do += pieces.End(piece) - pieces.Begin(piece);
  const std::int64_t there = options.rows - to_do;

  PoolOptions pool;
  pool.processes = options.processes;
  pool.interrupted = options.interrupted;
  if (options.progress) {
    pool.progress = [&](std::int64_t rows) {
      const std::int64_t done = std::min(options.rows, there + rows);
      options.progress(static_cast<double>(done) / static_cast<double>(options.rows), done);
    };
  }
  const Status run = RunInProcesses(
      static_cast<std::int64_t>(missing.size()),
      [&](std::int64_t item, PoolWorker* worker) {
        return WritePiece(pieces, missing[static_cast<std::size_t>(item)], source, make_model,
                          worker);
      },
      pool);
  if (!run) return run.error();
  const Result<std::string> text = pieces.Join();
  if (!text) return text.error();
  const Status written = WriteResult(*text, options);
  if (!written) return written.error();
  pieces.Remove();
  return GenerateReport{options.rows, there};
}

Result<TraceRow> GenerateRow(const std::vector<Machine>& machines,
                             const std::vector<Workload>& workloads, const ModelFactory& make_model,
                             const GenerateOptions& options, std::int64_t index) {
  const Status valid = machines.empty() ? Status(Error("no machine")) : Status(Unit{});
  if (!valid) return valid.error();
  return RowSource(machines, workloads, options).Row(index, make_model);
}

}  // namespace cyclecast
