// SimConventions: what the simulation assumes of a program that it cannot tell from the recording's events. Native
// programs and those of a JVM differ in each. Code asks for the assumption that it rests on, not for the kind of
// program.
#pragma once

#include <cstddef>

#include "model/facts.h"

namespace contrafact::whatif {

struct SimConventions {
  // All threads are simulated, and all that they compute counts. In a JVM, threads that run no tasks and that nobody
  // waits for are left out (ThreadRole::bystander): they are the virtual machine's and libraries', and work by the
  // clock.
  bool all_threads_count = false;
  // The run lasts as long as the main thread. A JVM lives until the last of its threads ends that is no daemon.
  bool ends_with_main_thread = false;
  // Threads share cores in turns of a length of their own. It matters where locks are recorded: a thread whose turn
  // ends while it holds one stops those that wait for it. In a JVM it does if kCrowd times as many threads take locks
  // as there are cores; with fewer, gains came out nearer without turns (docs/jvm-locks.md, its programs).
  static constexpr size_t kCrowd = 3;
  bool takes_turns_on_cores = false;
  // A call into the system that may block can compute, too, where the kernel reports when threads left their cores.
  // The JVM's recordings have blocks of LockSupport, sleeps and monitors alone, which compute nothing.
  bool blocks_may_compute = false;
  // Cores that other programs used stay theirs, whatever is changed. In a JVM, part of them may be its own compiler's
  // and collector's, and a change that leaves cores free leaves them for these.
  bool others_keep_their_cores = false;
  // How long woken threads, new ones and those that join others take is drawn from what was measured of all of them; no
  // hand-over of a task to a pool's worker tells it.
  bool latencies_of_all_threads = false;
  // Threads try for a while to get a lock before they sleep for it.
  bool tries_before_sleep = false;
  // A thread that waits for a future of fork-join tasks runs tasks of their pool meanwhile, and is called when there are
  // new ones (OpenMP's barriers, taskwait and taskgroup). In a JVM it runs only what it waits for, or a part of it.
  bool waiters_run_tasks = false;
  // What a pool's worker waits for at a condition, semaphore or futex between its tasks is the pool's queue, which the
  // simulation has by itself.
  bool queues_are_recorded = false;
  // Pools compensate for blocked workers, and workers first make values of their own (ThreadLocal).
  bool pools_of_the_jdk = true;

  static SimConventions of(const model::Facts& facts);
};

}  // namespace contrafact::whatif
