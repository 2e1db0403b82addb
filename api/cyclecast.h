// Cyclecast for compilers: one header, plain C, with a thin C++ face at the end.
//
// A session is one machine and one model. Estimates are of kernels, described as in a trace
// (docs/traces.md): an operator with its extents, or a task of an NPU. A session may be used by
// several threads at once; equal kernels are looked up, not estimated again. Nothing is printed,
// nothing exits; there is no state outside sessions except that the simulated model, like the
// corrected one that is based on it, runs one estimate of the process at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CYCLECAST_API __attribute__((visibility("default")))
#else
#define CYCLECAST_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cyclecast_session cyclecast_session;

/* Members that are zero have their default. */
typedef struct cyclecast_options {
  /* The folder with tpu/, vpu/ and workloads/; NULL: the environment variable CYCLECAST_CONFIG_DIR,
   * else the machine must be a file. */
  const char* config_dir;
  const char* model;    /* "analytical" (NULL), "simulated", "corrected" */
  const char* residual; /* file of the corrected model; NULL: the one that ships */
  size_t cache_kernels; /* how many kernels to remember; 0: a million */
} cyclecast_options;

typedef struct cyclecast_kernel {
  const char* kind;               /* "op" (NULL), "dpu", "dma", "shave" */
  const char* op;                 /* "matmul", "conv2d", ...; of a DPU "CONVOLUTION", ... */
  const char* descriptor;         /* "M=512;K=768;N=3072" */
  const char* dtype;              /* of operators: "bf16", "int8", ...; NULL: bf16 */
  int64_t tile_m, tile_n, tile_k; /* pinned by the caller; 0: the mapper chooses */
  int on_chip;                    /* operands and result stay on chip */
} cyclecast_kernel;

typedef struct cyclecast_estimate {
  double microseconds;
  double lower, upper; /* microseconds; equal to it where the model gives no interval */
  double coverage;     /* of the interval, 0 for none */
  int64_t cycles;      /* of the machine's reference clock */
  int in_domain;       /* 0: unlike the kernels the correction was trained on */
} cyclecast_estimate;

/* NULL when it fails; `message` (may be NULL) then says why, cut to `size` bytes. On success it
 * holds a warning or "". `machine`: a shipped name, an alias, or a YAML file. */
CYCLECAST_API cyclecast_session* cyclecast_open(const char* machine,
                                                const cyclecast_options* options, char* message,
                                                size_t size);
CYCLECAST_API void cyclecast_close(cyclecast_session* session);

/* Estimates kernels[0..count). Returns `count`, or the index of the first kernel that is wrong:
 * `message` says what, and the estimates before it are valid. */
CYCLECAST_API size_t cyclecast_estimate_batch(cyclecast_session* session,
                                              const cyclecast_kernel* kernels, size_t count,
                                              cyclecast_estimate* estimates, char* message,
                                              size_t size);

CYCLECAST_API const char* cyclecast_version(void);

#ifdef __cplusplus
} /* extern "C" */

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cyclecast {

// The same with ownership and exceptions (std::runtime_error with the message).
class Session {
 public:
  explicit Session(const std::string& machine, const cyclecast_options& options = {}) {
    std::string message(kMessage, '\0');
    session_.reset(cyclecast_open(machine.c_str(), &options, message.data(), message.size()));
    message.resize(message.find('\0'));
    if (session_ == nullptr) throw std::runtime_error(message);
    warning_ = message;
  }
  const std::string& warning() const { return warning_; }

  std::vector<cyclecast_estimate> Estimate(const std::vector<cyclecast_kernel>& kernels) const {
    std::vector<cyclecast_estimate> estimates(kernels.size());
    std::string message(kMessage, '\0');
    const size_t done = cyclecast_estimate_batch(session_.get(), kernels.data(), kernels.size(),
                                                 estimates.data(), message.data(), message.size());
    if (done < kernels.size()) {
      throw std::runtime_error("kernel " + std::to_string(done) + ": " + message.c_str());
    }
    return estimates;
  }

 private:
  static constexpr size_t kMessage = 4096;
  struct Close {
    void operator()(cyclecast_session* session) const { cyclecast_close(session); }
  };
  std::unique_ptr<cyclecast_session, Close> session_;
  std::string warning_;
};

}  // namespace cyclecast
#endif /* __cplusplus */
