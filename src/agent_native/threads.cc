// pthread_create, join, detach and exit; thrd_*. The run of a thread is a task (format/event.h): spawned where it was
// created, waited for where it is joined.
#include "agent_native/threads.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstring>
#include <string>

#include "agent_native/real.h"

namespace contrafact::agent_native {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// The library goes through the destructors of a thread's keys four times at most. Others may still use locks in theirs:
// ours waits, but must not miss the last round.
constexpr uintptr_t kLastRound = 3;

thread_local constinit uint32_t t_task __attribute__((tls_model("initial-exec"))) = kNone;

// What a new thread needs to know; the creator allocates it, the new thread frees it.
struct Start {
  void* (*posix)(void*);
  thrd_start_t c11;
  void* argument;
  uint32_t task;  // none: the recorder's own thread, or one that is not to be recorded
};

Client* attach(const std::string& name, uint32_t task, bool from_its_beginning) {
  Inside inside;
  Shared& shared = *g_agent.shared;
  format::ThreadRow row;
  row.name = shared.recorder->intern(name);
  row.os_tid = static_cast<uint64_t>(syscall(SYS_gettid));
  Client* client = shared.recorder->attach(row);
  Recorder::append(client, EventKind::thread_begin, g_clock.now_ns());
  t_task = task;
  if (task != kNone) {
    {
      std::lock_guard lock(shared.mutex);
      shared.task_of_thread[pthread_self()] = task;  // it may be joined before its creator knows its handle
    }
    Recorder::append(client, EventKind::task_start, g_clock.now_ns(), task);
  }
  pthread_setspecific(g_agent.ended, reinterpret_cast<void*>(uintptr_t{1}));
  attach_sets(client, from_its_beginning);
  shared.threads.fetch_add(1, std::memory_order_relaxed);
  t_local.client = client;
  return client;
}

std::string next_name() {
  return "thread " + std::to_string(g_agent.shared->next_thread.fetch_add(1, std::memory_order_relaxed));
}

void name_thread(format::ThreadId thread, const char* name) {
  g_agent.shared->recorder->add_fact("thread.name." + std::to_string(thread.value), name);
}

// The thread's own name, if it is not just the program's.
void record_own_name(Client* client) {
  if (g_agent.restricted.load(std::memory_order_relaxed)) return;
  char own[17] = {}, first[17] = {};
  if (real().prctl(PR_GET_NAME, reinterpret_cast<long>(own), 0, 0, 0) != 0) return;
  const int fd = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);  // of the first thread
  if (fd >= 0) {
    const ssize_t n = ::read(fd, first, 16);
    ::close(fd);
    if (n > 0 && first[n - 1] == '\n') first[n - 1] = 0;
  }
  if (own[0] != 0 && std::strcmp(own, first) != 0) name_thread(Recorder::thread_of(client), own);
}

Start take(void* start) {
  Inside inside;
  const Start taken = *static_cast<Start*>(start);
  delete static_cast<Start*>(start);
  if (taken.task == kNone || !g_agent.live.load(std::memory_order_acquire)) {
    t_local.over = true;
  } else {
    attach(next_name(), taken.task, true);
  }
  return taken;
}

// The program's own code, from a thread's beginning. It may not come back.
template <typename Result, typename... Arguments>
Result run_watched(Result (*function)(Arguments...), Arguments... arguments) {
  if (!sets_are_on()) return function(arguments...);
  const auto entered = reinterpret_cast<Result (*)(Arguments...)>(sets_enter(reinterpret_cast<uint64_t>(function)));
  const Result result = entered(arguments...);
  sets_returned();
  return result;
}

using Main = int (*)(int, char**, char**);
constinit Main g_main = nullptr;

int run_main(int count, char** arguments, char** environment) {
  return run_watched(g_main, count, arguments, environment);
}

void* run_posix(void* start) {
  const Start taken = take(start);
  return run_watched(taken.posix, taken.argument);
}

int run_c11(void* start) {
  const Start taken = take(start);
  return run_watched(taken.c11, taken.argument);
}

