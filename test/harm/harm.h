// What the test programs of this folder share. Each has named cases, and one run is one case.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace harm {

struct Case {
  const char* name;
  int (*run)();
};

[[noreturn]] inline void fail(const char* what) {
  dprintf(2, "%s: %s\n", what, strerror(errno));
  _exit(90);
}

// What this machine or user cannot do: nothing is measured then.
constexpr int kCannot = 93;
inline void need(bool condition, const char* what) {
  if (condition) return;
  dprintf(2, "%s: %s\n", what, strerror(errno));
  _exit(kCannot);
}

inline void expect(bool condition, const char* what) {
  if (!condition) fail(what);
}

// Text without the C library's streams, for handlers and for programs whose descriptors are few.
inline void say(const char* text, int fd = 1) {
  if (write(fd, text, strlen(text)) < 0) _exit(91);
}

inline int run_case(const Case* cases, size_t count, const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(cases[i].name, name) == 0) return cases[i].run();
  }
  dprintf(2, "no case '%s'\n", name);
  return 92;
}

inline pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

// Events for a recorder: `count` critical sections.
inline void sections(long count) {
  for (long i = 0; i < count; ++i) {
    pthread_mutex_lock(&g_mutex);
    pthread_mutex_unlock(&g_mutex);
  }
}

inline void* sections_of_thread(void* count) {
  sections(reinterpret_cast<long>(count));
  return nullptr;
}

inline pthread_t start(void* (*body)(void*), void* argument = nullptr) {
  pthread_t thread;
  expect((errno = pthread_create(&thread, nullptr, body, argument)) == 0, "pthread_create");
  return thread;
}

// Its stack is of no size that was used before, and large: the C library maps and unmaps it under a lock of its own.
inline void create_and_join_once() {
  static thread_local size_t number = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (24 << 20) + 4096 * (++number % 1024));
  pthread_t thread;
  void* (*body)(void*) = [](void*) -> void* {
    char used[64 << 10];
    for (size_t i = 0; i < sizeof(used); i += 4096) *static_cast<volatile char*>(&used[i]) = 1;
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, body, nullptr) == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// A system call that no library can see, as Go and other runtimes make them.
inline long bare_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}

}  // namespace harm
