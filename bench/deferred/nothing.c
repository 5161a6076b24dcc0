/* An analysis that does nothing with its events: what is left are the probes and the buffers. bench/deferred_tables.py. */
#include <stdio.h>

#include "contrafact/analysis.h"

static void on_calls(void* data, const struct contrafact_call* calls, size_t count) {
  (void)data, (void)calls, (void)count;
}

static void on_allocations(void* data, const struct contrafact_allocation* allocations, size_t count) {
  (void)data, (void)allocations, (void)count;
}

/* As much of a blueprint as the benchmark reads. */
static int finish(void* analysis, const char* path, const struct contrafact_run* run) {
  (void)analysis;
  FILE* file = fopen(path, "w");
  if (!file) return -1;
  fprintf(file, "{\"run\":{\"events\":%llu,\"lost\":%llu,\"rest_ns\":%llu,\"consumers_cpu_ns\":%llu}}\n",
          (unsigned long long)run->events, (unsigned long long)run->lost, (unsigned long long)run->rest_ns,
          (unsigned long long)run->consumers_cpu_ns);
  return fclose(file);
}

static const struct contrafact_analysis description = {
    .version = CONTRAFACT_ANALYSIS_VERSION, .name = "nothing", .finish = finish,
    .on_calls = on_calls, .on_allocations = on_allocations,
};

const struct contrafact_analysis* contrafact_analysis_entry(void) { return &description; }
