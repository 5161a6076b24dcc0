// Ways in which programs start, end, and become or start others.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <iterator>
#include <string>
#include <thread>

#include "children.h"
#include "ends.h"

using namespace harm;

namespace {

int returns() {
  sections(kSome);
  return 1;
}

int exits() {
  sections(kSome);
  exit(2);
}

int exits_at_once() {
  sections(kSome);
  _exit(3);
}

int exits_quickly() {
  at_quick_exit([] {
    sections(kSome);
    say("at quick exit\n");
  });
  quick_exit(4);
}

// Another thread asks the loader for its list, and does not come back: whoever asks now waits for ever.
void begin_endless_walk() {
  static std::atomic<bool> walks{false};
  start([](void*) -> void* {
    dl_iterate_phdr(
        [](dl_phdr_info*, size_t, void*) -> int {
          walks = true;
          for (;;) bare_call(SYS_pause);
        },
        nullptr);
    return nullptr;
  });
  while (!walks) {
  }
}

int exits_quickly_beside_walk() {
  sections(kSome);
  begin_endless_walk();
  quick_exit(4);
}

int exits_beside_walk() {
  sections(kSome);
  begin_endless_walk();
  exit(4);
}

// Loaded once more, and closed once: nothing is unloaded.
int closes_beside_walk() {
  void* const library = dlopen("libc.so.6", RTLD_NOW);
  begin_endless_walk();
  tell_end("dlclose", library ? dlclose(library) : -1);
  sections(kSome);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(kSome)), nullptr);
  _exit(4);
}

int exits_barely() {
  sections(kSome);
  bare_call(SYS_exit_group, 5);
  return 0;
}

int exits_by_syscall() {
  sections(kSome);
  syscall(SYS_exit_group, 6);
  return 0;
}

int raises(int number) {
  sections(kSome);
  raise(number);
  return 0;
}

int killed_by_other() {
  sections(kSome);
  const pid_t parent = getpid();
  if (fork() == 0) {
    kill(parent, SIGKILL);
    _exit(0);
  }
  for (;;) pause();
}

int segfaults() {
  sections(kSome);
  *static_cast<volatile int*>(nullptr) = 1;
  return 0;
}

void* go_on_and_exit(void*) {
  pause_ms(20);
  sections(kSome);
  exit(7);
}

int main_ends_first() {
  start(go_on_and_exit);
  pthread_exit(nullptr);
}

void* go_on_and_end(void*) {
  pause_ms(20);
  sections(kSome);
  say("last thread\n");
  return nullptr;
}

// The last thread's end is the program's, with status 0.
int last_thread_ends() {
  pthread_detach(start(go_on_and_end));
  pthread_exit(nullptr);
}

int thread_exits_barely() {
  for (int i = 0; i < 3; ++i) start(lock_until_end);
  std::thread([] {
    sections(kSome);
    bare_call(SYS_exit_group, 8);
  }).join();
  return 0;
}

int ends_while_others_lock() {
  for (int i = 0; i < 4; ++i) start(lock_until_end);
  pause_ms(20);
  return 9;
}

int ends_inside_section() {
  pthread_mutex_lock(&g_mutex);
  return 10;
}

struct Last {
  ~Last() {
    sections(kSome);
    say("a thread-local's destructor\n");
  }
};
thread_local Last t_last;

int destructors() {
  atexit([] {
    sections(kSome);
    say("at exit\n");
  });
  (void)&t_last;
  std::thread([] { (void)&t_last; }).join();
  return 11;
}

// Of a lock of its own: the others may be held at the end.
__attribute__((destructor)) void at_unload() {
  static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&own);
  pthread_mutex_unlock(&own);
}

int executes(const char* program, const char* argument) {
  sections(kSome);
  execl(program, program, argument, static_cast<char*>(nullptr));
  return 1;
}

