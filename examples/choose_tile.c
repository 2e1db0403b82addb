/* A compiler's inner loop: which tile of N and K is the best for a product of matrices?
 *
 *   choose_tile CONFIG_DIR MACHINE M K N
 *   choose_tile configs tpu_v6e 4096 4096 16384
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/cyclecast.h"

enum { kSizes = 4, kTiles = kSizes * kSizes };
static const int64_t kSizesTried[kSizes] = {256, 512, 1024, 2048};

int main(int argc, char** argv) {
  char message[1024], product[128];
  cyclecast_options options = {0};
  cyclecast_kernel kernels[kTiles] = {{0}};
  cyclecast_estimate estimates[kTiles];
  if (argc != 6) {
    fprintf(stderr, "usage: %s CONFIG_DIR MACHINE M K N\n", argv[0]);
    return 2;
  }
  options.config_dir = argv[1];
  options.model = "corrected";
  cyclecast_session* session = cyclecast_open(argv[2], &options, message, sizeof message);
  if (session == NULL) {
    fprintf(stderr, "%s\n", message);
    return 2;
  }
  if (message[0] != '\0') fprintf(stderr, "warning: %s\n", message);

  snprintf(product, sizeof product, "M=%s;K=%s;N=%s", argv[3], argv[4], argv[5]);
  for (int i = 0; i < kTiles; ++i) {
    kernels[i].op = "matmul";
    kernels[i].descriptor = product;
    kernels[i].tile_n = kSizesTried[i % kSizes];
    kernels[i].tile_k = kSizesTried[i / kSizes];
  }
  const size_t done = cyclecast_estimate_batch(session, kernels, kTiles, estimates, message,
                                               sizeof message);
  if (done < kTiles) {
    fprintf(stderr, "%s: %s\n", product, message);
    cyclecast_close(session);
    return 2;
  }
  int best = 0;
  for (int i = 0; i < kTiles; ++i) {
    if (estimates[i].microseconds < estimates[best].microseconds) best = i;
    printf("tile_n %5lld  tile_k %5lld  %10.2f us  (%.2f to %.2f)\n", (long long)kernels[i].tile_n,
           (long long)kernels[i].tile_k, estimates[i].microseconds, estimates[i].lower,
           estimates[i].upper);
  }
  printf("best: tile_n %lld, tile_k %lld\n", (long long)kernels[best].tile_n,
         (long long)kernels[best].tile_k);
  cyclecast_close(session);
  return 0;
}
