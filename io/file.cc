#include "io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace cyclecast {
namespace {

namespace fs = std::filesystem;

Error Failed(const std::string& path, const std::string& what) {
  return Error(SourcePos{path, 0, 0}, what);
}

// Writes everything, or returns errno.
int WriteAll(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

// Gives the file its name, or returns errno. rename() replaces a file that came into being
// meanwhile, link() does not, but not every file system has it.
int MoveInPlace(const std::string& temporary, const std::string& path, Existing existing) {
  if (existing == Existing::kRefuse) {
    if (::link(temporary.c_str(), path.c_str()) == 0) {
      ::unlink(temporary.c_str());
      return 0;
    }
    if (errno == EEXIST) return errno;
  }
  return ::rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, std::int64_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Failed(path, "no such file");
  if (fs::is_directory(status)) return Failed(path, "is a folder; name a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) return Failed(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text;
  constexpr std::size_t kChunk = 1 << 16;
  std::string chunk(kChunk, '\0');
  while (in.read(chunk.data(), kChunk) || in.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
    if (static_cast<std::int64_t>(text.size()) > limit) {
      return Failed(path, fmt::format("is larger than {} bytes, the most that is read", limit));
    }
  }
  if (in.bad()) return Failed(path, "cannot be read to its end");
  return text;
}

Status AtomicWrite(const std::string& path, const std::string& text, Existing existing) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return Failed(path, "is a folder; name a file to write");
  if (fs::exists(status) && existing == Existing::kRefuse) {
    return Failed(path, "exists already and is not overwritten; remove it or name another file");
  }
  // Devices and pipes (/dev/stdout) cannot be renamed over: written directly.
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    if (!out.flush()) return Failed(path, "cannot be written");
    return Unit();
  }
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) {
    return Failed(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  int fault = WriteAll(descriptor, text);
  if (fault == 0 && ::fchmod(descriptor, 0666 & ~mask) != 0) fault = errno;
  if (::close(descriptor) != 0 && fault == 0) fault = errno;
  if (fault == 0) fault = MoveInPlace(temporary, path, existing);
  if (fault != 0) ::unlink(temporary.c_str());
  if (fault != 0) return Failed(path, fmt::format("cannot be written: {}", std::strerror(fault)));
  return Unit();
}

}  // namespace cyclecast
