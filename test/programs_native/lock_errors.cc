// Every error that POSIX lists for a function of locks, as far as this C library gives it: the result, errno, and how
// the lock behaves afterwards. Printed, so that a recorded run can be held against a plain one.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

namespace {

constexpr int kUntouched = 4242;  // no error of the library's
constexpr clockid_t kNoClock = 77;
constexpr timespec kBadTime{1, 1'000'000'000}, kNegativeTime{1, -1}, kPast{1, 0};

int line_number = 0;

// `call` is evaluated with errno untouched. The line says how often tell() was called: to find it in this file.
#define TELL(call)                                                          \
  do {                                                                      \
    errno = kUntouched;                                                     \
    const long result = (call);                                             \
    const int error = errno;                                                \
    printf("%3d %s = %ld errno %d\n", ++line_number, #call, result, error); \
  } while (false)

void in_thread(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, nullptr, body, nullptr);
  void* value = nullptr;
  pthread_join(thread, &value);
  if (value == PTHREAD_CANCELED) puts("cancelled");
}

pthread_mutex_t mutex_of(int type, int robust = PTHREAD_MUTEX_STALLED, int protocol = PTHREAD_PRIO_NONE) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  if (protocol == PTHREAD_PRIO_PROTECT) pthread_mutexattr_setprioceiling(&attributes, 1);
  pthread_mutex_t mutex;
  printf("init %d\n", pthread_mutex_init(&mutex, &attributes));
  return mutex;
}

pthread_mutex_t* subject;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
timespec soon() {
  timespec out;
  clock_gettime(CLOCK_REALTIME, &out);
  out.tv_nsec += 10'000'000;
  if (out.tv_nsec >= 1'000'000'000) ++out.tv_sec, out.tv_nsec -= 1'000'000'000;
  return out;
}

void* try_all_ways(void*) {
  TELL(pthread_mutex_trylock(subject));
  TELL(pthread_mutex_unlock(subject));
  const timespec until = soon();
  TELL(pthread_mutex_timedlock(subject, &until));
  TELL(pthread_mutex_timedlock(subject, &kPast));
  TELL(pthread_mutex_timedlock(subject, &kBadTime));
  TELL(pthread_mutex_timedlock(subject, &kNegativeTime));
  TELL(pthread_mutex_clocklock(subject, CLOCK_MONOTONIC, &kPast));
  TELL(pthread_mutex_clocklock(subject, CLOCK_MONOTONIC, &kBadTime));
  TELL(pthread_mutex_clocklock(subject, kNoClock, &kPast));
  return nullptr;
}

// The last unlock is one too many: not for a kind that would then be in a state of its own.
void kind_of_mutex(int type, int robust, int protocol) {
  pthread_mutex_t mutex = mutex_of(type, robust, protocol);
  subject = &mutex;
  const bool knows_owner = type != PTHREAD_MUTEX_NORMAL || robust == PTHREAD_MUTEX_ROBUST;
  if (knows_owner) TELL(pthread_mutex_unlock(&mutex));
  TELL(pthread_mutex_timedlock(&mutex, &kBadTime));  // it is free
  TELL(pthread_mutex_unlock(&mutex));
  TELL(pthread_mutex_clocklock(&mutex, kNoClock, &kPast));
  TELL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &kBadTime));
  TELL(pthread_mutex_unlock(&mutex));
  TELL(pthread_mutex_lock(&mutex));
  TELL(pthread_mutex_trylock(&mutex));
  if (type == PTHREAD_MUTEX_RECURSIVE) TELL(pthread_mutex_unlock(&mutex));
  if (type != PTHREAD_MUTEX_NORMAL) TELL(pthread_mutex_lock(&mutex));
  if (type != PTHREAD_MUTEX_NORMAL) TELL(pthread_mutex_timedlock(&mutex, &kPast));
  if (type == PTHREAD_MUTEX_RECURSIVE) {
    mutex.__data.__count = UINT_MAX;
    TELL(pthread_mutex_lock(&mutex));
    TELL(pthread_mutex_trylock(&mutex));
    TELL(pthread_mutex_timedlock(&mutex, &kPast));
    mutex.__data.__count = 1;
  }
  in_thread(try_all_ways);
  TELL(pthread_mutex_destroy(&mutex));
  TELL(pthread_mutex_unlock(&mutex));
  TELL(pthread_mutex_trylock(&mutex));
  TELL(pthread_mutex_unlock(&mutex));
  TELL(pthread_mutex_destroy(&mutex));
}

