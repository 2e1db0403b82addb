// The elaborated platform; see process.h.
#include "sim/process.h"

#include <systemc>

namespace cyclecast::sim {
namespace {

void OnReport(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() != sc_core::SC_INFO) {
    TheProcess().reports.push_back(std::string(report.get_msg_type()) + ": " + report.get_msg());
  }
  if ((actions & sc_core::SC_THROW) != 0) throw report;
}

void Elaborate(Process* process) {
  sc_core::sc_report_handler::set_handler(OnReport);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_CACHE_REPORT);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
  process->chip = std::make_unique<Chip>("chip", process->factory);
  process->array = std::make_unique<RegisterArray>("array");
}

Error Broken(const Process& process) {
  std::string text = "the SystemC kernel stopped";
  for (const std::string& report : process.reports) text += "; " + report;
  return Error(text + "; restart the program");
}

}  // namespace

Process& TheProcess() {
  static Process* const process = new Process;  // never destroyed: SystemC's own statics use it
  return *process;
}

Status RunInProcess(Process* process, const std::function<Status()>& run) {
  if (process->broken) return Broken(*process);
  process->reports.clear();
  try {
    if (process->chip == nullptr) Elaborate(process);
    if (Status status = run(); !status) return status;
  } catch (const std::exception&) {
    process->broken = true;
    return Broken(*process);
  }
  if (!process->reports.empty()) return Error("SystemC: " + process->reports.front());
  return Unit{};
}

Status UseMemoryModel(MemoryFactory factory) {
  Process& process = TheProcess();
  const std::lock_guard<std::mutex> lock(process.mutex);
  if (process.chip != nullptr) {
    return Error("a memory model must be chosen before the first simulation of the process");
  }
  process.factory = std::move(factory);
  return Unit{};
}

}  // namespace cyclecast::sim
