// A service under another load than the recorded one. Its requests are drawn from the recorded ones and run again on
// simulated pools, locks, permits and cores. Clients are closed (the next request comes after the answer and a time to
// think) or open (requests come at their own times, however long the answers take).
//
// A drawn request is a copy of the recorded one's tasks: those that its root hands out, and theirs. What a copy waited
// for outside of its request (another request's result or wake-up) is not waited for. What the program does for no
// request (periodic tasks, warm-up) is left out; the work of threads that only hand requests to pools is added to each
// request, one such thread doing it at a time.
//
// Pure and deterministic: equal inputs give equal results. A LoadSimulator is immutable and may be shared between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/facts.h"
#include "model/requests.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {

struct Load {
  bool open = false;
  uint32_t clients = 1;                 // closed
  std::vector<int64_t> thinks_ns = {};  // closed: one is drawn before each request; empty: none
  double per_second = 0;                // open: requests
  std::vector<double> gaps = {};        // open: one is drawn between two requests, as a multiple of the mean; empty: a
                                        // Poisson process
  uint32_t requests = 2000;             // in all
  uint64_t seed = 1;
};

// A simulated request.
struct ServedRequest {
  uint32_t drawn = 0;  // position in LoadSimulator::requests
  int64_t arrived_ns = 0;
  int64_t answered_ns = -1;  // -1: never
};

struct LoadRun {
  std::vector<ServedRequest> served;  // in the order in which they were handed out
  Simulation simulation;              // without a trace
};

class LoadTemplates;
struct RequestUse;
struct OwnResource;
struct WaitsBetween;

class LoadSimulator {
 public:
  // `facts` must outlive it. Errors: the requests' tasks cannot be made (a damaged trace).
  static base::Result<LoadSimulator> make(const model::Facts& facts, const model::Requests& requests);
  LoadSimulator(LoadSimulator&&) noexcept;
  LoadSimulator& operator=(LoadSimulator&&) noexcept;
  ~LoadSimulator();

  // `variant`: of the recorded trace. Errors: one of its changes cannot be made; it changes the number of tasks.
  // `options`: pools and cores of the machine. REQUIRES: load.requests > 0, load.clients > 0 or load.per_second > 0.
  base::Result<LoadRun> simulate(const Variant& variant, const Load& load, const SimulateOptions& options = {}) const;

  // That are drawn from, and what each took in the recording, from its arrival to its answer.
  const std::vector<int64_t>& recorded_ns() const;
  // Their positions in model::Requests::all.
  std::vector<uint32_t> drawn_requests() const;
  // What each takes of the machine, of a pool (or of permits) and of a lock (load_uses.h).
  std::vector<RequestUse> uses() const;
  std::vector<int64_t> pool_uses_ns(uint32_t pool) const;
  std::vector<int64_t> lock_uses_ns(uint32_t lock) const;
  // Of what requests computed in the recording, a share was due to idle cores and is left out where no core is idle. By how much that
  // share may be wrong: two standard errors where it is measured (request_costs.h), half of it where it is an estimate. Linear in the
  // requests' operations.
  double refill_error() const;
  // Whether a JVM still compiled much of the program while the requests were recorded, under its own thresholds: they will compute less.
  bool still_compiles() const;
  // What the simulation leaves out or supposes, a line each.
  std::vector<std::string> notes() const;
  // The rows of pools that it simulates: the trace's, then those of threads that serve requests outside of pools.
  const std::vector<format::PoolRow>& pools() const;
  std::string pool_name(uint32_t pool) const;
  // Of a pool, its workers or permits; model::kUnboundedPool: unbounded.
  uint32_t pool_size(uint32_t pool) const;
  // Of a pool that threads of the program's own make up: what their names have in common (ThreadSize); of a bounded resource of its own:
  // the name. Else "".
  std::string threads_of(uint32_t pool) const;
  // Of a pool that stands for such a resource (own_resources.h); else nullptr.
  const OwnResource* resource_of(uint32_t pool) const;
  // For what requests wait that is no pool of the run; nothing simulates it. The scarcest first.
  std::vector<WaitsBetween> unknown_waits() const;
  std::string place_name(model::ContextId place) const;
  // Locks that requests of several clients took.
  const std::vector<uint32_t>& shared_locks() const;
  // The variant with no section of this lock left, beside what it is.
  Variant without_lock(const Variant& variant, uint32_t lock) const;
  uint32_t recorded_cores() const;

 private:
  explicit LoadSimulator(std::unique_ptr<const LoadTemplates> templates);
  std::unique_ptr<const LoadTemplates> templates_;
};

}  // namespace contrafact::whatif
