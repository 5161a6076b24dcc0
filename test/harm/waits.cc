// Threads that wait while a signal comes, whose handler forks. The child comes back from the handler into the wait that
// its parent began, gets out of it, and ends.
//
// usage: harm_waits FAMILY          the child goes on: out of the wait, three critical sections, its end
//        harm_waits FAMILY at_once  it ends in the handler: the parent does the same in both
//        harm_waits anywhere        the handler comes at any time, mostly between two locks
//        harm_waits in_calls        the same, mostly while a recorder notes what a call read and wrote
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>

#include "harm.h"
#include "waits_calls.h"

using namespace harm;

namespace {

constexpr long kSectionsOfChild = 3;

const Wait* g_wait;
bool g_at_once = false;
std::atomic<long> g_waiter{0};
std::atomic<bool> g_is_forked{false}, g_is_over{false};
int g_status = 0;  // of the child

// By bare calls: a recorder sees the same in both kinds of runs, however long this takes.
bool waiter_sleeps() {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", g_waiter.load());
  const long fd = bare_call(SYS_open, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  const long bytes = fd < 0 ? 0 : bare_call(SYS_read, fd, reinterpret_cast<long>(text), sizeof text - 1);
  if (fd >= 0) bare_call(SYS_close, fd);
  text[bytes > 0 ? bytes : 0] = 0;
  const char* name_end = strrchr(text, ')');
  return name_end != nullptr && name_end[1] != 0 && name_end[2] == 'S';
}

// Several times in a row: it may sleep for a page, too. Who spins does not sleep.
void await_waiter() {
  for (int naps = 0, asleep = 0; asleep < 5 && naps < (g_wait->spins ? 50 : 20'000) && !g_is_over; ++naps) {
    nap();
    asleep = g_waiter != 0 && waiter_sleeps() ? asleep + 1 : 0;
  }
}

void on_signal(int) {
  const int error = errno;
  const pid_t child = fork();
  if (child == 0) {
    if (g_at_once) _exit(0);
    g_is_child = true;
    g_wait->end_in_child();
    errno = error;
    return;
  }
  bare_call(SYS_wait4, child, reinterpret_cast<long>(&g_status), 0);
  g_is_forked = true;
  errno = error;
}

void end_child(int result) {
  sections(kSectionsOfChild);
  g_wait->exits ? exit(10 + result) : _exit(10 + result);
}

void* wait_once(void* result) {
  g_waiter = bare_call(SYS_gettid);
  const int got = g_wait->wait();
  if (g_is_child) end_child(got);
  *static_cast<int*>(result) = got;
  g_is_over = true;
  return nullptr;
}

void run_wait(const Wait& wait) {
  g_wait = &wait;
  g_waiter = 0;
  g_is_forked = g_is_over = false;
  prepare_wait();
  wait.hold();
  int result = -1;
  const pthread_t waiter = start(wait_once, &result);
  await_waiter();
  pthread_kill(waiter, SIGUSR1);
  while (!g_is_forked) nap();
  await_waiter();
  wait.give();
  pthread_join(waiter, nullptr);
  if (g_at_once) {
    printf("%s: %d\n", wait.name, result);
  } else {
    printf("%s: %d, the child's status %d\n", wait.name, result, g_status);
  }
}

void handle_signal(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  expect(sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
}

int run_family(const char* family) {
  prepare_waits();
  handle_signal(on_signal);
  for (size_t i = 0; i < kWaitCount; ++i) {
    if (strcmp(kWaits[i].family, family) == 0) run_wait(kWaits[i]);
  }
  return 0;
}

// --- At any time: between two events, too, and in the middle of one.

constexpr int kForks = 150;
constexpr long kSectionsOfParent = 200'000, kRoundsInCalls = 30'000;
std::atomic<int> g_forks{0};
pid_t g_children[kForks];

void on_timer(int) {
  const int error = errno;
  const int number = g_forks;
  if (!g_is_child && number < kForks) {
    const pid_t child = number % 3 == 2 ? _Fork() : fork();
    g_is_child = child == 0;
    g_children[number] = child;
    ++g_forks;
  }
  errno = error;
}

// Waits that are over at once, but for the recorder's work before and after them.
void short_waits() {
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  const timespec past{0, 0};
  pthread_mutex_lock(&g_mutex);
  pthread_cond_timedwait(&changed, &g_mutex, &past);
  pthread_mutex_unlock(&g_mutex);
}

// A critical section with calls whose effects on memory a recorder notes.
void short_transfers(int zeros, int sink) {
  char bytes[64];
  pthread_mutex_lock(&g_mutex);
  const bool are_moved =
      read(zeros, bytes, sizeof bytes) == sizeof bytes && write(sink, bytes, sizeof bytes) == sizeof bytes;
  pthread_mutex_unlock(&g_mutex);
  if (!are_moved) _exit(6);
}

int anywhere(bool in_calls) {
  const int zeros = open("/dev/zero", O_RDONLY), sink = open("/dev/null", O_WRONLY);
  expect(zeros >= 0 && sink >= 0, "open");
  handle_signal(on_timer);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid = static_cast<pid_t>(bare_call(SYS_gettid));
  timer_t timer;
  expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  const itimerspec every{{0, 330'000}, {0, 330'000}}, never{};
  expect(timer_settime(timer, 0, &every, nullptr) == 0, "timer_settime");
  for (long done = 0; !g_is_child && !in_calls && done < kSectionsOfParent; done += 100) {
    sections(100);
    if (done % 1000 == 0) short_waits();
  }
  for (long done = 0; !g_is_child && in_calls && done < kRoundsInCalls; ++done) {
    short_waits();
    short_transfers(zeros, sink);
  }
  while (!g_is_child && g_forks < kForks) nap();
  if (g_is_child) {
    sections(1000);
    short_waits();
    _exit(5);
  }
  timer_settime(timer, 0, &never, nullptr);
  int sum = 0;
  for (const pid_t child : g_children) {
    int status = 0;
    bare_call(SYS_wait4, child, reinterpret_cast<long>(&status), 0);
    sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1'000'000 + status;
  }
  printf("the children's statuses: %d\n", sum);
  return 50;
}

}  // namespace

int main(int count, char** arguments) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  if (count == 2 && strcmp(arguments[1], "anywhere") == 0) return anywhere(false);
  if (count == 2 && strcmp(arguments[1], "in_calls") == 0) return anywhere(true);
  g_at_once = count > 2;
  return count > 1 ? run_family(arguments[1]) : 2;
}
