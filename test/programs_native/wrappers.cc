// Locks behind functions that only lock: C's kind, a guard's constructor in several layers, one that hands out what it
// locked. And functions that do more.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#define APART __attribute__((noinline, noclone))

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, list = PTHREAD_MUTEX_INITIALIZER,
                       tree = PTHREAD_MUTEX_INITIALIZER;
static std::mutex store;
// Written one by one: C++20 deprecates ++ of what is volatile.
static volatile long entries, errors;

// Checks what the call says, as many do; so it is no tail call.
APART static void my_lock(pthread_mutex_t* mutex) {
  if (pthread_mutex_lock(mutex) != 0) errors = errors + 1;
}
APART static void my_unlock(pthread_mutex_t* mutex) {
  if (pthread_mutex_unlock(mutex) != 0) errors = errors + 1;
}

// Three calls deep.
class Guard {
 public:
  APART explicit Guard(pthread_mutex_t* mutex) : mutex_(mutex) {
    enter();
    depth_ = depth_ + 1;
  }
  APART ~Guard() { my_unlock(mutex_); }

 private:
  APART void enter() {
    my_lock(mutex_);
    depth_ = depth_ + 1;
  }
  pthread_mutex_t* mutex_;
  volatile int depth_ = 0;
};

APART static std::unique_lock<std::mutex> locked_store() {
  std::unique_lock<std::mutex> lock(store);
  errors = errors + 1;
  errors = errors - 1;
  return lock;
}

APART static void insert(long by) {
  my_lock(&table);
  entries = entries + by;
  my_unlock(&table);
}
APART static void erase(long by) {
  my_lock(&table);
  entries = entries - by;
  my_unlock(&table);
}
APART static void append(long by) {
  const Guard guard(&list);
  entries = entries + by;
}
APART static long look_up() {
  const auto lock = locked_store();
  return entries;
}
// Does what it has to do itself.
APART static long walk() {
  pthread_mutex_lock(&tree);
  const long found = entries;
  usleep(found > 0 ? 200 : 0);
  pthread_mutex_unlock(&tree);
  return found + 1;
}

static void worker(long by) {
  for (int i = 0; i < 50; ++i) {
    insert(by);
    erase(by);
    append(by);
    look_up();
    if (i % 10 == 0) walk();
  }
}

struct Server {
  void serve(long by) { worker(by); }
};

int main() {
  Server server;
  std::thread first(worker, 1), second(&Server::serve, &server, 2), third([] { worker(3); });
  first.join();
  second.join();
  third.join();
  printf("%ld %ld\n", static_cast<long>(entries) >= 0 ? 1L : 0L, static_cast<long>(errors) >= 0 ? 1L : 0L);
}
