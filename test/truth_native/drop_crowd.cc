// As drop_private, six threads that compute: more than the cores. Twin: no mutex. Sections are long, and there is little
// beside them: with a third of the length the unchanged program's own runs took 401 to 483 ms, or, with still less beside
// them, the same 400 to 417 ms, of which the simulation missed up to a twelfth (docs/replay.md).
#include "work.h"

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static uint64_t account[6][64];

[[gnu::noinline]] static void book(int number) {
  if (!twin) pthread_mutex_lock(&accounts);
  account[number][0] += work(account[number][0] & 7, 1200) & 1;
  if (!twin) pthread_mutex_unlock(&accounts);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(6, [](int number) {
    for (int i = 0; i < 50; ++i) {
      book(number);
      if (work(static_cast<uint64_t>(i), 180) == 0) return;
    }
  });
  uint64_t sum = 0;
  for (auto& one : account) sum += one[0];
  return print_result(sum);
}
