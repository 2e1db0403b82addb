// zlib around a string, for the parts of a model file that are rarely read.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace cyclecast {

std::string Compress(std::string_view plain);
// An Error when `packed` is damaged or unpacks to more than `limit` bytes.
Result<std::string> Decompress(std::string_view packed, std::size_t limit);

}  // namespace cyclecast
