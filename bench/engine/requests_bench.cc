// requests_bench TRACE CLIENTS REQUESTS SIMULATIONS ROUNDS: simulates a recorded service under a closed load, of so many clients that do
// not think, and under an open one, at the recorded rate; each round does so many simulations of so many requests. Prints one line of
// names and figures for the trace, and one for each round of each load. What stands in front of the simulations (reading the
// trace, finding requests, making templates of them) is in the first line. Times are of the processor, user's and kernel's.
#include <time.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analysis/arrivals.h"
#include "model/load.h"
#include "model/requests.h"
#include "whatif/load.h"

namespace contrafact::bench {
namespace {

int64_t processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

int failed(const std::string& why) {
  std::fprintf(stderr, "requests_bench: %s\n", why.c_str());
  return 1;
}

// Events of the threads that serve, by request, as far as it is one task or one stretch: of generated traces all.
double events_each(const model::Trace& trace, const model::Requests& requests) {
  return static_cast<double>(trace.event_count()) / static_cast<double>(requests.all.size());
}

int run(const std::string& path, uint32_t clients, uint32_t count, uint32_t simulations, int rounds) {
  const int64_t begin_ns = processor_ns();
  const base::Result<model::Trace> trace = model::load_any(path);
  if (!trace) return failed(trace.error().message);
  model::Requests requests = model::requests_by_connection(*trace);
  if (requests.all.empty()) return failed(path + " has no requests");
  const double events = events_each(*trace, requests);
  model::drop_warm_up(*trace, requests);
  const model::Facts facts(*trace);
  const base::Result<whatif::LoadSimulator> simulator = whatif::LoadSimulator::make(facts, requests);
  if (!simulator) return failed(simulator.error().message);
  const analysis::Arrivals arrivals = analysis::arrivals_of(requests);
  std::printf("load trace requests %zu drawn %zu events_each %.1f prepared_ns %" PRId64 "\n", requests.all.size(),
              simulator->recorded_ns().size(), events, processor_ns() - begin_ns);
  const whatif::Load loads[] = {{.clients = clients, .requests = count},
                                {.open = true, .per_second = arrivals.per_second, .requests = count}};
  for (int round = 0; round < rounds; ++round) {
    for (whatif::Load load : loads) {
      uint64_t served = 0, steps = 0;
      const int64_t before_ns = processor_ns();
      for (load.seed = 1; load.seed <= simulations; ++load.seed) {
        const base::Result<whatif::LoadRun> made = simulator->simulate({}, load);
        if (!made) return failed(made.error().message);
        if (!made->simulation.stuck.empty()) return failed("the simulated service came to a standstill");
        served += made->served.size();
        steps += made->simulation.steps;
      }
      std::printf("load %s requests %" PRIu64 " steps %" PRIu64 " processor_ns %" PRId64 "\n",
                  load.open ? "open" : "closed", served, steps, processor_ns() - before_ns);
    }
  }
  return 0;
}

}  // namespace
}  // namespace contrafact::bench

int main(int count, char** words) {
  if (count != 6) {
    std::fprintf(stderr, "usage: requests_bench TRACE CLIENTS REQUESTS SIMULATIONS ROUNDS\n");
    return 2;
  }
  const auto number = [&](int i) { return static_cast<uint32_t>(std::atoi(words[i])); };
  return contrafact::bench::run(words[1], number(2), number(3), number(4), std::atoi(words[5]));
}
