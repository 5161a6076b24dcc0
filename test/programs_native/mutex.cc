// Four threads and one mutex, held for a while by each in turn, so that the others must wait.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t quiet = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void* worker(void*) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&contended);
    ++counter;
    if (i % 10 == 0) usleep(500);
    pthread_mutex_unlock(&contended);
  }
  return nullptr;
}

int main() {
  pthread_t threads[4];
  for (auto& thread : threads) pthread_create(&thread, nullptr, worker, nullptr);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  for (int i = 0; i < 25; ++i) {
    pthread_mutex_lock(&quiet);
    pthread_mutex_unlock(&quiet);
  }
  printf("%ld\n", counter);
  return 3;
}
