// usage: tiles [base|twin]
// Workers take tiles in the order of their distance and merge what they made into a histogram, both under the pool's
// mutex. Twin: the histogram has a mutex of its own.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { kTiles = 16000, kBins = 2048, kWorkers = 4 };

struct pool {
  pthread_mutex_t lock, histogram_lock;
  uint32_t distance[kTiles / 16];
  int taken, order;
  uint64_t histogram[kBins];
};

static struct pool pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, {0}, 0, 0, {0}};
static int twin;

// The nearest tile of the batch; a new batch when it is used up.
static int take_tile(struct pool* p) {
  int found = -1;
  pthread_mutex_lock(&p->lock);
  if (p->taken < kTiles) {
    int nearest = 0;
    for (int again = 0; again < 24; ++again) {
      for (int i = 0; i < kTiles / 16; ++i) {
        if (p->distance[i] < p->distance[nearest]) nearest = i;
      }
    }
    p->distance[nearest] += 100 + (uint32_t)(p->order = p->order * 5 + 1) % 64;
    found = p->taken++;
  }
  pthread_mutex_unlock(&p->lock);
  return found;
}

static void merge(struct pool* p, const uint32_t* bins) {
  pthread_mutex_t* lock = twin ? &p->histogram_lock : &p->lock;
  pthread_mutex_lock(lock);
  for (int i = 0; i < kBins; ++i) p->histogram[i] += bins[i];
  for (int i = 1; i < kBins; ++i) p->histogram[i] += p->histogram[i - 1] >> 40;
  pthread_mutex_unlock(lock);
}

static void* work(void* unused) {
  uint32_t bins[kBins];
  for (int tile; (tile = take_tile(&pool)) >= 0;) {
    memset(bins, 0, sizeof bins);
    uint32_t x = (uint32_t)tile * 2654435761u + 1;
    for (int i = 0; i < 3000; ++i) {
      x = x * 1664525u + 1013904223u;
      ++bins[x >> 21];
    }
    merge(&pool, bins);
  }
  return unused;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < kTiles / 16; ++i) pool.distance[i] = (uint32_t)(i * 7919 % 500);
  pthread_t workers[kWorkers];
  for (int i = 0; i < kWorkers; ++i) pthread_create(&workers[i], NULL, work, NULL);
  for (int i = 0; i < kWorkers; ++i) pthread_join(workers[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  uint64_t sum = 0;
  for (int i = 0; i < kBins; ++i) sum = sum * 31 + pool.histogram[i];
  printf("result %llu us %lld\n", (unsigned long long)sum,
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
