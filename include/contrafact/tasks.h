/* How a program names the tasks of a thread pool of its own to the recorder (docs/native.md): what is handed to the pool,
 * when it begins and ends, and who waits for it. Plain C and C++; nothing to link (dlsym is the C library's since glibc
 * 2.34, before that -ldl).
 *
 * Where the program is not recorded each macro is a load and a branch. A task is a number that the program keeps with
 * what it hands to the pool; 0 is a task that is not recorded, and every macro takes it.
 *
 *     contrafact_pool pool = CONTRAFACT_POOL("resizers", 8);             // once; its threads, 0 if unbounded
 *     job->task = CONTRAFACT_TASK_SUBMIT(pool, job->function);           // where it is handed to the pool
 *     CONTRAFACT_TASK_BEGIN(job->task);                                  // on the thread that runs it
 *     job->function(job);
 *     CONTRAFACT_TASK_END(job->task);                                    // its result is there
 *     CONTRAFACT_TASK_WAIT_BEGIN(job->task);                             // around whatever waits for its end
 *     ...
 *     CONTRAFACT_TASK_WAIT_END(job->task);
 *     CONTRAFACT_TASK_DROP(job->task);                                   // it will never run
 *
 * A task begins and ends once, on one thread; tasks that begin in others end before those do. A wait may be around other
 * tasks that its thread runs meanwhile. */
#ifndef CONTRAFACT_TASKS_H_
#define CONTRAFACT_TASKS_H_

#include <stdint.h>

#define CONTRAFACT_TASKS_SYMBOL "contrafact_tasks_of_agent"
#define CONTRAFACT_TASKS_VERSION 1

typedef uint32_t contrafact_pool;
typedef uint64_t contrafact_task;

struct contrafact_tasks {
  uint32_t version;
  contrafact_pool (*pool)(const char* name, uint32_t threads);
  /* `body`: the function that the task runs, or null. The place is where the call returns to. */
  contrafact_task (*submit)(contrafact_pool pool, const void* body);
  void (*begin)(contrafact_task task);
  void (*end)(contrafact_task task);
  void (*wait_begin)(contrafact_task task);
  void (*wait_end)(contrafact_task task);
  void (*drop)(contrafact_task task);
};

#ifndef CONTRAFACT_TASKS_INTERFACE_ONLY /* the recorder's side */
#include <dlfcn.h>

/* Null where the program is not recorded. One for each linked file, set before other constructors run. */
__attribute__((weak, visibility("hidden"))) const struct contrafact_tasks* contrafact_tasks_found;

__attribute__((constructor(101), unused)) static void contrafact_find_tasks(void) {
  const struct contrafact_tasks* const found = (const struct contrafact_tasks*)dlsym((void*)0, CONTRAFACT_TASKS_SYMBOL);
  if (found && found->version == CONTRAFACT_TASKS_VERSION) contrafact_tasks_found = found;
}

#define CONTRAFACT_POOL(name, threads) \
  (contrafact_tasks_found ? contrafact_tasks_found->pool((name), (threads)) : (contrafact_pool)0)
#define CONTRAFACT_TASK_SUBMIT(pool_, body)                                                         \
  (contrafact_tasks_found ? contrafact_tasks_found->submit((pool_), (const void*)(uintptr_t)(body)) \
                          : (contrafact_task)0)
#define CONTRAFACT_TASK_CALL_(function, task)                             \
  do {                                                                    \
    if (contrafact_tasks_found) contrafact_tasks_found->function((task)); \
  } while (0)
#define CONTRAFACT_TASK_BEGIN(task) CONTRAFACT_TASK_CALL_(begin, task)
#define CONTRAFACT_TASK_END(task) CONTRAFACT_TASK_CALL_(end, task)
#define CONTRAFACT_TASK_WAIT_BEGIN(task) CONTRAFACT_TASK_CALL_(wait_begin, task)
#define CONTRAFACT_TASK_WAIT_END(task) CONTRAFACT_TASK_CALL_(wait_end, task)
#define CONTRAFACT_TASK_DROP(task) CONTRAFACT_TASK_CALL_(drop, task)

#endif
#endif
