// See compress.h.
#include "learned/compress.h"

#include <zlib.h>

#include <algorithm>

namespace cyclecast {

std::string Compress(std::string_view plain) {
  uLongf size = compressBound(static_cast<uLong>(plain.size()));
  std::string packed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(plain.data()),
                             static_cast<uLong>(plain.size()), Z_BEST_COMPRESSION);
  CYCLECAST_CHECK(code == Z_OK);
  packed.resize(size);
  return packed;
}

Result<std::string> Decompress(std::string_view packed, std::size_t limit) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return Error("zlib cannot start");
  // zlib only reads through next_in; its type lacks the const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string plain;
  int code = Z_OK;
  while (code == Z_OK && plain.size() < limit) {
    const std::size_t have = plain.size();
    plain.resize(std::min(limit, std::max<std::size_t>(1 << 16, have * 2)));
    stream.next_out = reinterpret_cast<Bytef*>(plain.data() + have);
    stream.avail_out = static_cast<uInt>(plain.size() - have);
    code = inflate(&stream, Z_NO_FLUSH);
    plain.resize(plain.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return Error("compressed data is damaged or too large");
  return plain;
}

}  // namespace cyclecast
