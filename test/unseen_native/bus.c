// usage: unseen_bus [base|twin]
// Devices on one serial line (here a pair of sockets, and a thread for what is at the other end), on which one question
// at a time can be under way: who asks holds the line's mutex until the answer is there. Nothing is to be changed,
// though the section mostly waits. Twin: the same program.
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kDevices = 6, kRegisters = 16, kThreads = 4, kQuestions = 700 };

struct frame {
  uint16_t device, reg;
  uint32_t number, value, check;
};

static struct {
  pthread_mutex_t mutex;
  int end, other_end;
  uint32_t number, errors;
  struct frame sent, received;
} line;
static uint64_t sum;

static uint32_t check_of(const struct frame* frame) {
  uint32_t check = ~0u;
  const unsigned char* bytes = (const unsigned char*)frame;
  for (size_t i = 0; i < offsetof(struct frame, check); ++i) {
    check ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) check = check >> 1 ^ (check & 1 ? 0xedb88320u : 0);
  }
  return ~check;
}

static void* devices(void* unused) {
  static uint32_t registers[kDevices][kRegisters];
  struct frame frame;
  while (read(line.other_end, &frame, sizeof frame) == (ssize_t)sizeof frame) {
    usleep(120);  // so many bits take that long
    registers[frame.device][frame.reg] += frame.value;
    frame.value = frame.device * 1000u + frame.reg;
    frame.check = check_of(&frame);
    if (write(line.other_end, &frame, sizeof frame) < 0) break;
  }
  uint64_t total = 0;
  for (int d = 0; d < kDevices; ++d) {
    for (int r = 0; r < kRegisters; ++r) total += registers[d][r];
  }
  __atomic_add_fetch(&sum, total, __ATOMIC_RELAXED);
  return unused;
}

static uint32_t ask(uint16_t device, uint16_t reg, uint32_t value) {
  pthread_mutex_lock(&line.mutex);
  line.sent = (struct frame){device, reg, ++line.number, value, 0};
  line.sent.check = check_of(&line.sent);
  uint32_t answer = 0;
  struct pollfd ready = {line.end, POLLIN, 0};
  if (write(line.end, &line.sent, sizeof line.sent) == (ssize_t)sizeof line.sent && poll(&ready, 1, 1000) == 1 &&
      read(line.end, &line.received, sizeof line.received) == (ssize_t)sizeof line.received &&
      line.received.number == line.sent.number && line.received.check == check_of(&line.received))
    answer = line.received.value;
  else
    ++line.errors;
  pthread_mutex_unlock(&line.mutex);
  return answer;
}

static void* control(void* number) {
  uint32_t x = (uint32_t)(uintptr_t)number + 1;
  uint64_t mine = 0;
  for (int i = 0; i < kQuestions; ++i) {
    for (int n = 0; n < 60000; ++n) x = x * 1664525u + 1013904223u;
    mine += ask((uint16_t)((x >> 9) % kDevices), (uint16_t)((x >> 20) % kRegisters), x >> 28);
  }
  __atomic_add_fetch(&sum, mine, __ATOMIC_RELAXED);
  return NULL;
}

int main(void) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  pthread_mutex_init(&line.mutex, NULL);
  line.end = ends[0], line.other_end = ends[1];
  pthread_t other, threads[kThreads];
  pthread_create(&other, NULL, devices, NULL);
  for (uintptr_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, control, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  close(line.end);
  pthread_join(other, NULL);
  close(line.other_end);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (line.errors != 0) return 1;
  printf("result %llu us %lld\n", (unsigned long long)sum,
         (long long)(end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
  return 0;
}
