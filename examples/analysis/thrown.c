/* An analysis of one's own: how often each method ended by an exception, as CSV.
 *
 *   cc -std=c11 -shared -fPIC -I include -o thrown.so examples/analysis/thrown.c
 *   contrafact profile --analysis ./thrown.so -o thrown.csv -- java -jar service.jar */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrafact/analysis.h"

enum { METHODS_MAX = 1 << 20, GATHERED_MAX = 1000 };

static const struct contrafact_host* host;
static uint64_t thrown_by[METHODS_MAX]; /* shared by all buffers: with the mutex */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Private data: which methods threw, of one buffer. */
struct gathered {
  uint32_t count, methods[GATHERED_MAX];
};

static void* create(const struct contrafact_host* given, const char* options) {
  (void)options;
  host = given;
  return thrown_by;
}

static void* begin(void* analysis) { return analysis ? calloc(1, sizeof(struct gathered)) : NULL; }

static void add(struct gathered* gathered) {
  pthread_mutex_lock(&mutex);
  for (; gathered->count > 0; --gathered->count) ++thrown_by[gathered->methods[gathered->count - 1]];
  pthread_mutex_unlock(&mutex);
}

static void on_exit_of(void* data, uint32_t method, int thrown) {
  struct gathered* gathered = data;
  if (!gathered || !thrown || method >= METHODS_MAX) return;
  gathered->methods[gathered->count++] = method;
  if (gathered->count == GATHERED_MAX) add(gathered);
}

static void merge(void* analysis, void* data) {
  if (analysis && data) add(data);
  free(data);
}

static int finish(void* analysis, const char* path, const struct contrafact_run* run) {
  FILE* file = analysis && run ? fopen(path, "w") : NULL;
  if (!file) return -1;
  fputs("class,method,thrown\n", file);
  struct contrafact_method method;
  for (uint32_t id = 0; id < METHODS_MAX; ++id) {
    if (thrown_by[id] == 0 || !host->method(host->context, id, &method)) continue;
    fprintf(file, "%s,%s,%llu\n", method.class_name, method.name, (unsigned long long)thrown_by[id]);
  }
  return fclose(file);
}

static const struct contrafact_analysis description = {
    .version = CONTRAFACT_ANALYSIS_VERSION, .name = "thrown", .create = create, .begin = begin,
    .merge = merge, .on_exit = on_exit_of, .finish = finish,
};

const struct contrafact_analysis* contrafact_analysis_entry(void) { return &description; }
