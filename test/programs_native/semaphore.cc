// Posts from a thread and from a signal's handler; tries and timeouts keep errno.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t items, from_handler;

static void on_signal(int) {
  sem_post(&from_handler);
}

static void* producer(void*) {
  for (int i = 0; i < 20; ++i) {
    usleep(1'000);
    sem_post(&items);
  }
  return nullptr;
}

int main() {
  sem_init(&items, 0, 2);
  sem_init(&from_handler, 0, 0);
  pthread_t thread;
  pthread_create(&thread, nullptr, producer, nullptr);
  for (int i = 0; i < 22; ++i) {
    while (sem_wait(&items) != 0) {
    }
  }
  pthread_join(thread, nullptr);
  errno = 0;
  printf("try %d\n", sem_trywait(&items) == -1 && errno == EAGAIN);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  printf("timed %d\n", sem_timedwait(&items, &until) == -1 && errno == ETIMEDOUT);
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  printf("handler %d\n", sem_wait(&from_handler));
}
