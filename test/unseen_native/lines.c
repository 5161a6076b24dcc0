// usage: lines [base|twin]
// Lines of several pieces written to a stream that is locked for each line by flockfile. Twin: the pieces are put
// together before. The C library's own locks are not seen: nothing may be advised.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { kThreads = 3, kLines = 30000 };

static FILE* out;
static int twin;

static void* print(void* number) {
  for (int i = 0; i < kLines; ++i) {
    char line[800];
    int at = 0;
    uint32_t x = (uint32_t)i;
    for (int n = 0; n < 6000; ++n) x = x * 1664525u + 1013904223u;
    if (!twin) flockfile(out);
    for (int n = 0; n < 16; ++n) {
      if (twin)
        at += snprintf(line + at, 50, "%d:%u.%03d ", n, x, (int)(uintptr_t)number);
      else
        fprintf(out, "%d:%u.%03d ", n, x, (int)(uintptr_t)number);
    }
    if (twin)
      fputs(line, out);
    else
      funlockfile(out);
  }
  return NULL;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  out = fopen("/dev/null", "we");
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, print, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  fclose(out);
  printf("result 0 us %lld\n", (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
