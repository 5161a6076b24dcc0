// How much stack the functions take that a recorder stands in front of, and programs whose stacks are small.
//
// usage: harm_stacks depths   writes a line `bytes NAME` for each function to the file "depths": its first call of
//                            a thread
//        harm_stacks CASE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>
#include <iterator>

#include "further_calls.h"
#include "harm.h"

using namespace harm;

namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr unsigned char kPaint = 0xA5;

struct Painted {
  void (*run)();
  char* low;
  size_t depth_bytes;
};

// Paints from `low` up to the stack pointer, all that a call may write to. Returns the stack pointer. Inline, and of
// one instruction: it has no frame of its own.
__attribute__((always_inline)) inline char* paint_below_here(char* low) {
  char* here;
  __asm__ volatile("mov %%rsp, %0" : "=r"(here));
  char* to = low;
  auto bytes = static_cast<size_t>(here - low);
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(kPaint) : "memory");
  return here;
}

// How far below the caller's frame `run` wrote.
__attribute__((noinline)) size_t depth_of(void (*run)(), char* low) {
  char* here = paint_below_here(low);
  run();
  char* at = low;
  while (at < here && static_cast<unsigned char>(*at) == kPaint) ++at;
  return static_cast<size_t>(here - at);
}

// Signals for the process, whose frames count as a function's, go to the measured thread always: no other takes them.
void take_signals(int how) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(how, &all, nullptr);
}

void* paint_and_run(void* argument) {
  auto* painted = static_cast<Painted*>(argument);
  take_signals(SIG_UNBLOCK);
  painted->depth_bytes = depth_of(painted->run, painted->low);
  return nullptr;
}

char* new_stack(int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1) {
  void* at = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  expect(at != MAP_FAILED, "mmap");
  return static_cast<char*>(at);
}

void run_on(char* stack, void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  expect(pthread_attr_setstack(&attributes, stack, kStackBytes) == 0, "pthread_attr_setstack");
  pthread_t thread;
  expect(pthread_create(&thread, &attributes, body, argument) == 0, "pthread_create");
  pthread_join(thread, nullptr);
}

// Of a thread of this process, by its number: whether it sleeps.
bool sleeps(int thread) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[bytes > 0 ? bytes : 0] = 0;
  const char* name_end = strrchr(text, ')');
  return name_end != nullptr && name_end[1] != 0 && name_end[2] == 'S';
}

struct Waiter {
  Painted painted;
  std::atomic<int> thread{0};
};

void* paint_and_wait(void* argument) {
  auto* waiter = static_cast<Waiter*>(argument);
  waiter->thread.store(static_cast<int>(syscall(SYS_gettid)));
  return paint_and_run(&waiter->painted);
}

void measure_waiting(const WaitingCall& call, int out) {
  Waiter waiter{{call.run, new_stack(), 0}};
  call.hold();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  expect(pthread_attr_setstack(&attributes, waiter.painted.low, kStackBytes) == 0, "pthread_attr_setstack");
  pthread_t thread;
  expect(pthread_create(&thread, &attributes, paint_and_wait, &waiter) == 0, "pthread_create");
  // Twice in a row: it may sleep for a page of its stack, too.
  for (int asleep = 0; asleep < 2;
       asleep = waiter.thread.load() != 0 && sleeps(waiter.thread.load()) ? asleep + 1 : 0) {
    const timespec nap{0, 2'000'000};
    nanosleep(&nap, nullptr);
  }
  call.give();
  pthread_join(thread, nullptr);
  dprintf(out, "%zu %s\n", waiter.painted.depth_bytes, call.name);
  munmap(waiter.painted.low, kStackBytes);
}

void measure(const Call& call, int out) {
  Painted painted{call.run, new_stack(), 0};
  run_on(painted.low, paint_and_run, &painted);
  dprintf(out, "%zu %s\n", painted.depth_bytes, call.name);
  munmap(painted.low, kStackBytes);
}

void* g_body_frame;

void* note_frame(void*) {
  g_body_frame = __builtin_frame_address(0);
  return nullptr;
}

// A thread's beginning, its first frame and its end, on a stack painted before.
void measure_thread(int out) {
  char* stack = new_stack();
  memset(stack, kPaint, kStackBytes);
  run_on(stack, note_frame, nullptr);
  size_t clean = 0;
  while (static_cast<unsigned char>(stack[clean]) == kPaint) ++clean;
  dprintf(out, "%zu a thread's frames above its function\n",
          static_cast<size_t>(stack + kStackBytes - static_cast<char*>(g_body_frame)));
  dprintf(out, "%zu a thread from begin to end\n", kStackBytes - clean);
}

void prepare() {
  prepare_calls();
  prepare_further_calls();
}

