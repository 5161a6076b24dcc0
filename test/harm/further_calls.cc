#include "further_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>

#include <iterator>

#include "harm.h"

using namespace harm;

namespace {

pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
pthread_spinlock_t g_spinlock;
pthread_barrier_t g_barrier, g_pair;
int g_pipe[2], g_file;
char g_bytes[4];
sem_t g_semaphore;
mtx_t g_c11;
cnd_t g_c11_condition;
const timespec kPast{0, 0};

timespec soon(clockid_t clock) {
  timespec at;
  clock_gettime(clock, &at);
  at.tv_sec += 20;
  return at;
}

void* return_at_once(void*) {
  return nullptr;
}

void create_and_join() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, return_at_once, nullptr) == 0) pthread_join(thread, nullptr);
}

void lock_both() {
  pthread_mutex_lock(&g_mutex);
  pthread_mutex_unlock(&g_mutex);
}

void wait_until_past() {
  pthread_mutex_lock(&g_mutex);
  pthread_cond_timedwait(&g_condition, &g_mutex, &kPast);
  pthread_mutex_unlock(&g_mutex);
}

void read_and_write() {
  pthread_rwlock_rdlock(&g_rwlock);
  pthread_rwlock_unlock(&g_rwlock);
  pthread_rwlock_wrlock(&g_rwlock);
  pthread_rwlock_unlock(&g_rwlock);
}

void try_rwlock() {
  pthread_rwlock_tryrdlock(&g_rwlock);
  pthread_rwlock_unlock(&g_rwlock);
  pthread_rwlock_trywrlock(&g_rwlock);
  pthread_rwlock_unlock(&g_rwlock);
}

void lock_rwlock_with_time() {
  const timespec until = soon(CLOCK_REALTIME), by_clock = soon(CLOCK_MONOTONIC);
  pthread_rwlock_timedrdlock(&g_rwlock, &until);
  pthread_rwlock_unlock(&g_rwlock);
  pthread_rwlock_timedwrlock(&g_rwlock, &until);
  pthread_rwlock_unlock(&g_rwlock);
  pthread_rwlock_clockrdlock(&g_rwlock, CLOCK_MONOTONIC, &by_clock);
  pthread_rwlock_unlock(&g_rwlock);
}

void spin() {
  pthread_spin_lock(&g_spinlock);
  pthread_spin_unlock(&g_spinlock);
}

void try_spin() {
  pthread_spin_trylock(&g_spinlock);
  pthread_spin_unlock(&g_spinlock);
}

void try_mutex() {
  pthread_mutex_trylock(&g_mutex);
  pthread_mutex_unlock(&g_mutex);
}

void lock_c11() {
  mtx_lock(&g_c11);
  mtx_unlock(&g_c11);
}

void try_c11() {
  mtx_trylock(&g_c11);
  mtx_unlock(&g_c11);
  mtx_timedlock(&g_c11, &kPast);
  mtx_unlock(&g_c11);
}

void wait_c11_until_past() {
  mtx_lock(&g_c11);
  cnd_timedwait(&g_c11_condition, &g_c11, &kPast);
  mtx_unlock(&g_c11);
}

void mutex_lives() {
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, nullptr);
  pthread_mutex_destroy(&mutex);
}

void rwlock_lives() {
  pthread_rwlock_t rwlock;
  pthread_rwlock_init(&rwlock, nullptr);
  pthread_rwlock_destroy(&rwlock);
}

void spinlock_lives() {
  pthread_spinlock_t spinlock;
  pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_destroy(&spinlock);
}

void condition_lives() {
  pthread_cond_t condition;
  pthread_cond_init(&condition, nullptr);
  pthread_cond_destroy(&condition);
}

void barrier_lives() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 1);
  pthread_barrier_destroy(&barrier);
}

void semaphore_lives() {
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  sem_trywait(&semaphore);
  sem_post(&semaphore);
  sem_destroy(&semaphore);
}

