#include "recorder/blocked_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string>

namespace contrafact::recorder {
namespace {

// Takes a number from the front, hexadecimal behind "0x", and the blank behind it.
std::optional<uint64_t> take_value(std::string_view& text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return number;
}

std::vector<uint32_t> threads_in(const std::string& folder) {
  std::vector<uint32_t> tids;
  DIR* const list = opendir(folder.c_str());
  if (list == nullptr) return tids;
  while (const dirent* entry = readdir(list)) {
    std::string_view name = entry->d_name;
    if (const auto tid = take_value(name); tid && name.empty()) tids.push_back(static_cast<uint32_t>(*tid));
  }
  closedir(list);
  return tids;
}

std::optional<BlockedThread> look_at(const std::string& folder, uint32_t tid) {
  const int fd = open((folder + "/" + std::to_string(tid) + "/syscall").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char line[256];
  const ssize_t bytes = read(fd, line, sizeof line);
  close(fd);
  if (bytes <= 0) return std::nullopt;
  std::optional<BlockedThread> blocked = system_call_in({line, static_cast<size_t>(bytes)});
  if (blocked) blocked->os_tid = tid;
  return blocked;
}

}  // namespace

std::optional<BlockedThread> system_call_in(std::string_view line) {
  BlockedThread blocked;
  const std::optional<uint64_t> number = take_value(line);  // "running", "-1 ...": none
  if (!number || *number > UINT32_MAX) return std::nullopt;
  blocked.system_call = static_cast<uint32_t>(*number);
  constexpr int kArguments = 6;
  for (int i = 0; i < kArguments + 2; ++i) {  // behind them the stack's and the code's addresses
    const std::optional<uint64_t> value = take_value(line);
    if (!value) return std::nullopt;
    if (i == 0) blocked.first_argument = *value;
    blocked.code = *value;
  }
  return blocked;
}

std::vector<BlockedThread> BlockedThreads::look(int64_t now_ns) {
  std::vector<BlockedThread> blocked;
  if (now_ns - looked_ns_ < wait_ns_) return blocked;
  looked_ns_ = now_ns;
  const std::string folder = "/proc/" + std::to_string(pid_) + "/task";
  const std::vector<uint32_t> tids = threads_in(folder);
  const size_t count = std::min(tids.size(), kThreadsMax);
  for (size_t i = 0; i < count; ++i) {
    if (const auto thread = look_at(folder, tids[(next_ + i) % tids.size()])) blocked.push_back(*thread);
  }
  next_ = tids.size() > count ? (next_ + count) % tids.size() : 0;
  return blocked;
}

}  // namespace contrafact::recorder
