// Whose signal handlers a program finds, however it asks: in itself, in children that share its memory or do not, and
// in the program that it becomes.
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of sigset

extern "C" __sighandler_t bsd_signal(int, __sighandler_t) noexcept;

namespace {

volatile int ran = 0;
void first(int) {
  ran = 1;
}
void second(int) {
  ran = 2;
}
void third(int, siginfo_t*, void*) {
  ran = 3;
}

struct KernelAction {
  void* handler;
  uint64_t flags;
  void* restorer;
  uint64_t mask;
};

const char* name_of(const void* handler) {
  if (handler == reinterpret_cast<void*>(first)) return "first";
  if (handler == reinterpret_cast<void*>(second)) return "second";
  if (handler == reinterpret_cast<void*>(third)) return "third";
  if (handler == reinterpret_cast<void*>(SIG_DFL)) return "default";
  if (handler == reinterpret_cast<void*>(SIG_IGN)) return "ignored";
  if (handler == reinterpret_cast<void*>(SIG_ERR)) return "error";
  return "somebody else's";
}
const char* name_of(__sighandler_t handler) {
  return name_of(reinterpret_cast<void*>(handler));
}

const char* asked() {
  struct sigaction action{};
  sigaction(SIGUSR1, nullptr, &action);
  return name_of(action.sa_handler);
}
const char* asked_of_kernel() {
  KernelAction action{};
  syscall(SYS_rt_sigaction, SIGUSR1, nullptr, &action, 8);
  return name_of(action.handler);
}
int raised() {
  ran = 0;
  raise(SIGUSR1);
  return ran;
}

// Asks, changes, and finds what was there before, in each of the ways; at the end `second` is there.
void go_through(const char* where) {
  printf("%s: %s, %s, ran %d\n", where, asked(), asked_of_kernel(), raised());
  struct sigaction action{}, before{};
  action.sa_sigaction = third;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, &before);
  printf("sigaction: %s, now %s, %s, ran %d\n", name_of(before.sa_handler), asked(), asked_of_kernel(), raised());
  sigaction(SIGUSR1, &before, &action);
  printf("back: %s, now %s, ran %d\n", name_of(reinterpret_cast<void*>(action.sa_sigaction)), asked(), raised());
  const struct {
    const char* name;
    __sighandler_t (*change)(int, __sighandler_t);
  } kWays[] = {{"signal", signal},
               {"bsd_signal", bsd_signal},
               {"ssignal", ssignal},
               {"sysv_signal", sysv_signal},
               {"sigset", sigset}};
  for (const auto& way : kWays) {
    const char* before_first = name_of(way.change(SIGUSR1, first));
    const int ran_first = raised();
    const char* before_second = name_of(way.change(SIGUSR1, second));
    printf("%s: %s, %d, %s, %s, %d\n", way.name, before_first, ran_first, before_second, asked(), raised());
    printf("%s: %s, %s\n", way.name, name_of(way.change(SIGUSR1, SIG_IGN)), name_of(way.change(SIGUSR1, second)));
    way.change(SIGUSR1, second);  // System V resets it when it runs
  }
  const char* refused = name_of(signal(SIGKILL, first));
  printf("refused: %s %d\n", refused, errno == EINVAL);
}

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("child ended %d\n", status);
}

void fork_and_go_through() {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    go_through("forked child");
    fflush(stdout);
    _exit(0);
  }
  wait_for(child);
}

// What the child sets is not its parent's.
void vfork_and_change() {
  const pid_t child = vfork();
  if (child == 0) {
    printf("vforked child: %s, %s\n", asked(), asked_of_kernel());
    struct sigaction action{}, before{};
    action.sa_handler = first;
    sigaction(SIGUSR1, &action, &before);
    printf("vforked child: %s, now %s, ran %d\n", name_of(before.sa_handler), asked(), raised());
    printf("vforked child: %s\n", name_of(signal(SIGUSR1, first)));
    _exit(0);
  }
  wait_for(child);
  printf("parent: %s, %s, ran %d\n", asked(), asked_of_kernel(), raised());
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    printf("after exec: %s, %s\n", asked(), asked_of_kernel());
    signal(SIGUSR1, second);
    go_through("after exec");
    return 0;
  }
  signal(SIGUSR1, second);
  go_through("at first");
  fork_and_go_through();
  vfork_and_change();
  std::mutex mutex;
  {
    std::lock_guard lock(mutex);
    go_through("with a lock held");
    fork_and_go_through();
    vfork_and_change();
  }
  fflush(stdout);
  execl(arguments[0], arguments[0], "again", nullptr);
}
