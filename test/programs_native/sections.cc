// What programs do inside critical sections, by the name of the case: each prints what came of it.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex mutex;
long shared_value;
std::atomic<bool> waiting{false};

struct Cleanup {
  const char* what;
  ~Cleanup() { printf("cleaned up: %s\n", what); }
};

// Cancelled in a system call, with the lock held: destructors run, the lock is released.
void cancel() {
  int ends[2];
  if (pipe(ends) != 0) return;
  pthread_t thread;
  static int from;
  from = ends[0];
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        const Cleanup outer{"outer"};
        std::lock_guard lock(mutex);
        const Cleanup inner{"inner"};
        FILE* stream = fdopen(from, "r");
        char line[10];
        waiting = true;
        if (!fgets(line, sizeof line, stream)) return nullptr;  // the C library's own read, translated
        return nullptr;
      },
      nullptr);
  while (!waiting) usleep(1000);
  usleep(20'000);
  pthread_cancel(thread);
  void* result;
  pthread_join(thread, &result);
  printf("cancelled %d\n", result == PTHREAD_CANCELED);
  std::lock_guard lock(mutex);
  printf("locked again\n");
}

// Cancelled at any instruction.
void cancel_asynchronously() {
  int cancelled = 0;
  for (int i = 0; i < 50; ++i) {
    static pthread_mutex_t plain;
    plain = PTHREAD_MUTEX_INITIALIZER;
    static std::atomic<bool> runs;
    runs = false;
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          pthread_mutex_lock(&plain);
          pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
          runs = true;
          for (long n = 0;; ++n) shared_value = shared_value * 3 + n;
        },
        nullptr);
    while (!runs) usleep(100);
    pthread_cancel(thread);
    void* result;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  printf("cancelled %d\n", cancelled);
}

void exceptions() {
  int caught = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      std::lock_guard lock(mutex);
      if (i % 2 == 0) throw std::runtime_error("thrown");
      std::vector<int>().at(1);
    } catch (const std::exception& error) {
      caught += static_cast<int>(strlen(error.what()) > 3);
    }
  }
  printf("caught %d\n", caught);
}

void jumps() {
  volatile int rounds = 0;
  jmp_buf out;
  if (setjmp(out) < 20) {
    mutex.lock();
    rounds = rounds + 1;
    mutex.unlock();
    mutex.lock();
    const int now = rounds;
    mutex.unlock();
    longjmp(out, now);
  }
  printf("rounds %d\n", rounds);
}

volatile sig_atomic_t ticks, strange;

// The address must be one of this program's or its libraries', as it would be natively.
void on_tick(int, siginfo_t*, void* context) {
  const auto* machine = static_cast<ucontext_t*>(context);
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(machine->uc_mcontext.gregs[REG_RIP]), &info) == 0) strange = strange + 1;
  ticks = ticks + 1;
}

void signals() {
  struct sigaction action{};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  struct sigaction back{};
  sigaction(SIGPROF, nullptr, &back);
  printf("the handler is ours: %d\n", back.sa_sigaction == on_tick);
  const itimerval every{{0, 500}, {0, 500}};
  setitimer(ITIMER_PROF, &every, nullptr);
  std::map<int, std::string> texts;
  unsigned long sum = 0;
  for (int i = 0; i < 400'000; ++i) {
    std::lock_guard lock(mutex);
    texts[i % 100] = std::to_string(i * 7);
    for (const char c : texts[i % 50]) sum = sum * 31 + static_cast<unsigned char>(c);
  }
  const itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  printf("sum %lu\n", sum);
  if (strange > ticks / 10) printf("of %d ticks %d at strange places\n", int(ticks), int(strange));
}

// A handler that was installed by signal() interrupts a read, or does not, as siginterrupt() says; and its flags are
// the program's.
void signal_flags() {
  for (const int interrupts : {1, 0}) {
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    siginterrupt(SIGUSR2, interrupts);
    std::lock_guard lock(mutex);
    signal(SIGUSR2, [](int) { ticks = ticks + 1; });
    struct sigaction now{};
    sigaction(SIGUSR2, nullptr, &now);
    printf("restarts %d, three arguments %d\n", (now.sa_flags & SA_RESTART) != 0, (now.sa_flags & SA_SIGINFO) != 0);
  }
  raise(SIGUSR2);
  printf("handled %d\n", int(ticks));
}

