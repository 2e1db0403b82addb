// Compression in memory; see gzip.h.
#include "traces/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "core/error.h"

namespace cyclecast {

std::string Gzip(const std::string& text) {
  constexpr int kGzipWindow = 15 + 16;  // largest window, gzip header (zlib manual, deflateInit2)
  constexpr int kMemory = 8;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  z_stream stream{};
  CYCLECAST_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory,
                               Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out;
  std::string input = text;  // zlib wants a mutable pointer
  std::size_t used = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    const std::size_t piece = std::min(kPiece, input.size() - used);
    stream.next_in = reinterpret_cast<Bytef*>(input.data() + used);
    stream.avail_in = static_cast<uInt>(piece);
    used += piece;
    do {
      const std::size_t written = out.size();
      out.resize(written + kPiece);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
      stream.avail_out = static_cast<uInt>(kPiece);
      code = deflate(&stream, used == input.size() ? Z_FINISH : Z_NO_FLUSH);
      out.resize(out.size() - stream.avail_out);
    } while (code == Z_OK && stream.avail_in > 0);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace cyclecast
