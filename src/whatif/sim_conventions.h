// SimConventions: what the simulation assumes of a program that it cannot tell from the recording's events. Native
// programs and those of a JVM differ in each. Code asks for the assumption that it rests on, not for the kind of
// program.
#pragma once

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
  // ends while it holds one stops those that wait for it.
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
  // Pools compensate for blocked workers, and workers first make values of their own (ThreadLocal).
  bool pools_of_the_jdk = true;

  static SimConventions of(const model::Trace& trace) {
    const bool native = model::is_native(trace);
    return {.all_threads_count = native,
            .ends_with_main_thread = native,
            .takes_turns_on_cores = native,
            .blocks_may_compute = native,
            .others_keep_their_cores = native,
            .latencies_of_all_threads = native,
            .pools_of_the_jdk = !native};
  }
};

}  // namespace contrafact::whatif