void mutexes() {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
    for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST}) {
      for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT}) kind_of_mutex(type, robust, protocol);
    }
  }
  // Nobody may run at the ceiling, or the thread runs above it.
  pthread_mutex_t ceiling = mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_PROTECT);
  TELL(pthread_mutex_trylock(&ceiling) != 0);
  sched_param param{2};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0) {
    puts("may be of real time");
    TELL(pthread_mutex_lock(&ceiling));
    TELL(pthread_mutex_trylock(&ceiling));
    TELL(pthread_mutex_timedlock(&ceiling, &kPast));
    param.sched_priority = 0;
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &param);
  }
  // A kind that is none.
  pthread_mutex_t strange = mutex_of(PTHREAD_MUTEX_NORMAL);
  strange.__data.__kind = 5;
  TELL(pthread_mutex_lock(&strange));
  TELL(pthread_mutex_trylock(&strange));
  TELL(pthread_mutex_timedlock(&strange, &kPast));
  TELL(pthread_mutex_unlock(&strange));
}

void* die_with_it(void*) {
  TELL(pthread_mutex_lock(subject));
  return nullptr;
}
void* take_and_give_up(void*) {
  TELL(pthread_mutex_trylock(subject));
  TELL(pthread_mutex_lock(subject));
  TELL(pthread_mutex_timedlock(subject, &kPast));
  TELL(pthread_mutex_clocklock(subject, CLOCK_MONOTONIC, &kPast));
  TELL(pthread_mutex_unlock(subject));
  return nullptr;
}
void* take_dead_one(void*) {
  TELL(pthread_mutex_lock(subject));
  TELL(pthread_mutex_consistent(subject));
  TELL(pthread_mutex_unlock(subject));
  return nullptr;
}
void* give_up_dead_one(void*) {
  TELL(pthread_mutex_lock(subject));
  TELL(pthread_mutex_unlock(subject));  // not consistent: nobody can recover it
  return nullptr;
}
void* wait_on_it(void*) {
  const timespec until = soon();
  TELL(pthread_cond_timedwait(&condition, subject, &until));
  return nullptr;
}

// Every way to take a mutex that cannot be recovered, first of all; a plain try of the program's leaves it locked.
void unrecoverable(int type, int protocol) {
  pthread_mutex_t mutex = mutex_of(type, PTHREAD_MUTEX_ROBUST, protocol);
  subject = &mutex;
  in_thread(die_with_it);
  in_thread(take_dead_one);
  in_thread(die_with_it);
  TELL(pthread_mutex_trylock(&mutex));
  TELL(pthread_mutex_consistent(&mutex));
  TELL(pthread_mutex_unlock(&mutex));
  in_thread(die_with_it);
  TELL(pthread_mutex_timedlock(&mutex, &kBadTime));
  TELL(pthread_mutex_consistent(&mutex));
  TELL(pthread_mutex_consistent(&mutex));
  TELL(pthread_mutex_unlock(&mutex));
  in_thread(die_with_it);
  in_thread(give_up_dead_one);
  for (int i = 0; i < 2; ++i) {
    TELL(pthread_mutex_lock(&mutex));
    TELL(pthread_mutex_timedlock(&mutex, &kPast));
    TELL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &kPast));
    TELL(pthread_mutex_timedlock(&mutex, &kBadTime));
    in_thread(die_with_it);
  }
  TELL(pthread_mutex_consistent(&mutex));
  TELL(pthread_mutex_unlock(&mutex));
  if (protocol == PTHREAD_PRIO_NONE) in_thread(wait_on_it);
  TELL(pthread_mutex_destroy(&mutex));
}

// Returns once another thread waits for the subject, or after two seconds.
void let_another_wait() {
  constexpr int kWaiters = 1 << 31;  // the C library's mark, and the kernel's, that somebody sleeps for the lock
  for (int i = 0; i < 2000 && (__atomic_load_n(&subject->__data.__lock, __ATOMIC_RELAXED) & kWaiters) == 0; ++i) {
    usleep(1000);
  }
}
sem_t owned;
void* die_once_waited_for(void*) {
  pthread_mutex_lock(subject);
  sem_post(&owned);
  let_another_wait();
  return nullptr;
}
void* give_up_once_waited_for(void*) {
  pthread_mutex_lock(subject);  // its owner is dead; not made consistent
  sem_post(&owned);
  let_another_wait();
  pthread_mutex_unlock(subject);
  return nullptr;
}

