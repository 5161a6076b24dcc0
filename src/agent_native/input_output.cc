// Input and output on one descriptor. Calls by the C library's own streams are not seen: they do not go through the
// loader. What goes over sockets is recorded as such (sockets.h).
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "agent_native/blocking.h"
#include "agent_native/real.h"
#include "agent_native/sockets.h"

namespace contrafact::agent_native {
namespace {

constexpr int64_t kNothing = -1;  // as a number of bytes: there is no event

// A look at bytes that stay there, or at errors, receives nothing.
bool only_looks(int flags) {
  return (flags & (MSG_PEEK | MSG_ERRQUEUE)) != 0;
}

// Without room, nothing received is no end. `room` is asked for that behind the call only, when its arguments are good.
template <typename Library, typename Room>
ssize_t receive_into(int fd, Room room, int flags, Call call, uint64_t site, Library library) {
  if (only_looks(flags)) return block_if_long(BlockReason::io, site, library);
  return receive(fd, call, site, library,
                 [&](ssize_t result) { return result == 0 && room() == 0 ? kNothing : int64_t{result}; });
}
template <typename Library>
ssize_t receive_into(int fd, size_t room, int flags, Call call, uint64_t site, Library library) {
  return receive_into(fd, [room] { return room; }, flags, call, site, library);
}

size_t room_of(const iovec* parts, size_t count) {
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return bytes;
}

int64_t bytes_of(const mmsghdr* messages, int count) {
  int64_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += messages[i].msg_len;
  return bytes;
}

}  // namespace
}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(ssize_t, read, (int fd, void* data, size_t count)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_read, receive_into(fd, count, 0, Call::any, CONTRAFACT_SITE, [&] { return real().read(fd, data, count); }),
      fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, write, (int fd, const void* data, size_t count)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_write,
                        transmit(fd, Call::any, CONTRAFACT_SITE, [&] { return real().write(fd, data, count); }), fd,
                        data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, readv, (int fd, const iovec* parts, int count)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_readv,
                        receive_into(
                            fd, [&] { return room_of(parts, static_cast<size_t>(count)); }, 0, Call::any,
                            CONTRAFACT_SITE, [&] { return real().readv(fd, parts, count); }),
                        fd, parts, count);
}
CONTRAFACT_INTERPOSE(ssize_t, writev, (int fd, const iovec* parts, int count)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_writev,
                        transmit(fd, Call::any, CONTRAFACT_SITE, [&] { return real().writev(fd, parts, count); }), fd,
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
  return called_.effect(SYS_recvfrom,
                        receive_into(fd, count, flags, Call::of_socket, CONTRAFACT_SITE,
                                     [&] { return real().recv(fd, data, count, flags); }),
                        fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, recvfrom,
                     (int fd, void* data, size_t count, int flags, sockaddr* from, socklen_t* from_bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_recvfrom,
                        receive_into(fd, count, flags, Call::of_socket, CONTRAFACT_SITE,
                                     [&] { return real().recvfrom(fd, data, count, flags, from, from_bytes); }),
                        fd, data, count, flags, from, from_bytes);
}
CONTRAFACT_INTERPOSE(ssize_t, recvmsg, (int fd, msghdr* message, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_recvmsg,
                        receive_into(
                            fd, [&] { return room_of(message->msg_iov, message->msg_iovlen); }, flags, Call::of_socket,
                            CONTRAFACT_SITE, [&] { return real().recvmsg(fd, message, flags); }),
                        fd, message);
}
CONTRAFACT_INTERPOSE(ssize_t, send, (int fd, const void* data, size_t count, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_sendto, transmit(fd, Call::of_socket, CONTRAFACT_SITE, [&] { return real().send(fd, data, count, flags); }),
      fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, sendto,
                     (int fd, const void* data, size_t count, int flags, const sockaddr* to, socklen_t to_bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_sendto,
                        transmit(fd, Call::of_socket, CONTRAFACT_SITE,
                                 [&] { return real().sendto(fd, data, count, flags, to, to_bytes); }),
                        fd, data, count, flags, to, to_bytes);
}
CONTRAFACT_INTERPOSE(ssize_t, sendmsg, (int fd, const msghdr* message, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_sendmsg, transmit(fd, Call::of_socket, CONTRAFACT_SITE, [&] { return real().sendmsg(fd, message, flags); }),
      fd, message);
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
// As programs that were compiled with _FORTIFY_SOURCE call them, where the compiler knows the buffer's size.
CONTRAFACT_INTERPOSE(ssize_t, __read_chk, (int fd, void* data, size_t count, size_t room)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_read,
      receive_into(fd, count, 0, Call::any, CONTRAFACT_SITE, [&] { return real().__read_chk(fd, data, count, room); }),
      fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, __recv_chk, (int fd, void* data, size_t count, size_t room, int flags)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_recvfrom,
                        receive_into(fd, count, flags, Call::of_socket, CONTRAFACT_SITE,
                                     [&] { return real().__recv_chk(fd, data, count, room, flags); }),
                        fd, data, count);
}
CONTRAFACT_INTERPOSE(ssize_t, __recvfrom_chk,
                     (int fd, void* data, size_t count, size_t room, int flags, sockaddr* from,
                      socklen_t* from_bytes)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_recvfrom,
      receive_into(fd, count, flags, Call::of_socket, CONTRAFACT_SITE,
                   [&] { return real().__recvfrom_chk(fd, data, count, room, flags, from, from_bytes); }),
      fd, data, count, flags, from, from_bytes);
}

// Several messages at once, and bytes that never come into the program's memory.
CONTRAFACT_INTERPOSE(int, recvmmsg, (int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout)) {
  CONTRAFACT_CALLED;
  const auto bytes = [&](int received) {
    return received == 0 || only_looks(flags) ? kNothing : bytes_of(messages, received);
  };
  return called_.effect(SYS_recvmmsg,
                        receive(
                            fd, Call::of_socket, CONTRAFACT_SITE,
                            [&] { return real().recvmmsg(fd, messages, count, flags, timeout); }, bytes),
                        fd, messages, count, flags, timeout);
}
CONTRAFACT_INTERPOSE(int, sendmmsg, (int fd, mmsghdr* messages, unsigned count, int flags)) {
  CONTRAFACT_CALLED;
  const auto bytes = [&](int sent) { return bytes_of(messages, sent); };
  return called_.effect(
      SYS_sendmmsg,
      transmit(
          fd, Call::of_socket, CONTRAFACT_SITE, [&] { return real().sendmmsg(fd, messages, count, flags); }, bytes),
      fd, messages, count, flags);
}
CONTRAFACT_INTERPOSE(ssize_t, sendfile, (int to, int from, off_t* at, size_t count)) {
  CONTRAFACT_CALLED;
  return called_.effect(SYS_sendfile,
                        transmit(to, Call::any, CONTRAFACT_SITE, [&] { return real().sendfile(to, from, at, count); }),
                        to, from, at, count);
}
CONTRAFACT_INTERPOSE(ssize_t, sendfile64, (int to, int from, off64_t* at, size_t count)) {
  CONTRAFACT_CALLED;
  return called_.effect(
      SYS_sendfile, transmit(to, Call::any, CONTRAFACT_SITE, [&] { return real().sendfile64(to, from, at, count); }),
      to, from, at, count);
}
CONTRAFACT_INTERPOSE(ssize_t, splice,
                     (int from, off64_t* from_at, int to, off64_t* to_at, size_t count, unsigned flags)) {
  CONTRAFACT_CALLED;
  const auto moved = [&] {
    return transmit(to, Call::any, CONTRAFACT_SITE,
                    [&] { return real().splice(from, from_at, to, to_at, count, flags); });
  };
  return called_.effect(SYS_splice, receive_into(from, count, 0, Call::any, CONTRAFACT_SITE, moved), from, from_at, to,
                        to_at, count, flags);
}
