#include "whatif/sim_conventions.h"

#include <algorithm>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::whatif {
namespace {

// Threads that take locks. Virtual ones have no turns: they keep their carriers until they wait.
size_t threads_that_take_locks(const model::Facts& facts) {
  const std::vector<format::ThreadRow>& threads = facts.trace().threads;
  std::vector<bool> takes(threads.size());
  for (const model::CriticalSection& section : facts.sections())
    takes[section.thread.index()] = threads[section.thread.index()].kind == format::ThreadKind::platform;
  return static_cast<size_t>(std::ranges::count(takes, true));
}

}  // namespace

SimConventions SimConventions::of(const model::Facts& facts) {
  const bool native = model::is_native(facts.trace());
  const uint32_t cores = model::recorded_cores(facts.trace());
  const bool crowded = !native && cores > 0 && threads_that_take_locks(facts) >= kCrowd * cores;
  return {.all_threads_count = native,
          .ends_with_main_thread = native,
          .takes_turns_on_cores = native || crowded,
          .blocks_may_compute = native,
          .others_keep_their_cores = native,
          .latencies_of_all_threads = native,
          .tries_before_sleep = !native,
          .waiters_run_tasks = native,
          .queues_are_recorded = native,
          .pools_of_the_jdk = !native};
}

}  // namespace contrafact::whatif
