// See parallel.h.
#include "learned/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cyclecast {

void ParallelFor(int count, int threads, const std::function<void(int)>& job) {
  if (threads < 2 || count < 2) {
    for (int i = 0; i < count; ++i) job(i);
    return;
  }
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) {
      try {
        job(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(guard);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> pool;
  for (int i = 0; i < std::min(threads, count); ++i) pool.emplace_back(work);
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace cyclecast
