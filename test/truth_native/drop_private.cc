// A mutex around what only one thread ever touches. Twin: no mutex. Two threads.
#include "work.h"

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static uint64_t account[2][64];

[[gnu::noinline]] static void book(int number) {
  if (!twin) pthread_mutex_lock(&accounts);
  account[number][0] += work(account[number][0] & 7, 150) & 1;
  if (!twin) pthread_mutex_unlock(&accounts);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(2, [](int number) {
    for (int i = 0; i < 1200; ++i) {
      book(number);
      if (work(static_cast<uint64_t>(i), 100 + 50 * number) == 0) return;
    }
  });
  return print_result(account[0][0] + account[1][0]);
}
