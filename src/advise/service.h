// What a recorded service's clients would feel under other loads, of the recorded program or of a changed one: the
// throughput at saturation and what limits it, and the times of answers. All simulated (whatif/load.h).
//
// A steady state is what is left of a simulated run once its beginning is cut off where MSER says (the cut that leaves the
// least standard error of the mean of what remains: White, 1997, in batches of five), and its end, from when the first
// client has no more requests. Intervals are those of the means of twenty batches, over all seeds. They are no narrower than
// the error of the recorded load simulated, but for open requests that are kept up with. As far as cores are used, they are wider by
// half of what requests are estimated to have computed for idle cores' caches; above, by as much again if a JVM still compiled them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/arrivals.h"
#include "analysis/lock_bounds.h"
#include "base/result.h"
#include "whatif/load.h"

namespace contrafact::advise {

// The answers to one endpoint's requests, under one load.
struct EndpointAnswers {
  uint32_t answers = 0;  // in the steady state of all simulations
  int64_t p50_ns = 0, p90_ns = 0, p99_ns = 0;
};

// One load, simulated. Times are from a request's arrival to its answer.
struct LoadPoint {
  bool open = false;
  uint32_t clients = 0;      // closed
  double offered = 0;        // open: requests a second that come
  double per_second = 0;     // that are answered
  double low = 0, high = 0;  // 90 % interval of per_second
  int64_t mean_ns = 0, p50_ns = 0, p90_ns = 0, p99_ns = 0;
  std::vector<EndpointAnswers> endpoints;  // by endpoint; empty: they are not asked for
  double cores_used = 0;                   // share of the cores' time; 0: unlimited cores
  bool stuck = false;                      // the program hangs under this load: nothing else is known
  std::string stuck_reason;
  bool keeps_up = true;  // open: answers as many requests as come
};

// The resource that limits a saturated service: with more of it, the service answers more.
struct ServiceLimit {
  enum class Kind : uint8_t { none, cores, pool, thread, permits, lock };
  Kind kind = Kind::none;
  uint32_t id = 0;      // of the pool or lock
  uint32_t size = 0;    // workers, permits, cores
  std::string name;     // in words
  std::string besides;  // of cores: the pool that must be larger as well, because one thread has one core; may be empty
  bool is_estimated = false;  // of a lock whose sections are not recorded (analysis/lock_bounds.h)
  double more = 0;            // by which share the throughput rises with twice as much of it, or without the lock
};

struct Saturation {
  LoadPoint point;  // clients that do not think, as many as it takes
  ServiceLimit limit;
  std::optional<LoadPoint> hangs;  // the least load under which the program hangs
};

struct ServiceOptions {
  uint32_t cores = 0;        // 0: the recorded machine's
  uint32_t requests = 2000;  // of each simulated load, at least
  uint32_t seeds = 3;
  std::vector<analysis::LockBound> lock_bounds = {};  // of the recording, the lowest first
  // By drawn request: its endpoint; empty: endpoints are not asked for. Of the endpoints, those whose answers the times are of;
  // empty: all.
  std::vector<uint32_t> endpoints = {};
  std::vector<bool> shown = {};
  std::function<void()> progress;  // after each simulated load; may be empty
};

class Service {
 public:
  // `arrivals`: of the same requests, or as the user says. All must outlive it.
  Service(const whatif::LoadSimulator& simulator, const analysis::Arrivals& arrivals, ServiceOptions options);

  // `k` times the recorded load: clients, or requests a second.
  base::Result<LoadPoint> at_load(const whatif::Variant& variant, double k) const;
  base::Result<LoadPoint> at_clients(const whatif::Variant& variant, uint32_t clients, bool thinking) const;
  base::Result<LoadPoint> at_rate(const whatif::Variant& variant, double per_second) const;
  // `with_limit`: also what limits it.
  base::Result<Saturation> saturation(const whatif::Variant& variant, bool with_limit) const;
  // Requests answered a second if so many clients ask without thinking, simulated with one seed: for comparisons of
  // variants. 0: the program hangs.
  base::Result<double> capacity(const whatif::Variant& variant, uint32_t clients) const;
  // REQUIRES: so many clients saturate the program. If nothing helps by itself where the cores are used up, the cores with the pool
  // that helps most beside them.
  base::Result<ServiceLimit> limit_of(const whatif::Variant& variant, uint32_t clients) const;

  // The recorded load simulated, against the recording: the median time of answers, as a share.
  double error() const { return error_; }
  const analysis::Arrivals& arrivals() const { return arrivals_; }
  const whatif::LoadSimulator& simulator() const { return simulator_; }

 private:
  bool is_shown(uint32_t drawn) const;
  // With so many cores; 0: as many as were recorded. Cores that were asked for are whole ones.
  whatif::SimulateOptions machine(uint32_t cores) const;
  base::Result<LoadPoint> run(const whatif::Variant& variant, whatif::Load load) const;
  base::Result<LoadPoint> least_hanging(const whatif::Variant& variant, uint32_t runs_with, LoadPoint hangs) const;
  // A lock whose sections are not recorded allows less than was simulated.
  static void limit_by(const analysis::LockBound& bound, Saturation& found);
  // Of one simulated closed load.
  struct Most {
    double per_second = 0;
    double cores_used = 0;
    std::map<uint32_t, double> wait_share;  // by lock: of the clients' time
  };
  base::Result<Most> most(const whatif::Variant& variant, uint32_t clients,
                          const whatif::SimulateOptions& machine) const;

  const whatif::LoadSimulator& simulator_;
  const analysis::Arrivals& arrivals_;
  const ServiceOptions options_;
  double error_ = 0;
  double refill_share_ = 0;
};

// Positions of MSER's cut and of the end; exposed for its test. `values`: in the order of time.
size_t warm_up_end(const std::vector<double>& values);

}  // namespace contrafact::advise
