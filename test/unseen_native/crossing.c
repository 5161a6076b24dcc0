/* Timers in rings that are linked through the timers themselves, C11 threads, one mtx_t for all rings. Twin: one for
 * each ring. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { rings = 16, timers = 64, workers = 4, calls = 60000 };

struct timer {
  struct timer *next, *previous;
  uint64_t due;
};
struct ring {
  struct timer head;
  mtx_t mutex;
  uint64_t moved;
  char apart[64];
};

static struct ring wheel[rings];
static struct timer all[rings][timers];
static mtx_t one;
static int twin;

static void unlink_timer(struct timer* timer) {
  timer->previous->next = timer->next;
  timer->next->previous = timer->previous;
}
static void link_behind(struct timer* place, struct timer* timer) {
  timer->next = place->next;
  timer->previous = place;
  place->next->previous = timer;
  place->next = timer;
}

/* Moves a timer to its place by when it is due. */
static void set_timer(unsigned ring, unsigned number, uint64_t due) {
  struct ring* in = &wheel[ring];
  mtx_lock(twin ? &in->mutex : &one);
  struct timer* timer = &all[ring][number];
  unlink_timer(timer);
  timer->due = due;
  struct timer* place = &in->head;
  while (place->next != &in->head && place->next->due < due) place = place->next;
  link_behind(place, timer);
  ++in->moved;
  mtx_unlock(twin ? &in->mutex : &one);
}

static int work(void* argument) {
  uint64_t random = (uint64_t)(uintptr_t)argument + 17;
  for (int i = 0; i < calls; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    set_timer(random % rings, (random >> 20) % timers, random >> 40);
    for (volatile int j = 0; j < 300; ++j) {
    }
  }
  return 0;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  mtx_init(&one, mtx_plain);
  for (int ring = 0; ring < rings; ++ring) {
    mtx_init(&wheel[ring].mutex, mtx_plain);
    wheel[ring].head.next = wheel[ring].head.previous = &wheel[ring].head;
    for (int i = 0; i < timers; ++i) link_behind(&wheel[ring].head, &all[ring][i]);
  }
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  thrd_t threads[workers];
  for (int i = 0; i < workers; ++i) thrd_create(&threads[i], work, (void*)(uintptr_t)(i + 1));
  for (int i = 0; i < workers; ++i) thrd_join(threads[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  uint64_t moved = 0;
  for (int ring = 0; ring < rings; ++ring) moved += wheel[ring].moved;
  printf("result %llu us %lld\n", (unsigned long long)moved,
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
