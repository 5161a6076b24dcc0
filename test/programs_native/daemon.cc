// A program that ends at once, and whose child does the work, until the file of the first argument is there. With a
// second argument it waits for the child.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int count, char** arguments) {
  const pid_t child = fork();
  if (child != 0) return count > 2 && waitpid(child, nullptr, 0) != child;
  setsid();
  constexpr int kNapsMax = 2000;  // 20 s
  for (int naps = 0; access(arguments[1], F_OK) != 0 && naps < kNapsMax; ++naps) {
    pthread_mutex_lock(&mutex);
    usleep(10'000);
    pthread_mutex_unlock(&mutex);
  }
  return 0;
}
