#include "recorder/process_sockets.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"

namespace contrafact::recorder {
namespace {

// "socket:[1234]"
std::optional<uint64_t> inode_of(int32_t pid, uint32_t descriptor) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
  char target[64];
  const ssize_t bytes = readlink(path.c_str(), target, sizeof target - 1);
  if (bytes <= 0) return std::nullopt;
  target[bytes] = 0;
  uint64_t inode = 0;
  if (std::sscanf(target, "socket:[%" SCNu64 "]", &inode) != 1) return std::nullopt;
  return inode;
}

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

}  // namespace

uint32_t ProcessSockets::local_port(uint32_t descriptor, uint32_t remote_port) {
  const std::optional<uint64_t> inode = inode_of(pid_, descriptor);
  if (!inode) return 0;
  if (!by_inode_.contains(*inode)) read_tables();
  const auto found = by_inode_.find(*inode);
  return found != by_inode_.end() && found->second.remote == remote_port ? found->second.local : 0;
}

void ProcessSockets::read_tables() {
  constexpr int64_t kPauses = 20;  // for each time that reading takes
  const int64_t begin_ns = base::monotonic_ns();
  if (begin_ns < next_read_ns_) return;
  by_inode_.clear();
  for (const char* table : {"tcp", "tcp6"}) read(table);
  const int64_t end_ns = base::monotonic_ns();
  next_read_ns_ = end_ns + kPauses * (end_ns - begin_ns);
}

// A line: number, local and remote ADDRESS:PORT in hexadecimal, state, queues, timers, user, timeout, inode, ...
void ProcessSockets::read(const char* table) {
  const std::string path = "/proc/" + std::to_string(pid_) + "/net/" + table;
  const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  if (!file) return;
  char line[512];
  for (uint32_t i = 0; i < kSocketsMax && std::fgets(line, sizeof line, file.get()); ++i) {
    Ports ports{};
    uint64_t inode = 0;
    constexpr const char* kLine =
        " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %*x %*[0-9A-Fa-f:] %*[0-9A-Fa-f:] %*x %*u %*d %" SCNu64;
    if (std::sscanf(line, kLine, &ports.local, &ports.remote, &inode) == 3 && inode != 0) by_inode_[inode] = ports;
  }
}

}  // namespace contrafact::recorder
