#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

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

Status write_all(int fd, std::string_view content, const std::string& name) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int why = errno;
      Error error{"cannot write " + name + ": " + std::strerror(why)};
      errno = why;
      return error;
    }
    content.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

NewFile::NewFile(std::string path, mode_t mode)
    : path_(std::move(path)), temporary_(path_ + "." + std::to_string(::getpid()) + ".tmp") {
  ::unlink(temporary_.c_str());  // of a process of this number that was killed; a link is not followed
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd_ < 0) status_ = system_error("cannot create", path_);
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void NewFile::write(std::string_view content) {
  if (status_) status_ = write_all(fd_, content, "'" + path_ + "'");
}

Status NewFile::finish() {
  if (!status_) return status_;
  if (::close(std::exchange(fd_, -1)) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    status_ = system_error("cannot write", path_);
    ::unlink(temporary_.c_str());
  }
  return status_;
}

Status write_file(const std::string& path, std::string_view content) {
  NewFile file(path);
  file.write(content);
  return file.finish();
}

}  // namespace contrafact::base