// The mutex loses its owner, and then is lost for good, while this thread waits for it.
void lost_while_waiting(int type, int protocol) {
  pthread_mutex_t mutex = mutex_of(type, PTHREAD_MUTEX_ROBUST, protocol);
  subject = &mutex;
  sem_init(&owned, 0, 0);
  pthread_t thread;
  for (int way = 0; way < 2; ++way) {
    pthread_create(&thread, nullptr, die_once_waited_for, nullptr);
    sem_wait(&owned);
    timespec until = soon();
    until.tv_sec += 10;
    TELL(way == 0 ? pthread_mutex_lock(&mutex) : pthread_mutex_timedlock(&mutex, &until));
    pthread_join(thread, nullptr);
    TELL(pthread_mutex_consistent(&mutex));
    TELL(pthread_mutex_unlock(&mutex));
  }
  in_thread(die_with_it);
  pthread_create(&thread, nullptr, give_up_once_waited_for, nullptr);
  sem_wait(&owned);
  TELL(pthread_mutex_lock(&mutex));
  pthread_join(thread, nullptr);
  TELL(pthread_mutex_trylock(&mutex));
  TELL(pthread_mutex_destroy(&mutex));
}

// A wait whose mutex has lost its owner for good meanwhile.
void* die_while_waited_for(void*) {
  pthread_mutex_lock(subject);
  pthread_cond_signal(&condition);
  return nullptr;
}
void conditions() {
  pthread_mutex_t checking = mutex_of(PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t robust = mutex_of(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  const timespec until = soon();
  TELL(pthread_cond_wait(&condition, &checking));
  TELL(pthread_cond_timedwait(&condition, &checking, &until));
  TELL(pthread_cond_clockwait(&condition, &checking, CLOCK_MONOTONIC, &kPast));
  TELL(pthread_mutex_lock(&checking));
  TELL(pthread_cond_timedwait(&condition, &checking, &until));
  TELL(pthread_cond_timedwait(&condition, &checking, &kPast));
  TELL(pthread_cond_timedwait(&condition, &checking, &kBadTime));
  TELL(pthread_cond_timedwait(&condition, &checking, &kNegativeTime));
  TELL(pthread_cond_clockwait(&condition, &checking, CLOCK_MONOTONIC, &kBadTime));
  TELL(pthread_cond_clockwait(&condition, &checking, kNoClock, &kPast));
  TELL(pthread_mutex_unlock(&checking));
  TELL(pthread_mutex_unlock(&checking));
  subject = &robust;
  TELL(pthread_mutex_lock(&robust));
  pthread_t thread;
  pthread_create(&thread, nullptr, die_while_waited_for, nullptr);
  TELL(pthread_cond_wait(&condition, &robust));
  pthread_join(thread, nullptr);
  TELL(pthread_mutex_unlock(&robust));
  TELL(pthread_mutex_lock(&robust));
  TELL(pthread_cond_signal(&condition));
  TELL(pthread_cond_broadcast(&condition));
  TELL(pthread_cond_destroy(&condition));
  TELL(pthread_cond_init(&condition, nullptr));
}

pthread_rwlock_t rwlock;
void* try_rwlock(void*) {
  TELL(pthread_rwlock_tryrdlock(&rwlock));
  TELL(pthread_rwlock_trywrlock(&rwlock));
  TELL(pthread_rwlock_timedwrlock(&rwlock, &kPast));
  TELL(pthread_rwlock_timedrdlock(&rwlock, &kBadTime));
  TELL(pthread_rwlock_timedwrlock(&rwlock, &kNegativeTime));
  TELL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &kPast));
  TELL(pthread_rwlock_clockrdlock(&rwlock, kNoClock, &kPast));
  return nullptr;
}

