// Readers together, then a writer that waits for a reader, and a reader that waits for a writer.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t ready;

static void* reader(void*) {
  pthread_rwlock_rdlock(&lock);
  pthread_barrier_wait(&ready);
  usleep(60'000);
  pthread_rwlock_unlock(&lock);
  return nullptr;
}

static void* late_reader(void*) {
  pthread_barrier_wait(&ready);
  printf("try %d\n", pthread_rwlock_tryrdlock(&lock) == EBUSY);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  return nullptr;
}

int main() {
  pthread_barrier_init(&ready, nullptr, 3);
  pthread_t a, b;
  pthread_create(&a, nullptr, reader, nullptr);
  pthread_create(&b, nullptr, reader, nullptr);
  pthread_barrier_wait(&ready);
  pthread_rwlock_wrlock(&lock);  // waits for both
  pthread_join(a, nullptr);
  pthread_join(b, nullptr);
  pthread_barrier_destroy(&ready);
  pthread_barrier_init(&ready, nullptr, 2);
  pthread_create(&a, nullptr, late_reader, nullptr);
  pthread_barrier_wait(&ready);
  usleep(60'000);
  pthread_rwlock_unlock(&lock);
  pthread_join(a, nullptr);
}
