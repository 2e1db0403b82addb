// Child processes for tests; see run_command.h.
#include "tests/apps/run_command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/paths.h"

namespace cyclecast::test {

CommandResult RunCyclecast(const std::vector<std::string>& arguments) {
  const ScratchDir scratch;
  const std::string out = (scratch / "out").string(), err = (scratch / "err").string();
  std::vector<std::string> words = {CYCLECAST_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(out.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadFile(out);
  result.err = ReadFile(err);
  return result;
}

}  // namespace cyclecast::test
