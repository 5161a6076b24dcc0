// Two threads in turns whose critical sections conflict only in places that are easily overlooked; for each place a
// lock of its own, and a function with each thread's critical section.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static sem_t turns[2];
static constexpr int kRounds = 20;
static constexpr size_t kBytes = 20'000;

static void wait_for_turn(int self) {
  while (sem_wait(&turns[self]) != 0) {
  }
}

// A library writes for the program.
static pthread_mutex_t library_mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[64];
static const char* volatile format = "round %d";
static NOINLINE void library_writes(int self, int round) {
  wait_for_turn(self);
  pthread_mutex_lock(&library_mutex);
  snprintf(text, sizeof text, format, 2 * round + self);
  pthread_mutex_unlock(&library_mutex);
  sem_post(&turns[1 - self]);
}

// One thread's writes are what the other one's realloc copies.
static pthread_mutex_t block_mutex = PTHREAD_MUTEX_INITIALIZER;
static char* block;
static void* block_behind;
static long sum;
static NOINLINE void fill_block(int round) {
  wait_for_turn(0);
  char* mine = static_cast<char*>(malloc(kBytes));
  block_behind = malloc(kBytes);  // so that it cannot grow where it is
  pthread_mutex_lock(&block_mutex);
  mine[100] = static_cast<char>(round + 1);
  pthread_mutex_unlock(&block_mutex);
  block = mine;
  sem_post(&turns[1]);
}
static NOINLINE void move_block() {
  wait_for_turn(1);
  char* mine = block;
  pthread_mutex_lock(&block_mutex);
  char* moved = static_cast<char*>(realloc(mine, 10 * kBytes));
  pthread_mutex_unlock(&block_mutex);
  sum += moved[100];
  free(moved);
  free(block_behind);
  sem_post(&turns[0]);
}

// One thread clears with calloc what the other one then writes.
static pthread_mutex_t cleared_mutex = PTHREAD_MUTEX_INITIALIZER;
static long* cleared;
static NOINLINE void clear_block() {
  wait_for_turn(0);
  pthread_mutex_lock(&cleared_mutex);
  long* mine = static_cast<long*>(calloc(1, kBytes));
  pthread_mutex_unlock(&cleared_mutex);
  cleared = mine;
  sem_post(&turns[1]);
}
static NOINLINE void write_cleared() {
  wait_for_turn(1);
  long* mine = cleared;
  pthread_mutex_lock(&cleared_mutex);
  mine[7] = mine[7] + 5;
  pthread_mutex_unlock(&cleared_mutex);
  sum += mine[7];
  free(mine);
  sem_post(&turns[0]);
}

// A variable on one thread's stack, which the other one writes; its function returns with the lock held.
static pthread_mutex_t stack_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long* box_of_owner;
static NOINLINE long read_box_and_keep_lock() {
  volatile long box = 0;
  box_of_owner = &box;
  sem_post(&turns[1]);
  wait_for_turn(0);
  pthread_mutex_lock(&stack_mutex);
  return box;
}
static NOINLINE void own_box() {
  const long seen = read_box_and_keep_lock();
  pthread_mutex_unlock(&stack_mutex);
  sum += seen;
}
static NOINLINE void write_box(int round) {
  wait_for_turn(1);
  volatile long* box = box_of_owner;
  pthread_mutex_lock(&stack_mutex);
  *box = round;
  pthread_mutex_unlock(&stack_mutex);
  sem_post(&turns[0]);
}

// A thread-local variable, whose address the other thread has.
static pthread_mutex_t local_mutex = PTHREAD_MUTEX_INITIALIZER;
static thread_local volatile long local;
static volatile long* local_of_owner;
static NOINLINE void add_to_local(int round) {
  wait_for_turn(0);
  local_of_owner = &local;
  pthread_mutex_lock(&local_mutex);
  local = round + 5;
  pthread_mutex_unlock(&local_mutex);
  sem_post(&turns[1]);
}
static NOINLINE void read_local() {
  wait_for_turn(1);
  volatile long* of_owner = local_of_owner;
  pthread_mutex_lock(&local_mutex);
  const long seen = *of_owner;
  pthread_mutex_unlock(&local_mutex);
  sum += seen;
  sem_post(&turns[0]);
}

// What the C library reads for its caller.
static pthread_mutex_t pause_mutex = PTHREAD_MUTEX_INITIALIZER;
static timespec pause_time;
static NOINLINE void set_pause(int round) {
  wait_for_turn(0);
  pthread_mutex_lock(&pause_mutex);
  pause_time.tv_nsec = round + 1;
  pthread_mutex_unlock(&pause_mutex);
  sem_post(&turns[1]);
}
static NOINLINE void take_pause() {
  wait_for_turn(1);
  pthread_mutex_lock(&pause_mutex);
  nanosleep(&pause_time, nullptr);
  pthread_mutex_unlock(&pause_mutex);
  sem_post(&turns[0]);
}

static void* first(void*) {
  for (int round = 0; round < kRounds; ++round) {
    library_writes(0, round);
    fill_block(round);
    clear_block();
    add_to_local(round);
    set_pause(round);
    wait_for_turn(0);
    own_box();
    sem_post(&turns[0]);
  }
  return nullptr;
}
static void* second(void*) {
  for (int round = 0; round < kRounds; ++round) {
    library_writes(1, round);
    move_block();
    write_cleared();
    read_local();
    take_pause();
    write_box(round + 1);
  }
  return nullptr;
}

int main() {
  sem_init(&turns[0], 0, 1);
  sem_init(&turns[1], 0, 0);
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, first, nullptr);
  pthread_create(&threads[1], nullptr, second, nullptr);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  printf("%ld %s\n", sum, text);
}
