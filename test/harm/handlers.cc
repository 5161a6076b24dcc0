// Functions that a signal's handler may call (POSIX's async-signal-safe list, those of them that a recorder stands in
// front of), called from a handler that interrupts malloc, the creation of threads, dlopen and others at any
// instruction.
//
// usage: harm_handlers names                 prints the calls
//        harm_handlers jumps                 out of a handler, past the call that it interrupted
//        harm_handlers all VICTIM [threads]  each call in turn, round after round; in three threads at once
//        harm_handlers CALL VICTIM NUMBER   a call that ends the program, at the signal of that number
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>

#include "handlers_calls.h"
#include "harm.h"

using namespace harm;

namespace {

constexpr int kRounds = 12;

char* g_progress;      // in a file: the call that a hanging program was in
bool g_alone = false;  // the only thread, by what the program itself started
std::atomic<int> g_signals{0};
volatile bool g_done = false;
int g_end_at = 0;
void (*g_end)() = nullptr;

void on_signal(int) {
  const int saved = errno;
  const int number = ++g_signals;
  if (g_end) {
    if (number >= g_end_at) g_end();
  } else if (!g_done) {
    const Call& call = kCalls[static_cast<size_t>(number) % kCallCount];
    strcpy(g_progress, call.name);
    if (g_alone || !call.alone) call.run();
    strcpy(g_progress, "no call");
    g_done = number >= kRounds * static_cast<int>(kCallCount);
  }
  errno = saved;
}

// The victims: what the handler interrupts.

void allocate_small() {
  void* blocks[64];
  for (size_t i = 0; i < 64; ++i) blocks[i] = malloc(16 + i * 24);
  for (void* block : blocks) free(block);
}

void allocate_large() {
  void* cleared = calloc(300, 1024);
  cleared = realloc(cleared, 900 * 1024);
  free(cleared);
}

void load_and_unload() {
  void* library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library) dlclose(library);
}

void print() {
  static FILE* out = fopen("/dev/null", "w");
  for (int i = 0; i < 50; ++i) fprintf(out, "%d of %s\n", i, "fifty");
  fflush(out);
}

void open_streams() {
  FILE* in = fopen("/proc/self/cmdline", "r");
  char byte;
  if (in && fread(&byte, 1, 1, in) == 1) fclose(in);
}

void lock_and_unlock() {
  sections(50);
}

void timed_waits() {
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_mutex_lock(&g_mutex);
  pthread_cond_timedwait(&changed, &g_mutex, &until);
  pthread_mutex_unlock(&g_mutex);
}

const struct {
  const char* name;
  void (*run)();
} kVictims[] = {{"malloc", allocate_small},  {"calloc", allocate_large}, {"threads", create_and_join_once},
                {"dlopen", load_and_unload}, {"printf", print},          {"fopen", open_streams},
                {"locks", lock_and_unlock},  {"conditions", timed_waits}};

void (*victim_of(const char* name))() {
  for (const auto& victim : kVictims) {
    if (strcmp(victim.name, name) == 0) return victim.run;
  }
  fail("victim");
}

void (*g_victim)();

void* suffer(void*) {
  while (!g_done) g_victim();
  return nullptr;
}

void* wait_for_end(void*) {
  for (;;) pause();
}

void start_timer(long interval_us);

void* suffer_apart(void*) {
  start_timer(400);
  return suffer(nullptr);
}

// Signals go to this thread alone, every `interval_us`.
void start_timer(long interval_us) {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGUSR1);
  sigdelset(&action.sa_mask, SIGALRM);
  expect(sigaction(SIGRTMIN, &action, nullptr) == 0, "sigaction");
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  const itimerspec every{{0, interval_us * 1000}, {0, interval_us * 1000}};
  expect(timer_settime(timer, 0, &every, nullptr) == 0, "timer_settime");
}

// Blocking calls that a handler ends by a jump, as programs of old do for a time limit.
sigjmp_buf g_back;

void jump_back(int) {
  siglongjmp(g_back, 1);
}

int jump_out_of_blocks() {
  int ends[2];
  expect(pipe(ends) == 0, "pipe");
  signal(SIGALRM, jump_back);
  char byte;
  static int i;  // a jump leaves it as it is
  for (i = 0; i < 150; ++i) {
    const itimerval soon{{0, 0}, {0, 500 + i * 7}}, never{};
    if (sigsetjmp(g_back, 1) == 0) {
      setitimer(ITIMER_REAL, &soon, nullptr);
      if (i % 3 == 0) {
        if (read(ends[0], &byte, 1) > 0) return 1;
      } else if (i % 3 == 1) {
        poll(nullptr, 0, -1);
      } else {
        for (;;) pause();
      }
    }
    setitimer(ITIMER_REAL, &never, nullptr);
    sections(100);
  }
  say("every call was left\n");
  return 36;
}

void map_progress() {
  const int fd = open("progress", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  expect(fd >= 0 && ftruncate(fd, 4096) == 0, "progress");
  void* at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  expect(at != MAP_FAILED, "mmap");
  g_progress = static_cast<char*>(at);
  close(fd);
}

int names() {
  print_names(kCalls, kCallCount);
  print_names_of_ends();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && strcmp(arguments[1], "jumps") == 0) return jump_out_of_blocks();
  if (count == 2 && strcmp(arguments[1], "names") == 0) return names();
  if (count < 3) return 2;
  prepare_calls();
  map_progress();
  g_victim = victim_of(arguments[2]);
  const bool ends = count > 3 && strcmp(arguments[3], "threads") != 0, threads = count > 3 && !ends;
  g_alone = !threads && strcmp(arguments[2], "threads") != 0;
  if (ends) {
    g_end = end_named(arguments[1]);
    expect(g_end != nullptr, "call");
    g_end_at = atoi(arguments[3]);
    start(wait_for_end);  // in a program of one thread, malloc takes no lock
  }
  g_victim();  // what is set up at the first use is: that is not what may be interrupted
  pthread_t others[2];
  for (pthread_t& other : others) {
    if (threads) other = start(suffer_apart);
  }
  start_timer(ends ? 150 : 250);
  suffer(nullptr);
  for (pthread_t other : others) {
    if (threads) pthread_join(other, nullptr);
  }
  say("every call was made\n");
  return 0;
}
