// The cyclecast command. The only place that prints errors and decides the exit code:
// 0 done, 1 internal fault, 2 wrong input or usage.
#include <fmt/format.h>

#include <exception>

#include "apps/cli.h"
#include "apps/console.h"

int main(int argc, char** argv) {
  try {
    cyclecast::InstallInterrupt();
    const cyclecast::ParsedCommand command = cyclecast::ParseCommandLine(argc, argv);
    if (!command.run) return command.exit_code;
    const cyclecast::Status status = command.run();
    if (status.ok()) return 0;
    cyclecast::PrintError(status.error());
    return 2;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "internal fault: {}\nplease report it with the command you ran\n",
               fault.what());
    return 1;
  }
}
