#include "children.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ptrace.h>

#include <thread>

#include "ends.h"

namespace harm {

int parent_ends_first() {
  if (fork() == 0) {
    pause_ms(50);
    sections(kSome);
    say("child, later\n");
    _exit(3);
  }
  sections(kSome);
  return 14;
}

int becomes_daemon() {
  sections(kSome);
  expect(daemon(1, 1) == 0, "daemon");
  sections(kSome);
  pthread_join(start(sections_of_thread, reinterpret_cast<void*>(kSome)), nullptr);
  say("daemon\n");
  return 15;
}

int forks_twice() {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) {
      pause_ms(100);
      sections(kSome);
      say("grandchild\n");
    }
    return 3;
  }
  tell_end("child", wait_for(child));
  return 16;
}

int vfork_and_exec() {
  sections(kSome);
  const std::string program = beside("harm_ends");
  const pid_t child = vfork();
  if (child == 0) {
    execl(program.c_str(), program.c_str(), "returns", static_cast<char*>(nullptr));
    _exit(1);
  }
  tell_end("vfork", wait_for(child));
  sections(kSome);
  return 17;
}

int vfork_and_fail() {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/nowhere/at/all", "nowhere", static_cast<char*>(nullptr));
    _exit(127);
  }
  tell_end("vfork", wait_for(child));
  sections(kSome);
  return 18;
}

int spawns() {
  std::string program = beside("harm_static"), second = beside("harm_ends"), returns = "returns";
  char* static_arguments[] = {program.data(), nullptr};
  char* arguments[] = {second.data(), returns.data(), nullptr};
  pid_t child;
  expect(posix_spawn(&child, program.c_str(), nullptr, nullptr, static_arguments, environ) == 0, "posix_spawn");
  tell_end("static", wait_for(child));
  expect(posix_spawnp(&child, second.c_str(), nullptr, nullptr, arguments, environ) == 0, "posix_spawnp");
  tell_end("dynamic", wait_for(child));
  sections(kSome);
  return 19;
}

namespace {

void* spawn_often(void*) {
  std::string program = beside("harm_static");
  char* arguments[] = {program.data(), nullptr};
  for (int i = 0; i < 10; ++i) {
    pid_t child;
    expect(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) == 0, "posix_spawn");
    wait_for(child);
    sections(kSome);
  }
  return nullptr;
}

}  // namespace

int spawns_in_threads() {
  pthread_t threads[3];
  for (pthread_t& thread : threads) thread = start(spawn_often);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return 35;
}

int runs_shells() {
  tell_end("system", system((beside("harm_ends") + " returns").c_str()));
  FILE* pipe = popen((beside("harm_static") + "; exit 4").c_str(), "r");
  char line[64];
  while (fgets(line, sizeof(line), pipe)) dprintf(1, "from the pipe: %s", line);
  tell_end("popen", pclose(pipe));
  sections(kSome);
  return 20;
}

namespace {

alignas(16) char g_clone_stack[64 << 10];

int cloned(void*) {
  say("cloned\n");
  _exit(6);
}

}  // namespace

int clones(int flags) {
  sections(kSome);
  const int child = clone(cloned, g_clone_stack + sizeof(g_clone_stack), flags | SIGCHLD, nullptr);
  expect(child > 0, "clone");
  tell_end("clone", wait_for(child));
  sections(kSome);
  return 22;
}

// A child that no handler of pthread_atfork knows of.
int forks_barely(bool by_library) {
  start(lock_until_end);
  sections(kSome);
  const pid_t child = by_library ? _Fork() : static_cast<pid_t>(bare_call(SYS_clone, SIGCHLD));
  if (child == 0) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 200'000; ++i) {
      pthread_mutex_lock(&own);
      pthread_mutex_unlock(&own);
    }
    say("a child without handlers\n");
    _exit(5);
  }
  tell_end("child", wait_for(child));
  return 23;
}

int forks_while_others_lock() {
  for (int i = 0; i < 3; ++i) start(lock_until_end);
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
      pthread_mutex_lock(&own);
      pthread_mutex_unlock(&own);
      i % 2 ? _exit(i) : exit(i);
    }
    tell_end("child", wait_for(child));
  }
  g_stop = true;
  return 24;
}

int forks_in_thread() {
  std::thread([] {
    const pid_t child = fork();
    if (child == 0) {
      std::thread([] { sections(kSome); }).join();
      exit(6);
    }
    tell_end("child", wait_for(child));
  }).join();
  return 25;
}

namespace {

// At a mutex that no forked child needs.
void* sections_of_its_own(void*) {
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  for (long i = 0; i < kSome; ++i) {
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
  }
  return nullptr;
}

// None of these calls is one at which a thread that is to be cancelled ends.
void* go_on_while_cancelled(void*) {
  const std::string program = beside("harm_ends");
  pthread_cancel(pthread_self());
  sections(kSome);
  pthread_detach(start(sections_of_its_own));
  signal(SIGUSR1, SIG_IGN);
  const pid_t becomes = fork();
  if (becomes == 0) execl(program.c_str(), program.c_str(), "returns", static_cast<char*>(nullptr));
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  tell_end("becomes another", wait_for(becomes));
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  const pid_t goes_on = fork();
  if (goes_on == 0) sections(kSome);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  if (goes_on == 0) {
    say("child\n");
    _exit(3);
  }
  tell_end("goes on", wait_for(goes_on));
  return nullptr;
}

}  // namespace

int forks_while_cancelled() {
  pthread_join(start(go_on_while_cancelled), nullptr);
  sections(kSome);
  return 36;
}

int ignores_children() {
  signal(SIGCHLD, SIG_IGN);
  if (fork() == 0) _exit(3);
  const pid_t none = wait(nullptr);
  dprintf(1, "%d %s\n", none, strerror(errno));
  sections(kSome);
  return 26;
}

int stopped_and_continued() {
  const pid_t child = fork();
  if (child == 0) {
    const pid_t parent = getppid();
    kill(parent, SIGSTOP);
    pause_ms(300);
    kill(parent, SIGCONT);
    _exit(0);
  }
  for (int i = 0; i < 300; ++i) {
    sections(kSome);
    pause_ms(1);
  }
  tell_end("child", wait_for(child));
  return 27;
}

// A tracer that only lets it go on.
int traced() {
  const pid_t child = fork();
  if (child == 0) {
    need(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0, "ptrace");
    raise(SIGSTOP);
    sections(kSome);
    exit(9);
  }
  for (;;) {
    const int status = wait_for(child);
    if (!WIFSTOPPED(status)) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == kCannot) _exit(kCannot);
      tell_end("traced", status);
      return 28;
    }
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
}

}  // namespace harm
