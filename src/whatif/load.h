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
  uint32_t requests = 2000;             // in all, at most
  uint64_t seed = 1;
};

// A simulated request.
struct ServedRequest {
  uint32_t drawn = 0;  // position in LoadTemplates::all()
  int64_t arrived_ns = 0;
  int64_t answered_ns = -1;  // -1: never
};

struct LoadRun {
  uint32_t clients = 0;               // that asked: never more than there are requests; 0: an open load
  std::vector<ServedRequest> served;  // in the order in which they were handed out; no more than fit into memory
  Simulation simulation;              // without a trace
};

class LoadTemplates;

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

  // The recorded requests that it draws from, and the pools and locks that they use.
  const LoadTemplates& templates() const { return *templates_; }
  // The variant with no section of this lock left, beside what it is.
  Variant without_lock(const Variant& variant, uint32_t lock) const;

 private:
  explicit LoadSimulator(std::unique_ptr<const LoadTemplates> templates);
  std::unique_ptr<const LoadTemplates> templates_;
};

}  // namespace contrafact::whatif
