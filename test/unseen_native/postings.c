// usage: unseen_postings [base|twin]
// A text index: for each term the documents it is in. A query meets the lists of three terms under the index's
// recursive mutex, which the look-up of a term takes again; now and then a document is added. Twin: a pthread_rwlock_t
// that queries and look-ups share.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kTerms = 512, kBuckets = 256, kDocuments = 20000, kThreads = 4, kQueries = 6000, kBest = 10 };

struct posting {
  uint32_t document;
  uint16_t times, place;
};
struct term {
  struct term* next;
  char name[16];
  struct posting* postings;
  size_t count, room;
};
struct hit {
  uint32_t document;
  float weight;
};

static struct {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  struct term* buckets[kBuckets];
  uint32_t documents;
} text;
static int twin;
static uint64_t answered, best_sum;

static void lock_to_look(void) {
  if (twin)
    pthread_rwlock_rdlock(&text.rwlock);
  else
    pthread_mutex_lock(&text.mutex);
}
static void lock_to_add(void) {
  if (twin)
    pthread_rwlock_wrlock(&text.rwlock);
  else
    pthread_mutex_lock(&text.mutex);
}
static void unlock(void) {
  if (twin)
    pthread_rwlock_unlock(&text.rwlock);
  else
    pthread_mutex_unlock(&text.mutex);
}

static struct term** place_of(const char* name) {
  uint32_t hash = 2166136261u;
  for (const char* c = name; *c != '\0'; ++c) hash = (hash ^ (unsigned char)*c) * 16777619u;
  struct term** at = &text.buckets[hash % kBuckets];
  while (*at != NULL && strcmp((*at)->name, name) != 0) at = &(*at)->next;
  return at;
}

static const struct term* look_up(const char* name) {
  lock_to_look();
  const struct term* found = *place_of(name);
  unlock();
  return found;
}

static void add_posting(const char* name, struct posting posting) {
  struct term** at = place_of(name);
  if (*at == NULL) {
    *at = calloc(1, sizeof **at);
    strcpy((*at)->name, name);
  }
  struct term* term = *at;
  if (term->count == term->room) {
    term->room = term->room == 0 ? 64 : 2 * term->room;
    term->postings = realloc(term->postings, term->room * sizeof *term->postings);
  }
  term->postings[term->count++] = posting;
}

static uint32_t next(uint32_t* x) {
  *x ^= *x << 13, *x ^= *x >> 17, *x ^= *x << 5;
  return *x;
}

static void add_document(uint32_t* x) {
  char names[20][16];
  uint32_t step = next(x) % kTerms;
  for (int i = 0; i < 20; ++i) {
    step = (step + 1 + next(x) % 24) % kTerms;
    snprintf(names[i], sizeof names[i], "term%u", step);
  }
  lock_to_add();
  const uint32_t document = text.documents++;
  for (int i = 0; i < 20; ++i)
    add_posting(names[i], (struct posting){document, (uint16_t)(1 + document % 7), (uint16_t)i});
  unlock();
}

static int query(char names[3][16], struct hit* best) {
  int hits = 0;
  lock_to_look();
  const struct term* terms[3];
  for (int i = 0; i < 3; ++i) terms[i] = look_up(names[i]);
  if (terms[0] != NULL && terms[1] != NULL && terms[2] != NULL) {
    size_t b = 0, c = 0;
    for (size_t a = 0; a < terms[0]->count; ++a) {
      const struct posting* one = &terms[0]->postings[a];
      float weight = one->times;
      while (b < terms[1]->count && terms[1]->postings[b].document < one->document) ++b;
      while (c < terms[2]->count && terms[2]->postings[c].document < one->document) ++c;
      if (b < terms[1]->count && terms[1]->postings[b].document == one->document)
        weight += 2.0f * terms[1]->postings[b].times / (1 + terms[1]->postings[b].place);
      if (c < terms[2]->count && terms[2]->postings[c].document == one->document)
        weight += 2.0f * terms[2]->postings[c].times / (1 + terms[2]->postings[c].place);
      int at = hits < kBest ? hits++ : kBest;
      if (at == kBest && best[kBest - 1].weight >= weight) continue;
      if (at == kBest) at = kBest - 1;
      for (; at > 0 && best[at - 1].weight < weight; --at) best[at] = best[at - 1];
      best[at] = (struct hit){one->document, weight};
    }
  }
  unlock();
  return hits;
}

static void* serve(void* number) {
  uint32_t x = (uint32_t)(uintptr_t)number * 2654435761u + 1;
  uint64_t sum = 0;
  for (int i = 0; i < kQueries; ++i) {
    if (i % 60 == 11) add_document(&x);
    char names[3][16];
    for (int n = 0; n < 3; ++n) snprintf(names[n], sizeof names[n], "term%u", next(&x) % kTerms);
    struct hit best[kBest];
    const int hits = query(names, best);
    char answer[kBest * 48 + 1];
    int length = 0;
    for (int n = 0; n < hits; ++n)
      length += snprintf(answer + length, 48, "<li>document %u (%.3f)</li>", best[n].document, (double)best[n].weight);
    sum += (uint64_t)length;
  }
  __atomic_add_fetch(&best_sum, sum, __ATOMIC_RELAXED);
  __atomic_add_fetch(&answered, kQueries, __ATOMIC_RELAXED);
  return NULL;
}

int main(int count, char** arguments) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&text.mutex, &recursive);
  pthread_rwlock_init(&text.rwlock, NULL);
  uint32_t x = 4711;
  for (int i = 0; i < kDocuments; ++i) add_document(&x);
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, serve, (void*)(i + 1));
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (best_sum == 0) return 1;
  printf("result %llu us %lld\n", (unsigned long long)(answered + text.documents),
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
