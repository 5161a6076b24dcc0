// The library's constructor and destructor, forks, and the end of the recording.
#include "agent_native/agent.h"
#include "agent_native/stack.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "agent_native/libraries.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "agent_native/sets.h"
#include "agent_native/sockets.h"
#include "agent_native/threads.h"

namespace contrafact::agent_native {
namespace {

constinit recorder::EventClock g_kernel_clock;  // until the recording begins

}  // namespace

constinit Agent g_agent;
constinit OriginalPage g_original;
constinit EventTime g_clock{&g_kernel_clock};
thread_local constinit ThreadLocal t_local;

void say(std::string_view line) {
  constexpr std::string_view kBegin = "contrafact: ", kEnd = "\n";
  iovec parts[3];
  size_t count = 0;
  for (const std::string_view part : {kBegin, line, kEnd})
    parts[count++] = {const_cast<char*>(part.data()), part.size()};
  if (real().writev(STDERR_FILENO, parts, 3) < 0) return;  // nobody is to hear of it
}

// A recursive mutex says who holds it.
uint32_t own_thread_id() {
  pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  real().pthread_mutex_lock(&mutex);
  const auto own = static_cast<uint32_t>(mutex.__data.__owner);
  real().pthread_mutex_unlock(&mutex);
  return own;
}

namespace {

std::string own_path() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_path), &info) == 0 || !info.dli_fname) return {};
  return info.dli_fname;
}

// The variable's entry in the environment, NAME=VALUE; null if there is none. Does not call the C library's functions:
// shells bring their own, which work on variables that they have not read yet.
char** find_variable(std::string_view name) {
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=') return entry;
  }
  return nullptr;
}

}  // namespace

bool has_variable(std::string_view name) {
  char** const entry = find_variable(name);
  return entry && (*entry)[name.size() + 1] != 0;
}

