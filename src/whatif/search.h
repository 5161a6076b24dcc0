// The search for the best combination of improvements (Rehype, sections 4.3 and 4.4).
//
// The search is exhaustive where few improvements are left. Otherwise it is hill-climbing with restarts: from a set of
// improvements it goes to the best of the set's neighbours (one improvement more, one less, or one in the place of
// those that it excludes), until none is better. As in the paper, combinations are filtered out that make the run
// longer, or the peak or mean use of threads higher than recorded. The rest is ranked by a composite score: lower is
// better, 1 for the unchanged run.
//
// Deterministic for a seed, however many threads it uses and however fast they are: the search is bounded by the work
// done, not by the time taken. Progress is reported from the calling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "whatif/batch.h"

namespace contrafact::whatif {

struct SearchWeights {
  double duration = 1, peak = 1,
         mean = 1;  // of the ratios to the recorded run: duration, peak and mean occupied threads
};

struct SearchOptions {
  SearchWeights weights;
  bool filters = true;
  bool filter_threads = true;  // filter by the peak and the mean of occupied threads, too
  double slower_max = 0;       // share by which a variant may take longer than the recorded run
  size_t exhaustive_max = 12;  // improvements
  // Improvements from this position on are companions: looked at last, beside the best of the others and in pairs. An
  // improvement that fails the filters by itself is a companion: most searches that start with it would fail.
  size_t first_companion = std::numeric_limits<size_t>::max();
  size_t estimates_max = 20'000;        // the search stops there,
  uint64_t visits_max = 1'000'000'000;  // and after this much work: vertices visited, about half a minute on two cores
  size_t restarts = 12;
  uint64_t seed = 1;
  unsigned threads = 0;                            // 0: as many as there are cores (batch.h)
  size_t keep = 10;                                // best combinations to return
  std::function<void(size_t estimated)> progress;  // may be empty
};

struct Combination {
  std::vector<uint32_t> improvements;  // positions in the argument, sorted
  Figures figures;                     // but for the peaks of active and of waiting threads (batch.h)
  double score = 1;
};

// One improvement by itself.
struct Single {
  std::optional<Combination> estimate;  // nothing: it cannot be applied
  std::string reason;                   // then: why
  bool filtered = false;                // it makes duration, peak or mean worse
};

struct SearchResult {
  std::vector<Single> singles;                           // by improvement
  std::vector<std::pair<uint32_t, uint32_t>> exclusive;  // pairs that change the same task
  std::vector<Combination> best;  // ranked, never empty sets; the first without members that add nothing. Empty:
                                  // nothing helps
  // A combination better than all of these that is filtered out for being slower than the recorded run, by up to
  // kSlightlySlower. Nothing: there is none.
  std::optional<Combination> slower;
  size_t estimated = 0;   // variants, singles included
  size_t deadlocked = 0;  // of these: would wait for themselves
  bool exhaustive = false;
  uint64_t visits = 0;     // the work done
  bool cut_short = false;  // estimates_max or visits_max was reached
};

double score_of(const Figures& figures, const Figures& base, const SearchWeights& weights);
// A smaller difference does not show in figures of three digits.
inline constexpr double kRounding = 5e-4;
// A variant that is not slower may trade this share of its outermost tasks' mean time for fewer threads. This filter is
// not in the paper. It excludes slowdowns that the users of a service would feel, but that the duration of a run under
// a fixed load does not show.
inline constexpr double kSlowerTasksMax = 0.05;
// A slowdown that a person who asks for no slower run may still want to hear of.
inline constexpr double kSlightlySlower = 0.005;
// The share by which the outermost tasks of a variant may be slower on average.
constexpr double slower_tasks_max(double slower_max) {
  return slower_max > kSlowerTasksMax ? slower_max : kSlowerTasksMax;
}
// Whether neither the variant nor its outermost tasks are slower than they may be, and, with `threads`, whether peak
// and mean use are at or below the recorded ones.
bool passes_filters(const Figures& figures, const Figures& base, double slower_max = 0, bool threads = true);

// Figures that are known before a search begins.
struct KnownFigures {
  std::vector<Figures> singles;  // by improvement: by itself. Empty: not known
  uint64_t visits_each = 0;      // the work for one of them
};

// `improvements` as in `batch`, which may have lanes that are made already.
SearchResult search(const Batch& batch, const std::vector<Improvement>& improvements, const KnownFigures& known,
                    const SearchOptions& options = {});

SearchResult search(const Estimator& estimator, const std::vector<Improvement>& improvements,
                    const SearchOptions& options = {});

}  // namespace contrafact::whatif
