#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace contrafact::base {
namespace {

Error system_error(const char* what, const std::string& path) {
  return Error{std::string(what) + " '" + path + "': " + std::strerror(errno)};
}

template <typename Bytes>
Result<Bytes> read_whole(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error("cannot open", path);
  struct stat status;
  Bytes bytes;
  constexpr size_t kChunkBytes = 1 << 20;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    bytes.reserve(static_cast<size_t>(status.st_size) + kChunkBytes);  // and the read that finds the end
  }
  while (true) {
    size_t old_size = bytes.size();
    bytes.resize(old_size + kChunkBytes);
    ssize_t got = ::read(fd, bytes.data() + old_size, kChunkBytes);
    int failure = errno;
    bytes.resize(old_size + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got < 0 && failure == EINTR) continue;
    if (got < 0) {
      errno = failure;
      Error error = system_error("cannot read", path);
      ::close(fd);
      return error;
    }
    if (got == 0) break;
  }
  ::close(fd);
  return bytes;
}

}  // namespace

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  return read_whole<std::vector<uint8_t>>(path);
}
Result<std::string> read_text_file(const std::string& path) {
  return read_whole<std::string>(path);
}

Status write_file(const std::string& path, std::string_view content) {
  std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return system_error("cannot create", path);
  while (!content.empty()) {
    ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      Error error = system_error("cannot write", path);
      ::close(fd);
      ::unlink(temporary.c_str());
      return error;
    }
    content.remove_prefix(static_cast<size_t>(put));
  }
  if (::close(fd) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = system_error("cannot write", path);
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

}  // namespace contrafact::base
