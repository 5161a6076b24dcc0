// usage: unseen_edges [base|twin]
// A graph whose edges pull at their two ends until they are at rest; nodes in an array, guarded by one lock behind
// macros. Twin: each node has a lock, and an edge takes those of its ends, in the order of the array.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kNodes = 150, kEdges = 600, kDimensions = 24, kThreads = 5, kPulls = 16000, kSteps = 100 };

struct node {
  double at[kDimensions];
  unsigned pulls;
  pthread_mutex_t lock;
};
struct edge {
  unsigned short from, to;
  float length;
};

static struct node nodes[kNodes];
static struct edge edges[kEdges];
static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;
static int twin;

#define LOCK(e)                                                                                  \
  (twin ? (pthread_mutex_lock(&nodes[(e)->from].lock), pthread_mutex_lock(&nodes[(e)->to].lock)) \
        : pthread_mutex_lock(&graph_lock))
#define UNLOCK(e)                                                                                    \
  (twin ? (pthread_mutex_unlock(&nodes[(e)->to].lock), pthread_mutex_unlock(&nodes[(e)->from].lock)) \
        : pthread_mutex_unlock(&graph_lock))

static uint32_t next(uint32_t* x) {
  *x ^= *x << 13, *x ^= *x >> 17, *x ^= *x << 5;
  return *x;
}

static void pull(const struct edge* e) {
  struct node *a = &nodes[e->from], *b = &nodes[e->to];
  LOCK(e);
  for (int step = 0; step < kSteps; ++step) {
    double square = 1e-9;
    for (int d = 0; d < kDimensions; ++d) square += (a->at[d] - b->at[d]) * (a->at[d] - b->at[d]);
    const double by = 0.01 * (1 - e->length / square);
    for (int d = 0; d < kDimensions; ++d) {
      const double way = by * (a->at[d] - b->at[d]);
      a->at[d] -= way;
      b->at[d] += way;
    }
  }
  ++a->pulls;
  ++b->pulls;
  UNLOCK(e);
}

static void* worker(void* number) {
  uint32_t x = (uint32_t)(uintptr_t)number * 2654435761u + 1;
  for (int i = 0; i < kPulls; ++i) {
    for (int n = 0; n < 700; ++n) next(&x);
    pull(&edges[x % kEdges]);
  }
  return NULL;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  uint32_t x = 12345;
  for (int i = 0; i < kNodes; ++i) {
    pthread_mutex_init(&nodes[i].lock, NULL);
    for (int d = 0; d < kDimensions; ++d) nodes[i].at[d] = next(&x) % 1000 / 100.0;
  }
  for (int i = 0; i < kEdges; ++i) {
    const unsigned a = next(&x) % kNodes, b = (a + 1 + next(&x) % (kNodes - 1)) % kNodes;
    edges[i] =
        (struct edge){(unsigned short)(a < b ? a : b), (unsigned short)(a < b ? b : a), 1 + (float)(next(&x) % 8)};
  }
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, worker, (void*)(i + 1));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  unsigned pulls = 0;
  for (int i = 0; i < kNodes; ++i) pulls += nodes[i].pulls;
  printf("result %u us %lld\n", pulls,
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
