// usage: unseen_heap [base|twin]
// A simulation whose threads take the next event from a heap of events, all under its lock, and put its consequence
// back. All sections go by the heap's top. Nothing is to be changed. Twin: the same program.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kEvents = 60000, kThreads = 3, kSteps = 180000, kWays = 4 };

struct event {
  uint64_t time;
  uint32_t machine, kind;
  uint64_t payload[4];
};

static struct {
  pthread_mutex_t lock;
  struct event* events;
  size_t count;
  uint64_t now, taken;
} heap;

static void push(const struct event* event) {
  size_t at = heap.count++;
  while (at > 0) {
    const size_t parent = (at - 1) / kWays;
    if (heap.events[parent].time <= event->time) break;
    heap.events[at] = heap.events[parent];
    at = parent;
  }
  heap.events[at] = *event;
}

static struct event pop(void) {
  const struct event top = heap.events[0], last = heap.events[--heap.count];
  size_t at = 0;
  while (1) {
    const size_t first = at * kWays + 1;
    if (first >= heap.count) break;
    size_t least = first;
    for (size_t child = first + 1; child < first + kWays && child < heap.count; ++child) {
      if (heap.events[child].time < heap.events[least].time) least = child;
    }
    if (heap.events[least].time >= last.time) break;
    heap.events[at] = heap.events[least];
    at = least;
  }
  heap.events[at] = last;
  return top;
}

static struct event take_next(void) {
  pthread_mutex_lock(&heap.lock);
  const struct event event = pop();
  heap.now = event.time;
  ++heap.taken;
  pthread_mutex_unlock(&heap.lock);
  return event;
}

static void schedule(const struct event* event) {
  pthread_mutex_lock(&heap.lock);
  struct event placed = *event;
  if (placed.time <= heap.now) placed.time = heap.now + 1;
  push(&placed);
  pthread_mutex_unlock(&heap.lock);
}

static void* simulate(void* unused) {
  (void)unused;
  for (int i = 0; i < kSteps; ++i) {
    struct event event = take_next();
    uint64_t x = event.time * 2654435761u ^ event.payload[event.kind];
    for (int n = 0; n < 500; ++n) x = x * 6364136223846793005u + 1442695040888963407u;
    event.payload[event.kind] = x;
    event.kind = (event.kind + 1) % 4;
    event.time += 1 + (x >> 40) % 100000;
    schedule(&event);
  }
  return NULL;
}

int main(void) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_mutex_init(&heap.lock, NULL);
  heap.events = malloc(kEvents * sizeof *heap.events);
  uint32_t x = 5;
  for (uint32_t i = 0; i < kEvents; ++i) {
    x = x * 1664525u + 1013904223u;
    const struct event event = {x >> 12, i, i % 4, {i, i + 1, i + 2, i + 3}};
    push(&event);
  }
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, simulate, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  uint64_t machines = 0;
  for (size_t i = 0; i < heap.count; ++i) machines += heap.events[i].machine;
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("result %llu us %lld\n", (unsigned long long)(heap.taken + machines),
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
