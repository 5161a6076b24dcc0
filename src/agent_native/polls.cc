// Waits for any of several descriptors. With a timeout of 0 they only look.
#include <sys/syscall.h>

#include "agent_native/blocking.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, poll, (pollfd * fds, nfds_t count, int timeout_ms)) {
  CONTRAFACT_CALLED;
  called_.wrote(fds, count * sizeof(pollfd));
  if (timeout_ms == 0) return called_.kernel_effect(SYS_poll, real().poll(fds, count, timeout_ms), fds, count);
  return called_.kernel_effect(
      SYS_poll, block(BlockReason::poll, CONTRAFACT_SITE, [&] { return real().poll(fds, count, timeout_ms); }), fds,
      count);
}
CONTRAFACT_INTERPOSE(int, ppoll, (pollfd * fds, nfds_t count, const timespec* timeout, const sigset_t* mask)) {
  CONTRAFACT_CALLED;
  called_.reads(timeout, sizeof *timeout);
  called_.wrote(fds, count * sizeof(pollfd));
  if (timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0)
    return called_.kernel_effect(SYS_poll, real().ppoll(fds, count, timeout, mask), fds, count);
  return called_.kernel_effect(
      SYS_poll, block(BlockReason::poll, CONTRAFACT_SITE, [&] { return real().ppoll(fds, count, timeout, mask); }), fds,
      count);
}
CONTRAFACT_INTERPOSE(int, select, (int count, fd_set* reads, fd_set* writes, fd_set* others, timeval* timeout)) {
  CONTRAFACT_CALLED;
  for (fd_set* set : {reads, writes, others}) called_.wrote(set, static_cast<size_t>(count + 7) / 8);
  called_.wrote(timeout, sizeof *timeout);  // gets what is left of it
  if (timeout && timeout->tv_sec == 0 && timeout->tv_usec == 0)
    return called_.kernel_effect(SYS_select, real().select(count, reads, writes, others, timeout), count, reads,
                                 writes);
  return called_.kernel_effect(
      SYS_select,
      block(BlockReason::poll, CONTRAFACT_SITE, [&] { return real().select(count, reads, writes, others, timeout); }),
      count, reads, writes);
}
CONTRAFACT_INTERPOSE(int, pselect,
                     (int count, fd_set* reads, fd_set* writes, fd_set* others, const timespec* timeout,
                      const sigset_t* mask)) {
  CONTRAFACT_CALLED;
  called_.reads(timeout, sizeof *timeout);
  for (fd_set* set : {reads, writes, others}) called_.wrote(set, static_cast<size_t>(count + 7) / 8);
  if (timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0)
    return called_.kernel_effect(SYS_select, real().pselect(count, reads, writes, others, timeout, mask), count, reads,
                                 writes);
  return called_.kernel_effect(SYS_select,
                               block(BlockReason::poll, CONTRAFACT_SITE,
                                     [&] { return real().pselect(count, reads, writes, others, timeout, mask); }),
                               count, reads, writes);
}
CONTRAFACT_INTERPOSE(int, epoll_wait, (int fd, epoll_event* events, int count, int timeout_ms)) {
  CONTRAFACT_CALLED;
  if (timeout_ms == 0)
    return called_.effect(SYS_epoll_wait, real().epoll_wait(fd, events, count, timeout_ms), fd, events);
  return called_.effect(
      SYS_epoll_wait,
      block(BlockReason::poll, CONTRAFACT_SITE, [&] { return real().epoll_wait(fd, events, count, timeout_ms); }), fd,
      events);
}
CONTRAFACT_INTERPOSE(int, epoll_pwait, (int fd, epoll_event* events, int count, int timeout_ms, const sigset_t* mask)) {
  CONTRAFACT_CALLED;
  if (timeout_ms == 0)
    return called_.effect(SYS_epoll_wait, real().epoll_pwait(fd, events, count, timeout_ms, mask), fd, events);
  return called_.effect(SYS_epoll_wait,
                        block(BlockReason::poll, CONTRAFACT_SITE,
                              [&] { return real().epoll_pwait(fd, events, count, timeout_ms, mask); }),
                        fd, events);
}
CONTRAFACT_INTERPOSE(int, epoll_pwait2,
                     (int fd, epoll_event* events, int count, const timespec* timeout, const sigset_t* mask)) {
  CONTRAFACT_CALLED;
  called_.reads(timeout, sizeof *timeout);
  const auto library = [&] { return real().epoll_pwait2(fd, events, count, timeout, mask); };
  // Only the kernel reads the timeout: it may not be readable.
  const int result = timeout ? block_if_long(BlockReason::poll, CONTRAFACT_SITE, library)
                             : block(BlockReason::poll, CONTRAFACT_SITE, library);
  return called_.effect(SYS_epoll_wait, result, fd, events);
}

// As programs that were compiled with _FORTIFY_SOURCE call it.
CONTRAFACT_INTERPOSE(int, __poll_chk, (pollfd * fds, nfds_t count, int timeout_ms, size_t room)) {
  CONTRAFACT_CALLED;
  called_.wrote(fds, count * sizeof(pollfd));
  if (timeout_ms == 0)
    return called_.kernel_effect(SYS_poll, real().__poll_chk(fds, count, timeout_ms, room), fds, count);
  return called_.kernel_effect(
      SYS_poll,
      block(BlockReason::poll, CONTRAFACT_SITE, [&] { return real().__poll_chk(fds, count, timeout_ms, room); }), fds,
      count);
}