void rwlocks() {
  TELL(pthread_rwlock_init(&rwlock, nullptr));
  TELL(pthread_rwlock_timedrdlock(&rwlock, &kBadTime));  // it is free
  TELL(pthread_rwlock_timedwrlock(&rwlock, &kNegativeTime));
  TELL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &kBadTime));
  TELL(pthread_rwlock_clockwrlock(&rwlock, kNoClock, &kPast));
  TELL(pthread_rwlock_timedrdlock(&rwlock, &kPast));
  TELL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &kPast));
  TELL(pthread_rwlock_trywrlock(&rwlock));
  TELL(pthread_rwlock_timedwrlock(&rwlock, &kPast));
  TELL(pthread_rwlock_unlock(&rwlock));
  TELL(pthread_rwlock_unlock(&rwlock));
  TELL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &kPast));
  TELL(pthread_rwlock_wrlock(&rwlock));
  TELL(pthread_rwlock_rdlock(&rwlock));
  TELL(pthread_rwlock_timedrdlock(&rwlock, &kPast));
  TELL(pthread_rwlock_timedwrlock(&rwlock, &kPast));
  in_thread(try_rwlock);
  TELL(pthread_rwlock_unlock(&rwlock));
  // As many readers as there may be: three bits of the word are not theirs.
  const unsigned readers = rwlock.__data.__readers;
  rwlock.__data.__readers = UINT_MAX - 7;
  TELL(pthread_rwlock_rdlock(&rwlock));
  TELL(pthread_rwlock_tryrdlock(&rwlock));
  TELL(pthread_rwlock_timedrdlock(&rwlock, &kPast));
  rwlock.__data.__readers = readers;
  TELL(pthread_rwlock_wrlock(&rwlock));
  TELL(pthread_rwlock_unlock(&rwlock));
  TELL(pthread_rwlock_destroy(&rwlock));
}

sem_t semaphore;
void on_alarm(int) {}
void ring_once() {
  struct sigaction action{};
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer{{0, 0}, {0, 20'000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}
template <typename Wait>
void* cancelled_at(Wait wait) {
  pthread_cancel(pthread_self());
  wait();
  puts("not cancelled");
  return nullptr;
}

void semaphores() {
  TELL(sem_init(&semaphore, 0, 0));
  TELL(sem_trywait(&semaphore));
  TELL(sem_timedwait(&semaphore, &kPast));
  TELL(sem_timedwait(&semaphore, &kBadTime));
  TELL(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &kPast));
  TELL(sem_clockwait(&semaphore, kNoClock, &kPast));
  ring_once();
  TELL(sem_wait(&semaphore));
  ring_once();
  timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 100;
  TELL(sem_timedwait(&semaphore, &late));
  for (int i = 0; i < 4; ++i) TELL(sem_post(&semaphore));
  TELL(sem_wait(&semaphore));
  TELL(sem_trywait(&semaphore));
  TELL(sem_timedwait(&semaphore, &kBadTime));  // it could go on at once
  TELL(sem_timedwait(&semaphore, &kNegativeTime));
  TELL(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &kBadTime));
  TELL(sem_clockwait(&semaphore, kNoClock, &kPast));
  TELL(sem_timedwait(&semaphore, &kPast));
  TELL(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &kPast));
  TELL(sem_trywait(&semaphore));
  TELL(sem_init(&semaphore, 0, SEM_VALUE_MAX));
  TELL(sem_post(&semaphore));
  TELL(sem_trywait(&semaphore));
  TELL(sem_post(&semaphore));
  TELL(sem_post(&semaphore));
  TELL(sem_init(&semaphore, 0, SEM_VALUE_MAX + 1u));
  sem_init(&semaphore, 0, 10);
  in_thread([](void*) -> void* { return cancelled_at([] { sem_wait(&semaphore); }); });
  in_thread([](void*) -> void* { return cancelled_at([] { sem_timedwait(&semaphore, &kPast); }); });
  in_thread([](void*) -> void* { return cancelled_at([] { sem_clockwait(&semaphore, CLOCK_MONOTONIC, &kPast); }); });
  in_thread([](void*) -> void* { return cancelled_at([] { sem_trywait(&semaphore); }); });
  in_thread([](void*) -> void* { return cancelled_at([] { sem_timedwait(&semaphore, &kBadTime); }); });
  int value = 0;
  TELL(sem_getvalue(&semaphore, &value));
  printf("value %d\n", value);
  TELL(sem_destroy(&semaphore));
}

