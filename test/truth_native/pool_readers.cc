// Jobs of a pool of four workers look a table up and wait inside, as for a page that has to be fetched; few change it.
// Twin: a reader-writer lock.
#include <unistd.h>

#include "pool.h"
#include "table_lock.h"

static uint64_t value = 1, changes;

[[gnu::noinline]] static uint64_t look_up() {
  READ();
  const uint64_t found = work(value & 3, 30);
  usleep(200);
  const uint64_t age = changes;
  DONE();
  return found + age;
}

[[gnu::noinline]] static void change() {
  WRITE();
  value += work(3, 100) | 1;
  ++changes;
  DONE();
}

int main(int, char** arguments) {
  choose(arguments);
  run_pool(4, 1200, [](int job) {
    if (job % 25 == 0) {
      change();
    } else if (look_up() == 0) {
      abort();
    }
    if (work(static_cast<uint64_t>(job), 60) == 0) abort();
  });
  return print_result(value + changes);
}
