// Whole files in and out.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace cyclecast {

// The content of a file. An Error where it cannot be read, is a folder, or is larger than `limit`.
Result<std::string> ReadFile(const std::string& path, std::int64_t limit = std::int64_t{1} << 30);

enum class Existing { kRefuse, kReplace };

// Writes `text` to a temporary file beside `path` and renames it: readers see the old file or the
// new one, never a part. A file that is already there is an Error unless told to replace it.
// Folders are not created.
Status AtomicWrite(const std::string& path, const std::string& text,
                   Existing existing = Existing::kRefuse);

}  // namespace cyclecast
