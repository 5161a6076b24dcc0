// OpenMP's constructs, with a known number of tasks of each kind. Prints what they computed.
//   openmp_tasks CASE THREADS
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

volatile long g_sink = 0;

long work(long steps) {
  long sum = 0;
  for (long i = 0; i < steps; ++i) sum += i ^ (sum >> 3);
  return sum;
}

// Five regions.
long regions(int threads) {
  long sum = 0;
  for (int i = 0; i < 5; ++i) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += work(1000) % 7 + 1;
  }
  return sum;
}

// 50 tasks of which each makes two, and waits for them: 150.
long nested(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task shared(sum)
    {
      long a = 0, b = 0;
#pragma omp task shared(a)
      a = work(2000) % 5;
#pragma omp task shared(b)
      b = work(3000) % 5;
#pragma omp taskwait
#pragma omp atomic
      sum += a + b + 1;
    }
  }
  return sum;
}

long fibonacci(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

// fibonacci(12) makes 464 tasks.
long recursion(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  sum = fibonacci(12);
  return sum;
}

// Two groups of 20 tasks, each of which makes one that nobody waits for but the group: 80.
long groups(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int group = 0; group < 2; ++group) {
#pragma omp taskgroup
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(sum)
      {
#pragma omp task shared(sum)
        {
          const long part = work(1000) % 3 + 1;
#pragma omp atomic
          sum += part;
        }
        work(500);
      }
    }
    sum *= 2;
  }
  return sum;
}

// 1,000 iterations in chunks of 10: 100.
long chunks(int threads) {
  long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 10) reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += work(100 + i % 7) % 3 + 1;
  return sum;
}

// Gcc computes each thread's part by itself, and calls no runtime for it.
long fixed(int threads) {
  long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += work(100 + i % 7) % 3 + 1;
  return sum;
}

// Three barriers in one region, and its end.
long barriers(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 3; ++i) {
#pragma omp atomic
    sum += i;
#pragma omp barrier
    g_sink = work(1000 * (1 + omp_get_thread_num()));
  }
  return sum;
}

// A chain of 10 tasks, each after the one before.
long chain(int threads) {
  long value = 1;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task shared(value) depend(inout : value)
    value = value * 3 % 1009 + work(1000) % 2;
  }
  return value;
}

// 8 tasks that run at once, as their condition says.
long at_once(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 8; ++i) {
#pragma omp task shared(sum) if (0)
    sum += work(1000) % 4 + i;
  }
  return sum;
}

// 20 tasks of ten iterations each.
long loop_of_tasks(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop num_tasks(20) shared(sum)
  for (int i = 0; i < 200; ++i) {
    const long part = work(200) % 3 + 1;
#pragma omp atomic
    sum += part;
  }
  return sum;
}

// Outside of any region a task runs at once: 3.
long outside(int) {
  long sum = 0;
  for (int i = 0; i < 3; ++i) {
#pragma omp task shared(sum)
    sum += work(1000) % 4 + i;
  }
#pragma omp taskwait
  return sum;
}

struct Case {
  const char* name;
  long (*run)(int threads);
};
constexpr Case kCases[] = {{"regions", regions},     {"nested", nested},
                           {"recursion", recursion}, {"groups", groups},
                           {"chunks", chunks},       {"fixed", fixed},
                           {"barriers", barriers},   {"chain", chain},
                           {"at_once", at_once},     {"loop_of_tasks", loop_of_tasks},
                           {"outside", outside}};

}  // namespace

int main(int count, char** arguments) {
  const int threads = count > 2 ? std::atoi(arguments[2]) : 3;
  for (const Case& each : kCases) {
    if (count > 1 && std::strcmp(arguments[1], each.name) != 0) continue;
    std::printf("%s %ld\n", each.name, each.run(threads));
  }
  return 0;
}
