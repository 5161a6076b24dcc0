#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "deferred/background_thread.h"

namespace contrafact::deferred {

base::Status start_background_thread(const char* name, void* (*main)(void*), void* argument, pthread_t& thread) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Small, for a process that may have little address space.
  constexpr size_t kStackBytes = 1 << 20;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = pthread_create(&thread, &attributes, main, argument);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return base::Error{std::string("cannot start a thread: ") + std::strerror(error)};
  pthread_setname_np(thread, name);
  return {};
}

// SCHED_IDLE has a weight of 3 where nice 19 has 15 and an ordinary thread 1024, and any other thread preempts it at
// once.
void lower_priority_to_idle() {
  const sched_param none{};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) setpriority(PRIO_PROCESS, 0, 19);
}

int own_real_time_priority() {
  sched_param now{};
  return sched_getparam(0, &now) == 0 ? now.sched_priority : 0;
}

int raise_above_real_time(pid_t thread, int priority) {
  sched_param now{};  // 0 without a real-time policy
  if (sched_getparam(thread, &now) != 0) return 0;
  if (priority == 0 || now.sched_priority > priority) return now.sched_priority;
  const sched_param higher{std::min(priority + 1, sched_get_priority_max(SCHED_FIFO))};
  return sched_setscheduler(thread, SCHED_FIFO, &higher) == 0 ? higher.sched_priority : now.sched_priority;
}

uint64_t cpu_ns_of(pthread_t thread) {
  clockid_t clock;
  timespec used{};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

unsigned usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return static_cast<unsigned>(CPU_COUNT(&cores));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace contrafact::deferred
