// Nanoseconds of one deferred call against the stores that it makes: the method's number, the arguments, the columns'
// cursors, the count. All append to a buffer of the same layout, and take turns, round by round:
//   bare     the stores, the buffer's address in a register, which only a loop that does nothing else can have
//   found    the stores, the buffer found through a thread-local pointer, as any call site must
//   call     Environment::defer: finds the environment's buffer of this thread, and looks for its end
// Output: case, and the three in the shortest rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "deferred/environment.h"

namespace {

using namespace contrafact::deferred;

constexpr uint32_t kCalls = 4000;  // in one round; the buffer holds a few more and stays in the nearest cache

struct Analysis {
  void one(uint32_t) {}
  void edge(uint32_t, uint32_t) {}
  void allocation(uint32_t, uint64_t) {}
};
using Deferred = Environment<&Analysis::one, &Analysis::edge, &Analysis::allocation>;

template <typename Work>
double ns_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / kCalls;
}

thread_local contrafact_buffer* this_threads_buffer;

// What was in registers is gone, as after other work.
inline void other_work() {
  asm volatile("" ::: "memory");
}

template <auto Method, typename... Values>
void compare(const char* name, Deferred& environment, int rounds, Values... values) {
  double bare = std::numeric_limits<double>::max(), found = bare, call = bare;
  const auto fresh_buffer = [&]() -> contrafact_buffer& {
    environment.process_current_buffer();
    environment.defer<&Analysis::one>(0u);
    return *environment.engine().of_this_thread().buffer();
  };
  for (int round = 0; round < rounds; ++round) {
    contrafact_buffer& buffer = fresh_buffer();
    bare = std::min(bare, ns_of([&] {
                      for (uint32_t i = 0; i < kCalls; ++i)
                        Deferred::Calls::append<Method>(buffer, static_cast<Values>(values + i)...);
                    }));
    this_threads_buffer = &fresh_buffer();
    found = std::min(found, ns_of([&] {
                       for (uint32_t i = 0; i < kCalls; ++i) {
                         Deferred::Calls::append<Method>(*this_threads_buffer, static_cast<Values>(values + i)...);
                         other_work();
                       }
                     }));
    fresh_buffer();
    call = std::min(call, ns_of([&] {
                      for (uint32_t i = 0; i < kCalls; ++i) {
                        environment.defer<Method>(static_cast<Values>(values + i)...);
                        other_work();
                      }
                    }));
  }
  std::printf("%s %.3f %.3f %.3f\n", name, bare, found, call);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  Analysis analysis;
  auto environment = Deferred::create(analysis, synchronous(), {.capacity = kCalls + 96});
  if (!environment) return std::fprintf(stderr, "%s\n", environment.error().message.c_str()), 1;
  compare<&Analysis::one>("one-argument", **environment, rounds, uint32_t{1});
  compare<&Analysis::edge>("two-of-a-type", **environment, rounds, uint32_t{1}, uint32_t{2});
  compare<&Analysis::allocation>("two-of-two-types", **environment, rounds, uint32_t{1}, uint64_t{2});
}
