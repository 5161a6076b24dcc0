// A queue whose consumers work on the item before they give the queue up. Twin: they give it up first. One producer and
// five consumers, with a condition.
#include <deque>

#include "work.h"

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static std::deque<int> items;
static bool closed;
static uint64_t results[6];

[[gnu::noinline]] static bool consume(int number) {
  pthread_mutex_lock(&queue);
  while (items.empty() && !closed) pthread_cond_wait(&filled, &queue);
  if (items.empty()) {
    pthread_mutex_unlock(&queue);
    return false;
  }
  const int item = items.front();
  items.pop_front();
  if (twin) pthread_mutex_unlock(&queue);
  results[number] += work(static_cast<uint64_t>(item), 400) & 1;
  if (!twin) pthread_mutex_unlock(&queue);
  return true;
}

[[gnu::noinline]] static void produce(int item) {
  pthread_mutex_lock(&queue);
  items.push_back(item);
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&queue);
}

int main(int, char** arguments) {
  choose(arguments);
  run_threads(6, [](int number) {
    if (number > 0) {
      while (consume(number)) {
      }
      return;
    }
    for (int i = 0; i < 1000; ++i) {
      produce(i);
      if (work(static_cast<uint64_t>(i), 40) == 0) return;
    }
    pthread_mutex_lock(&queue);
    closed = true;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&queue);
  });
  uint64_t sum = 0;
  for (const uint64_t result : results) sum += result;
  return print_result(sum);
}
