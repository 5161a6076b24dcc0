// Whole-file reading, and output files that appear under their name only when they are complete.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace contrafact::base {

// The file's bytes. Errors say the path and the system's reason.
Result<std::vector<uint8_t>> read_file(const std::string& path);
Result<std::string> read_text_file(const std::string& path);

// Writes all of `content`. The error says `name` and the system's reason, which errno keeps.
Status write_all(int fd, std::string_view content, const std::string& name);

// A file that is written piece by piece under a temporary name beside its own, and appears, or replaces what is there,
// with finish(). Without it, or after an error, nothing is left behind. Not thread-safe.
class NewFile {
 public:
  explicit NewFile(std::string path, mode_t mode = 0666);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const Status& status() const { return status_; }
  void write(std::string_view content);  // after an error nothing is written
  Status finish();                       // once

 private:
  std::string path_, temporary_;
  int fd_ = -1;
  Status status_;
};

// Writes `content` to a temporary name beside `path` and renames it, so that `path` is either the old file or the whole
// new one. On error nothing is left behind.
Status write_file(const std::string& path, std::string_view content);
inline Status write_file(const std::string& path, std::span<const uint8_t> content) {
  return write_file(path, std::string_view(reinterpret_cast<const char*>(content.data()), content.size()));
}

}  // namespace contrafact::base
