// A table that is looked up much and changed little, under a mutex; a look-up needs it to the end. Twin: a
// reader-writer lock. Two threads. A section is long beside a wake-up: after a short one its thread is back at the lock
// before the woken one, runs ahead, and the twin changes the table in another order than the one recorded.
#include "table_lock.h"
#include "work.h"

static uint64_t value = 1;
static volatile uint64_t changes;

[[gnu::noinline]] static uint64_t look_up() {
  READ();
  const volatile uint64_t found = work(value & 3, 1500);  // in memory, as many a compiler has it: nobody else's
  const uint64_t age = changes;
  DONE();
  return found + age;
}

[[gnu::noinline]] static void change() {
  WRITE();
  value += work(3, 1500) | 1;
  changes = changes + 1;
  DONE();
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(2, [](int number) {
    for (int i = 0; i < 200; ++i) {
      if (i % 20 == number) {
        change();
      } else if (look_up() == 0) {
        return;
      }
      if (work(static_cast<uint64_t>(i), 600) == 0) return;
    }
  });
  return print_result(value + changes);
}
