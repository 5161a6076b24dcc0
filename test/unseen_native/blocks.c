// usage: blocks [base|twin]
// A hand-made pool of blocks clears each block before it lets the lock go. Twin: it clears it afterwards.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 256 * 1024, kRounds = 9000, kThreads = 3 };

struct block {
  struct block* next;
  unsigned char data[kBytes];
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block* unused_blocks;
static int twin;

static struct block* pool_get(void) {
  pthread_mutex_lock(&pool_lock);
  struct block* block = unused_blocks;
  if (block != NULL) unused_blocks = block->next;
  if (block == NULL) block = malloc(sizeof *block);
  if (!twin) memset(block->data, 0, kBytes);
  pthread_mutex_unlock(&pool_lock);
  if (twin) memset(block->data, 0, kBytes);
  return block;
}

static void pool_put(struct block* block) {
  pthread_mutex_lock(&pool_lock);
  block->next = unused_blocks;
  unused_blocks = block;
  pthread_mutex_unlock(&pool_lock);
}

static void* work(void* number) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < kRounds; ++i) {
    struct block* block = pool_get();
    uint32_t x = i + (uint32_t)(uintptr_t)number * 7;
    for (int n = 0; n < 9000; ++n) {
      x = x * 1664525u + 1013904223u;
      sum += block->data[(x >> 8) % kBytes] += (unsigned char)x & 1;
    }
    pool_put(block);
  }
  return (void*)(uintptr_t)sum;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_t threads[kThreads];
  uint64_t sum = 0;
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; ++i) {
    void* part;
    pthread_join(threads[i], &part);
    sum += (uintptr_t)part;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("result %llu us %lld\n", (unsigned long long)sum,
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
