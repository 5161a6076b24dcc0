// fork, exec and posix_spawn; the children use locks too. `forks child` is what it executes.
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void use_locks() {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

int main(int count, char** arguments) {
  use_locks();
  if (count > 1) {
    const char* preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "contrafact") ? 8 : 7;
  }
  pid_t child = fork();
  if (child == 0) {
    use_locks();
    _exit(5);
  }
  printf("fork %d\n", status_of(child));
  child = fork();
  if (child == 0) {
    execl(arguments[0], arguments[0], "child", nullptr);
    _exit(9);
  }
  const int executed = status_of(child);
  char word[] = "child";
  char* const words[] = {arguments[0], word, nullptr};
  if (posix_spawn(&child, arguments[0], nullptr, nullptr, words, environ) != 0) return 1;
  const int spawned = status_of(child);
  // Whether the children had the agent is the caller's choice, so it goes to the status.
  printf("exec %d spawn %d\n", executed == 7 || executed == 8, spawned == 7 || spawned == 8);
  fflush(stdout);
  return executed == spawned ? 0 : 1;
}