// The function that the thread is about. libstdc++ starts every std::thread in one of its own, which calls the third
// entry of its argument's virtual table (std::thread::_State::_M_run, after two destructors).
uint64_t body_of(void* routine, void* argument) {
  Dl_info info;
  const bool in_library = dladdr(routine, &info) != 0 && info.dli_fname && std::strstr(info.dli_fname, "libstdc++");
  if (!in_library || !argument) return reinterpret_cast<uint64_t>(routine);
  return (*static_cast<const uint64_t* const*>(argument))[2];
}

uint32_t spawn(Client* client, void* routine, void* argument, uint64_t site) {
  Inside inside;
  Shared& shared = *g_agent.shared;
  const uint32_t task = shared.next_task.fetch_add(1, std::memory_order_relaxed);
  const uint64_t sites[] = {site};
  const format::ContextId context = shared.recorder->context_at(sites);
  const format::MethodId body = shared.recorder->method_at(body_of(routine, argument), true);
  Recorder::append(client, EventKind::task_spawn, g_clock.now_ns(), task, context.value, kNone, body.value);
  return task;
}

// The library has created the thread, or not.
void created(Client* client, uint32_t task, int error, const pthread_t* thread) {
  Inside inside;
  if (error != 0) {
    Recorder::append(client, EventKind::task_drop, g_clock.now_ns(), task);
    return;
  }
  std::lock_guard lock(g_agent.shared->mutex);
  g_agent.shared->task_of_thread[*thread] = task;
}

uint32_t task_of(pthread_t thread) {
  Inside inside;
  std::lock_guard lock(g_agent.shared->mutex);
  const auto found = g_agent.shared->task_of_thread.find(thread);
  return found == g_agent.shared->task_of_thread.end() ? kNone : found->second;
}

// `library` returns 0 once the thread has ended.
template <typename Library>
int join(Client* client, pthread_t thread, uint64_t site, Library library) {
  const uint32_t task = task_of(thread);
  append_stack(client, site);
  append(client, EventKind::wait_begin, g_clock.now_ns(), task, site, site >> 32);
  const int error = library();
  append(client, EventKind::wait_end, g_clock.now_ns(), error == 0 ? task : kNone,
         static_cast<uint32_t>(error == 0           ? Outcome::normal
                               : error == ETIMEDOUT ? Outcome::timeout
                                                    : Outcome::exception));
  return error;
}

}  // namespace

void attach_main() {
  attach("main", kNone, true);
}

Client* recording_slow() {
  ThreadLocal& local = t_local;
  if (local.inside || local.over || !g_agent.live.load(std::memory_order_acquire)) return nullptr;
  return attach(next_name(), kNone, false);  // made behind our back: by the C library itself, or by clone
}

void leave_current() {
  ThreadLocal& local = t_local;
  Client* client = local.client;
  if (!client) return;
  const int64_t now_ns = g_clock.now_ns();
  if (t_task != kNone) {
    Recorder::append(client, EventKind::task_complete, now_ns, t_task, static_cast<uint32_t>(Outcome::normal));
    Recorder::append(client, EventKind::task_end, now_ns, t_task, static_cast<uint32_t>(Outcome::normal));
  }
  Recorder::append(client, EventKind::thread_end, now_ns);
  local.client = nullptr;
  local.over = true;
}

void thread_ended(void* round) {
  CONTRAFACT_CALLED;  // of a thread that ends while it holds a lock, by translated code
  const auto number = reinterpret_cast<uintptr_t>(round);
  Client* client = t_local.client;
  if (!client || !g_agent.live.load(std::memory_order_acquire)) return;
  Inside inside;
  if (number < kLastRound) {
    pthread_setspecific(g_agent.ended, reinterpret_cast<void*>(number + 1));
    return;
  }
  record_own_name(client);
  leave_current();
  detach_sets();
  g_agent.shared->recorder->detach(client);
  g_agent.shared->threads.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, pthread_create,
                     (pthread_t * thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument)) {
  CONTRAFACT_CALLED;
  called_.wrote(thread, sizeof *thread);
  Client* client = recording();
  if (!client && !t_local.inside) return real().pthread_create(thread, attributes, routine, argument);
  Start* start;
  uint32_t task = kNone;
  if (client) task = spawn(client, reinterpret_cast<void*>(routine), argument, CONTRAFACT_SITE);
  {
    Inside inside;
    start = new Start{routine, nullptr, argument, task};
  }
  const int error = real().pthread_create(thread, attributes, run_posix, start);
  if (error != 0) delete start;
  if (client) created(client, task, error, thread);
  return error;
}

