/* Somebody else's C program: one product by the corrected model, through the shared library alone. */
#include <stdio.h>

#include "api/cyclecast.h"

int main(void) {
  char message[512];
  cyclecast_options options = {0};
  cyclecast_kernel kernel = {0};
  cyclecast_estimate estimate;
  options.config_dir = CONFIG_DIR;
  options.model = "corrected";
  cyclecast_session* session = cyclecast_open("tpu_v6e", &options, message, sizeof message);
  if (session == NULL) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  kernel.op = "matmul";
  kernel.descriptor = "M=512;K=1024;N=1024";
  const size_t done =
      cyclecast_estimate_batch(session, &kernel, 1, &estimate, message, sizeof message);
  if (done == 1) {
    printf("C interface: %.3f us (%.3f to %.3f)\n", estimate.microseconds, estimate.lower, estimate.upper);
  } else {
    fprintf(stderr, "%s\n", message);
  }
  cyclecast_close(session);
  return done == 1 ? 0 : 1;
}
