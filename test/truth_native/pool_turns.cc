// As pool_split, but the jobs change the tables in turns: with a mutex for each, the two workers never meet. Which
// worker takes which job is another one then.
#include "pool.h"

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
  run_pool(2, 2000, [](int job) {
    job % 2 == 0 ? update_a() : update_b();
    if (work(static_cast<uint64_t>(job), 60) == 0) abort();
  });
  return print_result(a + b);
}
