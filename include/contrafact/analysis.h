/* An analysis that runs inside the profiled program: `contrafact profile --analysis ./my_analysis.so -- java ...`.
 * Plain C; docs/analyses.md explains it with an example.
 *
 * A plug-in is a shared library with one exported function, contrafact_analysis_entry(), which returns a description of
 * it. The program's threads append what happens to buffers of their own; a processor runs the buffers through the
 * analysis's methods, several at once and in any order (a thread's buffers too). So a method must not rely on order:
 * the caller of a call, and the method that allocates, come as arguments.
 *
 * Life of an analysis, in the program's process:
 *
 *   create ─> for each buffer, on any thread: begin, on_call | on_exit | on_allocation ..., merge ─> finish ─> destroy
 *
 * `begin` yields private data for one buffer, which only one thread uses; `merge` adds it to the rest, once for a whole
 * buffer (coalescing). An analysis without `begin` gets itself in its place, from several threads at once.
 *
 * An analysis learns of calls in one of two ways: by method, or by context, which is the whole path of profiled methods
 * from the outermost one. A context is a number that comes with each event, so that it does not depend on order
 * either; on_context_call reports the parents and children that make a tree of contexts.
 *
 * Methods must not call into Java, block for long, or end the process. A C++ exception that leaves one of them is
 * caught, counted and reported when the program ends; the event it was given is lost, the others go on. */
#ifndef CONTRAFACT_ANALYSIS_H_
#define CONTRAFACT_ANALYSIS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this interface; raised with any change that an older plug-in would not survive, and with any addition. Version 1,
 * which ends with `destroy`, is still accepted. */
#define CONTRAFACT_ANALYSIS_VERSION 2
#define CONTRAFACT_ANALYSIS_VERSION_OLDEST 1
#define CONTRAFACT_ANALYSIS_SYMBOL "contrafact_analysis_entry"

/* Ids of methods and classes begin with 1. As a caller, 0 stands for code that is not profiled: the JVM, native code,
 * and methods that were excluded while no profiled one was active below them. */
#define CONTRAFACT_OUTSIDE 0u
/* The same as a context: what has no profiled method below it. All contexts are odd numbers. */
#define CONTRAFACT_CONTEXT_OUTSIDE 1u

/* Strings are the host's and live as long as the analysis. UTF-8. */
struct contrafact_method {
  const char* class_name; /* shop.api.Feed$Page */
  const char* name;       /* render, <init> */
  const char* descriptor; /* (Ljava/lang/String;I)V */
  const char* file;       /* Feed.java; "" if the class does not say */
  uint32_t line;          /* its first; 0 if the class does not say */
};

struct contrafact_class {
  const char* name; /* shop.api.Feed, byte[], java.lang.String[][] */
};

/* What the program's process offers. Every function may be called by any thread at any time. */
struct contrafact_host {
  uint32_t version; /* CONTRAFACT_ANALYSIS_VERSION that it was built with */
  void* context;    /* first argument of the functions */
  /* 1 and a filled `out`, or 0 if there is no such id. */
  int (*method)(void* context, uint32_t id, struct contrafact_method* out);
  int (*class_of)(void* context, uint32_t id, struct contrafact_class* out);
  /* One line on standard error, after "contrafact: ". */
  void (*say)(void* context, const char* line);
};

/* Of the whole run, for `finish`. */
struct contrafact_run {
  uint64_t events;       /* given to the analysis */
  uint64_t lost;         /* not given: there was no memory for them */
  uint64_t failed;       /* whose method threw */
  uint64_t methods;      /* that have probes */
  uint64_t refused;      /* methods that could not get any */
  uint64_t unseen_sites; /* places of `new` in class files before Java 5, which cannot be counted */
  /* How they were processed. */
  uint64_t buffers;          /* with events in them */
  uint64_t buffer_bytes_max; /* all buffers at one time */
  uint64_t consumers_cpu_ns; /* CPU time of threads that only process buffers */
  uint64_t rest_ns;          /* from the program's end until the last buffer was processed */
};

struct contrafact_call {
  uint32_t callee;
  uint32_t caller;
};
struct contrafact_allocation {
  uint32_t method;
  uint32_t class_id;
  uint64_t bytes;
};

struct contrafact_analysis {
  uint32_t version; /* CONTRAFACT_ANALYSIS_VERSION that it was built with */
  const char* name; /* in messages */

  /* `options` is what --analysis-options gave, or "". NULL: the program is not started; say why. May be NULL: then the
   * other functions get NULL. */
  void* (*create)(const struct contrafact_host* host, const char* options);

  /* Private data for one buffer; both or none. */
  void* (*begin)(void* analysis);
  void (*merge)(void* analysis, void* data);

  /* What the analysis wants to know; NULL for what it does not. `data` is what `begin` returned. */
  void (*on_call)(void* data, uint32_t caller, uint32_t callee);
  /* The method ended, `thrown` by an exception (1) or not (0). */
  void (*on_exit)(void* data, uint32_t method, int thrown);
  /* `method` made an object or array of this class; `bytes` is what it takes in the heap. */
  void (*on_allocation)(void* data, uint32_t method, uint32_t class_id, uint64_t bytes);

  /* The program ends and all buffers have been processed. Writes the result to `path`, which is given its final name if
   * the function returns 0. */
  int (*finish)(void* analysis, const char* path, const struct contrafact_run* run);
  /* May be NULL. */
  void (*destroy)(void* analysis);

  /* Since version 2. */

  /* In place of on_call, on_exit and on_allocation, which are then NULL. `context` is that of `method` called in
   * `parent`: 64 bits of which two contexts of a run have the same with a probability of one in a billion where there
   * are 100,000 of them. */
  void (*on_context_call)(void* data, uint64_t parent, uint64_t context, uint32_t method);
  /* The innermost profiled method of `context` made it, or code that it called and that is not reported. */
  void (*on_context_allocation)(void* data, uint64_t context, uint32_t class_id, uint64_t bytes);

  /* In place of on_call and on_allocation: many events at once, for an analysis to which one call for each event is too
   * slow. The order of calls is kept, and that of allocations, but not that of the two to each other. */
  void (*on_calls)(void* data, const struct contrafact_call* calls, size_t count);
  void (*on_allocations)(void* data, const struct contrafact_allocation* allocations, size_t count);
};

/* The one symbol that a plug-in exports. */
const struct contrafact_analysis* contrafact_analysis_entry(void);

#ifdef __cplusplus
}
#endif
#endif
