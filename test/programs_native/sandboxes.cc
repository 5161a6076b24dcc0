// Programs that restrict their system calls, by the name of the case, and go on working in critical sections. Whatever
// else the kernel is asked for ends the process by SIGSYS, or SIGKILL.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>
#include <vector>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
long shared_values[4096];
std::atomic<int> working{0}, done{0};
std::atomic<bool> restricted{false}, stop{false};
volatile sig_atomic_t rang = 0;

enum class Kind { allow, deny };

// Allows `calls` alone, or denies them alone.
class Filter {
 public:
  Filter(Kind kind, std::initializer_list<int> calls) {
    steps_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    const unsigned named = kind == Kind::allow ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS;
    const unsigned others = kind == Kind::allow ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW;
    for (const int call : calls) {
      steps_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
      steps_.push_back(BPF_STMT(BPF_RET | BPF_K, named));
    }
    steps_.push_back(BPF_STMT(BPF_RET | BPF_K, others));
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  }
  long by_seccomp(long flags) {
    const sock_fprog program{static_cast<unsigned short>(steps_.size()), steps_.data()};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  }
  long by_prctl() {
    const sock_fprog program{static_cast<unsigned short>(steps_.size()), steps_.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  }

 private:
  std::vector<sock_filter> steps_;
};

void say(const char* text) {
  if (write(1, text, strlen(text)) < 0) stop = true;
}

// Sections of every kind: short and long, nested, with the library's own code in them.
__attribute__((noinline)) void work(int rounds) {
  char text[64];
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    shared_values[i % 4096] += i;
    pthread_rwlock_wrlock(&rwlock);
    memset(text, i, sizeof text);
    shared_values[(i * 7) % 4096] += text[5];
    pthread_rwlock_unlock(&rwlock);
    if (i % 64 == 0) snprintf(text, sizeof text, "%d", i);
    pthread_mutex_unlock(&mutex);
  }
}
// Code that was not met before the restriction.
__attribute__((noinline)) void work_anew() {
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&own);
    shared_values[i] = __builtin_bswap64(static_cast<unsigned long>(shared_values[i])) >> 3;
    pthread_mutex_unlock(&own);
    if (pthread_mutex_trylock(&own) == 0) pthread_mutex_unlock(&own);
  }
  pthread_mutex_destroy(&own);
}

// Long enough for a recorder to write it.
void work_and_wait() {
  work(100);
  usleep(200'000);
}

[[noreturn]] void end() {
  for (;;) syscall(SYS_exit_group, 0);
}

void strict_mode() {
  work_and_wait();
  say("before\n");
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
  work(100);
  work_anew();
  say("after\n");
  for (;;) syscall(SYS_exit, 0);
}

void strict_mode_in_section() {
  work_and_wait();
  pthread_mutex_lock(&mutex);
  syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, nullptr);
  shared_values[0] = 1;
  pthread_mutex_unlock(&mutex);
  work(100);
  work_anew();
  say("after\n");
  for (;;) syscall(SYS_exit, 0);
}

void only_its_own_calls() {
  work_and_wait();
  say("before\n");
  Filter filter(Kind::allow, {SYS_read, SYS_write, SYS_exit_group, SYS_rt_sigreturn});
  if (filter.by_prctl() != 0) say("refused\n");
  work(5000);
  work_anew();
  say("after\n");
  end();
}

void in_a_section() {
  work_and_wait();
  Filter filter(Kind::allow, {SYS_read, SYS_write, SYS_exit_group, SYS_rt_sigreturn});
  pthread_mutex_lock(&mutex);
  if (filter.by_seccomp(0) != 0) say("refused\n");
  for (int i = 0; i < 100'000; ++i) shared_values[i % 4096] += i;
  say("in the section\n");
  pthread_mutex_unlock(&mutex);
  work(100);
  work_anew();
  say("after\n");
  end();
}

// Handlers that were installed before run afterwards.
void with_handlers() {
  work_and_wait();
  struct sigaction action{};
  action.sa_handler = [](int) {
    rang = rang + 1;
    work_anew();
  };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  Filter filter(Kind::allow, {SYS_read, SYS_write, SYS_exit_group, SYS_rt_sigreturn});
  if (filter.by_prctl() != 0) say("refused\n");
  while (rang < 20) work(100);
  say("rang\n");
  end();
}

// With what the C library needs for a thread's end.
void thread_ends() {
  work_and_wait();
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        work(100);
        Filter filter(Kind::allow, {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask,
                                    SYS_madvise, SYS_futex, SYS_munmap});
        if (filter.by_prctl() != 0) say("refused\n");
        work(100);
        say("ends\n");
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  work(100);
  say("after\n");
  end();
}

void* worker(void*) {
  ++working;
  while (!restricted) work(100);
  work_anew();
  work(2000);
  // One that never ends, in code that is translated wholly.
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 1000; ++i) shared_values[i] = i;
  pthread_mutex_unlock(&mutex);
  ++done;
  while (!stop) continue;
  return nullptr;
}

// All threads at once, while the others are in their sections.
void all_threads(Kind kind, std::initializer_list<int> calls) {
  work_and_wait();
  pthread_t threads[3];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, worker, nullptr);
  while (working < 3) sched_yield();
  work(500);
  Filter filter(kind, calls);
  if (filter.by_seccomp(SECCOMP_FILTER_FLAG_TSYNC) != 0) say("refused\n");
  restricted = true;
  while (done < 3) work(10);
  say("after\n");
  end();
}
// Only what sets would ask the kernel for is denied.
void workers() {
  all_threads(Kind::deny, {SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_sigaltstack, SYS_membarrier, SYS_process_vm_readv,
                           SYS_getpid, SYS_gettid, SYS_memfd_create});
}
// Whatever the program itself does not need is denied.
void workers_bound() {
  all_threads(Kind::allow, {SYS_write, SYS_exit_group, SYS_futex, SYS_sched_yield, SYS_rt_sigreturn});
}

// It only finds out what there is.
void only_asks() {
  work(100);
  printf("asked %ld %ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr),
         syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, nullptr));
  work(100);
}

const struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"strict_mode", strict_mode},
    {"strict_mode_in_section", strict_mode_in_section},
    {"only_its_own_calls", only_its_own_calls},
    {"in_a_section", in_a_section},
    {"with_handlers", with_handlers},
    {"thread_ends", thread_ends},
    {"workers", workers},
    {"workers_bound", workers_bound},
    {"only_asks", only_asks},
};

}  // namespace

int main(int, char** arguments) {
  for (const auto& one : kCases) {
    if (strcmp(one.name, arguments[1]) == 0) one.run();
  }
}
