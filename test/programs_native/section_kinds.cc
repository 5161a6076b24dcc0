// Two threads in turns; for each kind of contention a lock of its own and a function with its critical section.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static sem_t turns[2];
static volatile long read_by_all = 5, counter = 1, added, flag = 1, sink[2][16];
static char text[2][64];

#define SECTION(name, ...)                                         \
  static pthread_mutex_t name##_mutex = PTHREAD_MUTEX_INITIALIZER; \
  static __attribute__((noinline)) void name(int self) {           \
    pthread_mutex_lock(&name##_mutex);                             \
    __VA_ARGS__;                                                   \
    pthread_mutex_unlock(&name##_mutex);                           \
    (void)self;                                                    \
  }

SECTION(nothing, )
SECTION(reads, (void)read_by_all)
SECTION(writes_apart, sink[self][3] = sink[self][3] + 1)
SECTION(copies_apart, memset(text[self], text[self][0] + 1, sizeof text[self]))
SECTION(writes_the_same, flag = 1)
SECTION(adds, __asm__ volatile("addq $2, %0" : "+m"(added)::"cc"))
SECTION(conflicts, counter = counter * 3 + 1)

static void* worker(void* argument) {
  const int self = *static_cast<int*>(argument);
  for (int round = 0; round < 20; ++round) {
    while (sem_wait(&turns[self]) != 0) {
    }
    nothing(self);
    reads(self);
    writes_apart(self);
    copies_apart(self);
    writes_the_same(self);
    adds(self);
    conflicts(self);
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
  printf("%ld %ld %ld %d\n", counter, added, sink[1][3], text[1][63]);
}
