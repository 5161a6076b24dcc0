// Most of what is done inside the lock touches nothing shared. Twin: it is done before. Two threads.
#include "work.h"

static pthread_mutex_t totals = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total = 1;
static volatile uint64_t count;

[[gnu::noinline]] static void add(int number) {
  uint64_t mine = 0;
  if (twin) mine = work(static_cast<uint64_t>(number), 200);
  pthread_mutex_lock(&totals);
  if (!twin) mine = work(static_cast<uint64_t>(number), 200);
  total += work(mine + (count >> 40), 50) & 1;
  count = count + 1;
  pthread_mutex_unlock(&totals);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(2, [](int number) {
    for (int i = 0; i < 1000; ++i) {
      add(number);
      if (work(static_cast<uint64_t>(i), 80) == 0) return;
    }
  });
  return print_result(total + count);
}
