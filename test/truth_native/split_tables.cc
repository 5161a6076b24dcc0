// Two tables under one mutex, which nobody ever uses together. Twin: a mutex for each. Two threads.
#include "work.h"

static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER, tables_b = PTHREAD_MUTEX_INITIALIZER;
static uint64_t a = 1, b = 2;

[[gnu::noinline]] static void update_a() {
  pthread_mutex_lock(&tables);
  a += work(a & 15, 200) & 1;
  pthread_mutex_unlock(&tables);
}

[[gnu::noinline]] static void update_b() {
  pthread_mutex_t* mine = twin ? &tables_b : &tables;
  pthread_mutex_lock(mine);
  b += work(b & 15, 200) & 1;
  pthread_mutex_unlock(mine);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(2, [](int number) {
    for (int i = 0; i < 1000; ++i) {
      number == 0 ? update_a() : update_b();
      if (work(static_cast<uint64_t>(i), 60) == 0) return;
    }
  });
  return print_result(a + b);
}
