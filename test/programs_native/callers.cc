// A function that locks is called from two places by turns, with the same stack below. Each wait has its own callers.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

namespace {

constexpr int kTurns = 20;
pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
sem_t is_held, is_over;

[[gnu::noinline]] void lock_once() {
  pthread_mutex_lock(&contended);
  pthread_mutex_unlock(&contended);
  __asm__ volatile("");  // no tail call
}

volatile int calls_of_one, calls_of_other;  // else the compiler makes one function of both

[[gnu::noinline]] void from_one() {
  lock_once();
  calls_of_one = calls_of_one + 1;
}
[[gnu::noinline]] void from_other() {
  lock_once();
  calls_of_other = calls_of_other + 1;
}

void* call_by_turns(void*) {
  for (int turn = 0; turn < 2 * kTurns; ++turn) {
    sem_wait(&is_held);
    turn % 2 == 0 ? from_one() : from_other();
    sem_post(&is_over);
  }
  return nullptr;
}

}  // namespace

int main() {
  sem_init(&is_held, 0, 0);
  sem_init(&is_over, 0, 0);
  pthread_t thread;
  pthread_create(&thread, nullptr, call_by_turns, nullptr);
  for (int turn = 0; turn < 2 * kTurns; ++turn) {
    pthread_mutex_lock(&contended);
    sem_post(&is_held);
    const timespec nap{0, 1'000'000};
    // Until the other one waits, which glibc's mutex says by a 2; however busy the machine is, but not for ever.
    for (int naps = 0; naps < 5000 && __atomic_load_n(&contended.__data.__lock, __ATOMIC_ACQUIRE) != 2; ++naps)
      nanosleep(&nap, nullptr);
    pthread_mutex_unlock(&contended);
    sem_wait(&is_over);
  }
  pthread_join(thread, nullptr);
  return 0;
}
