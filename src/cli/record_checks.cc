#include "cli/record_checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace contrafact::cli {

base::Status check_trace_config(const std::string& path, const std::vector<std::string>& include,
                                const std::vector<std::string>& exclude) {
  for (const auto* patterns : {&include, &exclude}) {
    for (const std::string& pattern : *patterns) {
      if (pattern.empty() || pattern.find_first_of(" \t\n/") != std::string::npos) {
        return base::Error{fmt::format("'{}' is no pattern; write packages, classes and methods with dots: shop.api.*", pattern)};
      }
    }
  }
  if (path.empty()) return {};
  base::Result<std::string> text = base::read_text_file(path);
  if (!text) return text.error();
  return {};
}

base::Status clear_leftover(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  bool in_use = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
  ::close(fd);
  if (in_use) {
    return base::Error{fmt::format("'{}' is being written by another recording; give another name with -o", path)};
  }
  if (::unlink(path.c_str()) == 0) return {};
  return base::Error{fmt::format("cannot remove '{}', left by an earlier recording: {}", path, std::strerror(errno))};
}

}  // namespace contrafact::cli
