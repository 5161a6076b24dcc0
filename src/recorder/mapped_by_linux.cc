#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/hex.h"
#include "recorder/mapped_by.h"

namespace contrafact::recorder {
namespace {

// In the kernel's ticks since it began; UINT64_MAX if the process has gone.
uint64_t start_of(const std::string& process) {
  const auto text = base::read_text_file("/proc/" + process + "/stat");
  if (!text) return UINT64_MAX;
  // 4711 (any name) S 1 ...: the 20th field behind the name.
  const char* at = text->data() + std::min(text->size(), text->rfind(')'));
  const char* const end = text->data() + text->size();
  for (int field = 0; field < 20 && at < end; ++field) at = std::find(at + 1, end, ' ');
  uint64_t ticks = UINT64_MAX;
  if (at < end) std::from_chars(at + 1, end, ticks);
  return ticks;
}

}  // namespace

std::vector<int32_t> processes_that_map(int fd) {
  std::vector<int32_t> found;
  struct stat memory{};
  if (fstat(fd, &memory) != 0) return found;
  // 7f1c-7f1d rw-s 00000000 00:01 4711                     /memfd:contrafact (deleted)
  const std::string file = " " + base::hex(major(memory.st_dev), 2) + ":" + base::hex(minor(memory.st_dev), 2) + " " +
                           std::to_string(memory.st_ino) + " ";
  const uint64_t begun = start_of("self");
  std::error_code failed;
  for (std::filesystem::directory_iterator entry("/proc", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename();
    int32_t pid = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || rest != name.data() + name.size() || pid == getpid()) continue;
    if (start_of(name) < begun) continue;  // before there was anything to share
    const auto map = base::read_text_file("/proc/" + name + "/maps");
    if (!map) continue;  // gone, or another user's
    for (size_t at = map->find("/memfd:"); at != std::string::npos; at = map->find("/memfd:", at + 1)) {
      const size_t line = map->rfind('\n', at) + 1;
      if (map->substr(line, at - line).find(file) == std::string::npos) continue;
      found.push_back(pid);
      break;
    }
  }
  return found;
}

}  // namespace contrafact::recorder
