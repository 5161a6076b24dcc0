// Standard containers under one mutex. A cache whose look-ups copy what they find and which a thread changes now and
// then; shelves and windows that have nothing to do with each other but the allocator, which gives what one frees to
// another.
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define APART __attribute__((noinline, noclone))

static unsigned next_random(unsigned& seed) {
  return seed = seed * 1103515245 + 12345, seed >> 16;
}
static std::string key_of(unsigned number) {
  return "customer/" + std::to_string(number) + "/address";
}

// A cache: look-ups copy a string that is too long to lie in the object.
static std::map<std::string, std::string> cache;
static std::mutex cache_mutex;

APART static std::string look_up(const std::string& key) {
  const std::lock_guard guard(cache_mutex);
  const auto found = cache.find(key);
  return found == cache.end() ? std::string() : found->second;
}
APART static void replace(const std::string& key, unsigned value) {
  const std::lock_guard guard(cache_mutex);
  cache[key] = "a street with a long name, number " + std::to_string(value);
}

// Shelves: each a list of its own.
constexpr unsigned kShelves = 4;
static std::list<std::string> shelves[kShelves];
static std::mutex shelves_mutex;

APART static void put(unsigned shelf, const std::string& item) {
  const std::lock_guard guard(shelves_mutex);
  shelves[shelf].push_back(item);
}
APART static size_t take(unsigned shelf) {
  const std::lock_guard guard(shelves_mutex);
  if (shelves[shelf].empty()) return 0;
  const size_t bytes = shelves[shelf].front().size();
  shelves[shelf].pop_front();
  return bytes;
}

// Windows: each shows one thing, which was made and is thrown away without the lock, so that the allocator gives the
// memory of what one window showed to what another one shows next.
static std::unique_ptr<std::string> windows[kShelves];
static std::mutex windows_mutex;

APART static void show(unsigned window, std::unique_ptr<std::string>& thing) {
  const std::lock_guard guard(windows_mutex);
  thing->back() = static_cast<char>('a' + window);
  windows[window].swap(thing);
}

static std::atomic<size_t> sum{0};

static void visit(unsigned self) {
  unsigned seed = self + 1;
  for (int i = 0; i < 400; ++i) {
    const unsigned number = next_random(seed) % 30;
    if (i % 40 == 7) {
      replace(key_of(number), next_random(seed) % 1000);
    } else {
      sum += look_up(key_of(number)).size();
    }
  }
}

// All threads use all shelves.
static void move_things(unsigned self) {
  unsigned seed = self + 1;
  for (int i = 0; i < 400; ++i) {
    const unsigned shelf = next_random(seed) % kShelves;
    if (next_random(seed) % 2 == 0) {
      put(shelf, "something with a name of some length, " + std::to_string(i));
    } else {
      sum += take(shelf);
    }
  }
}

static void dress_windows(unsigned self) {
  unsigned seed = self + 1;
  for (int i = 0; i < 400; ++i) {
    auto thing = std::make_unique<std::string>("something with a name of some length, " + std::to_string(i));
    show(next_random(seed) % kShelves, thing);
  }
}

// All threads come to the lock while it is held.
static sem_t held;
template <typename Work>
static void run(std::mutex& mutex, Work work) {
  std::vector<std::thread> threads;
  for (unsigned self = 0; self < 4; ++self) {
    threads.emplace_back([&, self] {
      while (sem_wait(&held) != 0) {
      }
      work(self);
    });
  }
  mutex.lock();
  for (int i = 0; i < 4; ++i) sem_post(&held);
  usleep(20'000);
  mutex.unlock();
  for (std::thread& thread : threads) thread.join();
}

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  for (unsigned i = 0; i < 30; ++i) cache[key_of(i)] = "a street with a long name, number " + std::to_string(i);
  sem_init(&held, 0, 0);
  if (what == "cache") {
    run(cache_mutex, visit);
  } else if (what == "windows") {
    run(windows_mutex, dress_windows);
  } else {
    run(shelves_mutex, move_things);
  }
  std::printf("%zu\n", cache.size());
}
