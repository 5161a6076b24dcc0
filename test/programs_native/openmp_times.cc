// Work that OpenMP shares out, of some tenths of a second, in one of several ways.
//   openmp_times CASE THREADS
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

[[gnu::noipa]] long work(long steps) {
  long sum = 1;
  for (long i = 0; i < steps; ++i) sum = (sum ^ (sum >> 7)) * 6364136223846793005 + i;
  return sum & 1;
}

// Tasks of unequal size, which one thread makes.
long tasks(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 400; ++i) {
#pragma omp task shared(sum)
    {
      const long part = work(50'000 + 5'000 * (i % 40));
#pragma omp atomic
      sum += part;
    }
  }
  return sum;
}

long tree(int depth) {
  if (depth == 0) return work(100'000);
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = tree(depth - 1);
#pragma omp task shared(b)
  b = tree(depth - 1);
#pragma omp taskwait
  return a + b;
}

long recursion(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  sum = tree(10);
  return sum;
}

// A loop in chunks, in which the later iterations take longer.
long loop(int threads) {
  long sum = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) reduction(+ : sum)
    for (int i = 0; i < 200; ++i) sum += work(200 * i);
  }
  return sum;
}

// The same with fixed parts: the last thread's takes longest.
long fixed(int threads) {
  long sum = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int i = 0; i < 200; ++i) sum += work(200 * i);
  }
  return sum;
}

// Phases between barriers, in which the threads take turns at having most to do.
long phases(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  for (int i = 0; i < 60; ++i) {
    sum += work(i % threads == omp_get_thread_num() ? 1'500'000 : 400'000);
#pragma omp barrier
  }
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  const char* const name = count > 1 ? arguments[1] : "";
  const int threads = count > 2 ? std::atoi(arguments[2]) : 2;
  long result = -1;
  if (std::strcmp(name, "tasks") == 0) result = tasks(threads);
  if (std::strcmp(name, "recursion") == 0) result = recursion(threads);
  if (std::strcmp(name, "loop") == 0) result = loop(threads);
  if (std::strcmp(name, "fixed") == 0) result = fixed(threads);
  if (std::strcmp(name, "phases") == 0) result = phases(threads);
  std::printf("%ld\n", result);
  return result < 0 ? 1 : 0;
}
