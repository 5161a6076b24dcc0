// The search for the changes that a recorded service gains most by, made together. All simulated (service.h).
//
// It goes step by step. Each step adds the change with which the saturated program answers most: one
// of the tasks' or critical sections' candidates, or another size of the pool, or of the permits, that limits it; of
// changes that are about equal, the one that is less work. It ends where no change adds kTellableRate, or where the cores
// are what limits. The same is tried from all changes on that let the run need fewer threads: none of these may help
// before a pool has another size, and no size before them. Members that turn out to be useless go. If there are more than
// changes_max then, one goes after another, each time that without which the program is best, with the sizes of pools
// as they are or one step smaller: what goes may be what kept a pool of that size from standing still. Then the pools that
// limit the program get larger, in place of the change that is missed least if there is no room. All that is by one seed. At last
// members go that add less than kTellableRate by all seeds, and may add nothing. More cores never join: they are no change of the program.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/advice.h"
#include "advise/service.h"
#include "advise/service_worth.h"

namespace contrafact::advise {

struct ServiceAdviceOptions {
  ServiceObjective objective = ServiceObjective::throughput;
  double load = 1;
  size_t candidates_max = 40;
  size_t steps_max = 8;
  size_t changes_max = SIZE_MAX;  // of the best combination
};

struct ServiceCandidates {
  std::vector<improve::Candidate> each;      // of tasks and critical sections, the most promising first
  std::vector<improve::Candidate> together;  // that let the run need fewer threads, if made together
};

// A change that was simulated beside others.
struct Tried {
  improve::Candidate candidate;
  Worth worth;
  std::string curve = {};  // of a size: what others would be worth, in words
  // Of a member of the best combination: how much better that is than without it, and whether it hangs without it.
  std::optional<Gain> adds = {};
  bool is_needed = false;
};

// Changes made together.
struct Made {
  std::vector<Tried> members;  // their worths: with them and those before them
  Worth worth = {};
  uint32_t clients = 0;  // that saturate it
  std::vector<whatif::Improvement> improvements() const;
  std::vector<whatif::Improvement> without(size_t member) const;
};

// Whether both are the same change, of whatever size.
bool is_same(const improve::Candidate& x, const improve::Candidate& y);

// By size, the least first.
using SizeCurve = std::vector<std::pair<uint32_t, Worth>>;

class CombinationSearch {
 public:
  // `before`: of the recorded program, saturated. All but the options must outlive it.
  CombinationSearch(const Service& service, const Pricer& pricer, const WorthMeter& meter, const Saturation& before,
                    const ServiceCandidates& candidates, const ServiceAdviceOptions& options);

  Made nothing() const;
  std::vector<Tried> each_alone() const;
  // `alone`: as each_alone() has them.
  Made best(const std::vector<Tried>& alone) const;

  // With the change beside those made already; in place of another size of the same pool.
  std::optional<Worth> worth_with(const Made& made, const improve::Candidate& candidate) const;
  // Of growing sizes, as far as they help.
  SizeCurve curve_of(improve::Candidate candidate, uint32_t size_now, const Made& made) const;
  std::string words_of(const SizeCurve& curve) const;

  // Below: the steps of best(), exposed for their tests.

  // Adds, step by step, the change that is worth most.
  Made grown(Made made, const std::vector<Tried>& alone) const;
  // Members without which the program is about as good go, those with the most work first.
  void drop_useless(Made& made) const;
  // Keeps changes_max of the members.
  void reduce(Made& made) const;
  // Each size is the smallest that is worth about as much, beside the other members.
  void tighten(Made& made) const;
  // Finds what each member adds. Those that add little and may add nothing go, that which adds least first.
  void drop_unsure(Made& made) const;

 private:
  // A change of the size of what limits; none: it has none that a program could set.
  std::optional<improve::Candidate> size_of(const ServiceLimit& limit) const;
  // The smallest size that is worth about as much as any.
  std::optional<Tried> sized(const ServiceLimit& limit, const Made& made) const;
  // Of a program that hangs with so many clients, what limits it with fewer.
  base::Result<ServiceLimit> limit_now(const Made& made) const;
  // The faster program needs more clients to be saturated.
  void set_clients(Made& made) const;
  // Each change that is not made, and the size of what limits, beside those that are.
  std::vector<Tried> tried_beside(const Made& made, const ServiceLimit& limit) const;
  // Where several pools limit together, no size of one of them helps. Gives those other sizes that have to have them. False:
  // none help.
  bool enlarge_together(Made& made) const;
  // Each pool of the trace, `times` as large as it is now.
  std::vector<improve::Candidate> all_sizes(const Made& made, uint32_t times) const;
  // All that make the run need fewer threads, together: none of them may help by itself.
  Made bundled(Made made) const;
  // The member without which the program is best, and how good it is; none: it hangs without any of them.
  std::optional<std::pair<size_t, Worth>> least_missed(const Made& made) const;
  // The same changes with each size one step smaller, where it is one: none if there is no such step.
  static std::optional<Made> shrunk(const Made& made);
  // Gives the pool that limits the program then another size, in place of a change that is missed less if need be.
  void resize(Made& made) const;
  void find_adds(Made& made) const;

  const Service& service_;
  const Pricer& pricer_;
  const WorthMeter& meter_;
  const Saturation& before_;
  const std::vector<improve::Candidate>& together_;
  const ServiceAdviceOptions options_;
  std::vector<improve::Candidate> candidates_;
};

}  // namespace contrafact::advise
