#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void* worker(void* late) {
  long serial = 0;
  for (int round = 0; round < 5; ++round) {
    if (late) usleep(3'000);
    serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  }
  return reinterpret_cast<void*>(serial);
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 3);
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], nullptr, worker, reinterpret_cast<void*>(i == 2));
  long serial = 0;
  for (auto& thread : threads) {
    void* value;
    pthread_join(thread, &value);
    serial += reinterpret_cast<long>(value);
  }
  printf("%ld\n", serial);
}