void c11_lives() {
  mtx_t mutex;
  cnd_t condition;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  cnd_destroy(&condition);
  mtx_destroy(&mutex);
}

void once() {
  pthread_once_t posix = PTHREAD_ONCE_INIT;
  pthread_once(&posix, [] {});
}

void once_c11() {
  once_flag c11 = ONCE_FLAG_INIT;
  call_once(&c11, [] {});
}

void map_memory() {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* at = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(at, page, PROT_READ);
  pkey_mprotect(at, page, PROT_READ, -1);
  at = mremap(at, page, 2 * page, MREMAP_MAYMOVE);
  munmap(at, 2 * page);
  at = mmap64(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(at, page);
}

extern "C" ssize_t recvfrom_checked(int fd, void* to, size_t bytes, size_t room, int flags, sockaddr* from,
                                    socklen_t* from_bytes) __asm__("__recvfrom_chk");

// Between a pair's ends, in all ways that a handler may not use.
void transfer() {
  int ends[2], pipe_ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(pipe_ends, O_CLOEXEC) != 0) return;
  iovec part{g_bytes, 1};
  mmsghdr message{};
  message.msg_hdr.msg_iov = &part;
  message.msg_hdr.msg_iovlen = 1;
  (void)sendmmsg(ends[0], &message, 1, 0);
  (void)recvmmsg(ends[1], &message, 1, MSG_DONTWAIT, nullptr);
  off_t at = 0;
  off64_t at64 = 0;
  (void)!sendfile(ends[0], g_file, &at, 1);
  (void)!sendfile64(ends[0], g_file, &at64, 1);
  (void)!recvfrom_checked(ends[1], g_bytes, 1, 1, MSG_DONTWAIT, nullptr, nullptr);
  (void)!splice(g_file, nullptr, pipe_ends[1], nullptr, 1, SPLICE_F_NONBLOCK);
  (void)lseek(g_file, 0, SEEK_SET);
  const int copy = dup3(ends[0], ends[1], O_CLOEXEC);
  for (const int fd : {ends[0], copy, pipe_ends[0], pipe_ends[1]}) close(fd);
}

constexpr unsigned kBeyondAll = 1 << 30;
void close_beyond_all() {
  close_range(kBeyondAll, kBeyondAll + 1, 0);
  closefrom(kBeyondAll);
}

void open_stream() {
  const int end = dup(g_pipe[0]);
  if (FILE* const stream = fdopen(end, "r")) fclose(stream);
}

// The compiler may not leave the block out.
void allocate() {
  void* volatile block = malloc(100);
  free(block);
}

// --- Calls that need much of the stack themselves.

pthread_t short_thread(void* (*body)(void*) = return_at_once) {
  return start(body);
}

void join_when_over() {
  const pthread_t thread = short_thread();
  const timespec nap{0, 1'000'000};
  while (pthread_tryjoin_np(thread, nullptr) != 0) nanosleep(&nap, nullptr);
}

void join_with_time() {
  const timespec until = soon(CLOCK_REALTIME);
  pthread_timedjoin_np(short_thread(), nullptr, &until);
}

void join_by_clock() {
  const timespec until = soon(CLOCK_MONOTONIC);
  pthread_clockjoin_np(short_thread(), nullptr, CLOCK_MONOTONIC, &until);
}

void cancel() {
  const pthread_t thread = short_thread([](void*) -> void* {
    for (;;) pause();
  });
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
}

void create_c11() {
  thrd_t thread;
  thrd_create(&thread, [](void*) { return 0; }, nullptr);
  thrd_join(thread, nullptr);
}

void unload() {
  void* library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library) dlclose(library);
}

