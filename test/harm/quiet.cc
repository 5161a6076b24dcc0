// What a recorder must not do on a thread of the program: allocate, lock, or make a system call of its own.
//
// This file's own malloc, free and pthread_mutex_lock stand in front of all others and count those calls that this
// thread makes while it counts.
//
// usage: harm_quiet counts   writes a line for each function whose call allocated or locked; plain there are
//                            none but in fork
//        harm_quiet ends CALL [child]  ends the program, or a child of it, by that call; what it allocated and locked
//        is in the file "counted"
//        harm_quiet forks   writes what a child allocates and locks before fork is back in it
//        harm_quiet unknown_thread   the same of a handler, on a thread that no recorder has seen before
//        harm_quiet marked   marks in the log of a tracer where each function's call begins and ends
//        harm_quiet libraries  loads and unloads a library again and again, whose code threads run while they hold
//        locks
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <iterator>

#include "handlers_calls.h"
#include "harm.h"

using namespace harm;

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void __libc_free(void* block);
}

namespace {

// In a file's map where a call ends the program: it is there afterwards.
struct Counts {
  int allocations, locks;
};

Counts g_own_counts;
Counts* g_counts = &g_own_counts;
thread_local bool t_counting = false;

int (*g_lock)(pthread_mutex_t*);

__attribute__((constructor)) void find_lock() {
  g_lock = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
}

void count_allocation() {
  if (t_counting) ++g_counts->allocations;
}

}  // namespace

extern "C" {
void* malloc(size_t bytes) {
  count_allocation();
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  count_allocation();
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
  count_allocation();
  return __libc_realloc(block, bytes);
}
void free(void* block) {
  if (block) count_allocation();
  __libc_free(block);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (t_counting) ++g_counts->locks;
  if (!g_lock) find_lock();
  return g_lock(mutex);
}
}

