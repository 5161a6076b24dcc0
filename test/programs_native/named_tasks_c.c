/* The annotations in C, by hand on one thread: a task in a task, and one that is waited for twice. */
#include "contrafact/tasks.h"

#include <stdio.h>

static void nothing(void) {}

int main(void) {
  const contrafact_pool pool = CONTRAFACT_POOL("by hand", 1);
  contrafact_task outer, inner;
  int i;
  for (i = 0; i < 4; ++i) {
    outer = CONTRAFACT_TASK_SUBMIT(pool, nothing);
    CONTRAFACT_TASK_BEGIN(outer);
    inner = CONTRAFACT_TASK_SUBMIT(pool, nothing);
    CONTRAFACT_TASK_BEGIN(inner);
    CONTRAFACT_TASK_END(inner);
    CONTRAFACT_TASK_END(outer);
    CONTRAFACT_TASK_WAIT_BEGIN(outer);
    CONTRAFACT_TASK_WAIT_END(outer);
    CONTRAFACT_TASK_WAIT_BEGIN(outer);
    CONTRAFACT_TASK_WAIT_END(outer);
  }
  puts(contrafact_tasks_found ? "done" : "done");
  return 0;
}