int depths() {
  prepare();
  take_signals(SIG_BLOCK);
  const int out = open("depths", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  expect(out >= 0, "depths");
  for (size_t i = 0; i < kCallCount; ++i) measure(kCalls[i], out);
  for (size_t i = 0; i < kLockCallCount; ++i) measure(kLockCalls[i], out);
  for (size_t i = 0; i < kLargeCallCount; ++i) measure(kLargeCalls[i], out);
  for (size_t i = 0; i < kLongCallCount; ++i) measure(kLongCalls[i], out);
  for (size_t i = 0; i < kWaitingCallCount; ++i) measure_waiting(kWaitingCalls[i], out);
  measure_thread(out);
  return 0;
}

// The depth of a call that ends the program is seen by whoever reads the file that is this thread's stack.
void (*g_end)();

void* paint_and_end(void* low) {
  char* here = paint_below_here(static_cast<char*>(low) + sizeof(size_t));
  *static_cast<size_t*>(low) = static_cast<size_t>(here - static_cast<char*>(low));
  g_end();
  return nullptr;
}

int end_on_painted_stack(const char* name) {
  prepare();
  g_end = end_named(name);
  expect(g_end != nullptr, name);
  const int fd = open("stack", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  expect(fd >= 0 && ftruncate(fd, kStackBytes) == 0, "stack");
  char* stack = new_stack(MAP_SHARED, fd);
  run_on(stack, paint_and_end, stack);
  return 1;
}

// Threads with the smallest stack that there is, in use by their own variables but for what the C library has of it, a
// signal's frame, which is larger where the processor has more registers, and the 2 KiB that a recorder may take.
__attribute__((noinline)) void call_below(const Call& call, size_t bytes) {
  auto* used = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (size_t i = 0; i < bytes; i += 64) used[i] = 1;
  call.run();
  used[0] = used[1];
}

struct Small {
  const Call* calls;
  size_t count;
  size_t used_bytes;
};

void* call_all_below(void* argument) {
  const auto* small = static_cast<const Small*>(argument);
  for (size_t i = 0; i < small->count; ++i) call_below(small->calls[i], small->used_bytes);
  return nullptr;
}

// Behind the stack lies no other memory: what goes beyond its end faults, however far.
void run_small(Small small) {
  char* region = new_stack();
  const size_t closed_bytes = kStackBytes - PTHREAD_STACK_MIN;
  expect(mprotect(region, closed_bytes, PROT_NONE) == 0, "mprotect");
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  expect(pthread_attr_setstack(&attributes, region + closed_bytes, PTHREAD_STACK_MIN) == 0, "pthread_attr_setstack");
  pthread_t thread;
  expect(pthread_create(&thread, &attributes, call_all_below, &small) == 0, "pthread_create");
  pthread_join(thread, nullptr);
  munmap(region, kStackBytes);
}

const size_t kUsedBytes = PTHREAD_STACK_MIN - 4 * 1024 - static_cast<size_t>(sysconf(_SC_MINSIGSTKSZ)) - 2 * 1024;

// Each call as the first one of its thread, and all of them one after the other.
int small_threads() {
  prepare();
  for (size_t i = 0; i < kCallCount; ++i) run_small({&kCalls[i], 1, kUsedBytes});
  for (size_t i = 0; i < kLockCallCount; ++i) run_small({&kLockCalls[i], 1, kUsedBytes});
  run_small({kCalls, kCallCount, kUsedBytes});
  run_small({kLockCalls, kLockCallCount, kUsedBytes});
  say("small threads made every call\n");
  return 0;
}

int small_thread_ends(const char* name) {
  prepare();
  const Call end{name, end_named(name)};
  run_small({&end, 1, kUsedBytes});
  return 1;
}

// Calls for which the C library itself needs much of the stack get what they take plain, by the file "depths" of a plain
// run, and the 2 KiB; below that lie closed pages.
constexpr size_t kSlackBytes = 128;  // for the call's return address, and for what the compiler saves and aligns

struct Large {
  const Call* call;
  char* low;  // the end of the closed pages
  size_t room_bytes;
};

__attribute__((noinline)) void* call_with_room(void* argument) {
  const auto* large = static_cast<const Large*>(argument);
  void (*const run)() = large->call->run;
  char* here = static_cast<char*>(__builtin_frame_address(0));
  auto* used = static_cast<volatile char*>(
      __builtin_alloca(static_cast<size_t>(here - large->low) - large->room_bytes - kSlackBytes));
  used[0] = 1;
  run();
  used[0] = used[0] + 1;
  return nullptr;
}

size_t depth_in(const char* file, const char* name) {
  FILE* in = fopen(file, "re");
  expect(in != nullptr, file);
  char line[256];
  size_t bytes = 0;
  while (bytes == 0 && fgets(line, sizeof line, in)) {
    char* end;
    const size_t found = strtoull(line, &end, 10);
    line[strcspn(line, "\n")] = 0;
    if (strcmp(end + 1, name) == 0) bytes = found;
  }
  fclose(in);
  expect(bytes != 0, name);
  return bytes;
}

int large_calls_with_room(const char* depths_file) {
  prepare();
  take_signals(SIG_BLOCK);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t closed_bytes = kStackBytes / 2 / page * page;
  for (size_t i = 0; i < kLargeCallCount; ++i) {
    char* region = new_stack();
    expect(mprotect(region, closed_bytes, PROT_NONE) == 0, "mprotect");
    Large large{&kLargeCalls[i], region + closed_bytes, depth_in(depths_file, kLargeCalls[i].name) + 2 * 1024};
    say(large.call->name);
    say("\n");
    run_on(region, call_with_room, &large);
    munmap(region, kStackBytes);
  }
  return 47;
}

// A handler on a small alternate stack: what the kernel asks for, and 4 KiB.
const Call* g_handled;

void on_signal(int) {
  g_handled->run();
}

void prepare_alternate_stack() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const long least = sysconf(_SC_MINSIGSTKSZ);
  const size_t bytes = (least > MINSIGSTKSZ ? static_cast<size_t>(least) : static_cast<size_t>(MINSIGSTKSZ)) + 4096;
  const size_t closed_bytes = kStackBytes / 2 / page * page;
  char* at = new_stack();
  // Its low end lies at pages that may not be touched: what goes below faults.
  expect(mprotect(at, closed_bytes, PROT_NONE) == 0, "mprotect");
  const stack_t stack{at + closed_bytes, 0, bytes};
  expect(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  expect(sigaction(SIGRTMIN, &action, nullptr) == 0, "sigaction");
}

int alternate_stack() {
  prepare();
  prepare_alternate_stack();
  for (size_t i = 0; i < kCallCount; ++i) {
    g_handled = &kCalls[i];
    raise(SIGRTMIN);
  }
  say("a handler on an alternate stack made every call\n");
  return 0;
}

int end_on_alternate_stack(const char* name) {
  prepare();
  prepare_alternate_stack();
  const Call end{name, end_named(name)};
  g_handled = &end;
  raise(SIGRTMIN);
  return 1;
}

// A coroutine's stack, which the C library does not know of.
ucontext_t g_outside, g_inside;
void (*g_in_coroutine)();

void coroutine() {
  g_in_coroutine();
}

int coroutine_stack() {
  constexpr size_t kCoroutineBytes = 12 << 10;
  prepare();
  char* region = new_stack();
  const size_t closed_bytes = kStackBytes - kCoroutineBytes;
  expect(mprotect(region, closed_bytes, PROT_NONE) == 0, "mprotect");
  for (size_t i = 0; i < kCallCount + kLockCallCount; ++i) {
    g_in_coroutine = (i < kCallCount ? kCalls[i] : kLockCalls[i - kCallCount]).run;
    getcontext(&g_inside);
    g_inside.uc_stack.ss_sp = region + closed_bytes;
    g_inside.uc_stack.ss_size = kCoroutineBytes;
    g_inside.uc_link = &g_outside;
    makecontext(&g_inside, coroutine, 0);
    swapcontext(&g_outside, &g_inside);
  }
  say("a coroutine made every call\n");
  return 0;
}

pthread_barrier_t g_all_run;

void* run_with_all(void*) {
  sections(10);
  pthread_barrier_wait(&g_all_run);
  return nullptr;
}

void* run_alone(void*) {
  sections(10);
  return nullptr;
}

// As many threads as a recorder may have no room for: at once, and one after the other.
int many_threads() {
  constexpr unsigned kAtOnce = 1000, kInTurn = 4000;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32 << 10);
  pthread_barrier_init(&g_all_run, nullptr, kAtOnce);
  pthread_t threads[kAtOnce];
  for (pthread_t& thread : threads) {
    expect((errno = pthread_create(&thread, &attributes, run_with_all, nullptr)) == 0, "pthread_create");
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  for (unsigned i = 0; i < kInTurn; ++i) {
    expect((errno = pthread_create(&threads[0], &attributes, run_alone, nullptr)) == 0, "pthread_create");
    pthread_join(threads[0], nullptr);
  }
  say("many threads ran\n");
  return 46;
}

int names() {
  print_names(kCalls, kCallCount);
  print_names(kLockCalls, kLockCallCount);
  print_names(kLargeCalls, kLargeCallCount);
  print_names(kLongCalls, kLongCallCount);
  for (size_t i = 0; i < kWaitingCallCount; ++i) dprintf(1, "%s\n", kWaitingCalls[i].name);
  print_names_of_ends();
  return 0;
}

constexpr Case kCases[] = {{"names", names},
                           {"many_threads", many_threads},
                           {"depths", depths},
                           {"coroutine_stack", coroutine_stack},
                           {"small_threads", small_threads},
                           {"alternate_stack", alternate_stack}};

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  if (count == 2) return run_case(kCases, std::size(kCases), arguments[1]);
  if (strcmp(arguments[1], "end_on_painted_stack") == 0) return end_on_painted_stack(arguments[2]);
  if (strcmp(arguments[1], "large_calls_with_room") == 0) return large_calls_with_room(arguments[2]);
  if (strcmp(arguments[1], "end_in_small_thread") == 0) return small_thread_ends(arguments[2]);
  return end_on_alternate_stack(arguments[2]);
}
