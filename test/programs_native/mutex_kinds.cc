// Recursive, error-checking, robust, adaptive mutexes; tries and timeouts. Every error is the library's.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t recursive, checking, robust, timed;

static void init(pthread_mutex_t* mutex, int type, bool is_robust = false) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  if (is_robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
}

static void* die_with_it(void*) {
  pthread_mutex_lock(&robust);
  return nullptr;
}

static void* try_and_wait(void*) {
  printf("try %d\n", pthread_mutex_trylock(&timed) == EBUSY);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20'000'000;
  if (until.tv_nsec >= 1'000'000'000) ++until.tv_sec, until.tv_nsec -= 1'000'000'000;
  printf("timed %d\n", pthread_mutex_timedlock(&timed, &until) == ETIMEDOUT);
  clock_gettime(CLOCK_MONOTONIC, &until);
  printf("clock %d\n", pthread_mutex_clocklock(&timed, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  return nullptr;
}

static void in_thread(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, nullptr, body, nullptr);
  pthread_join(thread, nullptr);
}

int main() {
  init(&recursive, PTHREAD_MUTEX_RECURSIVE);
  init(&checking, PTHREAD_MUTEX_ERRORCHECK);
  init(&robust, PTHREAD_MUTEX_NORMAL, true);
  init(&timed, PTHREAD_MUTEX_ADAPTIVE_NP);
  for (int i = 0; i < 3; ++i) pthread_mutex_lock(&recursive);
  for (int i = 0; i < 3; ++i) pthread_mutex_unlock(&recursive);
  printf("again %d\n", pthread_mutex_unlock(&recursive) == EPERM);
  pthread_mutex_lock(&checking);
  printf("twice %d\n", pthread_mutex_lock(&checking) == EDEADLK);
  pthread_mutex_unlock(&checking);
  in_thread(die_with_it);
  printf("dead %d\n", pthread_mutex_lock(&robust) == EOWNERDEAD);
  pthread_mutex_consistent(&robust);
  pthread_mutex_unlock(&robust);
  pthread_mutex_lock(&timed);
  in_thread(try_and_wait);
  pthread_mutex_unlock(&timed);
}
