// Sections that do conflict: each makes of what the last one left what the next one needs, in two words that belong
// together. Nothing to be done about the lock; the twin is the same program. Two threads.
#include "work.h"

static pthread_mutex_t chain = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t last = 1, length;

[[gnu::noinline]] static void extend() {
  pthread_mutex_lock(&chain);
  last = work(last, 150);
  length = length + (last != 0);
  pthread_mutex_unlock(&chain);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(2, [](int) {
    for (int i = 0; i < 1000; ++i) {
      extend();
      if (work(static_cast<uint64_t>(i), 60) == 0) return;
    }
  });
  return print_result(length);
}
