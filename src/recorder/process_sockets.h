// The port of a connection's own end, which the kernel chose and the recorded process never asked for: the kernel's
// tables of TCP sockets say it to whoever records. The process notices nothing of that.
//
// Thread safety: one thread at a time. Bounds: kSocketsMax sockets of a table are looked at; reading takes a twentieth
// of the time at most, so of many short connections some ports stay unknown.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace contrafact::recorder {

class ProcessSockets {
 public:
  explicit ProcessSockets(int32_t pid) : pid_(pid) {}

  // Of a descriptor of the process's, connected to that port; 0 if it is none, or not any more, or not known.
  uint32_t local_port(uint32_t descriptor, uint32_t remote_port);

 private:
  static constexpr uint32_t kSocketsMax = 1 << 15;
  struct Ports {
    uint32_t local, remote;
  };
  void read(const char* table);
  void read_tables();

  const int32_t pid_;
  std::unordered_map<uint64_t, Ports> by_inode_;
  int64_t next_read_ns_ = 0;
};

}  // namespace contrafact::recorder
