// Locks that live one after another at one address: initialised again, destroyed and set up without a call, in memory
// that was freed, and of two kinds. A condition that is destroyed while the one that it has woken may still leave it.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

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

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static mtx_t c11;
static sem_t credits;

static void* wait_for_turn(void*) {
  pthread_mutex_lock(&guard);
  turn = 1;
  while (turn != 2) pthread_cond_wait(&changed, &guard);
  pthread_mutex_unlock(&guard);
  return nullptr;
}

// Twice: the second time it is another condition.
static void wake_and_destroy() {
  pthread_t waiter;
  turn = 0;
  pthread_create(&waiter, nullptr, wait_for_turn, nullptr);
  for (bool waits = false; !waits;) {
    pthread_mutex_lock(&guard);
    waits = turn == 1;
    if (waits) turn = 2;
    if (waits) pthread_cond_signal(&changed);
    pthread_mutex_unlock(&guard);
    if (!waits) usleep(100);
  }
  pthread_cond_destroy(&changed);
  pthread_cond_init(&changed, nullptr);
  pthread_join(waiter, nullptr);
}

static void on_the_heap(int times) {
  auto* mutex = static_cast<pthread_mutex_t*>(malloc(sizeof(pthread_mutex_t)));
  pthread_mutex_init(mutex, nullptr);
  use(mutex, times);
  free(mutex);  // never destroyed
}

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

  use(&plain, 2);
  pthread_mutex_destroy(&plain);
  plain = PTHREAD_MUTEX_INITIALIZER;
  use(&plain, 4);

  wake_and_destroy();
  wake_and_destroy();

  on_the_heap(13);
  on_the_heap(17);

  for (int life = 0; life < 2; ++life) {
    mtx_init(&c11, mtx_plain);
    mtx_lock(&c11);
    mtx_unlock(&c11);
    mtx_destroy(&c11);
    sem_init(&credits, 0, 1);
    sem_wait(&credits);
    sem_destroy(&credits);
  }
  printf("done\n");
  return 0;
}
