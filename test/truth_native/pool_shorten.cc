// Jobs of a pool of two workers do most of what they do inside a lock although it touches nothing shared. Twin: it is
// done before.
#include "pool.h"

static pthread_mutex_t totals = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total = 1;
static volatile uint64_t count;

[[gnu::noinline]] static void add(int job) {
  uint64_t mine = 0;
  if (twin) mine = work(static_cast<uint64_t>(job), 200);
  pthread_mutex_lock(&totals);
  if (!twin) mine = work(static_cast<uint64_t>(job), 200);
  total += work(mine + (count >> 40), 50) & 1;
  count = count + 1;
  pthread_mutex_unlock(&totals);
}

int main(int, char** arguments) {
  choose(arguments);
  run_pool(2, 2000, [](int job) {
    add(job);
    if (work(static_cast<uint64_t>(job), 80) == 0) abort();
  });
  return print_result(total + count);
}
