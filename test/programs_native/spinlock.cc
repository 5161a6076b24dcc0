#include <pthread.h>
#include <stdio.h>

static pthread_spinlock_t lock;
static long counter;

static void* worker(void*) {
  for (int i = 0; i < 1000; ++i) {
    pthread_spin_lock(&lock);
    ++counter;
    pthread_spin_unlock(&lock);
  }
  return nullptr;
}

int main() {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_t threads[2];
  for (auto& thread : threads) pthread_create(&thread, nullptr, worker, nullptr);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  printf("%ld %d\n", counter, pthread_spin_trylock(&lock));
  pthread_spin_unlock(&lock);
}
