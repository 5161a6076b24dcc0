// Waits for other processes and for signals.
#include <sys/syscall.h>

#include "agent_native/blocking.h"
#include "agent_native/real.h"

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(pid_t, wait, (int* status)) {
  CONTRAFACT_CALLED;
  called_.wrote(status, sizeof *status);
  return called_.kernel_effect(SYS_wait4,
                               block(BlockReason::process, CONTRAFACT_SITE, [&] { return real().wait(status); }));
}
CONTRAFACT_INTERPOSE(pid_t, waitpid, (pid_t pid, int* status, int flags)) {
  CONTRAFACT_CALLED;
  called_.wrote(status, sizeof *status);
  if ((flags & WNOHANG) != 0) return called_.kernel_effect(SYS_wait4, real().waitpid(pid, status, flags));
  return called_.kernel_effect(
      SYS_wait4, block(BlockReason::process, CONTRAFACT_SITE, [&] { return real().waitpid(pid, status, flags); }));
}
CONTRAFACT_INTERPOSE(int, waitid, (idtype_t type, id_t id, siginfo_t* info, int flags)) {
  CONTRAFACT_CALLED;
  called_.wrote(info, sizeof *info);
  if ((flags & WNOHANG) != 0) return called_.kernel_effect(SYS_waitid, real().waitid(type, id, info, flags));
  return called_.kernel_effect(
      SYS_waitid, block(BlockReason::process, CONTRAFACT_SITE, [&] { return real().waitid(type, id, info, flags); }));
}
CONTRAFACT_INTERPOSE(pid_t, wait4, (pid_t pid, int* status, int flags, rusage* usage)) {
  CONTRAFACT_CALLED;
  called_.wrote(status, sizeof *status);
  called_.wrote(usage, sizeof *usage);
  if ((flags & WNOHANG) != 0) return called_.kernel_effect(SYS_wait4, real().wait4(pid, status, flags, usage));
  return called_.kernel_effect(
      SYS_wait4, block(BlockReason::process, CONTRAFACT_SITE, [&] { return real().wait4(pid, status, flags, usage); }));
}
CONTRAFACT_INTERPOSE(int, sigwait, (const sigset_t* set, int* number)) {
  CONTRAFACT_CALLED;
  called_.reads(set, sizeof *set);
  called_.wrote(number, sizeof *number);
  return called_.kernel_effect(
      SYS_rt_sigtimedwait, block(BlockReason::signal, CONTRAFACT_SITE, [&] { return real().sigwait(set, number); }));
}
CONTRAFACT_INTERPOSE(int, sigwaitinfo, (const sigset_t* set, siginfo_t* info)) {
  CONTRAFACT_CALLED;
  called_.reads(set, sizeof *set);
  called_.wrote(info, sizeof *info);
  return called_.kernel_effect(
      SYS_rt_sigtimedwait, block(BlockReason::signal, CONTRAFACT_SITE, [&] { return real().sigwaitinfo(set, info); }));
}
CONTRAFACT_INTERPOSE(int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const timespec* timeout)) {
  CONTRAFACT_CALLED;
  called_.reads(set, sizeof *set);
  called_.reads(timeout, sizeof *timeout);
  called_.wrote(info, sizeof *info);
  return called_.kernel_effect(SYS_rt_sigtimedwait, block(BlockReason::signal, CONTRAFACT_SITE,
                                                          [&] { return real().sigtimedwait(set, info, timeout); }));
}
CONTRAFACT_INTERPOSE(int, sigsuspend, (const sigset_t* mask)) {
  CONTRAFACT_CALLED;
  called_.reads(mask, sizeof *mask);
  return block(BlockReason::signal, CONTRAFACT_SITE, [&] { return real().sigsuspend(mask); });
}
CONTRAFACT_INTERPOSE(int, pause, ()) {
  CONTRAFACT_CALLED;
  return block(BlockReason::signal, CONTRAFACT_SITE, [&] { return real().pause(); });
}
