// Ends in the way that its argument names, with another thread at work.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* worker(void*) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    usleep(1'000);
  }
}

static void on_crash(int) {
  _exit(6);
}

int main(int, char** arguments) {
  const char* how = arguments[1];
  pthread_t thread;
  pthread_create(&thread, nullptr, worker, nullptr);
  usleep(200'000);
  printf("%s\n", how);
  fflush(stdout);
  if (!strcmp(how, "_exit")) _exit(11);
  if (!strcmp(how, "quick_exit")) quick_exit(12);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "pthread_exit")) {
    pthread_cancel(thread);
    pthread_exit(nullptr);
  }
  signal(SIGSEGV, on_crash);
  *static_cast<volatile int*>(nullptr) = 1;
}
