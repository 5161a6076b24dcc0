// A queue of one place between two threads, a broadcast to three, a timeout, and a wait that is cancelled.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER,
                      everybody = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int item;
static bool go;
static int waiting;

static void* consumer(void*) {
  long sum = 0;
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    while (item == 0) pthread_cond_wait(&filled, &mutex);
    sum += item;
    item = 0;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&mutex);
  }
  printf("sum %ld\n", sum);
  return nullptr;
}

static void* waiter(void*) {
  pthread_mutex_lock(&mutex);
  ++waiting;
  while (!go) pthread_cond_wait(&everybody, &mutex);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

static void unlock(void*) {
  pthread_mutex_unlock(&mutex);
}

static void* cancelled(void*) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, nullptr);
  for (;;) pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, consumer, nullptr);
  for (int i = 1; i <= 50; ++i) {
    pthread_mutex_lock(&mutex);
    while (item != 0) pthread_cond_wait(&emptied, &mutex);
    item = i;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
  }
  pthread_join(thread, nullptr);

  pthread_t three[3];
  for (auto& each : three) pthread_create(&each, nullptr, waiter, nullptr);
  for (bool all = false; !all; usleep(1'000)) {
    pthread_mutex_lock(&mutex);
    all = waiting == 3;
    pthread_mutex_unlock(&mutex);
  }
  usleep(30'000);
  pthread_mutex_lock(&mutex);
  go = true;
  pthread_cond_broadcast(&everybody);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  printf("timeout %d\n", pthread_cond_timedwait(&never, &mutex, &until) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  for (auto& each : three) pthread_join(each, nullptr);

  pthread_create(&thread, nullptr, cancelled, nullptr);
  usleep(20'000);
  pthread_cancel(thread);
  void* value;
  pthread_join(thread, &value);
  printf("cancelled %d free %d\n", value == PTHREAD_CANCELED, pthread_mutex_trylock(&mutex) == 0);
  pthread_mutex_unlock(&mutex);
}
