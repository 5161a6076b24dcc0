// std::async from two places: 6 and 4 threads' runs, each a task that is spawned where the program asks for it.
#include <cstdio>
#include <future>
#include <vector>

namespace {

long work(long steps) {
  long sum = 0;
  for (long i = 0; i < steps; ++i) sum += i ^ (sum >> 3);
  return sum & 7;
}

}  // namespace

int main() {
  std::vector<std::future<long>> results;
  for (int i = 0; i < 6; ++i) results.push_back(std::async(std::launch::async, work, 100'000));  // one place
  for (int i = 0; i < 4; ++i)
    results.push_back(std::async(std::launch::async, [] { return work(50'000); }));  // another
  long sum = 0;
  for (std::future<long>& result : results) sum += result.get();
  std::printf("%ld\n", sum);
  return 0;
}
