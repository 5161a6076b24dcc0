#include <pthread.h>

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

extern "C" int use_library_lock() {
  for (int i = 0; i < 5; ++i) {
    pthread_mutex_lock(&library_lock);
    pthread_mutex_unlock(&library_lock);
  }
  return 5;
}
