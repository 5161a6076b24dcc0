// A worksharing loop that takes one tiny iteration at a time. The setting is the chunks of a loop.
#include "items.h"

static constexpr int rounds = 10, count = 1 << 18, steps = 60;

int main(int argument_count, char** arguments) {
  const int chunks = setting(argument_count, arguments, count, count);
  const int chunk = count / chunks;
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel for schedule(dynamic, chunk) reduction(+ : sum)
    for (int item = 0; item < count; ++item) sum += items(item, item + 1, steps);
  }
  return print_result(sum);
}
