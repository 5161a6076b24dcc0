// One thread initialises, two wait for it; an initialiser that throws may be tried again.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <mutex>
#include <stdexcept>

static pthread_once_t control = PTHREAD_ONCE_INIT;
static int initialised;

static void initialise() {
  usleep(30'000);
  ++initialised;
}

static void* worker(void*) {
  pthread_once(&control, initialise);
  return nullptr;
}

int main() {
  pthread_t threads[3];
  for (auto& thread : threads) pthread_create(&thread, nullptr, worker, nullptr);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  for (int i = 0; i < 1000; ++i) pthread_once(&control, initialise);
  std::once_flag flag;
  int calls = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      std::call_once(flag, [&] {
        if (++calls == 1) throw std::runtime_error("again");
      });
    } catch (const std::runtime_error&) {
    }
  }
  printf("%d %d\n", initialised, calls);
}
