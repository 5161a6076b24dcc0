// oneTBB's constructs, with a known number of tasks where the library leaves that to the program. Prints what they computed.
//   tbb_tasks CASE
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace {

[[gnu::noipa]] long work(long steps) {
  long sum = 1;
  for (long i = 0; i < steps; ++i) sum = (sum ^ (sum >> 7)) * 6364136223846793005 + i;
  return sum & 1;
}

// 40 tasks.
long group() {
  std::atomic<long> sum{0};
  tbb::task_group tasks;
  for (int i = 0; i < 40; ++i) tasks.run([&] { sum += work(20'000) + 1; });  // made here
  tasks.wait();
  return sum;
}

long tree(int depth) {
  if (depth == 0) return work(30'000) + 1;
  long left = 0, right = 0;
  tbb::task_group tasks;
  tasks.run([&] { left = tree(depth - 1); });   // the left one
  tasks.run([&] { right = tree(depth - 1); });  // the right one
  tasks.wait();
  return left + right;
}

// 127 tasks on each side.
long recursion() {
  return tree(7);
}

// Each leaf is one iteration.
long loop() {
  std::atomic<long> sum{0};
  tbb::parallel_for(
      tbb::blocked_range<int>(0, 64, 1),
      [&](const tbb::blocked_range<int>& range) {
        for (int i = range.begin(); i < range.end(); ++i) sum += work(10'000 + 100 * i) + 1;
      },
      tbb::simple_partitioner());
  return sum;
}

long reduce() {
  return tbb::parallel_reduce(
      tbb::blocked_range<int>(0, 1000), 0L,
      [](const tbb::blocked_range<int>& range, long sum) {
        for (int i = range.begin(); i < range.end(); ++i) sum += work(500) + i;
        return sum;
      },
      [](long a, long b) { return a + b; });
}

// 10 tasks handed to an arena, for which nobody waits but by a counter.
long arena() {
  tbb::task_arena arena(2);
  std::atomic<long> sum{0};
  std::atomic<int> left{10};
  for (int i = 0; i < 10; ++i) {
    arena.enqueue([&] {
      sum += work(10'000) + 1;
      --left;
    });
  }
  while (left > 0) std::this_thread::yield();
  arena.execute([&] { tbb::parallel_for(0, 8, [&](int) { sum += work(5'000) + 1; }); });
  return sum;
}

// A task that throws; the loop passes the exception on, and the next loop runs as ever.
long exception() {
  long caught = 0;
  try {
    tbb::parallel_for(0, 100, [&](int i) {
      work(1'000);
      if (i == 50) throw std::runtime_error("50");
    });
  } catch (const std::runtime_error&) {
    ++caught;
  }
  std::atomic<long> sum{0};
  tbb::parallel_for(0, 10, [&](int) { ++sum; });
  return caught * 100 + sum;
}

// A cancelled group: what has not begun does not run.
long cancel() {
  tbb::task_group tasks;
  std::atomic<long> runs{0};
  for (int i = 0; i < 200; ++i) {
    tasks.run([&] {
      work(5'000);
      if (++runs == 5) tasks.cancel();
    });
  }
  return tasks.wait() == tbb::canceled && runs >= 5 ? 1 : 0;
}

struct Case {
  const char* name;
  long (*run)();
};
constexpr Case kCases[] = {{"group", group}, {"recursion", recursion}, {"loop", loop},    {"reduce", reduce},
                           {"arena", arena}, {"exception", exception}, {"cancel", cancel}};

}  // namespace

int main(int count, char** arguments) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
  for (const Case& each : kCases) {
    if (count > 1 && std::strcmp(arguments[1], each.name) != 0) continue;
    std::printf("%s %ld\n", each.name, each.run());
  }
  return 0;
}
