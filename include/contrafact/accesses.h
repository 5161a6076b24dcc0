/* How a program that was compiled with -fsanitize=thread, and linked to libcontrafact_accesses instead of the
 * sanitizer's runtime, tells the recorder what it reads and writes (docs/native.md). Plain C; the interface between
 * that library and the recording agent, which a program need not include.
 *
 * The library looks up CONTRAFACT_ACCESSES_SYMBOL when the program starts. Where no agent is preloaded there is none,
 * and the instrumented accesses cost a load and a branch each. */
#ifndef CONTRAFACT_ACCESSES_H_
#define CONTRAFACT_ACCESSES_H_

#include <stddef.h>
#include <stdint.h>

#define CONTRAFACT_ACCESSES_SYMBOL "contrafact_accesses_of_agent"
#define CONTRAFACT_ACCESSES_VERSION 1

#define CONTRAFACT_ACCESS_READ 1u
#define CONTRAFACT_ACCESS_WRITE 2u

struct contrafact_accesses {
  uint32_t version;
  /* The program is instrumented: sets come from it, not from translation. Once, before threads exist. Returns 0 where
   * no sets are asked for, and where some of the program has run translated already: then only a plug-in is
   * instrumented, and translation goes on. */
  int (*begin)(void);
  /* The current thread's flag: not 0 while its accesses are wanted. Stays where it is as long as the thread lives. */
  const volatile uint8_t* (*wanted)(void);
  /* The current thread is about to access memory. Only while its flag is set. */
  void (*access)(const volatile void* begin, size_t bytes, uint32_t flags);
};

#endif