CONTRAFACT_INTERPOSE(int, thrd_create, (thrd_t * thread, thrd_start_t routine, void* argument)) {
  CONTRAFACT_CALLED;
  called_.wrote(thread, sizeof *thread);
  Client* client = recording();
  if (!client) return real().thrd_create(thread, routine, argument);
  const uint32_t task = spawn(client, reinterpret_cast<void*>(routine), argument, CONTRAFACT_SITE);
  Start* start;
  {
    Inside inside;
    start = new Start{nullptr, routine, argument, task};
  }
  const int result = real().thrd_create(thread, run_c11, start);
  if (result != thrd_success) delete start;
  created(client, task, result == thrd_success ? 0 : EAGAIN, thread);
  return result;
}

CONTRAFACT_INTERPOSE(int, pthread_join, (pthread_t thread, void** value)) {
  CONTRAFACT_CALLED;
  called_.wrote(value, sizeof *value);
  Client* client = recording();
  if (!client) return real().pthread_join(thread, value);
  return join(client, thread, CONTRAFACT_SITE, [&] { return real().pthread_join(thread, value); });
}

CONTRAFACT_INTERPOSE(int, pthread_tryjoin_np, (pthread_t thread, void** value)) {
  CONTRAFACT_CALLED;
  called_.wrote(value, sizeof *value);
  Client* client = recording();
  if (!client) return real().pthread_tryjoin_np(thread, value);
  return join(client, thread, CONTRAFACT_SITE, [&] { return real().pthread_tryjoin_np(thread, value); });
}

CONTRAFACT_INTERPOSE(int, pthread_timedjoin_np, (pthread_t thread, void** value, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  called_.wrote(value, sizeof *value);
  Client* client = recording();
  if (!client) return real().pthread_timedjoin_np(thread, value, until);
  return join(client, thread, CONTRAFACT_SITE, [&] { return real().pthread_timedjoin_np(thread, value, until); });
}

CONTRAFACT_INTERPOSE(int, pthread_clockjoin_np,
                     (pthread_t thread, void** value, clock_id clock, const timespec* until)) {
  CONTRAFACT_CALLED;
  called_.reads(until, sizeof *until);
  called_.wrote(value, sizeof *value);
  Client* client = recording();
  if (!client) return real().pthread_clockjoin_np(thread, value, clock, until);
  return join(client, thread, CONTRAFACT_SITE,
              [&] { return real().pthread_clockjoin_np(thread, value, clock, until); });
}

CONTRAFACT_INTERPOSE(int, thrd_join, (thrd_t thread, int* value)) {
  CONTRAFACT_CALLED;
  called_.wrote(value, sizeof *value);
  Client* client = recording();
  if (!client) return real().thrd_join(thread, value);
  const int error = join(client, thread, CONTRAFACT_SITE,
                         [&] { return real().thrd_join(thread, value) == thrd_success ? 0 : EINVAL; });
  return error == 0 ? thrd_success : thrd_error;
}

// Nobody can join it any more, and its handle may be used again.
CONTRAFACT_INTERPOSE(int, pthread_detach, (pthread_t thread)) {
  CONTRAFACT_CALLED;
  if (recording()) {
    Inside inside;
    std::lock_guard lock(g_agent.shared->mutex);
    g_agent.shared->task_of_thread.erase(thread);
  }
  return real().pthread_detach(thread);
}

CONTRAFACT_INTERPOSE(int, pthread_setname_np, (pthread_t thread, const char* name)) {
  CONTRAFACT_CALLED;
  Client* client = recording();
  if (client && pthread_equal(thread, pthread_self())) {
    Inside inside;
    name_thread(Recorder::thread_of(client), name);
  }
  return real().pthread_setname_np(thread, name);
}

// Its own beginning of main is all that the recorder wants of it.
CONTRAFACT_INTERPOSE(int, __libc_start_main,
                     (int (*function)(int, char**, char**), int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end)) {
  g_main = function;
  return real().__libc_start_main(sets_are_on() ? run_main : function, count, arguments, init, fini, loader_fini,
                                  stack_end);
}
