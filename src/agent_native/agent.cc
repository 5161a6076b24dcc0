// The library's constructor and destructor, forks, and the end of the recording.
#include "agent_native/agent.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "agent_native/event_clock.h"
#include "agent_native/libraries.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "agent_native/sets.h"
#include "agent_native/threads.h"
#include "base/file.h"

namespace contrafact::agent_native {

constinit Agent g_agent;
thread_local constinit ThreadLocal t_local;

void say(std::string_view line) {
  std::fprintf(stderr, "contrafact: %.*s\n", static_cast<int>(line.size()), line.data());
}

namespace {

// Long enough to write what a 64 MiB budget holds to a slow disk.
constexpr int64_t kStopMs = 10'000;

std::string own_path() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_path), &info) == 0 || !info.dli_fname) return {};
  return info.dli_fname;
}

// Programs that this one starts are not ours, unless children are recorded. Done in place, so that every copy of the
// environment that the program makes is clean.
void clean_environment(const Shared& shared) {
  if (shared.options.children) {
    Options child = shared.options;
    child.process = 0;
    setenv(kOptionsVariable, (print_options(child) + ",process=" + std::to_string(g_agent.pid)).c_str(), 1);
    return;
  }
  unsetenv(kOptionsVariable);
  const char* preload = getenv("LD_PRELOAD");
  if (!preload) return;
  const std::string rest = without_library(preload, shared.agent_file);
  if (rest.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", rest.c_str(), 1);
  }
}

// Threads of this process that still run: the first one stays as a zombie after pthread_exit.
int running_threads() {
  DIR* tasks = opendir("/proc/self/task");
  if (!tasks) return INT_MAX;
  int running = 0;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    auto status = base::read_text_file(std::string("/proc/self/task/") + entry->d_name + "/stat");
    if (!status) continue;
    const size_t name_end = status->rfind(") ");  // the name may hold anything
    running += name_end == std::string::npos || (*status)[name_end + 2] != 'Z';
  }
  closedir(tasks);
  return running;
}

// The C library ends a process when its last thread ends; but the drainer is a thread too. Runs on the drainer.
void end_orphaned_process() {
  const Shared* shared = g_agent.shared;
  if (!g_agent.live.load(std::memory_order_acquire) || shared->threads.load(std::memory_order_relaxed) > 0) return;
  if (g_agent.orphaned || running_threads() > 1) return;
  g_agent.orphaned = true;
  pthread_t thread;
  const auto end = [](void*) -> void* { exit(0); };
  if (pthread_create(&thread, nullptr, end, nullptr) == 0) pthread_detach(thread);
}

// The fact clock.source.
std::string start_clock(bool kernel_clock) {
  const char* const why_not = kernel_clock ? "as asked for" : why_not_the_counter();
  g_clock.start(why_not == nullptr, read_clock_pair());
  return why_not ? std::string("kernel: ") + why_not : "processor";
}

void write_clock_facts(recorder::Recorder& recorder) {
  if (!g_clock.uses_counter()) return;
  recorder.add_fact("clock.error_ns", std::to_string(g_clock.error_ns()));
  if (g_clock.late() > 0) recorder.add_fact("clock.late", std::to_string(g_clock.late()));
}

// False, with the reason told, if this process cannot be recorded.
bool begin_recording(Shared& shared, const std::string& output) {
  recorder::Options options;
  shared.output = output;
  options.output_path = output;
  options.memory_bytes_max = shared.options.memory_bytes_max;
  options.cpu_switches = shared.options.cpu_switches;
  options.diagnostics = [](std::string_view line) { say(line); };
  auto modules = std::make_shared<Libraries>();
  options.each_pass = [modules](recorder::Recorder& recorder) {
    g_clock.steer(read_clock_pair());
    if (modules->scan(recorder)) refresh_sets();
    end_orphaned_process();
  };
  options.facts = {{"agent", "native"}, {"clock.source", start_clock(shared.options.kernel_clock)}};
  auto started = recorder::Recorder::start(std::move(options));
  if (!started) {
    say(started.error().message);
    return false;
  }
  shared.recorder = started->release();  // threads may use it until the process is gone
  modules->scan(*shared.recorder);
  return true;
}

// The recording goes on in the child with a recorder of its own, or it ends there.
void in_forked_child() {
  g_agent.live.store(false, std::memory_order_relaxed);
  end_sets_in_child();
  t_local.client = nullptr;
  const Shared* parent = g_agent.shared;
  if (!parent || !parent->options.children || g_agent.restricted.load(std::memory_order_relaxed)) return;
  Inside inside;
  auto* shared = new Shared;
  shared->options = parent->options;
  shared->agent_file = parent->agent_file;
  g_agent.pid = getpid();
  g_agent.stopping.store(0, std::memory_order_relaxed);
  g_agent.stopped.store(false, std::memory_order_relaxed);
  if (!begin_recording(*shared, shared->options.output + "." + std::to_string(g_agent.pid))) return;
  g_agent.shared = shared;
  begin_sets_in_child();
  g_agent.live.store(true, std::memory_order_release);
  attach_main();
}

__attribute__((constructor)) void on_load() {
  resolve_real();
  const char* text = getenv(kOptionsVariable);
  if (!text) return;
  Inside inside;
  auto options = parse_options(text);
  if (!options) {
    say(options.error().message);
    return;
  }
  auto* shared = new Shared;
  shared->options = *options;
  shared->agent_file = own_path();
  g_agent.pid = getpid();
  // Of the same process after an exec, the trace is this image's; of another process, its own.
  const bool is_child = options->process != 0 && options->process != g_agent.pid;
  // An exec of a child: its own children are numbered like it, not behind it.
  const std::string own_suffix = "." + std::to_string(g_agent.pid);
  if (!is_child && shared->options.output.ends_with(own_suffix)) {
    shared->options.output.resize(shared->options.output.size() - own_suffix.size());
  }
  if (pthread_key_create(&g_agent.ended, thread_ended) != 0) return;
  clean_environment(*shared);
  if (!begin_recording(*shared, is_child ? options->output + "." + std::to_string(g_agent.pid) : options->output))
    return;
  g_agent.shared = shared;
  if (shared->options.sets) {
    if (auto begun = begin_sets(shared->options); !begun) say(begun.error().message);
  }
  pthread_atfork(nullptr, nullptr, in_forked_child);
  at_quick_exit([] { end_recording("exit"); });
  g_agent.live.store(true, std::memory_order_release);
  attach_main();
}

__attribute__((destructor)) void on_exit() {
  end_recording("exit");
}

}  // namespace

void end_recording(const char* reason) {
  if (!g_agent.live.load(std::memory_order_acquire) || getpid() != g_agent.pid) return;
  Inside inside;
  const int self = static_cast<int>(syscall(SYS_gettid));
  int nobody = 0;
  if (g_agent.stopping.compare_exchange_strong(nobody, self)) {
    flush_sets();
    leave_current();
    write_sets_facts(*g_agent.shared->recorder);
    write_clock_facts(*g_agent.shared->recorder);
    end_sets();
    g_agent.shared->recorder->stop(reason, kStopMs);
    g_agent.stopped.store(true, std::memory_order_release);
    return;
  }
  if (nobody == self) return;  // a handler that interrupted us
  const timespec nap{0, 1'000'000};
  for (int64_t ms = 0; ms < kStopMs && !g_agent.stopped.load(std::memory_order_acquire); ++ms) {
    real().nanosleep(&nap, nullptr);
  }
}

}  // namespace contrafact::agent_native
