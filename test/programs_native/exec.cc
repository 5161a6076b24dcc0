// The process goes on as another image of itself, which is the one recorded in the end.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t before = PTHREAD_MUTEX_INITIALIZER, after = PTHREAD_MUTEX_INITIALIZER;

int main(int count, char** arguments) {
  pthread_mutex_t* mutex = count > 1 ? &after : &before;
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
  }
  if (count > 1) {
    printf("after\n");
    return 4;
  }
  execl("/does/not/exist", "x", nullptr);
  char word[] = "again";
  char* const words[] = {arguments[0], word, nullptr};
  execv(arguments[0], words);
  return 1;
}
