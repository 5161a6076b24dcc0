// Look-ups that wait inside the lock, as for a page that has to be fetched; eight threads. Twin: a reader-writer lock.
#include <unistd.h>

#include "table_lock.h"
#include "work.h"

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
  run_threads(8, [](int number) {
    for (int i = 0; i < 200; ++i) {
      if (i % 25 == number) {
        change();
      } else if (look_up() == 0) {
        return;
      }
      if (work(static_cast<uint64_t>(i), 60) == 0) return;
    }
  });
  return print_result(value + changes);
}