void spinlocks_and_barriers() {
  pthread_spinlock_t spin;
  TELL(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
  TELL(pthread_spin_lock(&spin));
  TELL(pthread_spin_trylock(&spin));
  TELL(pthread_spin_unlock(&spin));
  TELL(pthread_spin_trylock(&spin));
  TELL(pthread_spin_unlock(&spin));
  TELL(pthread_spin_destroy(&spin));
  pthread_barrier_t barrier;
  TELL(pthread_barrier_init(&barrier, nullptr, 0));
  TELL(pthread_barrier_init(&barrier, nullptr, 1));
  TELL(pthread_barrier_wait(&barrier));
  TELL(pthread_barrier_wait(&barrier));
  TELL(pthread_barrier_destroy(&barrier));
}

mtx_t c11;
int try_c11(void*) {
  TELL(mtx_trylock(&c11));
  TELL(mtx_timedlock(&c11, &kPast));
  TELL(mtx_timedlock(&c11, &kBadTime));
  return 0;
}
void c11_locks() {
  for (const int type : {mtx_plain | 0, mtx_timed | 0, mtx_timed | mtx_recursive}) {
    TELL(mtx_init(&c11, type));
    TELL(mtx_timedlock(&c11, &kBadTime));  // it is free
    TELL(mtx_trylock(&c11));
    thrd_t thread;
    thrd_create(&thread, try_c11, nullptr);
    thrd_join(thread, nullptr);
    cnd_t cnd;
    TELL(cnd_init(&cnd));
    TELL(cnd_timedwait(&cnd, &c11, &kPast));
    TELL(cnd_timedwait(&cnd, &c11, &kBadTime));
    TELL(cnd_signal(&cnd));
    TELL(cnd_broadcast(&cnd));
    TELL(mtx_unlock(&c11));
    if (type & mtx_recursive) TELL(mtx_unlock(&c11));
    if (type & mtx_recursive) TELL(mtx_unlock(&c11));
    mtx_destroy(&c11);
    cnd_destroy(&cnd);
  }
  TELL(mtx_init(&c11, 17));
}

// A plain lock and a plain wait of C11's, which have no error but what another thread does to their mutex.
cnd_t c11_changed;
int signal_c11(void*) {
  TELL(mtx_lock(&c11));
  TELL(cnd_signal(&c11_changed));
  mtx_unlock(&c11);  // from here on the other thread may write its line
  return 0;
}
void c11_waits() {
  TELL(mtx_init(&c11, mtx_plain | mtx_recursive));
  TELL(mtx_lock(&c11));
  TELL(mtx_lock(&c11));
  c11.__size[4] = c11.__size[5] = c11.__size[6] = c11.__size[7] = -1;  // locked as often as can be counted
  TELL(mtx_lock(&c11));
  mtx_destroy(&c11);
  TELL(mtx_init(&c11, mtx_plain));
  TELL(cnd_init(&c11_changed));
  TELL(mtx_lock(&c11));
  thrd_t thread;
  thrd_create(&thread, signal_c11, nullptr);
  TELL(cnd_wait(&c11_changed, &c11));
  TELL(mtx_unlock(&c11));
  TELL(thrd_join(thread, nullptr));
  cnd_destroy(&c11_changed);
  mtx_destroy(&c11);
}

void once() {
  static int runs;
  runs = 0;
  pthread_once_t posix = PTHREAD_ONCE_INIT;
  for (int i = 0; i < 2; ++i) TELL(pthread_once(&posix, [] { ++runs; }));
  once_flag c11_once = ONCE_FLAG_INIT;
  for (int i = 0; i < 2; ++i) call_once(&c11_once, [] { ++runs; });
  printf("ran %d\n", runs);
}

// Not with a time that is none: this C library waits for ever then.
sem_t may_end;
void* end_when_it_may(void*) {
  sem_wait(&may_end);
  return nullptr;
}
void joins() {
  sem_init(&may_end, 0, 0);
  pthread_t thread;
  pthread_create(&thread, nullptr, end_when_it_may, nullptr);
  TELL(pthread_tryjoin_np(thread, nullptr));
  TELL(pthread_timedjoin_np(thread, nullptr, &kPast));
  TELL(pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &kPast));
  TELL(pthread_join(pthread_self(), nullptr));
  sem_post(&may_end);
  TELL(pthread_join(thread, nullptr));
  pthread_create(&thread, nullptr, end_when_it_may, nullptr);
  TELL(pthread_detach(thread));
  TELL(pthread_detach(thread));
  TELL(pthread_join(thread, nullptr));
  TELL(pthread_tryjoin_np(thread, nullptr));
  sem_post(&may_end);
}

void run_all() {
  mutexes();
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK}) {
    for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT}) {
      unrecoverable(type, protocol);
      lost_while_waiting(type, protocol);
    }
  }
  conditions();
  rwlocks();
  semaphores();
  spinlocks_and_barriers();
  c11_locks();
  c11_waits();
  once();
  joins();
}

}  // namespace

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);  // what was before a hang is shown
  run_all();
  puts("with a lock held");
  pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&outer);
  run_all();
  pthread_mutex_unlock(&outer);
}
