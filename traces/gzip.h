// Compression of a text in memory. Private to traces/.
#pragma once

#include <string>

namespace cyclecast {

// A gzip file of `text`, without name and time: equal texts give equal bytes.
std::string Gzip(const std::string& text);

}  // namespace cyclecast
