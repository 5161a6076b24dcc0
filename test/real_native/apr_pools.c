// A pool of the Apache runtime for each request, made as a child of one pool, whose allocator is locked. Twin: an allocator for each thread,
// as Apache's own threads have.
#include <apr_allocator.h>
#include <apr_general.h>
#include <apr_pools.h>
#include <apr_strings.h>
#include <apr_tables.h>
#include <apr_thread_mutex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { threads = 4, requests = 12000 };

static int twin;
static apr_pool_t* shared_parent;
static unsigned long long sizes[threads];

static apr_pool_t* pool_with_allocator(int locked) {
  apr_allocator_t* allocator = NULL;
  apr_pool_t* pool = NULL;
  apr_thread_mutex_t* mutex = NULL;
  apr_allocator_create(&allocator);
  apr_allocator_max_free_set(allocator, 1 << 20);
  apr_pool_create_ex(&pool, NULL, NULL, allocator);
  if (locked) {
    apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pool);
    apr_allocator_mutex_set(allocator, mutex);
  }
  apr_allocator_owner_set(allocator, pool);
  return pool;
}

static unsigned long long serve(apr_pool_t* parent, int number) {
  apr_pool_t* pool = NULL;
  apr_pool_create(&pool, parent);
  apr_table_t* headers = apr_table_make(pool, 4);
  unsigned long long size = 0;
  for (int i = 0; i < 12; ++i) {
    apr_table_setn(headers, apr_psprintf(pool, "Header-%d", i), apr_pstrdup(pool, i % 2 ? "close" : "keep-alive"));
    size += strlen(apr_table_get(headers, apr_psprintf(pool, "Header-%d", number % (i + 1)))) + (apr_palloc(pool, 7000) != NULL);
  }
  apr_pool_destroy(pool);
  return size;
}

static void* work(void* argument) {
  unsigned long long* size = argument;
  apr_pool_t* parent = twin ? pool_with_allocator(0) : shared_parent;
  for (int i = 0; i < requests; ++i) *size += serve(parent, i);
  if (twin) apr_pool_destroy(parent);
  return NULL;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  apr_initialize();
  shared_parent = pool_with_allocator(1);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_t workers[threads];
  for (int i = 0; i < threads; ++i) pthread_create(&workers[i], NULL, work, &sizes[i]);
  unsigned long long sum = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(workers[i], NULL);
    sum += sizes[i];
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("result %llu us %lld\n", sum, (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  apr_terminate();
  return 0;
}
