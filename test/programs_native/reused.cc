// Locks that live one after another at one address: of one kind, which go on as the same lock, and of two.
#include <pthread.h>
#include <stdio.h>

static void use(pthread_mutex_t* mutex, int times) {
  for (int i = 0; i < times; ++i) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
  }
}

static pthread_mutex_t place;
static union {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
} both;

int main() {
  pthread_mutex_init(&place, nullptr);
  use(&place, 3);
  pthread_mutex_destroy(&place);
  pthread_mutex_init(&place, nullptr);
  use(&place, 5);
  pthread_mutex_destroy(&place);

  pthread_mutex_init(&both.mutex, nullptr);
  use(&both.mutex, 7);
  pthread_mutex_destroy(&both.mutex);
  pthread_rwlock_init(&both.rwlock, nullptr);
  for (int i = 0; i < 11; ++i) {
    pthread_rwlock_rdlock(&both.rwlock);
    pthread_rwlock_unlock(&both.rwlock);
  }
  pthread_rwlock_destroy(&both.rwlock);
  printf("done\n");
  return 0;
}
