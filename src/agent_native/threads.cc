// pthread_create, join, detach and exit; thrd_*. The run of a thread is a task (format/event.h): spawned where it was
// created, waited for where it is joined.
#include "agent_native/threads.h"

#include <dlfcn.h>
#include <link.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "agent_native/openmp.h"
#include "agent_native/real.h"
#include "agent_native/stack.h"
#include "agent_native/task_shim.h"
#include "agent_native/thread_tasks.h"

namespace contrafact::agent_native {
namespace {

constexpr uint32_t kNone = ThreadTasks::kNone;
// In the static block, whose pages take no memory before they are used. A forked child has its parent's entries, of
// threads that it does not have: new threads with the same handles replace them.
constinit ThreadTasks g_tasks;
// The library goes through the destructors of a thread's keys four times at most. Others may still use locks in theirs:
// ours waits, but must not miss the last round.
constexpr uintptr_t kLastRound = 3;
// For the values of further keys the C library allocates, once for each thread. A thread first seen in the middle of
// its run may be in a signal's handler: its end is not seen then.
constexpr pthread_key_t kKeysInPlace = 32;

thread_local constinit uint32_t t_task __attribute__((tls_model("initial-exec"))) = kNone;

// What a new thread needs to know. It travels in a slot that the new thread gives back: freed memory would make the
// thread map an arena of the allocator's. It is allocated only where kStarts threads were made and have not begun.
struct Start {
  void* (*posix)(void*);
  thrd_start_t c11;
  void* argument;
  bool is_detached = false;  // nobody joins it
  bool is_recorded = false;  // its creator is: else it is the recorder's own thread, or one that is not to be recorded
  uint32_t task = kNone;
  const Shared* task_of = nullptr;  // a child that was forked meanwhile makes the thread, but did not spawn the task
};

constexpr size_t kStarts = 256;
constinit Start g_starts[kStarts] = {};
constinit std::atomic<bool> g_start_is_used[kStarts] = {};

Start* new_start(const Start& start) {
  for (size_t i = 0; i < kStarts; ++i) {
    if (g_start_is_used[i].load(std::memory_order_relaxed) ||
        g_start_is_used[i].exchange(true, std::memory_order_acquire)) {
      continue;
    }
    g_starts[i] = start;
    return &g_starts[i];
  }
  const Inside inside;
  return new Start(start);
}

void give_back(Start* start) {
  if (start >= g_starts && start < g_starts + kStarts) {
    g_start_is_used[start - g_starts].store(false, std::memory_order_release);
  } else {
    const Inside inside;
    delete start;
  }
}

// `number`: among the threads without a name; 0 is main. Null if too many are recorded already. Neither locks nor
// allocates of the program's memory: any interposed function may be the first that a thread calls.
Client* attach(uint32_t number, uint32_t task, bool from_its_beginning) {
  Inside inside;
  Shared& shared = *g_agent.shared;
  Client* client = shared.log->attach(own_thread_id(), number);
  if (&shared != g_agent.shared) return t_local.client;  // a child that was forked meanwhile: it has its own
  if (!client) {
    t_local.over = true;
    return nullptr;
  }
  Recorder::append(client, EventKind::thread_begin, g_clock.now_ns());
  t_task = task;
  if (task != kNone) {
    Recorder::append(client, EventKind::task_start, g_clock.now_ns(), task);
  }
  if (from_its_beginning || g_agent.ended < kKeysInPlace)
    pthread_setspecific(g_agent.ended, reinterpret_cast<void*>(uintptr_t{1}));
  attach_sets(client, from_its_beginning);
  if (&shared != g_agent.shared) return t_local.client;
  t_local.pairs = shared.log->pairs_of(client);
  t_local.client = client;
  return client;
}

uint32_t next_number() {
  return g_agent.shared->next_thread.fetch_add(1, std::memory_order_relaxed);
}

// Its id in the kernel, which the C library hides in the name of its clock.
uint32_t kernel_id_of(pthread_t thread) {
  clockid_t clock;
  if (pthread_getcpuclockid(thread, &clock) != 0) return 0;
  return static_cast<uint32_t>(~(clock >> 3));
}

Start take(void* start) {
  Inside inside;
  const Start taken = *static_cast<Start*>(start);
  give_back(static_cast<Start*>(start));
  if (!taken.is_recorded) t_local.has_no_clock = true;  // its creator's
  if (!taken.is_recorded || !g_agent.live.load(std::memory_order_acquire) || !is_original()) {
    t_local.over = true;
  } else {
    prepare_to_attach_sets();
    const uint32_t task = taken.task_of == g_agent.shared ? taken.task : kNone;
    if (task != kNone && !taken.is_detached) g_tasks.set(pthread_self(), task);
    attach(next_number(), task, true);
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

bool is_in_cpp_library(const void* address) {
  // Unlike dladdr, this does not wait for the loader, which another thread may hold up until this one has begun.
  dl_find_object object;
  return _dl_find_object(const_cast<void*>(address), &object) == 0 && object.dlfo_link_map &&
         object.dlfo_link_map->l_name && std::strstr(object.dlfo_link_map->l_name, "libstdc++");
}

// If a part of a page can be read, the page can be read up to its end.
uint64_t bytes_up_to_page_end(uint64_t address) {
  constexpr uint64_t kPageBytes = 4096;
  return kPageBytes - address % kPageBytes;
}
uint64_t words_up_to_page_end(const uint64_t* at) {
  return bytes_up_to_page_end(reinterpret_cast<uint64_t>(at)) / sizeof *at;
}

// Calls `take` for what may be the size of the object that this destructor gives back: operator delete receives it, as
// a constant in the second argument's register. Other constants may be among them, and compilers may leave the size
// out.
template <typename Take>
void for_each_deleted_size(uint64_t destructor, Take take) {
  constexpr uint8_t kMoveToSecondArgument = 0xbe;  // mov esi, imm32
  constexpr uint64_t kCodeBytesMax = 512;
  const auto* const code = reinterpret_cast<const uint8_t*>(destructor);
  const uint64_t end = std::min(kCodeBytesMax, bytes_up_to_page_end(destructor));
  uint32_t constant;
  for (uint64_t at = 0; at + 1 + sizeof constant <= end; ++at) {
    if (code[at] != kMoveToSecondArgument) continue;
    std::memcpy(&constant, code + at + 1, sizeof constant);
    take(constant);
  }
}

// A std::thread that was given a function or a method keeps it last in its state, as the state's type shows. 0: it was
// given an object, or this is unclear.
uint64_t function_in(const uint64_t* state) {
  constexpr size_t kDeletingDestructor = 1;  // in the virtual table
  constexpr uint64_t kSeveral = UINT64_MAX;
  constexpr std::string_view kBefore = "NSt6thread11_State_implINS_8_InvokerISt5tupleIJ";
  const auto* const type = reinterpret_cast<const uint64_t*>((reinterpret_cast<const uint64_t*>(*state))[-1]);
  if (!type) return 0;  // compiled without them
  const char* name = reinterpret_cast<const char*>(type[1]);
  if (*name == '*') ++name;
  if (std::strncmp(name, kBefore.data(), kBefore.size()) != 0) return 0;
  const std::string_view callee(name + kBefore.size(), strnlen(name + kBefore.size(), 4));
  const bool is_method = callee.starts_with("M");
  if (!is_method && !callee.starts_with("PF") && !callee.starts_with("PDoF")) return 0;
  uint64_t found = 0;
  for_each_deleted_size(reinterpret_cast<const uint64_t*>(*state)[kDeletingDestructor], [&](uint64_t bytes) {
    const uint64_t place = bytes / sizeof *state - (is_method ? 2 : 1);
    if (bytes % sizeof *state != 0 || place == 0 || place >= words_up_to_page_end(state)) return;
    if (const uint64_t word = state[place]; is_function(word)) found = found == 0 || found == word ? word : kSeveral;
  });
  return found == kSeveral ? 0 : found;
}

// The function that the thread runs. libstdc++ starts every std::thread in a function of its own, which calls the third
// entry of its argument's virtual table (std::thread::_State::_M_run, after two destructors).
uint64_t body_of(void* routine, void* argument) {
  if (!argument || !is_in_cpp_library(routine)) return reinterpret_cast<uint64_t>(routine);
  const auto* state = static_cast<const uint64_t*>(argument);
  if (const uint64_t function = function_in(state); function != 0) return function;
  return reinterpret_cast<const uint64_t*>(*state)[2];
}

void spawn(Client* client, Start& start, void* routine, uint64_t site) {
  start.is_recorded = true;
  const Appending appending{client};
  if (!appending) return;
  Shared& shared = *g_agent.shared;
  start.task_of = &shared;
  start.task = shared.next_task.fetch_add(1, std::memory_order_relaxed);
  append_callers(client, walk_stack(site));
  const uint64_t body = body_of(routine, start.argument);
  Recorder::append_words(client, recorder::kBodyCall, body, body >> 32);
  Recorder::append_addressed(client, recorder::addressed_call(EventKind::task_spawn), g_clock.now_ns(), start.task,
                             site, site >> 32, kNone);
}

// The library has not created the thread. A created thread reports its task itself: the memory of its handle may be
// gone by now.
void not_created(Client* client, uint32_t task) {
  if (const Appending appending{client}) Recorder::append(client, EventKind::task_drop, g_clock.now_ns(), task);
}

// `library` returns 0 once the thread has ended.
template <typename Library>
int join(Client* client, pthread_t thread, uint64_t site, Library library) {
  uint32_t task = g_tasks.of(thread);
  append_stack(client, site);
  append(client, EventKind::wait_begin, g_clock.now_ns(), task, site, site >> 32);
  const int error = library();
  if (!is_own(client)) return error;
  if (error == 0) {
    if (task == kNone) task = g_tasks.of(thread);  // it had not begun
    g_tasks.forget(thread, task);
  }
  append(client, EventKind::wait_end, g_clock.now_ns(), error == 0 ? task : kNone,
         static_cast<uint32_t>(error == 0           ? Outcome::normal
                               : error == ETIMEDOUT ? Outcome::timeout
                                                    : Outcome::exception));
  return error;
}

}  // namespace

Client* attach_main() {
  return attach(0, kNone, true);
}

void name_thread(uint32_t os_tid, const char* name) {
  constexpr size_t kNameBytesMax = 15;
  append_text(recorder::TextKind::thread_name, os_tid, {}, {name, strnlen(name, kNameBytesMax)});
}

Client* recording_slow() {
  ThreadLocal& local = t_local;
  if (local.inside || local.over || !g_agent.live.load(std::memory_order_acquire) || !is_original()) return nullptr;
  return attach(next_number(), kNone, false);  // made behind our back: by the C library itself, or by clone
}

void append_text(recorder::TextKind kind, uint32_t number, std::string_view key, std::string_view value) {
  Client* const client = recording();
  if (!client) return;
  if (const Appending appending{client}) recorder::append_text(client, kind, number, key, value);
}

void leave_current() {
  if (t_local.client) leave_current(g_clock.now_ns());
}

void leave_current(int64_t now_ns) {
  ThreadLocal& local = t_local;
  Client* client = local.client;
  if (!client) return;
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
  leave_openmp_runtime();
  be_in_runtime(false);
  const bool was_inside = t_local.inside;
  Inside inside;
  Client* client = t_local.client;
  if (!client || !g_agent.live.load(std::memory_order_acquire) || !is_original()) return;
  if (number < kLastRound) {
    pthread_setspecific(g_agent.ended, reinterpret_cast<void*>(number + 1));
    return;
  }
  if (was_inside) {  // a handler left it by a jump, or it was cancelled, in the middle of an event
    t_local.client = nullptr;
    t_local.over = true;
  } else {
    leave_current();
  }
  detach_sets();
  if (!was_inside) g_agent.shared->log->detach(client);
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, pthread_create,
                     (pthread_t * thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument)) {
  CONTRAFACT_CALLED;
  called_.wrote(thread, sizeof *thread);
  const bool was_in_runtime = be_in_runtime(false);  // which makes a thread for the program's tasks
  Client* client = recording();
  if (!client && !t_local.inside && !t_local.has_no_clock) {
    const int error = real().pthread_create(thread, attributes, routine, argument);
    if (was_in_runtime) be_in_runtime(true);
    return error;
  }
  Start what{routine, nullptr, argument};
  int detach_state = PTHREAD_CREATE_JOINABLE;
  what.is_detached = attributes && pthread_attr_getdetachstate(attributes, &detach_state) == 0 &&
                     detach_state == PTHREAD_CREATE_DETACHED;
  if (client) spawn(client, what, reinterpret_cast<void*>(routine), CONTRAFACT_SITE);
  Start* const start = new_start(what);
  const int error = real().pthread_create(thread, attributes, run_posix, start);
  if (was_in_runtime) be_in_runtime(true);
  if (error == 0) return 0;
  give_back(start);
  if (client) not_created(client, what.task);
  return error;
}

CONTRAFACT_INTERPOSE(int, thrd_create, (thrd_t * thread, thrd_start_t routine, void* argument)) {
  CONTRAFACT_CALLED;
  called_.wrote(thread, sizeof *thread);
  Client* client = recording();
  if (!client) return real().thrd_create(thread, routine, argument);
  Start what{nullptr, routine, argument};
  spawn(client, what, reinterpret_cast<void*>(routine), CONTRAFACT_SITE);
  Start* const start = new_start(what);
  const int result = real().thrd_create(thread, run_c11, start);
  if (result == thrd_success) return result;
  give_back(start);
  not_created(client, what.task);
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
  if (recording()) g_tasks.forget(thread);
  return real().pthread_detach(thread);
}

CONTRAFACT_INTERPOSE(int, pthread_setname_np, (pthread_t thread, const char* name)) {
  CONTRAFACT_CALLED;
  const int error = real().pthread_setname_np(thread, name);
  if (error == 0) name_thread(kernel_id_of(thread), name);
  return error;
}

// The recorder wants only to know when main begins.
CONTRAFACT_INTERPOSE(int, __libc_start_main,
                     (int (*function)(int, char**, char**), int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end)) {
  g_main = function;
  return real().__libc_start_main(sets_are_on() ? run_main : function, count, arguments, init, fini, loader_fini,
                                  stack_end);
}
