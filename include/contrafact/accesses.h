/* How a program that was compiled with -fsanitize=thread, and linked to libcontrafact_accesses instead of the
 * sanitizer's runtime, reports its reads and writes to the recorder (docs/native.md). Plain C; the interface between
 * that library and the recording agent, which a program need not include.
 *
 * The library looks up CONTRAFACT_ACCESSES_SYMBOL when the program starts. Where no agent is preloaded there is none,
 * and the instrumented accesses cost a load and a branch each. */
#ifndef CONTRAFACT_ACCESSES_H_
#define CONTRAFACT_ACCESSES_H_

#include <stddef.h>
#include <stdint.h>

#define CONTRAFACT_ACCESSES_SYMBOL "contrafact_accesses_of_agent"
#define CONTRAFACT_ACCESSES_VERSION 2

#define CONTRAFACT_ACCESS_READ 1u
#define CONTRAFACT_ACCESS_WRITE 2u

struct contrafact_accesses {
  uint32_t version;
  /* Code of the program is instrumented. Returns 0 where no sets are asked for. Else *wanted_at is where, from its
   * thread pointer, every thread has a byte that is not 0 while its accesses are wanted: in a critical section, where
   * the thread does not run translated. */
  int (*begin)(ptrdiff_t* wanted_at);
  /* The current thread is about to access memory. Only while its flag is set. */
  void (*access)(const volatile void* begin, size_t bytes, uint32_t flags);
};

#endif
