// A lock that is held for nearly all of the run, around 20,000 sections of another one with 200 accesses each; then ten
// sections of their own.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static volatile long numbers[100];

static __attribute__((noinline)) void section(int count) {
  pthread_mutex_lock(&inner);
  for (int i = 0; i < count; ++i) numbers[i] = numbers[i] + 1;
  pthread_mutex_unlock(&inner);
}

int main() {
  pthread_mutex_lock(&held);
  for (int i = 0; i < 20'000; ++i) section(100);
  pthread_mutex_unlock(&held);
  for (int i = 0; i < 10; ++i) section(1);
  printf("%ld %ld\n", numbers[0], numbers[99]);
  return 0;
}
