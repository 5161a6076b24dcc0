// Threads load and unload two libraries each in turns. All are of the same size and take each other's places, and each
// answers the same question otherwise: whoever calls one gets its answer, never that of the library that lay there
// before.
//
//   usage: harm_unloads in_turns          libraries that their build ids tell apart
//          harm_unloads without_build_id  nothing but their code tells them apart
#include <dlfcn.h>

#include "harm.h"

namespace {

using namespace harm;

constexpr int kThreads = 4, kLibraries = 2 * kThreads, kRounds = 1200, kCalls = 20;
using Answer = int (*)();

char g_paths[kLibraries][4096];

void find_libraries(const char* identity) {
  char own[4000];
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 64);
  expect(length > 0, "readlink");
  own[length] = 0;
  char* name = strrchr(own, '/') + 1;
  for (int which = 0; which < kLibraries; ++which) {
    *name = 0;
    snprintf(g_paths[which], sizeof g_paths[which], "%s../lib/libharm_answer_%d_%s.so", own, which + 1, identity);
  }
}

// Returns how many answers were wrong. Each thread holds a lock of its own: none waits for another while it calls.
void* load_and_call(void* number) {
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  long wrong = 0;
  for (long round = 0; round < kRounds; ++round) {
    const int which = static_cast<int>(2 * reinterpret_cast<long>(number) + round % 2);
    void* library = dlopen(g_paths[which], RTLD_NOW | RTLD_LOCAL);
    expect(library != nullptr, "dlopen");
    const auto answer = reinterpret_cast<Answer>(dlsym(library, "harm_answer"));
    expect(answer != nullptr, "dlsym");
    for (int call = 0; call < kCalls; ++call) {
      pthread_mutex_lock(&own);
      if (answer() != which + 1) ++wrong;
      pthread_mutex_unlock(&own);
    }
    dlclose(library);
  }
  return reinterpret_cast<void*>(wrong);
}

int load_in_turns(const char* identity) {
  find_libraries(identity);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) threads[i] = start(load_and_call, reinterpret_cast<void*>(i));
  long wrong = 0;
  for (pthread_t thread : threads) {
    void* of_thread;
    pthread_join(thread, &of_thread);
    wrong += reinterpret_cast<long>(of_thread);
  }
  printf("%ld of %d answers are wrong\n", wrong, kThreads * kRounds * kCalls);
  return 0;
}

int in_turns() {
  return load_in_turns("sha1");
}

int without_build_id() {
  return load_in_turns("none");
}

constexpr Case kCases[] = {{"in_turns", in_turns}, {"without_build_id", without_build_id}};

}  // namespace

int main(int argc, char** argv) {
  return run_case(kCases, sizeof kCases / sizeof *kCases, argc > 1 ? argv[1] : "");
}
