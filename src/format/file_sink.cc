#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/high_descriptor.h"
#include "format/sink.h"

namespace contrafact::format {
namespace {

class FileSink : public Sink {
 public:
  FileSink(int fd, std::string path) : fd_(fd), path_(std::move(path)) { fstat(fd, &opened_); }
  ~FileSink() override { (void)close(); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  base::Status write(std::span<const uint8_t> block) override {
    // A recorded program may close descriptors that it did not open, and then open files of its own under their
    // numbers.
    if (!is_ours()) return base::Error{"cannot write " + path_ + ": the program closed the recording's file"};
    size_t done = 0;
    while (done < block.size()) {
      const ssize_t n = ::write(fd_, block.data() + done, block.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed("write", n < 0 ? errno : ENOSPC);
      done += static_cast<size_t>(n);
    }
    whole_bytes_ += static_cast<off_t>(block.size());
    return {};
  }

  bool take_back(uint64_t bytes) override {
    const off_t end = whole_bytes_ - static_cast<off_t>(bytes);
    if (!is_ours() || end < 0 || ftruncate(fd_, end) != 0 || lseek(fd_, end, SEEK_SET) != end) return false;
    whole_bytes_ = end;
    return true;
  }

  int descriptor() const override { return fd_; }

  base::Status close() override {
    if (fd_ < 0 || !is_ours()) return {};
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) return base::Error{"cannot finish " + path_ + ": " + std::strerror(errno)};
    return {};
  }

 private:
  bool is_ours() const {
    struct stat now;
    return fstat(fd_, &now) == 0 && now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino;
  }
  base::Error failed(const char* what, int error) {
    // A regular file ends with a whole block again; for a pipe there is nothing to cut.
    if (ftruncate(fd_, whole_bytes_) == 0) lseek(fd_, whole_bytes_, SEEK_SET);
    return base::Error{std::string("cannot ") + what + " " + path_ + ": " + std::strerror(error)};
  }

  int fd_;
  struct stat opened_{};
  std::string path_;
  off_t whole_bytes_ = 0;
};

// A trace shows with which arguments, on what files and in which functions a program ran: that is for its user alone.
constexpr mode_t kMode = 0600;

int open_locked(const std::string& path, int when_it_exists) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | when_it_exists, kMode);
  if (fd >= 0) (void)flock(fd, LOCK_EX | LOCK_NB);  // a file system without locks loses only the warning
  return fd;
}

}  // namespace

base::Result<std::unique_ptr<Sink>> open_file_sink(const std::string& path, FileSinkOptions options) {
  std::string opened = path;
  int fd = open_locked(opened, options.keep_existing ? O_EXCL : O_TRUNC);
  if (fd < 0 && errno == EEXIST) {
    opened += "." + std::to_string(getpid());
    fd = open_locked(opened, O_EXCL);
  }
  if (fd < 0) return base::Error{"cannot create " + opened + ": " + std::strerror(errno)};
  if (options.high_descriptor) fd = base::moved_high(fd);
  return std::unique_ptr<Sink>(new FileSink(fd, opened));
}

}  // namespace contrafact::format
