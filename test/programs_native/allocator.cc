// An allocator of the program's own, in which a signal's handler comes that leaves by siglongjmp, with a lock held;
// then two threads in turns change a variable in critical sections.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

extern "C" void* __libc_malloc(size_t);

// Of the thread that leaves the allocator: other threads, which may begin meanwhile, allocate as always.
static thread_local volatile bool signals;
extern "C" __attribute__((noinline)) void* malloc(size_t bytes) {
  if (signals) raise(SIGUSR1);
  return __libc_malloc(bytes);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t turns[2];
static long counter = 1;
static sigjmp_buf jump_out;
static void* volatile kept;

static __attribute__((noinline)) void changes() {
  pthread_mutex_lock(&mutex);
  counter = counter * 3 + 1;
  pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) void allocates() {
  pthread_mutex_lock(&mutex);
  signals = true;
  kept = malloc(100);
}

static void leave_allocator() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    signals = false;
    siglongjmp(jump_out, 1);
  };
  sigaction(SIGUSR1, &action, nullptr);
  if (sigsetjmp(jump_out, 1) == 0) allocates();
  pthread_mutex_unlock(&mutex);
}

static void* worker(void* argument) {
  const int self = *static_cast<int*>(argument);
  for (int round = 0; round < 20; ++round) {
    while (sem_wait(&turns[self]) != 0) {
    }
    if (self == 0) leave_allocator();
    changes();
    sem_post(&turns[1 - self]);
  }
  return nullptr;
}

int main() {
  sem_init(&turns[0], 0, 1);
  sem_init(&turns[1], 0, 0);
  pthread_t threads[2];
  int numbers[2] = {0, 1};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, worker, &numbers[i]);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  printf("%ld\n", counter);
}
