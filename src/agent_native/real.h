// The functions that the interposers stand in front of, as the next library in the search order has them.
//
// Thread safety: resolved before the first thread exists as a rule, else by whoever is first; a second resolution
// writes the same values. Invariant: nothing here allocates where the function exists.
#pragma once

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace contrafact::agent_native {

using clock_id = ::clockid_t;

// X(name, result, parameters)
#define CONTRAFACT_REAL_LOCKS(X)                                                                 \
  X(pthread_mutex_init, int, (pthread_mutex_t*, const pthread_mutexattr_t*))                     \
  X(pthread_mutex_destroy, int, (pthread_mutex_t*))                                              \
  X(pthread_mutex_lock, int, (pthread_mutex_t*))                                                 \
  X(pthread_mutex_trylock, int, (pthread_mutex_t*))                                              \
  X(pthread_mutex_timedlock, int, (pthread_mutex_t*, const timespec*))                           \
  X(pthread_mutex_clocklock, int, (pthread_mutex_t*, clock_id, const timespec*))                 \
  X(pthread_mutex_unlock, int, (pthread_mutex_t*))                                               \
  X(pthread_rwlock_rdlock, int, (pthread_rwlock_t*))                                             \
  X(pthread_rwlock_wrlock, int, (pthread_rwlock_t*))                                             \
  X(pthread_rwlock_tryrdlock, int, (pthread_rwlock_t*))                                          \
  X(pthread_rwlock_trywrlock, int, (pthread_rwlock_t*))                                          \
  X(pthread_rwlock_timedrdlock, int, (pthread_rwlock_t*, const timespec*))                       \
  X(pthread_rwlock_timedwrlock, int, (pthread_rwlock_t*, const timespec*))                       \
  X(pthread_rwlock_clockrdlock, int, (pthread_rwlock_t*, clock_id, const timespec*))             \
  X(pthread_rwlock_clockwrlock, int, (pthread_rwlock_t*, clock_id, const timespec*))             \
  X(pthread_rwlock_unlock, int, (pthread_rwlock_t*))                                             \
  X(pthread_spin_lock, int, (pthread_spinlock_t*))                                               \
  X(pthread_spin_trylock, int, (pthread_spinlock_t*))                                            \
  X(pthread_spin_unlock, int, (pthread_spinlock_t*))                                             \
  X(pthread_cond_wait, int, (pthread_cond_t*, pthread_mutex_t*))                                 \
  X(pthread_cond_timedwait, int, (pthread_cond_t*, pthread_mutex_t*, const timespec*))           \
  X(pthread_cond_clockwait, int, (pthread_cond_t*, pthread_mutex_t*, clock_id, const timespec*)) \
  X(pthread_cond_signal, int, (pthread_cond_t*))                                                 \
  X(pthread_cond_broadcast, int, (pthread_cond_t*))                                              \
  X(pthread_barrier_wait, int, (pthread_barrier_t*))                                             \
  X(sem_wait, int, (sem_t*))                                                                     \
  X(sem_trywait, int, (sem_t*))                                                                  \
  X(sem_timedwait, int, (sem_t*, const timespec*))                                               \
  X(sem_clockwait, int, (sem_t*, clock_id, const timespec*))                                     \
  X(sem_post, int, (sem_t*))                                                                     \
  X(pthread_once, int, (pthread_once_t*, void (*)()))                                            \
  X(mtx_lock, int, (mtx_t*))                                                                     \
  X(mtx_trylock, int, (mtx_t*))                                                                  \
  X(mtx_timedlock, int, (mtx_t*, const timespec*))                                               \
  X(mtx_unlock, int, (mtx_t*))                                                                   \
  X(cnd_wait, int, (cnd_t*, mtx_t*))                                                             \
  X(cnd_timedwait, int, (cnd_t*, mtx_t*, const timespec*))                                       \
  X(cnd_signal, int, (cnd_t*))                                                                   \
  X(cnd_broadcast, int, (cnd_t*))                                                                \
  X(call_once, void, (once_flag*, void (*)()))

#define CONTRAFACT_REAL_LIVES(X)                                                             \
  X(pthread_rwlock_init, int, (pthread_rwlock_t*, const pthread_rwlockattr_t*))              \
  X(pthread_rwlock_destroy, int, (pthread_rwlock_t*))                                        \
  X(pthread_spin_init, int, (pthread_spinlock_t*, int))                                      \
  X(pthread_spin_destroy, int, (pthread_spinlock_t*))                                        \
  X(pthread_cond_init, int, (pthread_cond_t*, const pthread_condattr_t*))                    \
  X(pthread_cond_destroy, int, (pthread_cond_t*))                                            \
  X(pthread_barrier_init, int, (pthread_barrier_t*, const pthread_barrierattr_t*, unsigned)) \
  X(pthread_barrier_destroy, int, (pthread_barrier_t*))                                      \
  X(sem_init, int, (sem_t*, int, unsigned))                                                  \
  X(sem_destroy, int, (sem_t*))                                                              \
  X(mtx_init, int, (mtx_t*, int))                                                            \
  X(mtx_destroy, void, (mtx_t*))                                                             \
  X(cnd_init, int, (cnd_t*))                                                                 \
  X(cnd_destroy, void, (cnd_t*))

#define CONTRAFACT_REAL_THREADS(X)                                                     \
  X(pthread_create, int, (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)) \
  X(pthread_join, int, (pthread_t, void**))                                            \
  X(pthread_tryjoin_np, int, (pthread_t, void**))                                      \
  X(pthread_timedjoin_np, int, (pthread_t, void**, const timespec*))                   \
  X(pthread_clockjoin_np, int, (pthread_t, void**, clock_id, const timespec*))         \
  X(pthread_detach, int, (pthread_t))                                                  \
  X(pthread_setname_np, int, (pthread_t, const char*))                                 \
  X(pthread_cancel, int, (pthread_t))                                                  \
  X(thrd_create, int, (thrd_t*, thrd_start_t, void*))                                  \
  X(thrd_join, int, (thrd_t, int*))

#define CONTRAFACT_REAL_BLOCKING(X)                                                   \
  X(sleep, unsigned, (unsigned))                                                      \
  X(usleep, int, (useconds_t))                                                        \
  X(nanosleep, int, (const timespec*, timespec*))                                     \
  X(clock_nanosleep, int, (clock_id, int, const timespec*, timespec*))                \
  X(thrd_sleep, int, (const timespec*, timespec*))                                    \
  X(poll, int, (pollfd*, nfds_t, int))                                                \
  X(ppoll, int, (pollfd*, nfds_t, const timespec*, const sigset_t*))                  \
  X(select, int, (int, fd_set*, fd_set*, fd_set*, timeval*))                          \
  X(pselect, int, (int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)) \
  X(epoll_wait, int, (int, epoll_event*, int, int))                                   \
  X(epoll_pwait, int, (int, epoll_event*, int, int, const sigset_t*))                 \
  X(epoll_pwait2, int, (int, epoll_event*, int, const timespec*, const sigset_t*))    \
  X(read, ssize_t, (int, void*, size_t))                                              \
  X(write, ssize_t, (int, const void*, size_t))                                       \
  X(readv, ssize_t, (int, const iovec*, int))                                         \
  X(writev, ssize_t, (int, const iovec*, int))                                        \
  X(pread, ssize_t, (int, void*, size_t, off_t))                                      \
  X(pread64, ssize_t, (int, void*, size_t, off64_t))                                  \
  X(pwrite, ssize_t, (int, const void*, size_t, off_t))                               \
  X(pwrite64, ssize_t, (int, const void*, size_t, off64_t))                           \
  X(recv, ssize_t, (int, void*, size_t, int))                                         \
  X(recvfrom, ssize_t, (int, void*, size_t, int, sockaddr*, socklen_t*))              \
  X(recvmsg, ssize_t, (int, msghdr*, int))                                            \
  X(send, ssize_t, (int, const void*, size_t, int))                                   \
  X(sendto, ssize_t, (int, const void*, size_t, int, const sockaddr*, socklen_t))     \
  X(sendmsg, ssize_t, (int, const msghdr*, int))                                      \
  X(__read_chk, ssize_t, (int, void*, size_t, size_t))                                \
  X(__recv_chk, ssize_t, (int, void*, size_t, size_t, int))                           \
  X(__poll_chk, int, (pollfd*, nfds_t, int, size_t))                                  \
  X(fsync, int, (int))                                                                \
  X(fdatasync, int, (int))                                                            \
  X(wait, pid_t, (int*))                                                              \
  X(waitpid, pid_t, (pid_t, int*, int))                                               \
  X(waitid, int, (idtype_t, id_t, siginfo_t*, int))                                   \
  X(wait4, pid_t, (pid_t, int*, int, rusage*))                                        \
  X(sigwait, int, (const sigset_t*, int*))                                            \
  X(sigwaitinfo, int, (const sigset_t*, siginfo_t*))                                  \
  X(sigtimedwait, int, (const sigset_t*, siginfo_t*, const timespec*))                \
  X(sigsuspend, int, (const sigset_t*))                                               \
  X(pause, int, ())                                                                   \
  X(syscall, long, (long, long, long, long, long, long, long))

#define CONTRAFACT_REAL_DESCRIPTORS(X)                                 \
  X(socket, int, (int, int, int))                                      \
  X(socketpair, int, (int, int, int, int*))                            \
  X(bind, int, (int, const sockaddr*, socklen_t))                      \
  X(getsockname, int, (int, sockaddr*, socklen_t*))                    \
  X(connect, int, (int, const sockaddr*, socklen_t))                   \
  X(accept, int, (int, sockaddr*, socklen_t*))                         \
  X(accept4, int, (int, sockaddr*, socklen_t*, int))                   \
  X(close, int, (int))                                                 \
  X(close_range, int, (unsigned, unsigned, int))                       \
  X(closefrom, void, (int))                                            \
  X(fdopen, FILE*, (int, const char*))                                 \
  X(dup, int, (int))                                                   \
  X(dup2, int, (int, int))                                             \
  X(dup3, int, (int, int, int))                                        \
  X(recvmmsg, int, (int, mmsghdr*, unsigned, int, timespec*))          \
  X(sendmmsg, int, (int, mmsghdr*, unsigned, int))                     \
  X(sendfile, ssize_t, (int, int, off_t*, size_t))                     \
  X(sendfile64, ssize_t, (int, int, off64_t*, size_t))                 \
  X(splice, ssize_t, (int, off64_t*, int, off64_t*, size_t, unsigned)) \
  X(__recvfrom_chk, ssize_t, (int, void*, size_t, size_t, int, sockaddr*, socklen_t*))

#define CONTRAFACT_REAL_PROCESS(X)                                                                                  \
  X(sigaction, int, (int, const struct sigaction*, struct sigaction*))                                              \
  X(signal, sighandler_t, (int, sighandler_t))                                                                      \
  X(sysv_signal, sighandler_t, (int, sighandler_t))                                                                 \
  X(sigset, sighandler_t, (int, sighandler_t))                                                                      \
  X(__libc_start_main, int, (int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*)) \
  X(dlclose, int, (void*))                                                                                          \
  X(dl_iterate_phdr, int, (int (*)(dl_phdr_info*, size_t, void*), void*))                                           \
  X(prctl, int, (int, long, long, long, long))                                                                      \
  X(_Fork, pid_t, ())                                                                                               \
  X(_exit, void, (int))                                                                                             \
  X(execve, int, (const char*, char* const*, char* const*))                                                         \
  X(execvpe, int, (const char*, char* const*, char* const*))                                                        \
  X(fexecve, int, (int, char* const*, char* const*))

struct Real {
#define CONTRAFACT_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  CONTRAFACT_REAL_LOCKS(CONTRAFACT_MEMBER)
  CONTRAFACT_REAL_LIVES(CONTRAFACT_MEMBER)
  CONTRAFACT_REAL_THREADS(CONTRAFACT_MEMBER)
  CONTRAFACT_REAL_BLOCKING(CONTRAFACT_MEMBER)
  CONTRAFACT_REAL_DESCRIPTORS(CONTRAFACT_MEMBER)
  CONTRAFACT_REAL_PROCESS(CONTRAFACT_MEMBER)
#undef CONTRAFACT_MEMBER
  std::atomic<bool> ready{false};
};

extern Real g_real;
void resolve_real();

inline const Real& real() {
  if (!g_real.ready.load(std::memory_order_acquire)) [[unlikely]]
    resolve_real();
  return g_real;
}

}  // namespace contrafact::agent_native

// An interposer: visible under the C library's name, with a C++ name of its own because the library's headers give
// theirs exception specifications that ours cannot have.
#define CONTRAFACT_INTERPOSE(result, name, parameters)                                                  \
  extern "C" __attribute__((visibility("default"))) result contrafact_##name parameters __asm__(#name); \
  extern "C" __attribute__((visibility("default"))) result contrafact_##name parameters