// A handler that runs while its thread is in a call of the C library: what it accesses belongs to the section.
int handlers_pipe[2];
void interrupted_call() {
  if (pipe(handlers_pipe) != 0) return;
  struct sigaction action{};
  action.sa_handler = [](int) {
    shared_value = shared_value + 1;
    if (write(handlers_pipe[1], "x", 1) != 1) abort();
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, nullptr);
  const pthread_t self = pthread_self();
  std::thread other([self] {
    while (!waiting) usleep(1000);
    usleep(20'000);
    pthread_kill(self, SIGUSR2);
  });
  char byte;
  mutex.lock();
  waiting = true;
  const ssize_t got = read(handlers_pipe[0], &byte, 1);
  mutex.unlock();
  other.join();
  printf("got %zd value %ld\n", got, shared_value);
}

// A handler that takes locks and leaves by siglongjmp.
sigjmp_buf jump_out;
std::mutex handlers_mutex;
void signal_jumps() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    handlers_mutex.lock();
    shared_value++;
    handlers_mutex.unlock();
    siglongjmp(jump_out, 1);
  };
  sigaction(SIGUSR1, &action, nullptr);
  volatile int jumped = 0;
  static int i;
  for (i = 0; i < 50; ++i) {
    if (sigsetjmp(jump_out, 1) == 0) {
      mutex.lock();
      shared_value = shared_value + 1;
      raise(SIGUSR1);
    }
    jumped = jumped + 1;
    mutex.unlock();
  }
  printf("jumped %d value %ld\n", jumped, shared_value);
}

void forks() {
  int sum = 0;
  for (int i = 0; i < 5; ++i) {
    std::lock_guard lock(mutex);
    const pid_t child = fork();
    if (child == 0) {
      shared_value = i;
      _exit(static_cast<int>(shared_value) + 1);
    }
    int status;
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status);
  }
  printf("children %d\n", sum);
}

void libraries() {
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    std::lock_guard lock(mutex);
    void* library = dlopen("libm.so.6", RTLD_NOW);
    auto* cube_root = reinterpret_cast<double (*)(double)>(dlsym(library, "cbrt"));
    sum += cube_root(27.0 * i * i * i);
    dlclose(library);
  }
  printf("sum %.1f\n", sum);
}

// Each of two threads releases what the other has taken.
void handed_over() {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_spinlock_t spin;
  pthread_spin_init(&spin, 0);
  static std::atomic<int> turn;
  turn = 0;
  std::thread other([] {
    for (int i = 0; i < 100; ++i) {
      while (turn != 1) usleep(10);
      shared_value += 2;
      pthread_spin_unlock(&spin);
      turn = 0;
    }
  });
  for (int i = 0; i < 100; ++i) {
    pthread_rwlock_wrlock(&lock);
    pthread_spin_lock(&spin);
    shared_value += 1;
    turn = 1;
    while (turn != 0) usleep(10);
    pthread_rwlock_unlock(&lock);
  }
  other.join();
  printf("value %ld\n", shared_value);
}

// A thread that ends while it holds a lock.
void ends_inside() {
  static pthread_mutex_t robust;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attributes);
  for (int i = 0; i < 20; ++i) {
    std::thread([] {
      pthread_mutex_lock(&robust);
      pthread_mutex_consistent(&robust);
      shared_value++;
    }).join();
  }
  printf("value %ld\n", shared_value);
}

// A thread that may not open files any more, and calls code that was generated: nobody may look up what it is.
void restricts_itself() {
  std::thread([] {
    auto* code = static_cast<uint8_t*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const uint8_t returns_7[] = {0xb8, 7, 0, 0, 0, 0xc3};
    memcpy(code, returns_7, sizeof returns_7);
    for (int i = 0; i < 10; ++i) {
      std::lock_guard lock(mutex);
      shared_value++;
    }
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{4, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
      return;
    usleep(30'000);
    for (int i = 0; i < 10; ++i) {
      std::lock_guard lock(mutex);
      shared_value += reinterpret_cast<int (*)()>(code)();
    }
  }).join();
  printf("value %ld\n", shared_value);
}

const struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"cancel", cancel},
    {"cancel_asynchronously", cancel_asynchronously},
    {"exceptions", exceptions},
    {"jumps", jumps},
    {"signals", signals},
    {"signal_flags", signal_flags},
    {"interrupted_call", interrupted_call},
    {"signal_jumps", signal_jumps},
    {"forks", forks},
    {"libraries", libraries},
    {"handed_over", handed_over},
    {"ends_inside", ends_inside},
    {"restricts_itself", restricts_itself},
};

}  // namespace

int main(int, char** arguments) {
  for (const auto& one : kCases) {
    if (strcmp(one.name, arguments[1]) == 0) one.run();
  }
}
