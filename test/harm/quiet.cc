// What a recorder must not do on a thread of the program: allocate, lock, or make a system call of its own.
//
// This file's own malloc, free and pthread_mutex_lock stand in front of all others and count those calls that this
// thread makes while it counts.
//
// usage: harm_quiet counts   writes a line for each function whose call allocated or locked; plain there are none but
// in fork
//        harm_quiet marked   marks in the log of a tracer where each function's call begins and ends
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

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

thread_local bool t_counting = false;
thread_local int t_allocations = 0, t_locks = 0;

int (*g_lock)(pthread_mutex_t*);

__attribute__((constructor)) void find_lock() {
  g_lock = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
}

void count_allocation() {
  if (t_counting) ++t_allocations;
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
  if (t_counting) ++t_locks;
  if (!g_lock) find_lock();
  return g_lock(mutex);
}
}

namespace {

// The first call of a thread, and the next ones.
void* count_of_thread(void* argument) {
  const auto* call = static_cast<const Call*>(argument);
  for (const char* when : {"first", "again"}) {
    t_allocations = t_locks = 0;
    t_counting = true;
    call->run();
    t_counting = false;
    if (t_allocations + t_locks > 0)
      dprintf(1, "%s, %s: %d allocations, %d locks\n", call->name, when, t_allocations, t_locks);
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

constexpr Case kCases[] = {{"counts", counts}, {"marked", marked}};

}  // namespace

int main(int count, char** arguments) {
  return run_case(kCases, std::size(kCases), count > 1 ? arguments[1] : "");
}
