// estimate_bench FILE COMBINATIONS THREADS SECONDS: estimates combinations of the improvements of a trace, on several
// threads, until there are as many as asked for or the time is up. Prints one line of names and figures. Which
// combinations follows from their number alone.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "analysis/candidates.h"
#include "base/clock.h"
#include "model/load.h"
#include "whatif/estimate.h"

namespace contrafact::bench {
namespace {

whatif::Improvement improvement_of(const analysis::Candidate& candidate) {
  using whatif::Optimisation;
  whatif::Improvement improvement;
  improvement.optimisation =
      candidate.kind == analysis::CandidateKind::convert_to_inline ? Optimisation::convert_to_inline
      : candidate.kind == analysis::CandidateKind::hoist_branch    ? Optimisation::hoist_branch
                                                                   : Optimisation::convert_to_combinator;
  improvement.spawn_context = candidate.context;
  improvement.body = candidate.body;
  improvement.tasks = candidate.tasks;
  improvement.context_tasks = candidate.set_size;
  return improvement;
}

// Combination `number`: of each set of tasks at most one improvement, so that none excludes another. Those that cannot
// be made by themselves are left out, and the others only copied together, as the search does.
void combine(const std::vector<analysis::Candidate>& candidates, const std::vector<bool>& possible, uint64_t number,
             whatif::Placements& placements) {
  std::mt19937_64 random(number);
  std::fill(placements.begin(), placements.end(), graph::Placement::own_thread);
  for (size_t first = 0; first < candidates.size();) {
    size_t last = first;
    while (last < candidates.size() && candidates[last].set == candidates[first].set) ++last;
    const uint64_t pick = random() % (last - first + 1);
    if (first + pick < last && possible[first + pick]) {
      const analysis::Candidate& candidate = candidates[first + pick];
      const bool combinator = candidate.kind == analysis::CandidateKind::convert_to_combinator;
      for (model::TaskId task : candidate.tasks)
        placements[task.index()] = combinator ? graph::Placement::continuation : graph::Placement::at_spawn;
    }
    first = last;
  }
}

struct Tally {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> estimated{0};
  std::atomic<uint64_t> refused{0};     // combinations that would wait for themselves, or cannot be made
  std::atomic<int64_t> duration_ns{0};  // sum over the estimates: the same in every run of as many
};

int run(const model::Trace& trace, uint64_t combinations, unsigned threads, int64_t limit_ns) {
  const int64_t begin_ns = base::monotonic_ns();
  base::Result<whatif::Estimator> estimator = whatif::Estimator::create(trace);
  if (!estimator) {
    std::fprintf(stderr, "estimate_bench: %s\n", estimator.error().message.c_str());
    return 1;
  }
  const int64_t created_ns = base::monotonic_ns();
  const std::vector<analysis::Candidate> candidates = analysis::candidates(trace).candidates;
  const int64_t found_ns = base::monotonic_ns();
  std::vector<bool> possible;
  for (const analysis::Candidate& candidate : candidates) {
    const whatif::Improvement improvement = improvement_of(candidate);
    possible.push_back(estimator->place_all(std::span(&improvement, 1)).ok());
  }

  Tally tally;
  auto work = [&] {
    whatif::Estimator::Scratch scratch(*estimator);
    whatif::Placements placements(trace.tasks.size());
    while (base::monotonic_ns() - found_ns < limit_ns) {
      const uint64_t number = tally.next++;
      if (number >= combinations) return;
      combine(candidates, possible, number, placements);
      const base::Result<whatif::Figures> figures = estimator->figures(placements, scratch);
      if (!figures) {
        ++tally.refused;
        continue;
      }
      tally.duration_ns += figures->duration_ns;
      ++tally.estimated;
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  const int64_t spent_ns = base::monotonic_ns() - found_ns;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "tasks {} events {} create_ns {} candidates {} candidates_ns {} estimated {} refused {} spent_ns {} peak_kib {} "
      "duration_sum_ns {}\n",
      trace.tasks.size(), trace.event_count(), created_ns - begin_ns, candidates.size(), found_ns - created_ns,
      tally.estimated.load(), tally.refused.load(), spent_ns, usage.ru_maxrss, tally.duration_ns.load());
  return 0;
}

}  // namespace
}  // namespace contrafact::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: estimate_bench FILE COMBINATIONS THREADS SECONDS\n");
    return 2;
  }
  contrafact::base::Result<contrafact::model::Trace> trace = contrafact::model::load_any(argv[1]);
  if (!trace) {
    std::fprintf(stderr, "estimate_bench: %s\n", trace.error().message.c_str());
    return 1;
  }
  return contrafact::bench::run(*trace, std::strtoull(argv[2], nullptr, 10),
                                static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)),
                                std::strtoll(argv[4], nullptr, 10) * 1'000'000'000);
}
