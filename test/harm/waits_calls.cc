#include "waits_calls.h"

#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#include <atomic>
#include <iterator>

#include "harm.h"

using namespace harm;

volatile bool g_is_child = false;

void nap() {
  const timespec some{0, 1'000'000};
  bare_call(SYS_nanosleep, reinterpret_cast<long>(&some), 0);
}

namespace {

pthread_mutex_t g_held = PTHREAD_MUTEX_INITIALIZER, g_robust;
mtx_t g_c11;
pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t g_spinlock;
pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
cnd_t g_c11_condition;
sem_t g_semaphore;
pthread_barrier_t g_barrier;
std::atomic<int> g_word{0};
std::atomic<bool> g_is_open{false};  // what others wait for within initialisers and in threads
timespec g_until, g_until_by_clock;  // the library looks at it again after the handler
pthread_t g_other;
int g_ends[2];
long g_sleeper;

const timespec kLong{30, 0};

void nothing() {}

void be_late() {
  g_until = g_until_by_clock = {1, 0};
}

void open() {
  g_is_open = true;
}

void await_opening() {
  while (!g_is_open) nap();
}

// The parent waits again where the signal ended its wait.
template <typename Call>
int error_of(Call call) {
  for (;;) {
    if (call() >= 0) return 0;
    if (errno != EINTR || g_is_child) return errno;
  }
}

// --- Locks. The child's copy of what is held belongs to nobody: it is given up there, or its time is over.

template <typename Call>
int lock(Call call, void (*unlock)()) {
  const int error = call();
  if (error == 0) unlock();
  return error;
}

void unlock_held() {
  pthread_mutex_unlock(&g_held);
}
void unlock_robust() {
  pthread_mutex_unlock(&g_robust);
}
void unlock_c11() {
  mtx_unlock(&g_c11);
}
void unlock_rwlock() {
  pthread_rwlock_unlock(&g_rwlock);
}
void unlock_spinlock() {
  pthread_spin_unlock(&g_spinlock);
}
void hold_held() {
  pthread_mutex_lock(&g_held);
}
void hold_robust() {
  pthread_mutex_lock(&g_robust);
}
void hold_c11() {
  mtx_lock(&g_c11);
}
void hold_to_read() {
  pthread_rwlock_rdlock(&g_rwlock);
}
void hold_to_write() {
  pthread_rwlock_wrlock(&g_rwlock);
}
void hold_spinlock() {
  pthread_spin_lock(&g_spinlock);
}

// --- Conditions.

template <typename Call>
int wait_on_condition(Call call) {
  pthread_mutex_lock(&g_held);
  const int error = call();
  pthread_mutex_unlock(&g_held);
  return error;
}

void signal_condition() {
  pthread_cond_signal(&g_condition);
}
void signal_c11_condition() {
  cnd_signal(&g_c11_condition);
}

// Its thread ends in the child; what it has left to do there is in its cleanup handler.
int wait_to_be_cancelled() {
  int error = 0;
  pthread_mutex_lock(&g_held);
  pthread_cleanup_push(
      [](void*) {
        sections(3);
        _exit(77);
      },
      nullptr);
  error = pthread_cond_wait(&g_condition, &g_held);
  pthread_cleanup_pop(0);
  pthread_mutex_unlock(&g_held);
  return error;
}

void cancel_self() {
  pthread_cancel(pthread_self());
}

// --- Threads, and what they meet at.

void start_other() {
  g_other = start([](void*) -> void* {
    await_opening();
    return nullptr;
  });
}

int start_c11(void*) {
  await_opening();
  return 0;
}
thrd_t g_c11_other;
void start_c11_other() {
  expect(thrd_create(&g_c11_other, start_c11, nullptr) == thrd_success, "thrd_create");
}

void meet() {
  pthread_barrier_wait(&g_barrier);
}

pthread_once_t g_once;
once_flag g_c11_once;

// The first one to run it waits; one that a child begins anew does not.
void initialise() {
  await_opening();
}

int call_pthread_once() {
  return pthread_once(&g_once, initialise);
}
int call_c11_once() {
  return call_once(&g_c11_once, initialise), 0;
}

void begin_pthread_once() {
  g_other = start([](void*) -> void* { return call_pthread_once(), nullptr; });
  while (g_once == PTHREAD_ONCE_INIT) nap();
}
void begin_c11_once() {
  g_other = start([](void*) -> void* { return call_c11_once(), nullptr; });
  while (g_c11_once.__data == 0) nap();
}
void end_once() {
  open();
  pthread_join(g_other, nullptr);
}

void wake_futex() {
  g_word = 1;
  bare_call(SYS_futex, reinterpret_cast<long>(&g_word), FUTEX_WAKE_PRIVATE, 1);
}

// --- Descriptors: of a pair of sockets, one of which gets a byte in the end.

char g_byte, g_block[1 << 16];

void make_pair() {
  expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, g_ends) == 0, "socketpair");
}
void send_byte() {
  bare_call(SYS_write, g_ends[1], reinterpret_cast<long>(&g_byte), 1);
}

