// Forked workers; see process_pool.h. They share a page with the parent: the next item, the steps
// done, whether to stop, the first error.
#include "traces/process_pool.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace cyclecast {
namespace {

constexpr std::size_t kMessageSize = 8192;
constexpr useconds_t kPollMicroseconds = 10000;

struct Shared {
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> steps{0};
  std::atomic<int> stop{0};
  std::atomic<int> failed{0};   // a child is writing or has written the message
  std::atomic<int> written{0};  // the message is complete
  char message[kMessageSize] = {};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// The page, for as long as the pool runs.
class SharedPage {
 public:
  SharedPage() {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) shared_ = new (memory) Shared;
  }
  ~SharedPage() {
    if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  Shared* get() const { return shared_; }

 private:
  Shared* shared_ = nullptr;
};

class ForkedWorker : public PoolWorker {
 public:
  explicit ForkedWorker(Shared* shared) : shared_(shared) {}
  bool Stopped() const override { return shared_->stop.load() != 0; }
  void Advance(std::int64_t steps) override { shared_->steps += steps; }

 private:
  Shared* shared_;
};

void Fail(Shared* shared, const std::string& text) {
  shared->stop = 1;
  if (shared->failed.exchange(1) != 0) return;
  const std::size_t length = std::min(text.size(), kMessageSize - 1);
  std::memcpy(shared->message, text.data(), length);
  shared->message[length] = '\0';
  shared->written = 1;
}

using Work = std::function<Status(std::int64_t item, PoolWorker* worker)>;

// The life of a child; does not return.
[[noreturn]] void RunChild(Shared* shared, std::int64_t items, const Work& work, pid_t parent) {
  std::signal(SIGINT, SIG_IGN);  // the parent decides
  std::signal(SIGTERM, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  ForkedWorker worker(shared);
  try {
    while (!worker.Stopped()) {
      const std::int64_t item = shared->next.fetch_add(1);
      if (item >= items) break;
      const Status status = work(item, &worker);
      if (!status) Fail(shared, status.error().Text());
    }
  } catch (const std::exception& fault) {
    Fail(shared, std::string("internal fault in a worker: ") + fault.what());
  }
  _exit(0);
}

// Waits without blocking; true when the child has ended, with a message if it was not by itself.
bool Ended(pid_t child, std::string* fault) {
  int status = 0;
  const pid_t got = waitpid(child, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  if (got == child && WIFSIGNALED(status)) {
    *fault = "a worker process was killed by signal " + std::to_string(WTERMSIG(status));
  } else if (got == child && WEXITSTATUS(status) != 0) {
    *fault = "a worker process ended with code " + std::to_string(WEXITSTATUS(status));
  }
  return true;
}

std::string WatchChildren(std::vector<pid_t> children, Shared* shared, const PoolOptions& options,
                          bool* interrupted) {
  std::string fault;
  while (!children.empty()) {
    std::string why;
    for (std::size_t i = 0; i < children.size();) {
      if (Ended(children[i], &why)) {
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    if (!why.empty()) {
      fault = why;
      shared->stop = 1;
    }
    if (options.interrupted && options.interrupted()) {
      *interrupted = true;
      shared->stop = 1;
    }
    if (options.progress) options.progress(shared->steps.load());
    if (!children.empty()) usleep(kPollMicroseconds);
  }
  return fault;
}

}  // namespace

Status RunInProcesses(std::int64_t items, const Work& work, const PoolOptions& options) {
  const SharedPage page;
  Shared* shared = page.get();
  if (shared == nullptr) return Error("no memory to share between worker processes");
  const pid_t parent = getpid();
  const std::int64_t wanted = std::min<std::int64_t>(std::max(1, options.processes), items);
  std::vector<pid_t> children;
  std::string fault;
  for (std::int64_t i = 0; i < wanted; ++i) {
    const pid_t child = fork();
    if (child == 0) RunChild(shared, items, work, parent);
    if (child < 0) {
      fault = std::string("cannot start a worker process: ") + std::strerror(errno);
      if (children.empty()) return Error(fault);
      break;  // fewer workers do the same work
    }
    children.push_back(child);
  }
  bool interrupted = false;
  fault = WatchChildren(std::move(children), shared, options, &interrupted);
  if (shared->written.load() != 0) return Error(std::string(shared->message));
  if (!fault.empty()) return Error(fault);
  if (interrupted) return Error("interrupted");
  return Unit{};
}

}  // namespace cyclecast
