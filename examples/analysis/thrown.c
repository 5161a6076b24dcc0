/* An analysis of one's own: how often each method ended by an exception, as CSV.
 *
 *   cc -std=c11 -shared -fPIC -I include -o thrown.so examples/analysis/thrown.c
 *   contrafact profile --analysis ./thrown.so -o thrown.csv -- java -jar service.jar */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrafact/analysis.h"

/* Calls that threw, by method. One for the whole run, and one for each buffer that is being processed. */
struct counts {
  uint64_t* thrown;
  uint32_t size;
};

static const struct contrafact_host* host;
static struct counts total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void add(struct counts* counts, uint32_t method, uint64_t thrown) {
  if (method >= counts->size) {
    uint32_t size = method * 2 + 64;
    uint64_t* grown = realloc(counts->thrown, size * sizeof *grown);
    if (!grown) return;
    for (uint32_t i = counts->size; i < size; ++i) grown[i] = 0;
    counts->thrown = grown;
    counts->size = size;
  }
  counts->thrown[method] += thrown;
}

static void* create(const struct contrafact_host* the_host, const char* options) {
  (void)options;
  host = the_host;
  return &total;
}

static void* begin(void* analysis) {
  (void)analysis;
  return calloc(1, sizeof(struct counts));
}

static void on_exit_of(void* data, uint32_t method, int thrown) {
  if (data && thrown) add(data, method, 1);
}

/* Once for a whole buffer, so that the lock costs nothing. */
static void merge(void* analysis, void* data) {
  struct counts* counts = data;
  if (!counts) return;
  pthread_mutex_lock(&mutex);
  for (uint32_t i = 0; i < counts->size; ++i) {
    if (counts->thrown[i]) add(analysis, i, counts->thrown[i]);
  }
  pthread_mutex_unlock(&mutex);
  free(counts->thrown);
  free(counts);
}

static int finish(void* analysis, const char* path, const struct contrafact_run* run) {
  struct counts* counts = analysis;
  (void)run;
  FILE* file = fopen(path, "w");
  if (!file) return -1;
  fputs("class,method,thrown\n", file);
  for (uint32_t i = 0; i < counts->size; ++i) {
    struct contrafact_method method;
    if (counts->thrown[i] && host->method(host->context, i, &method)) {
      fprintf(file, "%s,%s,%llu\n", method.class_name, method.name, (unsigned long long)counts->thrown[i]);
    }
  }
  return fclose(file);
}

static const struct contrafact_analysis description = {
    .version = CONTRAFACT_ANALYSIS_VERSION,
    .name = "thrown",
    .create = create,
    .begin = begin,
    .merge = merge,
    .on_exit = on_exit_of,
    .finish = finish,
};

const struct contrafact_analysis* contrafact_analysis_entry(void) { return &description; }