void make_full_pair() {
  make_pair();
  while (bare_call(SYS_sendto, g_ends[0], reinterpret_cast<long>(g_block), sizeof g_block, MSG_DONTWAIT) > 0) {
  }
}
void take_all() {
  while (bare_call(SYS_recvfrom, g_ends[1], reinterpret_cast<long>(g_block), sizeof g_block, MSG_DONTWAIT) > 0) {
  }
}

pollfd readable() {
  return {g_ends[0], POLLIN, 0};
}

fd_set readable_set() {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(g_ends[0], &set);
  return set;
}

int epoll_of_pair() {
  const int fd = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(fd, EPOLL_CTL_ADD, g_ends[0], &event);
  return fd;
}

msghdr message(iovec* part) {
  msghdr header{};
  header.msg_iov = part;
  header.msg_iovlen = 1;
  return header;
}

void make_listener() {
  g_ends[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_ends[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr family{AF_UNIX, {}};  // the kernel finds a name
  expect(bind(g_ends[0], &family, sizeof family.sa_family) == 0 && listen(g_ends[0], 1) == 0, "listen");
}
void knock() {
  sockaddr_storage address;
  socklen_t bytes = sizeof address;
  getsockname(g_ends[0], reinterpret_cast<sockaddr*>(&address), &bytes);
  bare_call(SYS_connect, g_ends[1], reinterpret_cast<long>(&address), bytes);
}

// --- Processes and signals.

void start_sleeper() {
  g_sleeper = bare_call(SYS_clone, SIGCHLD);
  if (g_sleeper != 0) return;
  bare_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  for (;;) bare_call(SYS_pause);
}
void end_sleeper() {
  bare_call(SYS_kill, g_sleeper, SIGKILL);
}

sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

}  // namespace

const Wait kWaits[] = {
    {"mutexes", "pthread_mutex_lock", hold_held,
     [] { return lock([] { return pthread_mutex_lock(&g_held); }, unlock_held); }, unlock_held, unlock_held},
    {"mutexes", "pthread_mutex_timedlock", hold_held,
     [] { return lock([] { return pthread_mutex_timedlock(&g_held, &g_until); }, unlock_held); }, be_late, unlock_held},
    {"mutexes", "pthread_mutex_clocklock", hold_held,
     [] {
       return lock([] { return pthread_mutex_clocklock(&g_held, CLOCK_MONOTONIC, &g_until_by_clock); }, unlock_held);
     },
     be_late, unlock_held, false, true},
    {"mutexes", "pthread_mutex_timedlock, robust", hold_robust,
     [] { return lock([] { return pthread_mutex_timedlock(&g_robust, &g_until); }, unlock_robust); }, be_late,
     unlock_robust},
    {"mutexes", "mtx_lock", hold_c11, [] { return lock([] { return mtx_lock(&g_c11); }, unlock_c11); }, unlock_c11,
     unlock_c11, false, true},
    {"mutexes", "mtx_timedlock", hold_c11,
     [] { return lock([] { return mtx_timedlock(&g_c11, &g_until); }, unlock_c11); }, be_late, unlock_c11},
    {"mutexes", "pthread_spin_lock", hold_spinlock,
     [] { return lock([] { return pthread_spin_lock(&g_spinlock); }, unlock_spinlock); }, unlock_spinlock,
     unlock_spinlock, true},

    {"rwlocks", "pthread_rwlock_wrlock", hold_to_read,
     [] { return lock([] { return pthread_rwlock_wrlock(&g_rwlock); }, unlock_rwlock); }, unlock_rwlock, unlock_rwlock},
    {"rwlocks", "pthread_rwlock_timedrdlock", hold_to_write,
     [] { return lock([] { return pthread_rwlock_timedrdlock(&g_rwlock, &g_until); }, unlock_rwlock); }, be_late,
     unlock_rwlock},
    {"rwlocks", "pthread_rwlock_timedwrlock", hold_to_write,
     [] { return lock([] { return pthread_rwlock_timedwrlock(&g_rwlock, &g_until); }, unlock_rwlock); }, be_late,
     unlock_rwlock, false, true},
    {"rwlocks", "pthread_rwlock_clockrdlock", hold_to_write,
     [] {
       return lock([] { return pthread_rwlock_clockrdlock(&g_rwlock, CLOCK_MONOTONIC, &g_until_by_clock); },
                   unlock_rwlock);
     },
     be_late, unlock_rwlock},
    {"rwlocks", "pthread_rwlock_clockwrlock", hold_to_write,
     [] {
       return lock([] { return pthread_rwlock_clockwrlock(&g_rwlock, CLOCK_MONOTONIC, &g_until_by_clock); },
                   unlock_rwlock);
     },
     be_late, unlock_rwlock},

    {"conditions", "pthread_cond_wait", nothing,
     [] { return wait_on_condition([] { return pthread_cond_wait(&g_condition, &g_held); }); }, signal_condition,
     signal_condition},
    {"conditions", "pthread_cond_timedwait", nothing,
     [] { return wait_on_condition([] { return pthread_cond_timedwait(&g_condition, &g_held, &g_until); }); }, be_late,
     signal_condition, false, true},
    {"conditions", "pthread_cond_clockwait", nothing,
     [] {
       return wait_on_condition(
           [] { return pthread_cond_clockwait(&g_condition, &g_held, CLOCK_MONOTONIC, &g_until_by_clock); });
     },
     be_late, signal_condition},
    {"conditions", "pthread_cond_wait, cancelled", nothing, wait_to_be_cancelled, cancel_self, signal_condition},
    {"conditions", "cnd_wait", nothing,
     [] { return lock([] { return mtx_lock(&g_c11), cnd_wait(&g_c11_condition, &g_c11); }, unlock_c11); },
     signal_c11_condition, signal_c11_condition},
    {"conditions", "cnd_timedwait", nothing,
     [] {
       mtx_lock(&g_c11);
       const int result = cnd_timedwait(&g_c11_condition, &g_c11, &g_until);
       mtx_unlock(&g_c11);
       return result;
     },
     be_late, signal_c11_condition},

    {"meetings", "sem_wait", nothing, [] { return error_of([] { return sem_wait(&g_semaphore); }); }, nothing,
     [] { sem_post(&g_semaphore); }},
    {"meetings", "sem_timedwait", nothing,
     [] { return error_of([] { return sem_timedwait(&g_semaphore, &g_until); }); }, nothing,
     [] { sem_post(&g_semaphore); }, false, true},
    {"meetings", "sem_clockwait", nothing,
     [] { return error_of([] { return sem_clockwait(&g_semaphore, CLOCK_MONOTONIC, &g_until_by_clock); }); }, nothing,
     [] { sem_post(&g_semaphore); }},
    {"meetings", "pthread_barrier_wait", nothing,
     [] { return pthread_barrier_wait(&g_barrier) == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : 0; }, meet, meet},
    {"meetings", "syscall", nothing,
     [] { return error_of([] { return syscall(SYS_futex, &g_word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0); }); },
     nothing, wake_futex},

    {"threads", "pthread_join", start_other, [] { return pthread_join(g_other, nullptr); }, nothing, open},
    {"threads", "pthread_timedjoin_np", start_other, [] { return pthread_timedjoin_np(g_other, nullptr, &g_until); },
     be_late, open},
    {"threads", "pthread_clockjoin_np", start_other,
     [] { return pthread_clockjoin_np(g_other, nullptr, CLOCK_MONOTONIC, &g_until_by_clock); }, be_late, open, false,
     true},
    {"threads", "thrd_join", start_c11_other, [] { return thrd_join(g_c11_other, nullptr); }, nothing, open},

    // In the child the initialiser begins anew: it is the child's own.
    {"onces", "pthread_once", begin_pthread_once, call_pthread_once, open, end_once},
    {"onces", "call_once", begin_c11_once, call_c11_once, open, end_once, false, true},
    {"initialisers", "pthread_once, its initialiser", nothing, call_pthread_once, open, open},
    {"initialisers", "call_once, its initialiser", nothing, call_c11_once, open, open, false, true},

    {"polls", "poll", make_pair,
     [] {
       pollfd one = readable();
       return error_of([&] { return poll(&one, 1, -1); });
     },
     nothing, send_byte},
    {"polls", "ppoll", make_pair,
     [] {
       pollfd one = readable();
       return error_of([&] { return ppoll(&one, 1, nullptr, nullptr); });
     },
     nothing, send_byte},
    {"polls", "select", make_pair,
     [] {
       return error_of([] {
         fd_set set = readable_set();
         return select(g_ends[0] + 1, &set, nullptr, nullptr, nullptr);
       });
     },
     nothing, send_byte},
    {"polls", "pselect", make_pair,
     [] {
       return error_of([] {
         fd_set set = readable_set();
         return pselect(g_ends[0] + 1, &set, nullptr, nullptr, nullptr, nullptr);
       });
     },
     nothing, send_byte, false, true},
    {"polls", "epoll_wait", make_pair,
     [] {
       epoll_event event;
       return error_of([&, fd = epoll_of_pair()] { return epoll_wait(fd, &event, 1, -1); });
     },
     nothing, send_byte},
    {"polls", "epoll_pwait", make_pair,
     [] {
       epoll_event event;
       return error_of([&, fd = epoll_of_pair()] { return epoll_pwait(fd, &event, 1, -1, nullptr); });
     },
     nothing, send_byte},
    {"polls", "epoll_pwait2", make_pair,
     [] {
       epoll_event event;
       return error_of([&, fd = epoll_of_pair()] { return epoll_pwait2(fd, &event, 1, nullptr, nullptr); });
     },
     nothing, send_byte},

    {"transfers", "read", make_pair, [] { return error_of([] { return read(g_ends[0], &g_byte, 1); }); }, nothing,
     send_byte},
    {"transfers", "readv", make_pair,
     [] {
       iovec part{&g_byte, 1};
       return error_of([&] { return readv(g_ends[0], &part, 1); });
     },
     nothing, send_byte},
    {"transfers", "recv", make_pair, [] { return error_of([] { return recv(g_ends[0], &g_byte, 1, 0); }); }, nothing,
     send_byte},
    {"transfers", "recvfrom", make_pair,
     [] { return error_of([] { return recvfrom(g_ends[0], &g_byte, 1, 0, nullptr, nullptr); }); }, nothing, send_byte},
    {"transfers", "recvmsg", make_pair,
     [] {
       iovec part{&g_byte, 1};
       msghdr header = message(&part);
       return error_of([&] { return recvmsg(g_ends[0], &header, 0); });
     },
     nothing, send_byte},
    {"transfers", "write", make_full_pair, [] { return error_of([] { return write(g_ends[0], &g_byte, 1); }); },
     nothing, take_all},
    {"transfers", "writev", make_full_pair,
     [] {
       iovec part{&g_byte, 1};
       return error_of([&] { return writev(g_ends[0], &part, 1); });
     },
     nothing, take_all},
    {"transfers", "send", make_full_pair, [] { return error_of([] { return send(g_ends[0], &g_byte, 1, 0); }); },
     nothing, take_all, false, true},
    {"transfers", "accept", make_listener, [] { return error_of([] { return accept(g_ends[0], nullptr, nullptr); }); },
     nothing, knock},
    {"transfers", "accept4", make_listener,
     [] { return error_of([] { return accept4(g_ends[0], nullptr, nullptr, SOCK_CLOEXEC); }); }, nothing, knock},

    {"sleeps", "sleep", nothing, [] { return sleep(30) > 0 ? 1 : 0; }, nothing, nothing},
    {"sleeps", "usleep", nothing, [] { return usleep(900'000) == 0 ? 0 : errno; }, nothing, nothing},
    {"sleeps", "nanosleep", nothing, [] { return nanosleep(&kLong, nullptr) == 0 ? 0 : errno; }, nothing, nothing,
     false, true},
    {"sleeps", "clock_nanosleep", nothing, [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &kLong, nullptr); }, nothing,
     nothing},
    {"sleeps", "thrd_sleep", nothing, [] { return -thrd_sleep(&kLong, nullptr); }, nothing, nothing},
    {"sleeps", "pause", nothing, [] { return pause() == 0 ? 0 : errno; }, nothing, nothing},
    {"sleeps", "sigsuspend", nothing,
     [] {
       const sigset_t other = only(SIGUSR2);
       return sigsuspend(&other) == 0 ? 0 : errno;
     },
     nothing, nothing},
    {"sleeps", "sigwaitinfo", nothing,
     [] {
       const sigset_t other = only(SIGUSR2);
       return sigwaitinfo(&other, nullptr) >= 0 ? 0 : errno;
     },
     nothing, nothing},
    {"sleeps", "sigtimedwait", nothing,
     [] {
       const sigset_t other = only(SIGUSR2);
       return sigtimedwait(&other, nullptr, &kLong) >= 0 ? 0 : errno;
     },
     nothing, nothing, false, true},

    {"processes", "wait", start_sleeper, [] { return error_of([] { return wait(nullptr); }); }, nothing, end_sleeper},
    {"processes", "waitpid", start_sleeper,
     [] { return error_of([] { return waitpid(static_cast<pid_t>(g_sleeper), nullptr, 0); }); }, nothing, end_sleeper},
    {"processes", "waitid", start_sleeper,
     [] {
       siginfo_t info;
       return error_of([&] { return waitid(P_PID, static_cast<id_t>(g_sleeper), &info, WEXITED); });
     },
     nothing, end_sleeper, false, true},
    {"processes", "wait4", start_sleeper,
     [] { return error_of([] { return wait4(static_cast<pid_t>(g_sleeper), nullptr, 0, nullptr); }); }, nothing,
     end_sleeper},
};
const size_t kWaitCount = std::size(kWaits);

void prepare_waits() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&g_robust, &attributes);
  mtx_init(&g_c11, mtx_timed);
  cnd_init(&g_c11_condition);
  pthread_spin_init(&g_spinlock, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&g_barrier, nullptr, 2);
  sem_init(&g_semaphore, 0, 0);
  const pthread_t first = start([](void*) -> void* {
    for (;;) nap(), pthread_testcancel();
  });
  pthread_cancel(first);  // the first one loads a library
  pthread_join(first, nullptr);
}

void prepare_wait() {
  clock_gettime(CLOCK_REALTIME, &g_until);
  clock_gettime(CLOCK_MONOTONIC, &g_until_by_clock);
  g_until.tv_sec += 30;
  g_until_by_clock.tv_sec += 30;
  g_is_open = false;
  g_word = 0;
  g_once = PTHREAD_ONCE_INIT;
  g_c11_once = ONCE_FLAG_INIT;
}
