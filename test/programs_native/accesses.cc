// Two threads and main, whose accesses to variables of this file are known; they take a lock only now and then. Under
// it they count what both write. Prints what came of it, and on standard error the addresses.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long mine[2][64];  // by thread, far from the other's
static volatile long both;
static volatile long before_main_ends;

static void* worker(void* argument) {
  const long number = *static_cast<long*>(argument);
  for (long i = 0; i < 1000; ++i) {
    mine[number][0] = i;                                                  // 1000 writes
    if (i % 2 == 0) mine[number][1] = mine[number][1] + mine[number][0];  // 500 reads of each, 500 writes
    if (i % 100 == 0) {
      pthread_mutex_lock(&mutex);
      both = both + 1;
      pthread_mutex_unlock(&mutex);
    }
  }
  if (number == 1) pthread_exit(nullptr);
  return nullptr;
}

int main() {
  pthread_t threads[2];
  long numbers[2] = {0, 1};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, worker, &numbers[i]);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  for (int i = 0; i < 7; ++i) before_main_ends = i;
  fprintf(stderr, "addresses %p %p %p %p\n", (void*)mine[0], (void*)mine[1], (void*)&both, (void*)&before_main_ends);
  printf("mine %ld %ld both %ld\n", mine[0][1], mine[1][1], both);
}
