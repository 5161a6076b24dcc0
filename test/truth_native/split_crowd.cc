// Four tables under one mutex, sleeping inside as a disk would make it. Twin: a mutex for each table. Eight threads.
#include <unistd.h>

#include "work.h"

static pthread_mutex_t tables[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                    PTHREAD_MUTEX_INITIALIZER};
static uint64_t values[4];

static pthread_mutex_t* mutex_of(int table) {
  return &tables[twin ? table : 0];
}

template <int kTable>
[[gnu::noinline]] static void update() {
  pthread_mutex_lock(mutex_of(kTable));
  const uint64_t value = work(values[kTable] & 1, 20);
  usleep(300);
  values[kTable] += value & 1;
  pthread_mutex_unlock(mutex_of(kTable));
}
static void update_0() {
  update<0>();
}
static void update_1() {
  update<1>();
}
static void update_2() {
  update<2>();
}
static void update_3() {
  update<3>();
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(8, [](int number) {
    static void (*const kUpdates[])() = {update_0, update_1, update_2, update_3};
    for (int i = 0; i < 120; ++i) {
      kUpdates[number % 4]();
      if (work(static_cast<uint64_t>(i), 150) == 0) return;
    }
  });
  return print_result(values[0] + values[1] + values[2] + values[3]);
}
