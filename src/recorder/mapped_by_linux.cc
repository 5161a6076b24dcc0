#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "recorder/mapped_by.h"

namespace contrafact::recorder {

std::vector<int32_t> processes_that_map(int fd) {
  std::vector<int32_t> found;
  struct stat memory{};
  if (fstat(fd, &memory) != 0) return found;
  // 7f1c-7f1d rw-s 00000000 00:01 4711                     /memfd:contrafact (deleted)
  const std::string inode = fmt::format(" {} ", memory.st_ino);
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename();
    int32_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid == getpid()) continue;
    const auto map = base::read_text_file("/proc/" + name + "/maps");
    if (!map) continue;  // gone, or another user's
    for (size_t at = map->find("/memfd:"); at != std::string::npos; at = map->find("/memfd:", at + 1)) {
      const size_t line = map->rfind('\n', at) + 1;
      if (map->substr(line, at - line).find(inode) == std::string::npos) continue;
      found.push_back(pid);
      break;
    }
  }
  return found;
}

}  // namespace contrafact::recorder
