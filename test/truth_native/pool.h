// A pool of threads that take jobs from a queue under a mutex of its own, as thread pools are written: in its programs
// the jobs' order, the number of workers and the lock that the jobs share decide together how long the run takes.
#pragma once

#include <pthread.h>

#include <deque>

#include "work.h"

static pthread_mutex_t jobs_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_changed = PTHREAD_COND_INITIALIZER;
static std::deque<int> jobs;
static bool jobs_closed;

// Negative: there are no more.
[[gnu::noinline]] static int next_job() {
  pthread_mutex_lock(&jobs_mutex);
  while (jobs.empty() && !jobs_closed) pthread_cond_wait(&jobs_changed, &jobs_mutex);
  int job = -1;
  if (!jobs.empty()) {
    job = jobs.front();
    jobs.pop_front();
  }
  pthread_mutex_unlock(&jobs_mutex);
  return job;
}

[[gnu::noinline]] static void hand_out(int job) {
  pthread_mutex_lock(&jobs_mutex);
  jobs.push_back(job);
  pthread_cond_signal(&jobs_changed);
  pthread_mutex_unlock(&jobs_mutex);
}

[[gnu::noinline]] static void close_jobs() {
  pthread_mutex_lock(&jobs_mutex);
  jobs_closed = true;
  pthread_cond_broadcast(&jobs_changed);
  pthread_mutex_unlock(&jobs_mutex);
}

// All jobs from 0 to `count`, on as many workers as that.
inline void run_pool(int workers, int count, const std::function<void(int)>& body) {
  if (alone) return run_alone(count, body);
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&body] {
      for (int job = next_job(); job >= 0; job = next_job()) body(job);
    });
  }
  for (int i = 0; i < count; ++i) hand_out(i);
  close_jobs();
  for (std::thread& thread : threads) thread.join();
}
