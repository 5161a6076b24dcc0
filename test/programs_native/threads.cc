// Two thousand threads, some detached, some ended by pthread_exit, with thread-local destructors that take a lock.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed, detached_done;

struct Local {
  ~Local() {
    pthread_mutex_lock(&mutex);
    ++destroyed;
    pthread_mutex_unlock(&mutex);
  }
};
static thread_local Local local;

static void* joined(void* argument) {
  (void)&local;
  asm volatile("" : : "r"(&local));
  if (argument) pthread_exit(argument);
  return nullptr;
}

static void* detached(void*) {
  __atomic_fetch_add(&detached_done, 1, __ATOMIC_SEQ_CST);
  return nullptr;
}

int main() {
  long sum = 0;
  for (int round = 0; round < 19; ++round) {
    pthread_t threads[100];
    for (long i = 0; i < 100; ++i) pthread_create(&threads[i], nullptr, joined, reinterpret_cast<void*>(i % 2));
    for (auto& thread : threads) {
      void* value;
      pthread_join(thread, &value);
      sum += reinterpret_cast<long>(value);
    }
  }
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, detached, nullptr);
    pthread_detach(thread);
  }
  while (__atomic_load_n(&detached_done, __ATOMIC_SEQ_CST) < 100) usleep(1'000);
  printf("%ld %d\n", sum, destroyed);
}