int executes_script() {
  const int fd = open("script", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  const std::string text = "#!/bin/sh\necho script\nexec " + beside("harm_ends") + " returns\n";
  expect(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "script");
  close(fd);
  return executes("./script", nullptr);
}

int executes_itself_often() {
  const char* left = getenv("LEFT");
  const int number = left ? atoi(left) : 5;
  sections(kSome);
  dprintf(1, "left: %d\n", number);
  if (number == 0) return 12;
  setenv("LEFT", std::to_string(number - 1).c_str(), 1);
  execl("/proc/self/exe", beside("harm_ends").c_str(), "executes_itself_often", static_cast<char*>(nullptr));
  return 1;
}

int fails_to_execute() {
  tell_end("execl", execl("/nowhere/at/all", "nowhere", static_cast<char*>(nullptr)) == -1 && errno == ENOENT ? 0 : 1);
  sections(kSome);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(kSome)), nullptr);
  return 13;
}

int executes_in_thread() {
  for (int i = 0; i < 3; ++i) start(lock_until_end);
  std::thread([] { executes(beside("harm_ends").c_str(), "returns"); }).join();
  return 0;
}

int broken_pipe() {
  sections(kSome);
  int ends[2];
  expect(pipe(ends) == 0, "pipe");
  close(ends[0]);
  return write(ends[1], "x", 1) == 1 ? 0 : 1;
}

int without_core() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  sections(kSome);
  abort();
}

int prints_environment() {
  for (char** entry = environ; *entry; ++entry) dprintf(1, "%s\n", *entry);
  const char* preloaded = getenv("LD_PRELOAD");
  dprintf(1, "preloaded: %s\n", preloaded ? preloaded : "nothing");
  return 29;
}

void* create_for_ever(void*) {
  for (;;) create_and_join_once();
}

