// The calls that make, copy and close descriptors, as far as they may be sockets (sockets.h).
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/syscall.h>

#include <algorithm>

#include "agent_native/real.h"
#include "agent_native/sockets.h"

namespace contrafact::agent_native {
namespace {

// The kernel writes the peer's address into memory of ours where the program does not ask for it.
template <typename Library>
int accept_by(int listener, sockaddr* from, socklen_t* from_bytes, uint64_t site, Library library) {
  sockaddr_in6 peer;
  socklen_t peer_bytes = sizeof peer;
  if (from) {
    const int fd = block(BlockReason::io, site, [&] { return library(from, from_bytes); });
    if (fd >= 0) socket_accepted(listener, fd, from, *from_bytes);  // the kernel has used both
    return fd;
  }
  auto* const own = reinterpret_cast<sockaddr*>(&peer);
  const int fd = block(BlockReason::io, site, [&] { return library(own, &peer_bytes); });
  if (fd >= 0) socket_accepted(listener, fd, own, peer_bytes);
  return fd;
}

// A library that is older than the function has none.
int no_such_function() {
  errno = ENOSYS;
  return -1;
}

}  // namespace
}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, socket, (int family, int type, int protocol)) {
  CONTRAFACT_CALLED;
  const int fd = real().socket(family, type, protocol);
  if (fd >= 0) socket_made(fd, type);
  return called_.effect(SYS_socket, fd, family, type, protocol);
}
CONTRAFACT_INTERPOSE(int, socketpair, (int family, int type, int protocol, int* fds)) {
  CONTRAFACT_CALLED;
  const int result = real().socketpair(family, type, protocol, fds);
  if (result == 0) {
    socket_made(fds[0], type);
    socket_made(fds[1], type);
  }
  return called_.effect(SYS_socketpair, result, family, type, protocol, fds);
}
CONTRAFACT_INTERPOSE(int, bind, (int fd, const sockaddr* address, socklen_t bytes)) {
  CONTRAFACT_CALLED;
  const int result = real().bind(fd, address, bytes);
  if (result == 0) socket_bound(fd, address, bytes);
  return called_.effect(SYS_bind, result, fd, address, bytes);
}
CONTRAFACT_INTERPOSE(int, getsockname, (int fd, sockaddr* address, socklen_t* bytes)) {
  CONTRAFACT_CALLED;
  const int result = real().getsockname(fd, address, bytes);
  if (result == 0) socket_bound(fd, address, *bytes);
  return called_.effect(SYS_getsockname, result, fd, address, bytes);
}
CONTRAFACT_INTERPOSE(int, connect, (int fd, const sockaddr* to, socklen_t to_bytes)) {
  CONTRAFACT_CALLED;
  const int result = block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().connect(fd, to, to_bytes); });
  if (result == 0 || errno == EINPROGRESS || errno == EINTR) socket_connected(fd, to, to_bytes);
  return called_.effect(SYS_connect, result, fd, to, to_bytes);
}
CONTRAFACT_INTERPOSE(int, accept, (int fd, sockaddr* from, socklen_t* from_bytes)) {
  CONTRAFACT_CALLED;
  const int result = accept_by(fd, from, from_bytes, CONTRAFACT_SITE,
                               [&](sockaddr* at, socklen_t* bytes) { return real().accept(fd, at, bytes); });
  return called_.effect(SYS_accept, result, fd, from, from_bytes);
}
CONTRAFACT_INTERPOSE(int, accept4, (int fd, sockaddr* from, socklen_t* from_bytes, int flags)) {
  CONTRAFACT_CALLED;
  const int result = accept_by(fd, from, from_bytes, CONTRAFACT_SITE,
                               [&](sockaddr* at, socklen_t* bytes) { return real().accept4(fd, at, bytes, flags); });
  return called_.effect(SYS_accept, result, fd, from, from_bytes);
}

CONTRAFACT_INTERPOSE(int, close, (int fd)) {
  CONTRAFACT_CALLED;
  descriptor_closed(fd);
  return called_.effect(SYS_close, real().close(fd), fd);
}
CONTRAFACT_INTERPOSE(int, close_range, (unsigned first, unsigned last, int flags)) {
  CONTRAFACT_CALLED;
  if (!real().close_range) return no_such_function();
  if ((flags & static_cast<int>(CLOSE_RANGE_CLOEXEC)) == 0) descriptors_closed(first, last);
  return called_.effect(SYS_close_range, real().close_range(first, last, flags), first, last, flags);
}
CONTRAFACT_INTERPOSE(void, closefrom, (int first)) {
  CONTRAFACT_CALLED;
  if (!real().closefrom) return;
  descriptors_closed(static_cast<uint32_t>(std::max(first, 0)), UINT32_MAX);
  real().closefrom(first);
  called_.effect(SYS_close_range, 0, first, -1, 0);
}
// Streams transfer and close within the C library, unseen.
CONTRAFACT_INTERPOSE(FILE*, fdopen, (int fd, const char* mode)) {
  CONTRAFACT_CALLED;
  FILE* const stream = real().fdopen(fd, mode);
  if (stream) descriptor_closed(fd);
  called_.unobserved();
  return stream;
}
CONTRAFACT_INTERPOSE(int, dup, (int fd)) {
  CONTRAFACT_CALLED;
  const int copy = real().dup(fd);
  if (copy >= 0) descriptor_copied(fd, copy);
  return called_.effect(SYS_dup, copy, fd);
}
CONTRAFACT_INTERPOSE(int, dup2, (int fd, int copy)) {
  CONTRAFACT_CALLED;
  const int result = real().dup2(fd, copy);
  if (result >= 0) descriptor_copied(fd, copy);
  return called_.effect(SYS_dup2, result, fd, copy);
}
CONTRAFACT_INTERPOSE(int, dup3, (int fd, int copy, int flags)) {
  CONTRAFACT_CALLED;
  const int result = real().dup3(fd, copy, flags);
  if (result >= 0) descriptor_copied(fd, copy);
  return called_.effect(SYS_dup3, result, fd, copy, flags);
}
