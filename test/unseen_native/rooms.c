// usage: rooms [base|twin]
// Rooms of a chat server, each a ring of messages, under one lock behind functions of the program's own. Twin: each
// room has a lock of its own.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRooms = 24, kRing = 64, kText = 120, kThreads = 8, kPosts = 9000 };

struct room {
  pthread_mutex_t lock;
  unsigned posted;
  char ring[kRing][kText];
  uint64_t digest;
};

static struct server {
  pthread_mutex_t lock;
  struct room* rooms[kRooms];
} server;
static int twin;

static void server_lock(struct room* r) {
  pthread_mutex_lock(twin ? &r->lock : &server.lock);
}
static void server_unlock(struct room* r) {
  pthread_mutex_unlock(twin ? &r->lock : &server.lock);
}

static void post(int number, const char* text) {
  struct room* r = server.rooms[number];
  server_lock(r);
  memcpy(r->ring[r->posted++ % kRing], text, kText);
  uint64_t digest = 0;
  for (int i = 0; i < kRing; ++i) {
    for (const char* c = r->ring[i]; *c != '\0'; ++c) digest = digest * 33 + (unsigned char)*c;
  }
  r->digest += digest & 1;
  server_unlock(r);
}

static void* chat(void* number) {
  uint32_t x = (uint32_t)(uintptr_t)number + 1;
  for (int i = 0; i < kPosts; ++i) {
    char text[kText];
    snprintf(text, sizeof text, "message %d of thread %d: good morning everybody", i, (int)(uintptr_t)number);
    for (int n = 0; n < 2500; ++n) x = x * 1664525u + 1013904223u;
    post((int)((x >> 8) % kRooms), text);
  }
  return NULL;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_mutex_init(&server.lock, NULL);
  for (int i = 0; i < kRooms; ++i) {
    server.rooms[i] = calloc(1, sizeof *server.rooms[i]);
    pthread_mutex_init(&server.rooms[i]->lock, NULL);
  }
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, chat, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  unsigned posted = 0;
  for (int i = 0; i < kRooms; ++i) posted += server.rooms[i]->posted;
  printf("result %u us %lld\n", posted,
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