namespace {

// The first call of a thread, and the next ones.
void* count_of_thread(void* argument) {
  const auto* call = static_cast<const Call*>(argument);
  for (const char* when : {"first", "again"}) {
    *g_counts = {};
    t_counting = true;
    call->run();
    t_counting = false;
    if (g_counts->allocations + g_counts->locks > 0)
      dprintf(1, "%s, %s: %d allocations, %d locks\n", call->name, when, g_counts->allocations, g_counts->locks);
  }
  return nullptr;
}

// A system call that no program makes, with a number that says which of the calls follows.
void mark(size_t number) {
  bare_call(SYS_getpgid, -1000 - static_cast<long>(number));
}

pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;

constexpr Call kLockCalls[] = {
    {"sections", [] { sections(100'000); }},
    {"rwlock",
     [] {
       pthread_rwlock_wrlock(&g_rwlock);
       pthread_rwlock_unlock(&g_rwlock);
     }},
    {"broadcast", [] { pthread_cond_broadcast(&g_condition); }},
    {"init and destroy",
     [] {
       pthread_mutex_t mutex;
       pthread_mutex_init(&mutex, nullptr);
       pthread_mutex_destroy(&mutex);
     }},
};

const Call& call_of(size_t number) {
  return number < kCallCount ? kCalls[number] : kLockCalls[number - kCallCount];
}

int counts() {
  prepare_calls();
  for (size_t i = 0; i < kCallCount + std::size(kLockCalls); ++i) {
    Call call = call_of(i);
    pthread_join(start(count_of_thread, &call), nullptr);
  }
  say("counted\n");
  return 0;
}

// With a thread beside it, as in programs whose malloc takes locks.
int ends(const char* name, bool in_child) {
  prepare_calls();
  void (*end)() = end_named(name);
  expect(end != nullptr, "call");
  const int file = open("counted", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  expect(file >= 0 && ftruncate(file, sizeof(Counts)) == 0, "counted");
  void* at = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  expect(at != MAP_FAILED, "mmap");
  g_counts = static_cast<Counts*>(at);
  start([](void*) -> void* {
    for (;;) pause();
  });
  sections(1000);
  if (in_child) {
    const pid_t child = fork();
    expect(child >= 0, "fork");
    if (child > 0) {
      int status;
      expect(waitpid(child, &status, 0) == child, "waitpid");
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    sections(1000);
  }
  t_counting = true;
  end();
  return 94;
}

void tell_counts(const char* what) {
  dprintf(1, "%s: %d allocations, %d locks\n", what, g_counts->allocations, g_counts->locks);
}

// With a thread beside it. The program's own handler of forks runs after the recorder's, as that of an allocator which
// is loaded by the program: what is counted until then is not in order yet.
int forks() {
  start([](void*) -> void* {
    for (;;) pause();
  });
  void (*const begin)() = [] { t_counting = true; };
  void (*const end)() = [] { t_counting = false; };
  expect((errno = pthread_atfork(begin, end, end)) == 0, "pthread_atfork");
  sections(1000);
  for (int i = 0; i < 3; ++i) {
    *g_counts = {};
    const pid_t child = fork();
    expect(child >= 0, "fork");
    if (child == 0) {
      tell_counts("in the child");
      sections(10);
      continue;  // its own child is one too
    }
    int status;
    expect(waitpid(child, &status, 0) == child, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) + 1 : 128 + WTERMSIG(status);
  }
  return 20;
}

void on_signal(int) {
  *g_counts = {};
  t_counting = true;
  sections(1);
  t_counting = false;
}

void* be_interrupted(void*) {
  bare_call(SYS_tgkill, bare_call(SYS_getpid), bare_call(SYS_gettid), SIGUSR1);
  return nullptr;
}

// The C library's own pthread_create, which it uses for threads of its own: nobody stands in front of that.
int unknown_thread() {
  void* const library = dlopen("libc.so.6", RTLD_NOW);
  auto* const create = reinterpret_cast<decltype(&pthread_create)>(dlsym(library, "pthread_create"));
  expect(create != nullptr, "pthread_create");
  signal(SIGUSR1, on_signal);
  pthread_t thread;
  expect((errno = create(&thread, nullptr, be_interrupted, nullptr)) == 0, "pthread_create");
  pthread_join(thread, nullptr);
  tell_counts("in the handler");
  return 21;
}

// Which number is whose is in the file "calls".
int marked() {
  prepare_calls();
  const int out = open("calls", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  constexpr size_t kLockCallCount = std::size(kLockCalls);
  for (size_t i = 0; i < kCallCount + kLockCallCount; ++i) dprintf(out, "%zu %s\n", i, call_of(i).name);
  for (size_t i = 0; i < kCallCount + kLockCallCount; ++i) {
    mark(i);
    call_of(i).run();
  }
  mark(999);
  return 0;
}

using Count = int (*)(int);

constexpr int kRounds = 12;
pthread_barrier_t g_round;
Count g_count;

// Two threads need no descriptor for what they do, while the first one has just loaded the library and will unload it.
void* run_library(void*) {
  for (int round = 0; round < kRounds; ++round) {
    pthread_barrier_wait(&g_round);
    for (int i = 0; i < 50; ++i) {
      pthread_mutex_lock(&g_mutex);
      g_count(10);
      pthread_mutex_unlock(&g_mutex);
    }
    pthread_barrier_wait(&g_round);
  }
  return nullptr;
}

int libraries() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
  expect(length > 0, "readlink");
  path[length] = 0;
  strcpy(strrchr(path, '/') + 1, "../lib/libharm_library.so");
  pthread_barrier_init(&g_round, nullptr, 3);
  pthread_t threads[2];
  for (pthread_t& thread : threads) thread = start(run_library);
  mark(0);
  for (int round = 0; round < kRounds; ++round) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    expect(library != nullptr, "dlopen");
    g_count = reinterpret_cast<Count>(dlsym(library, "harm_count"));
    pthread_barrier_wait(&g_round);
    pthread_barrier_wait(&g_round);
    dlclose(library);
    // Code of a file comes and goes otherwise, too.
    const int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, own, 0);
    expect(code != MAP_FAILED, "mmap");
    munmap(code, 4096);
    close(own);
  }
  mark(999);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  say("loaded and unloaded\n");
  return 0;
}

constexpr Case kCases[] = {{"counts", counts},
                           {"forks", forks},
                           {"unknown_thread", unknown_thread},
                           {"marked", marked},
                           {"libraries", libraries}};

}  // namespace

int main(int count, char** arguments) {
  if (count > 2 && strcmp(arguments[1], "ends") == 0) return ends(arguments[2], count > 3);
  return run_case(kCases, std::size(kCases), count > 1 ? arguments[1] : "");
}