// More events than any of a thread's buffers holds: its first, the larger ones behind it, and those that it gets again.
void fill_buffers() {
  sections(400'000);
}

// As long as several windows of a recording of sets, and what lies between them (run_harm.py).
void lock_for_many_windows() {
  const timespec begin = soon(CLOCK_MONOTONIC);
  timespec now;
  do {
    sections(100);
    now = soon(CLOCK_MONOTONIC);
  } while ((now.tv_sec - begin.tv_sec) * 1'000'000'000 + now.tv_nsec - begin.tv_nsec < 300'000'000);
}

constexpr const char* kNowhere = "/nowhere/to/be/found";
char* const kNobody[] = {const_cast<char*>("nobody"), nullptr};

void hold_mutex() {
  pthread_mutex_lock(&g_mutex);
}
void give_mutex() {
  pthread_mutex_unlock(&g_mutex);
}
void hold_rwlock() {
  pthread_rwlock_wrlock(&g_rwlock);
}
void give_rwlock() {
  pthread_rwlock_unlock(&g_rwlock);
}
void hold_nothing() {}
void signal_condition() {
  pthread_mutex_lock(&g_mutex);
  pthread_cond_signal(&g_condition);
  pthread_mutex_unlock(&g_mutex);
}
void lock_with_time() {
  const timespec until = soon(CLOCK_REALTIME);
  pthread_mutex_timedlock(&g_mutex, &until);
  pthread_mutex_unlock(&g_mutex);
}
void lock_by_clock() {
  const timespec until = soon(CLOCK_MONOTONIC);
  pthread_mutex_clocklock(&g_mutex, CLOCK_MONOTONIC, &until);
  pthread_mutex_unlock(&g_mutex);
}
void write_by_clock() {
  const timespec until = soon(CLOCK_MONOTONIC);
  pthread_rwlock_clockwrlock(&g_rwlock, CLOCK_MONOTONIC, &until);
  pthread_rwlock_unlock(&g_rwlock);
}
void wait_for_condition() {
  pthread_mutex_lock(&g_mutex);
  pthread_cond_wait(&g_condition, &g_mutex);
  pthread_mutex_unlock(&g_mutex);
}
void wait_for_condition_by_clock() {
  const timespec until = soon(CLOCK_MONOTONIC);
  pthread_mutex_lock(&g_mutex);
  pthread_cond_clockwait(&g_condition, &g_mutex, CLOCK_MONOTONIC, &until);
  pthread_mutex_unlock(&g_mutex);
}
void wait_for_semaphore_by_clock() {
  const timespec until = soon(CLOCK_MONOTONIC);
  sem_clockwait(&g_semaphore, CLOCK_MONOTONIC, &until);
}

void hold_c11() {
  mtx_lock(&g_c11);
}
void give_c11() {
  mtx_unlock(&g_c11);
}
void wait_for_c11_condition() {
  mtx_lock(&g_c11);
  cnd_wait(&g_c11_condition, &g_c11);
  mtx_unlock(&g_c11);
}
void signal_c11_condition() {
  mtx_lock(&g_c11);
  cnd_signal(&g_c11_condition);
  mtx_unlock(&g_c11);
}
void post() {
  sem_post(&g_semaphore);
}
void read_with_time() {
  const timespec until = soon(CLOCK_REALTIME);
  pthread_rwlock_timedrdlock(&g_rwlock, &until);
  pthread_rwlock_unlock(&g_rwlock);
}
void read_by_clock() {
  const timespec until = soon(CLOCK_MONOTONIC);
  pthread_rwlock_clockrdlock(&g_rwlock, CLOCK_MONOTONIC, &until);
  pthread_rwlock_unlock(&g_rwlock);
}
void write_with_time() {
  const timespec until = soon(CLOCK_REALTIME);
  pthread_rwlock_timedwrlock(&g_rwlock, &until);
  pthread_rwlock_unlock(&g_rwlock);
}
void wait_for_condition_with_time() {
  const timespec until = soon(CLOCK_REALTIME);
  pthread_mutex_lock(&g_mutex);
  pthread_cond_timedwait(&g_condition, &g_mutex, &until);
  pthread_mutex_unlock(&g_mutex);
}
void wait_for_c11_condition_with_time() {
  const timespec until = soon(CLOCK_REALTIME);
  mtx_lock(&g_c11);
  cnd_timedwait(&g_c11_condition, &g_c11, &until);
  mtx_unlock(&g_c11);
}
void wait_for_semaphore_with_time() {
  const timespec until = soon(CLOCK_REALTIME);
  sem_timedwait(&g_semaphore, &until);
}
void give_barrier() {
  pthread_barrier_wait(&g_pair);
}

int g_futex = 0;
void wait_at_futex() {
  syscall(SYS_futex, &g_futex, FUTEX_WAIT_PRIVATE, 0, nullptr);
}
void wake_futex() {
  __atomic_store_n(&g_futex, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &g_futex, FUTEX_WAKE_PRIVATE, 1);
  __atomic_store_n(&g_futex, 0, __ATOMIC_SEQ_CST);
}

void read_a_byte() {
  (void)!read(g_pipe[0], g_bytes, 1);
}
void read_parts() {
  const iovec part{g_bytes, 1};
  (void)!readv(g_pipe[0], &part, 1);
}
void poll_a_byte() {
  pollfd fd{g_pipe[0], POLLIN, 0};
  poll(&fd, 1, -1);
  read_a_byte();
}
void select_a_byte() {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(g_pipe[0], &set);
  select(g_pipe[0] + 1, &set, nullptr, nullptr, nullptr);
  read_a_byte();
}
void write_a_byte() {
  (void)!write(g_pipe[1], "x", 1);
}

}  // namespace

const Call kLockCalls[] = {
    {"pthread_mutex_lock pthread_mutex_unlock", lock_both},
    {"pthread_mutex_trylock", try_mutex},
    {"pthread_cond_timedwait, past", wait_until_past},
    {"pthread_cond_signal", [] { pthread_cond_signal(&g_condition); }},
    {"pthread_cond_broadcast", [] { pthread_cond_broadcast(&g_condition); }},
    {"pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock", read_and_write},
    {"pthread_rwlock_tryrdlock pthread_rwlock_trywrlock", try_rwlock},
    {"pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_clockrdlock", lock_rwlock_with_time},
    {"pthread_spin_lock pthread_spin_unlock", spin},
    {"pthread_spin_trylock", try_spin},
    {"mtx_lock mtx_unlock", lock_c11},
    {"mtx_trylock mtx_timedlock", try_c11},
    {"cnd_timedwait, past", wait_c11_until_past},
    {"cnd_signal", [] { cnd_signal(&g_c11_condition); }},
    {"cnd_broadcast", [] { cnd_broadcast(&g_c11_condition); }},
    {"pthread_mutex_init pthread_mutex_destroy", mutex_lives},
    {"pthread_rwlock_init pthread_rwlock_destroy", rwlock_lives},
    {"pthread_spin_init pthread_spin_destroy", spinlock_lives},
    {"pthread_cond_init pthread_cond_destroy", condition_lives},
    {"pthread_barrier_init pthread_barrier_destroy", barrier_lives},
    {"sem_init sem_trywait sem_post sem_destroy", semaphore_lives},
    {"mtx_init mtx_destroy cnd_init cnd_destroy", c11_lives},
    {"pthread_barrier_wait", [] { pthread_barrier_wait(&g_barrier); }},
    {"sem_timedwait, past", [] { sem_timedwait(&g_semaphore, &kPast); }},
    {"pthread_once", once},
    {"call_once", once_c11},
    {"mmap mmap64 mprotect pkey_mprotect mremap munmap", map_memory},
    {"free", allocate},
    {"sendmmsg recvmmsg sendfile sendfile64 __recvfrom_chk splice dup3", transfer},
    {"close_range closefrom", close_beyond_all},
    {"fdopen", open_stream},
    {"thrd_sleep", [] { thrd_sleep(&kPast, nullptr); }},
    {"pthread_create pthread_join", create_and_join},
    {"pthread_setname_np", [] { pthread_setname_np(pthread_self(), "named"); }},
};
const size_t kLockCallCount = std::size(kLockCalls);

const Call kLargeCalls[] = {
    {"pthread_tryjoin_np", join_when_over},
    {"pthread_timedjoin_np", join_with_time},
    {"pthread_clockjoin_np", join_by_clock},
    {"pthread_detach", [] { pthread_detach(short_thread()); }},
    {"pthread_cancel", cancel},
    {"thrd_create thrd_join", create_c11},
    {"dlclose", unload},
    {"execlp, failing", [] { execlp(kNowhere, "nobody", static_cast<char*>(nullptr)); }},
    {"execvp, failing", [] { execvp(kNowhere, kNobody); }},
    {"execvpe, failing", [] { execvpe(kNowhere, kNobody, environ); }},
};
const size_t kLargeCallCount = std::size(kLargeCalls);

const Call kLongCalls[] = {
    {"pthread_mutex_lock pthread_mutex_unlock, until buffers are full", fill_buffers},
    {"pthread_mutex_lock pthread_mutex_unlock, while windows begin and end", lock_for_many_windows},
};
const size_t kLongCallCount = std::size(kLongCalls);

const WaitingCall kWaitingCalls[] = {
    {"pthread_mutex_lock, held", hold_mutex, lock_both, give_mutex},
    {"pthread_mutex_timedlock, held", hold_mutex, lock_with_time, give_mutex},
    {"pthread_mutex_clocklock, held", hold_mutex, lock_by_clock, give_mutex},
    {"pthread_rwlock_rdlock, held", hold_rwlock, read_and_write, give_rwlock},
    {"pthread_rwlock_clockwrlock, held", hold_rwlock, write_by_clock, give_rwlock},
    {"mtx_lock, held", hold_c11, lock_c11, give_c11},
    {"cnd_wait", hold_nothing, wait_for_c11_condition, signal_c11_condition},
    {"pthread_cond_wait", hold_nothing, wait_for_condition, signal_condition},
    {"pthread_cond_clockwait", hold_nothing, wait_for_condition_by_clock, signal_condition},
    {"sem_wait, waits", hold_nothing, [] { sem_wait(&g_semaphore); }, post},
    {"sem_clockwait, waits", hold_nothing, wait_for_semaphore_by_clock, post},
    {"pthread_rwlock_timedrdlock, held", hold_rwlock, read_with_time, give_rwlock},
    {"pthread_rwlock_clockrdlock, held", hold_rwlock, read_by_clock, give_rwlock},
    {"pthread_rwlock_timedwrlock, held", hold_rwlock, write_with_time, give_rwlock},
    {"pthread_cond_timedwait, waits", hold_nothing, wait_for_condition_with_time, signal_condition},
    {"cnd_timedwait, waits", hold_nothing, wait_for_c11_condition_with_time, signal_c11_condition},
    {"sem_timedwait, waits", hold_nothing, wait_for_semaphore_with_time, post},
    {"pthread_barrier_wait, waits", hold_nothing, [] { pthread_barrier_wait(&g_pair); }, give_barrier},
    {"syscall, a futex", hold_nothing, wait_at_futex, wake_futex},
    {"read, waits", hold_nothing, read_a_byte, write_a_byte},
    {"readv, waits", hold_nothing, read_parts, write_a_byte},
    {"poll, waits", hold_nothing, poll_a_byte, write_a_byte},
    {"select, waits", hold_nothing, select_a_byte, write_a_byte},
};
const size_t kWaitingCallCount = std::size(kWaitingCalls);

void prepare_further_calls() {
  pthread_spin_init(&g_spinlock, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&g_barrier, nullptr, 1);
  pthread_barrier_init(&g_pair, nullptr, 2);
  expect(pipe2(g_pipe, O_CLOEXEC) == 0, "pipe2");
  g_file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  sem_init(&g_semaphore, 0, 0);
  mtx_init(&g_c11, mtx_timed);
  cnd_init(&g_c11_condition);
  cancel();  // the first one loads a library
}
