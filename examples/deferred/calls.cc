// Counts who calls whom, without a lock and without shared data on the way of the threads that call: docs/deferred.md.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deferred/environment.h"

using namespace contrafact::deferred;

struct Shared {  // what all buffers' results are merged into
  std::mutex mutex;
  std::unordered_map<uint64_t, uint64_t> calls;  // caller and callee -> how often
};

class Profile {  // a plain class; its methods are the ones to defer
 public:
  explicit Profile(Shared& shared) : shared_(shared) {}
  void call(uint32_t caller, uint32_t callee) { ++own_[uint64_t{caller} << 32 | callee]; }
  void after_processing() {  // once for each buffer
    std::lock_guard lock(shared_.mutex);
    for (const auto& [edge, n] : own_) shared_.calls[edge] += n;
    own_.clear();
  }

 private:
  Shared& shared_;
  std::unordered_map<uint64_t, uint64_t> own_;  // no lock: no other buffer uses this object meanwhile
};

using Profiler = Environment<&Profile::call>;

int main() {
  Shared shared;
  auto processor = adaptive({.queue = 4});
  if (!processor) return std::fprintf(stderr, "%s\n", processor.error().message.c_str()), 1;
  auto environment = Profiler::create_coalescing([&] { return std::make_unique<Profile>(shared); },
                                                 std::move(*processor), {.capacity = 10'000});
  if (!environment) return std::fprintf(stderr, "%s\n", environment.error().message.c_str()), 1;

  std::vector<std::jthread> threads;
  for (uint32_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t i = 0; i < 100'000; ++i) (*environment)->defer<&Profile::call>(thread, i % 10);
    });
  }
  threads.clear();       // joins them
  environment->reset();  // submits every thread's last buffer and waits for all calls

  uint64_t calls = 0;
  for (const auto& [edge, n] : shared.calls) calls += n;
  std::printf("%llu calls on %zu edges\n", static_cast<unsigned long long>(calls), shared.calls.size());
  return calls == 400'000 && shared.calls.size() == 40 ? 0 : 1;
}
