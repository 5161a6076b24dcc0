// Six threads that compute: the cores are the limit, not the mutex that everybody takes. Twin: no mutex. The lock is
// contended, and yet removing it gains little.
#include "work.h"

static pthread_mutex_t totals = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sums[6][64];

[[gnu::noinline]] static void add(int number) {
  if (!twin) pthread_mutex_lock(&totals);
  sums[number][0] += work(sums[number][0] & 3, 60) & 1;
  if (!twin) pthread_mutex_unlock(&totals);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(6, [](int number) {
    for (int i = 0; i < 250; ++i) {
      add(number);
      if (work(static_cast<uint64_t>(i), 300) == 0) return;
    }
  });
  uint64_t sum = 0;
  for (auto& one : sums) sum += one[0];
  return print_result(sum);
}
