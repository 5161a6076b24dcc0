// Two threads whose critical sections read, write, add and overwrite with the same value; the addresses are printed.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static volatile long read_only = 5, written, silent = 3, added;
static char received[64];

static void* worker(void* argument) {
  const long number = *static_cast<long*>(argument);
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    long seen = read_only;
    pthread_mutex_lock(&second);
    written = seen + number * 100 + i;
    pthread_mutex_unlock(&second);
    silent = 3;
    __asm__ volatile("addq $1, %0" : "+m"(added)::"cc");
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

int main() {
  pthread_t threads[2];
  long numbers[2] = {1, 2};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], nullptr, worker, &numbers[i]);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "0123456789", 10) != 10) return 1;
  pthread_mutex_lock(&mutex);
  const ssize_t got = read(ends[0], received, sizeof received);
  pthread_mutex_unlock(&mutex);
  printf("%ld %zd\n", added, got);
}
