// Sleeps, polls, pipes and a bare futex, each long enough to be a segment.
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];
static int word;

static void* later(void*) {
  usleep(20'000);
  if (write(ends[1], "x", 1) != 1) return nullptr;
  usleep(20'000);
  __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  return nullptr;
}

int main() {
  if (pipe(ends) != 0) return 1;
  pthread_t thread;
  pthread_create(&thread, nullptr, later, nullptr);
  char byte = 0;
  printf("read %zd\n", read(ends[0], &byte, 1));
  while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0) syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  pollfd fd{ends[0], POLLIN, 0};
  printf("poll %d look %d\n", poll(&fd, 1, 10), poll(&fd, 1, 0));
  if (const pid_t child = fork(); child == 0) {
    usleep(10'000);
    _exit(0);
  } else {
    int status = 1;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
  }
  pthread_join(thread, nullptr);
}
