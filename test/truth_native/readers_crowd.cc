// Look-ups that wait inside the lock, as for a page that has to be fetched; eight threads. Twin: a reader-writer lock.
#include <unistd.h>

#include "work.h"

#if TWIN
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
#define READ() pthread_rwlock_rdlock(&table)
#define WRITE() pthread_rwlock_wrlock(&table)
#define DONE() pthread_rwlock_unlock(&table)
#else
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
#define READ() pthread_mutex_lock(&table)
#define WRITE() pthread_mutex_lock(&table)
#define DONE() pthread_mutex_unlock(&table)
#endif
static uint64_t value = 1;

[[gnu::noinline]] static uint64_t look_up() {
  READ();
  const uint64_t found = work(value & 3, 30);
  usleep(200);
  DONE();
  return found;
}

[[gnu::noinline]] static void change() {
  WRITE();
  value += work(3, 100) | 1;
  DONE();
}

int main() {
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
  return print_result(value);
}