namespace {

// How many there were.
size_t remove_variable(std::string_view name) {
  size_t count = 0;
  for (; char** entry = find_variable(name); ++count) {
    do {
      entry[0] = entry[1];
    } while (*entry++);
  }
  return count;
}

// Programs that this one starts are not ours, unless children are recorded. Done in place, so that every copy of the
// environment that the program makes is clean.
//
// The auxiliary vector lies behind the kernel's environment, `kernels`, and programs find it from the environment's
// end. So the room of two removed entries, as large as one of that vector, becomes a vector entry that says nothing.
void clean_environment(const Shared& shared, char** kernels) {
  constexpr std::string_view kPreload = "LD_PRELOAD";
  constexpr std::string_view kPadding(kPaddingEntry, sizeof kPaddingEntry - 2);
  size_t removed = remove_variable(kOptionsVariable) + remove_variable(kPadding);
  if (char** const preload = find_variable(kPreload)) {
    std::string rest = without_library(*preload + kPreload.size() + 1, shared.agent_file);
    std::string_view others = shared.options.preloaded;
    while (!others.empty()) {
      const std::string_view other = others.substr(0, others.find(':'));
      rest = without_library(rest, other);
      others.remove_prefix(std::min(others.size(), other.size() + 1));
    }
    if (rest.empty()) {
      removed += remove_variable(kPreload);
    } else {
      *preload = (new std::string(std::string(kPreload) + "=" + rest))->data();  // the program's from here on
    }
  }
  if (removed != 2 || environ != kernels) return;
  while (*kernels) ++kernels;
  auto* const gap = reinterpret_cast<Elf64_auxv_t*>(kernels + 1);
  gap->a_type = AT_IGNORE;
  gap->a_un.a_val = 0;
}

// False if this process cannot be recorded. The reason is reported, but not where the program has run before: its
// standard error may be a file of its own by now.
bool begin_recording(Shared& shared, pid_t parent_pid) {
  auto log = recorder::SharedLog::open(shared.options.control, g_agent.pid, parent_pid, shared.options.restricted);
  if (!log) {
    if (!shared.options.later) say(log.error().message);
    return false;
  }
  shared.log = *log;
  g_clock.of = &shared.log->clock();
  g_original.is_original.store(1, std::memory_order_relaxed);
  return true;
}

Client* go_live(Shared& shared) {
  g_agent.shared = &shared;
  g_agent.live.store(true, std::memory_order_release);
  Client* client = attach_main();
  if (client) tell_sets(client);
  return client;
}

void note_end_of_sets(const base::Status& begun) {
  if (!begun) append_text(recorder::TextKind::fact, 0, "sets.ended", begun.error().message);
}

// In a child that a handler forked: it ends what the handler interrupted.
void keep_interrupted_apart() {
  if (!g_agent.shared || !t_local.inside || is_restricted()) return;
  g_agent.shared->log->keep_to_this_process();
}

// The recording goes on in the child with an area of its own, or it ends there. Neither the C library nor the allocator
// is called. The library's locks may be held by threads that are not in the child, or by code that a handler
// interrupted; the program's own handlers of forks, which put its allocator in order, may come later.
void in_forked_child() {
  g_original.is_original.store(0, std::memory_order_relaxed);
  contrafact_vfork_depth = 0;
  g_agent.live.store(false, std::memory_order_relaxed);
  end_sets_in_child();
  t_local.client = nullptr;
  const Shared* parent = g_agent.shared;
  if (!parent || is_restricted()) return;
  keep_interrupted_apart();
  if (!parent->options.children) return;
  const Inside inside;
  const NotCancelled not_cancelled;
  auto* shared = new Shared;
  shared->options = parent->options;
  shared->options.later = true;
  shared->agent_file = parent->agent_file;
  shared->preload_entry = parent->preload_entry;
  shared->options_entry = parent->options_entry;
  shared->restricted_options_entry = parent->restricted_options_entry;
  const pid_t parent_pid = g_agent.pid;
  g_agent.pid = static_cast<pid_t>(own_thread_id());
  never_list_libraries();
  if (!begin_recording(*shared, parent_pid)) return;
  renew_connections();
  const base::Status sets = begin_sets_in_child();
  go_live(*shared);
  note_end_of_sets(sets);
}

// A handler may call it, also one that interrupted the loader. So it lists no libraries: the recording process finds
// them where it needs to.
void end_recording_quickly() {
  never_list_libraries();
  end_recording();
}

__attribute__((constructor)) void on_load(int, char**, char** environment) {
  resolve_real();
  char** const variable = find_variable(kOptionsVariable);
  if (!variable) return;
  const char* const text = *variable + sizeof kOptionsVariable;
  Inside inside;
  auto options = parse_options(text);
  if (!options) {
    say(options.error().message);
    return;
  }
  auto* shared = new Shared;
  shared->options = *options;
  shared->agent_file = own_path();
  shared->preload_entry = "LD_PRELOAD=" + shared->agent_file;
  shared->options_entry = *variable;
  if (!options->later) shared->options_entry += ",later=1";
  shared->restricted_options_entry = shared->options_entry + (options->restricted ? "" : ",restricted=1");
  g_agent.pid = static_cast<pid_t>(own_thread_id());  // the first thread's
  g_agent.restrictions.store(options->restricted ? 1 : 0, std::memory_order_relaxed);
  if (options->children) {
    *variable = shared->options_entry.data();  // for the program's children
  } else {
    clean_environment(*shared, environment);
  }
  // Not where even asking for that may be forbidden.
  if (!options->restricted) madvise(&g_original, sizeof g_original, MADV_WIPEONFORK);
  if (pthread_key_create(&g_agent.ended, thread_ended) != 0) return;
  if (!begin_recording(*shared, 0)) return;
  base::Status sets;
  if (options->sets && !options->restricted) {
    sets = begin_sets(shared->options);
    if (!sets && !options->later) say(sets.error().message);
    prepare_to_attach_sets();
  }
  reserve_for_exec();
  if (!options->restricted) prepare_walks();
  pthread_atfork(nullptr, nullptr, in_forked_child);
  at_quick_exit(end_recording_quickly);
  prepare_to_list_libraries();
  if (Client* client = go_live(*shared)) list_libraries(client);
  note_end_of_sets(sets);
}

__attribute__((destructor)) void on_exit() {
  end_recording();
}

}  // namespace

void end_recording() {
  static constinit std::atomic<bool> ended{false};
  if (!g_agent.live.load(std::memory_order_acquire) || !is_original() || ended.exchange(true)) return;
  Client* const client = recording();
  const Inside inside;
  if (!is_original()) return;
  recorder::SharedLog& log = *g_agent.shared->log;
  if (client && is_own(client)) {  // else a handler has interrupted the writing of an event
    flush_sets();
    list_libraries(client);
    leave_current();
    log.detach(client);
  }
  count_sets();
  g_event_costs.report(log);
  end_sets();
  if (!t_local.has_no_clock) log.page().end_ns.store(g_clock.now_ns(), std::memory_order_release);
  g_original.is_original.store(0, std::memory_order_relaxed);
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

// This fork runs no handlers of forks, so its child is not recorded. Without CONTRAFACT_CALLED: a thread goes on
// natively.
CONTRAFACT_INTERPOSE(pid_t, _Fork, ()) {
  const pid_t child = real()._Fork();
  if (child != 0) return child;
  keep_interrupted_apart();
  contrafact_vfork_depth = 0;
  g_original.is_original.store(0, std::memory_order_relaxed);  // the kernel may not have done it
  return 0;
}
