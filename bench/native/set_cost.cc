// What gathering read and write sets costs: nanoseconds of an empty critical section, of one more read, write and call
// in it. The shortest of many rounds; the same program plain, recorded and recorded with sets.
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace {

int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

constexpr int kRounds = 200, kSections = 500, kRepeats = 64;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
volatile long shared_value;

__attribute__((noinline)) long callee(long value) {
  __asm__ volatile("");
  return value + 1;
}

void nothing() {}
void reads() {
  for (int i = 0; i < kRepeats; ++i) __asm__ volatile("mov %0, %%rax" ::"m"(shared_value) : "rax");
}
void writes() {
  for (int i = 0; i < kRepeats; ++i) __asm__ volatile("movq $7, %0" : "=m"(shared_value));
}
void calls() {
  long value = 0;
  for (int i = 0; i < kRepeats; ++i) value = callee(value);
}
void loop() {
  for (int i = 0; i < kRepeats; ++i) __asm__ volatile("");
}

// Nanoseconds of one section around `body`.
double section_ns(void (*body)()) {
  int64_t best_ns = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin_ns = now_ns();
    for (int i = 0; i < kSections; ++i) {
      pthread_mutex_lock(&mutex);
      body();
      pthread_mutex_unlock(&mutex);
    }
    best_ns = std::min(best_ns, now_ns() - begin_ns);
    timespec nap{0, 200'000};  // the drainer keeps up
    nanosleep(&nap, nullptr);
  }
  return static_cast<double>(best_ns) / kSections;
}

}  // namespace

int main() {
  const double empty = section_ns(nothing);
  const double around = section_ns(loop);
  std::printf("%.2f %.2f %.2f %.2f\n", empty, (section_ns(reads) - around) / kRepeats,
              (section_ns(writes) - around) / kRepeats, (section_ns(calls) - around) / kRepeats);
}
