// A tree of uneven branches counted by a task for each node. The setting is down to which depth there are tasks.
#include "items.h"

static constexpr int rounds = 8, depth_max = 13, root_children = 24, steps = 80;

static int children_of(uint64_t value, int depth) {
  return depth == 0 ? root_children : depth == depth_max ? 0 : static_cast<int>(value % 5);
}

static uint64_t count(uint64_t hash, int depth) {
  const uint64_t value = spin(hash, steps);
  uint64_t sum = 1 + value % 3;
  for (int child = 0; child < children_of(value, depth); ++child)
    sum += count(value * 31 + static_cast<uint64_t>(child), depth + 1);
  return sum;
}

static uint64_t count_by_tasks(uint64_t hash, int depth, int depth_of_tasks) {
  if (depth == depth_of_tasks) return count(hash, depth);
  const uint64_t value = spin(hash, steps);
  uint64_t sums[root_children] = {};
  const int children = children_of(value, depth);
  for (int child = 0; child < children; ++child) {
#pragma omp task shared(sums) firstprivate(value, child, depth, depth_of_tasks)
    sums[child] = count_by_tasks(value * 31 + static_cast<uint64_t>(child), depth + 1, depth_of_tasks);
  }
#pragma omp taskwait
  uint64_t sum = 1 + value % 3;
  for (int child = 0; child < children; ++child) sum += sums[child];
  return sum;
}

int main(int argument_count, char** arguments) {
  const int depth = setting(argument_count, arguments, depth_max, depth_max, 0);
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
#pragma omp single
    sum += count_by_tasks(static_cast<uint64_t>(round), 0, depth);
  }
  return print_result(sum);
}
