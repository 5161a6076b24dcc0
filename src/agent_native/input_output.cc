// Input and output on one descriptor. Calls by the C library's own streams are not seen: they do not go through the
// loader.
#include <sys/syscall.h>

#include "agent_native/blocking.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(ssize_t, read, (int fd, void* data, size_t count)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_read,
                        block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().read(fd, data, count); }),
                        fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, write, (int fd, const void* data, size_t count)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_write,
                        block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().write(fd, data, count); }),
                        fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, readv, (int fd, const iovec* parts, int count)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_readv,
                        block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().readv(fd, parts, count); }),
                        fd, parts, count);
}
CONTRAFACT_INTERPOSE(ssize_t, writev, (int fd, const iovec* parts, int count)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_writev, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().writev(fd, parts, count); }), fd,
      parts, count);
}
CONTRAFACT_INTERPOSE(ssize_t, pread, (int fd, void* data, size_t count, off_t at)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_pread64, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().pread(fd, data, count, at); }),
      fd, data, count, at);
}
CONTRAFACT_INTERPOSE(ssize_t, pread64, (int fd, void* data, size_t count, off64_t at)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_pread64, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().pread64(fd, data, count, at); }),
      fd, data, count, at);
}
CONTRAFACT_INTERPOSE(ssize_t, pwrite, (int fd, const void* data, size_t count, off_t at)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_pwrite64, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().pwrite(fd, data, count, at); }),
      fd, data, count, at);
}
CONTRAFACT_INTERPOSE(ssize_t, pwrite64, (int fd, const void* data, size_t count, off64_t at)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_pwrite64,
      block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().pwrite64(fd, data, count, at); }), fd, data,
      count, at);
}
CONTRAFACT_INTERPOSE(ssize_t, recv, (int fd, void* data, size_t count, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_recvfrom,
      block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().recv(fd, data, count, flags); }), fd, data,
      count);
}
CONTRAFACT_INTERPOSE(ssize_t, recvfrom,
                     (int fd, void* data, size_t count, int flags, sockaddr* from, socklen_t* from_bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_recvfrom,
                        block_if_long(BlockReason::io, CONTRAFACT_SITE,
                                      [&] { return real().recvfrom(fd, data, count, flags, from, from_bytes); }),
                        fd, data, count, flags, from, from_bytes);
}
CONTRAFACT_INTERPOSE(ssize_t, recvmsg, (int fd, msghdr* message, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_recvmsg, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().recvmsg(fd, message, flags); }),
      fd, message);
}
CONTRAFACT_INTERPOSE(ssize_t, send, (int fd, const void* data, size_t count, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_sendto, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().send(fd, data, count, flags); }),
      fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, sendto,
                     (int fd, const void* data, size_t count, int flags, const sockaddr* to, socklen_t to_bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_sendto,
                        block_if_long(BlockReason::io, CONTRAFACT_SITE,
                                      [&] { return real().sendto(fd, data, count, flags, to, to_bytes); }),
                        fd, data, count, flags, to, to_bytes);
}
CONTRAFACT_INTERPOSE(ssize_t, sendmsg, (int fd, const msghdr* message, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_sendmsg, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().sendmsg(fd, message, flags); }),
      fd, message);
}
CONTRAFACT_INTERPOSE(int, connect, (int fd, const sockaddr* to, socklen_t to_bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_connect, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().connect(fd, to, to_bytes); }),
      fd, to, to_bytes);
}
CONTRAFACT_INTERPOSE(int, fsync, (int fd)) {
  CONTRAFACT_CALLED;
  return called_.kernel_effect(SYS_fsync,
                               block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().fsync(fd); }), fd);
}
CONTRAFACT_INTERPOSE(int, fdatasync, (int fd)) {
  CONTRAFACT_CALLED;
  return called_.kernel_effect(
      SYS_fdatasync, block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().fdatasync(fd); }), fd);
}
CONTRAFACT_INTERPOSE(int, accept, (int fd, sockaddr* from, socklen_t* from_bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_accept,
                        block(BlockReason::io, CONTRAFACT_SITE, [&] { return real().accept(fd, from, from_bytes); }),
                        fd, from, from_bytes);
}
CONTRAFACT_INTERPOSE(int, accept4, (int fd, sockaddr* from, socklen_t* from_bytes, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_accept, block(BlockReason::io, CONTRAFACT_SITE, [&] { return real().accept4(fd, from, from_bytes, flags); }),
      fd, from, from_bytes);
}

// As programs that were compiled with _FORTIFY_SOURCE call them, where the compiler knows the buffer's size.
CONTRAFACT_INTERPOSE(ssize_t, __read_chk, (int fd, void* data, size_t count, size_t room)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_read,
      block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().__read_chk(fd, data, count, room); }), fd,
      data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, __recv_chk, (int fd, void* data, size_t count, size_t room, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_recvfrom,
      block_if_long(BlockReason::io, CONTRAFACT_SITE, [&] { return real().__recv_chk(fd, data, count, room, flags); }),
      fd, data, count);
}