// A handler of SIGTERM that ends the program, which creates threads all the time.
int ends_in_handler(int number) {
  signal(number, [](int) { _exit(30); });
  for (int i = 0; i < 2; ++i) start(create_for_ever);
  if (number == SIGALRM) {
    ualarm(15'000, 0);
  } else {
    const pid_t parent = getpid();
    if (fork() == 0) {
      pause_ms(15);
      kill(parent, number);
      _exit(0);
    }
  }
  create_for_ever(nullptr);
  return 0;
}

// A thread that watches the others and ends them all.
int ended_by_watchdog() {
  for (int i = 0; i < 2; ++i) start(create_for_ever);
  start([](void*) -> void* {
    pause_ms(15);
    _exit(31);
  });
  create_for_ever(nullptr);
  return 0;
}

// Signals 32 and 33 are the C library's: its posix_spawn leaves one of them ignored.
void print_signals(const char* line) {
  const unsigned long long internal = 3ULL << 31;
  dprintf(1, "%.6s: %llx\n", line, strtoull(line + 7, nullptr, 16) & ~internal);
}

// What it inherited: signals that are ignored or blocked, and descriptors.
int prints_inheritance() {
  FILE* in = fopen("/proc/self/status", "r");
  char line[256];
  while (in && fgets(line, sizeof(line), in)) {
    for (const char* name : {"SigPnd:", "SigBlk:", "SigIgn:"}) {
      if (strncmp(line, name, strlen(name)) == 0) print_signals(line);
    }
    for (const char* name : {"NoNewPrivs:", "Seccomp:", "Threads:", "Umask:"}) {
      if (strncmp(line, name, strlen(name)) == 0) say(line);
    }
  }
  fclose(in);
  for (int number = 0; number < 64; ++number) {
    if (fcntl(number, F_GETFD) >= 0) dprintf(1, "descriptor %d\n", number);
  }
  dprintf(1, "nice %d, policy %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
  return 32;
}

// Waits for the signal that its starter sends, and says so: by a file, for the output may be closed.
int waits_for_signal(bool handled) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  signal(SIGTERM, handled ? +[](int) { _exit(34); } : SIG_DFL);
  sections(kSome);
  close(open("ready", O_WRONLY | O_CREAT, 0600));
  for (;;) sigsuspend(&before);
}

constexpr Case kCases[] = {
    {"returns", returns},
    {"exits", exits},
    {"exits_at_once", exits_at_once},
    {"exits_quickly", exits_quickly},
    {"exits_quickly_beside_walk", exits_quickly_beside_walk},
    {"exits_beside_walk", exits_beside_walk},
    {"closes_beside_walk", closes_beside_walk},
    {"exits_barely", exits_barely},
    {"exits_by_syscall", exits_by_syscall},
    {"aborts", [] { return raises(SIGABRT); }},
    {"sigkill", [] { return raises(SIGKILL); }},
    {"sigterm", [] { return raises(SIGTERM); }},
    {"sigint", [] { return raises(SIGINT); }},
    {"sighup", [] { return raises(SIGHUP); }},
    {"sigquit", [] { return raises(SIGQUIT); }},
    {"sigill", [] { return raises(SIGILL); }},
    {"sigfpe", [] { return raises(SIGFPE); }},
    {"sigbus", [] { return raises(SIGBUS); }},
    {"sigsys", [] { return raises(SIGSYS); }},
    {"sigtrap", [] { return raises(SIGTRAP); }},
    {"sigalrm", [] { return raises(SIGALRM); }},
    {"sigusr1", [] { return raises(SIGUSR1); }},
    {"sigxcpu", [] { return raises(SIGXCPU); }},
    {"sigrtmin", [] { return raises(SIGRTMIN); }},
    {"segfaults", segfaults},
    {"killed_by_other", killed_by_other},
    {"main_ends_first", main_ends_first},
    {"last_thread_ends", last_thread_ends},
    {"thread_exits_barely", thread_exits_barely},
    {"ends_while_others_lock", ends_while_others_lock},
    {"ends_inside_section", ends_inside_section},
    {"destructors", destructors},
    {"executes_dynamic", [] { return executes("/bin/echo", "from exec"); }},
    {"executes_static", [] { return executes(beside("harm_static").c_str(), nullptr); }},
    {"executes_static_for_environment", [] { return executes(beside("harm_static").c_str(), "shows_environment"); }},
    {"executes_script", executes_script},
    {"executes_itself", [] { return executes(beside("harm_ends").c_str(), "destructors"); }},
    {"executes_itself_often", executes_itself_often},
    {"executes_for_environment", [] { return executes(beside("harm_ends").c_str(), "prints_environment"); }},
    {"executes_in_thread", executes_in_thread},
    {"fails_to_execute", fails_to_execute},
    {"parent_ends_first", parent_ends_first},
    {"becomes_daemon", becomes_daemon},
    {"forks_twice", forks_twice},
    {"vfork_and_exec", vfork_and_exec},
    {"vfork_and_fail", vfork_and_fail},
    {"spawns", spawns},
    {"spawns_in_threads", spawns_in_threads},
    {"runs_shells", runs_shells},
    {"clones", [] { return clones(0); }},
    {"clones_memory", [] { return clones(CLONE_VM | CLONE_VFORK); }},
    {"forks_barely", [] { return forks_barely(false); }},
    {"forks_by_library", [] { return forks_barely(true); }},
    {"forks_while_others_lock", forks_while_others_lock},
    {"forks_in_thread", forks_in_thread},
    {"forks_while_cancelled", forks_while_cancelled},
    {"ignores_children", ignores_children},
    {"broken_pipe", broken_pipe},
    {"stopped_and_continued", stopped_and_continued},
    {"without_core", without_core},
    {"traced", traced},
    {"prints_environment", prints_environment},
    {"prints_inheritance", prints_inheritance},
    {"waits_for_signal", [] { return waits_for_signal(false); }},
    {"handles_signal", [] { return waits_for_signal(true); }},
    {"ends_in_handler", [] { return ends_in_handler(SIGTERM); }},
    {"ends_in_alarm", [] { return ends_in_handler(SIGALRM); }},
    {"ended_by_watchdog", ended_by_watchdog},
};

}  // namespace

int main(int count, char** arguments) {
  const std::string self = arguments[0];
  g_programs = self.substr(0, self.rfind('/'));
  return run_case(kCases, std::size(kCases), count > 1 ? arguments[1] : "");
}
