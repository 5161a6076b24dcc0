#include <stdio.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static int turn, calls;

static void initialise(void) {
  ++calls;
}

static int worker(void* argument) {
  (void)argument;
  call_once(&flag, initialise);
  mtx_lock(&mutex);
  while (turn == 0) cnd_wait(&changed, &mutex);
  mtx_unlock(&mutex);
  return 5;
}

int main(void) {
  mtx_init(&mutex, mtx_plain);
  cnd_init(&changed);
  thrd_t thread;
  thrd_create(&thread, worker, 0);
  thrd_sleep(&(struct timespec){0, 60000000}, 0);
  mtx_lock(&mutex);
  turn = 1;
  cnd_signal(&changed);
  int busy = mtx_trylock(&mutex) == thrd_busy;
  mtx_unlock(&mutex);
  int result = 0;
  thrd_join(thread, &result);
  printf("%d %d %d\n", result, busy, calls);
  return 0;
}
