// Which of the program's descriptors are sockets, and which connections they are: what goes over these is recorded
// (format::ConnectionRow). A system call of our own may be forbidden to the program, so all is learnt from the calls
// that the program makes itself; what these do not tell stays unknown (a port that the kernel chose, where nobody asks).
//
// Thread safety: all of it, also in a signal's handler: a table of atomics, without locks. A child made by vfork, which
// shares it and has descriptors of its own, changes nothing.
//
// Bounds: descriptors below kDescriptorsMax (1 MiB of memory, of which what is used is resident); connections at
// further ones, and those beyond kConnectionsMax, are counted and not recorded.
#pragma once

#include <sys/socket.h>

#include "agent_native/blocking.h"

namespace contrafact::agent_native {

inline constexpr int kDescriptorsMax = 1 << 17;
inline constexpr uint32_t kConnectionsMax = (1 << 28) - 1;

// Behind calls that succeeded. errno stays as it was.
void socket_made(int fd, int type);                                    // socket, socketpair
void socket_bound(int fd, const sockaddr* address, socklen_t bytes);   // bind, getsockname
void socket_connected(int fd, const sockaddr* peer, socklen_t bytes);  // connect, which may still be under way
void socket_accepted(int listener, int fd, const sockaddr* peer, socklen_t bytes);
void descriptor_copied(int from, int to);
// Before the call: behind it, another thread may have got the number.
void descriptor_closed(int fd);
void descriptors_closed(uint32_t first, uint32_t last);

// In a forked child, whose trace has no connections yet.
void renew_connections();

// Whether the call would fail for a descriptor that is no socket.
enum class Call : uint8_t { any, of_socket };

// Of a call that got or put `count` bytes, 0 for the end of a stream; fewer: there is no event. `begin_ns`, `end_ns`:
// right before and right after it.
void append_receive(Client* client, int fd, Call call, int64_t end_ns, int64_t count);
void append_send(Client* client, int fd, Call call, int64_t begin_ns, int64_t count);

// A call that may block, as block_if_long. `count` gets its result.
template <typename Library, typename Count>
inline auto receive(int fd, Call call, uint64_t site, Library library, Count count) {
  return block_if_long(
      BlockReason::io, site, library, [](Client*, int64_t, auto) {},
      [&](Client* client, int64_t end_ns, auto result) {
        if (result >= 0) append_receive(client, fd, call, end_ns, count(result));
      });
}
template <typename Library>
inline auto receive(int fd, Call call, uint64_t site, Library library) {
  return receive(fd, call, site, library, [](auto result) { return static_cast<int64_t>(result); });
}
template <typename Library, typename Count>
inline auto transmit(int fd, Call call, uint64_t site, Library library, Count count) {
  return block_if_long(
      BlockReason::io, site, library,
      [&](Client* client, int64_t begin_ns, auto result) {
        if (result > 0) append_send(client, fd, call, begin_ns, count(result));
      },
      [](Client*, int64_t, auto) {});
}
template <typename Library>
inline auto transmit(int fd, Call call, uint64_t site, Library library) {
  return transmit(fd, call, site, library, [](auto result) { return static_cast<int64_t>(result); });
}

}  // namespace contrafact::agent_native
