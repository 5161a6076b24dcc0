// std::async for every item: a thread each, far more than there are cores. The setting is the tasks of a round.
#include <future>
#include <vector>

#include "items.h"

static constexpr int rounds = 20, count = 512, steps = 12'000;

int main(int argument_count, char** arguments) {
  const int tasks = setting(argument_count, arguments, count, count);
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::future<uint64_t>> results;
    for (int task = 0; task < tasks; ++task)
      results.push_back(std::async(
          std::launch::async, [=] { return items(first(count, tasks, task), first(count, tasks, task + 1), steps); }));
    for (auto& result : results) sum += result.get();
  }
  return print_result(sum);
}
