// Jobs of a pool of six workers, more than the cores, each book into an account of their own under one mutex, and wait
// inside as for a disk. Twin: no mutex.
#include <unistd.h>

#include "pool.h"

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static uint64_t account[600][8];

[[gnu::noinline]] static void book(int job) {
  if (!twin) pthread_mutex_lock(&accounts);
  account[job][0] += work(static_cast<uint64_t>(job) & 7, 60) & 1;
  usleep(200);
  if (!twin) pthread_mutex_unlock(&accounts);
}

int main(int, char** arguments) {
  choose(arguments);
  run_pool(6, 600, [](int job) {
    book(job);
    if (work(static_cast<uint64_t>(job), 150) == 0) abort();
  });
  uint64_t sum = 0;
  for (auto& one : account) sum += one[0];
  return print_result(sum);
}
