// estimate_bench FILE COMBINATIONS THREADS SECONDS: estimates combinations of the improvements of a trace, on several
// threads, until there are as many as asked for or the time is up. Prints one line of names and figures. Which
// combinations follows from their number alone. Improvements that run tasks where they are waited for are in none:
// lanes know none of these (graph/lanes.h). What a combination takes by itself is measured apart.
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

#include "base/clock.h"
#include "improve/task_candidates.h"
#include "model/load.h"
#include "whatif/batch.h"

namespace contrafact::bench {
namespace {

bool runs_at_wait(const whatif::Improvement& improvement) {
  return improvement.optimisation->treatment() == whatif::Treatment::inline_at_wait;
}

// Which improvements lanes know and can be made by themselves, as a search would find out first.
std::vector<bool> usable(const whatif::Batch& batch, const std::vector<whatif::Improvement>& improvements) {
  whatif::Batch::Scratch scratch(batch);
  std::vector<bool> usable(improvements.size());
  for (uint32_t i = 0; i < improvements.size(); ++i) {
    if (runs_at_wait(improvements[i]) || !batch.reason(i).empty()) continue;
    const std::vector<uint32_t> alone{i}, *const set = &alone;
    usable[i] = batch.figures(std::span(&set, 1), scratch)[0].ok();
  }
  return usable;
}

// Nanoseconds of the estimate of one improvement by itself, the mean of a few.
int64_t one_by_one_ns(const whatif::Batch& batch, const std::vector<bool>& usable) {
  constexpr int kAtMost = 10;
  whatif::Batch::Scratch scratch(batch);
  int64_t spent_ns = 0, estimated = 0;
  for (uint32_t i = 0; i < usable.size() && estimated < kAtMost; ++i) {
    if (!usable[i]) continue;
    const int64_t begin_ns = base::monotonic_ns();
    if (!batch.figures_of_one(std::span(&i, 1), scratch)) continue;
    spent_ns += base::monotonic_ns() - begin_ns;
    ++estimated;
  }
  return estimated == 0 ? 0 : spent_ns / estimated;
}

// Combination `number`: of each set of tasks at most one improvement, so that none excludes another.
std::vector<uint32_t> combine(const std::vector<improve::Candidate>& candidates, const std::vector<bool>& usable,
                              uint64_t number) {
  std::mt19937_64 random(number);
  std::vector<uint32_t> set;
  for (size_t first = 0; first < candidates.size();) {
    size_t last = first;
    while (last < candidates.size() && candidates[last].set == candidates[first].set) ++last;
    const uint64_t pick = random() % (last - first + 1);
    if (first + pick < last && usable[first + pick]) set.push_back(static_cast<uint32_t>(first + pick));
    first = last;
  }
  return set;
}

struct Tally {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> estimated{0};
  std::atomic<uint64_t> refused{0};     // combinations that would wait for themselves
  std::atomic<uint64_t> alone{0};       // combinations that had to be estimated one by one
  std::atomic<int64_t> duration_ns{0};  // sum over the estimates: the same in every run of as many
};

int64_t cpu_ns() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000'000 +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1'000;
}

int run(const model::Trace& trace, uint64_t combinations, unsigned threads, int64_t limit_ns) {
  const int64_t begin_ns = base::monotonic_ns();
  base::Result<whatif::Estimator> estimator = whatif::Estimator::create(trace);
  if (!estimator) {
    std::fprintf(stderr, "estimate_bench: %s\n", estimator.error().message.c_str());
    return 1;
  }
  const int64_t created_ns = base::monotonic_ns();
  const std::vector<improve::Candidate> candidates = improve::task_candidates(trace).candidates;
  const int64_t found_ns = base::monotonic_ns();
  std::vector<whatif::Improvement> improvements;
  for (const improve::Candidate& candidate : candidates) improvements.push_back(candidate.improvement);
  const whatif::Batch batch(*estimator, improvements);
  const int64_t compile_ns = base::monotonic_ns() - found_ns;
  const std::vector<bool> can_be_made = usable(batch, improvements);
  const int64_t one_ns = one_by_one_ns(batch, can_be_made);
  const int64_t started_ns = base::monotonic_ns(), cpu_before_ns = cpu_ns();

  Tally tally;
  auto work = [&] {
    whatif::Batch::Scratch scratch(batch);
    while (base::monotonic_ns() - started_ns < limit_ns) {
      const uint64_t first = tally.next.fetch_add(whatif::Batch::kAtATime);
      std::vector<std::vector<uint32_t>> sets;
      for (uint64_t number = first; number < std::min(first + whatif::Batch::kAtATime, combinations); ++number)
        sets.push_back(combine(candidates, can_be_made, number));
      if (sets.empty()) break;
      std::vector<const std::vector<uint32_t>*> lanes;
      for (const std::vector<uint32_t>& set : sets) lanes.push_back(&set);
      for (const base::Result<whatif::Figures>& figures : batch.figures(lanes, scratch)) {
        if (!figures) {
          ++tally.refused;
          continue;
        }
        tally.duration_ns += figures->duration_ns;
        ++tally.estimated;
      }
    }
    tally.alone += scratch.alone;
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  const int64_t spent_ns = base::monotonic_ns() - started_ns, spent_cpu_ns = cpu_ns() - cpu_before_ns;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "tasks {} events {} create_ns {} candidates {} at_wait {} lanes {} one_ns {} candidates_ns {} compile_ns {} "
      "estimated {} refused {} alone {} "
      "spent_ns {} cpu_ns {} peak_kib {} duration_sum_ns {}\n",
      trace.tasks.size(), trace.event_count(), created_ns - begin_ns, candidates.size(),
      std::count_if(improvements.begin(), improvements.end(), runs_at_wait), int{batch.has_lanes()}, one_ns,
      found_ns - created_ns, compile_ns, tally.estimated.load(), tally.refused.load(), tally.alone.load(), spent_ns,
      spent_cpu_ns, usage.ru_maxrss, tally.duration_ns.load());
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
