// A mutex that is held so rarely that it stands in nobody's way: to be left alone. Twin: no mutex (the sums are per
// thread). Two threads.
#include "work.h"

static pthread_mutex_t totals = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sums[2][64];

[[gnu::noinline]] static void add(int number) {
  if (!twin) pthread_mutex_lock(&totals);
  sums[number][0] += work(sums[number][0] & 3, 3) & 1;
  if (!twin) pthread_mutex_unlock(&totals);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(2, [](int number) {
    for (int i = 0; i < 1500; ++i) {
      add(number);
      if (work(static_cast<uint64_t>(i), 200) == 0) return;
    }
  });
  return print_result(sums[0][0] + sums[1][0]);
}
