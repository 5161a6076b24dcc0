// What a recorded service's clients would feel under other loads, of the recorded program or of a changed one: the
// throughput at saturation and what limits it, and the times of answers. All simulated (whatif/load.h).
//
// A steady state is what is left of a simulated run once its beginning is cut off where MSER says (the cut that leaves the
// least standard error of the mean of what remains: White, 1997, in batches of five), and its end, from when the first
// client has no more requests. A run whose best cut would lie in its second half has not reached one.
//
// Intervals of throughputs are those of the means of twenty batches of each run, over all seeds. Those of percentiles are by
// sectioning (Asmussen and Glynn, 2007): each run's answers are cut into five sections in the order of time, and how much the
// sections' percentiles differ from that of all answers says how unsure this is. No interval is narrower than the error of the
// recorded load simulated, but for throughputs of open requests that are kept up with. As far as cores are used, intervals are
// wider by how sure it is what requests computed for idle cores' caches (LoadTemplates::refill_error: two standard errors where that was
// measured, half of it where it is an estimate); and, above for throughputs and below for times, by as much again if a JVM still compiled
// them.
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
#include "whatif/waits_between.h"

namespace contrafact::advise {

// The answers to one endpoint's requests, under one load.
struct EndpointAnswers {
  uint32_t answers = 0;  // in the steady state of all simulations
  int64_t p50_ns = 0, p90_ns = 0, p99_ns = 0;
};

// Sorts the times.
EndpointAnswers answers_of(std::vector<int64_t>& ns);

// A 90 % interval.
struct TimeRange {
  int64_t low_ns = 0, high_ns = 0;
};

// One load, simulated. Times are from a request's arrival to its answer.
struct LoadPoint {
  bool open = false;
  uint32_t clients = 0;      // closed
  bool thinks = false;       // closed: the clients think before they ask again
  double offered = 0;        // open: requests a second that come
  double per_second = 0;     // that are answered
  double low = 0, high = 0;  // 90 % interval of per_second
  int64_t mean_ns = 0, p50_ns = 0, p90_ns = 0, p99_ns = 0;
  TimeRange p50_range, p90_range, p99_range;
  // Half the width of the interval by the simulation alone, as a share: of per_second by batches, of p99_ns by sections.
  double rate_spread = 0, p99_spread = 0;
  std::vector<EndpointAnswers> endpoints;  // by endpoint; empty: they are not asked for
  double cores_used = 0;                   // share of the cores' time; 0: unlimited cores
  bool stuck = false;                      // the program hangs under this load: nothing else is known
  std::string stuck_reason;
  bool keeps_up = true;  // open: answers as many requests as come
  bool steady = true;    // most of the simulated runs reached a steady state, and were long enough to have one
};

// The resource that limits a saturated service: with more of it, the service answers more.
struct ServiceLimit {
  enum class Kind : uint8_t { none, cores, pool, thread, permits, lock };
  Kind kind = Kind::none;
  uint32_t id = 0;      // of the pool or lock
  uint32_t size = 0;    // workers, permits, cores
  std::string name;     // in words
  std::string besides;  // of cores: the pool that must be larger as well, because one thread has one core; may be empty
  // Of a lock whose sections are not recorded (analysis/lock_bounds.h), or permits of something that is not (whatif/waits_between.h).
  bool is_estimated = false;
  // Of a pool or permits: all workers wait for each other, or all who have permits for further ones, and twice as many put that off.
  bool starves = false;
  double more = 0;  // by which share the throughput rises with twice as much of it, or without the lock
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
  std::vector<analysis::LockBound> lock_bounds = {};     // of the recording, the lowest first
  std::vector<whatif::WaitsBetween> unknown_waits = {};  // likewise
  // By drawn request: its endpoint; empty: endpoints are not asked for. Of the endpoints, those whose answers the times are of;
  // empty: all.
  std::vector<uint32_t> endpoints = {};
  std::vector<bool> shown = {};
  std::function<void()> progress;  // after each simulated load; may be empty
};

// The most clients that are simulated, of whatever program.
inline constexpr uint32_t kClientsMost = 4096;

class Service {
 public:
  // `arrivals`: of the same requests, or as the user says. Both must outlive it. Simulates the recorded load; errors: that failed.
  static base::Result<Service> make(const whatif::LoadSimulator& simulator, const analysis::Arrivals& arrivals,
                                    ServiceOptions options);

  // `k` times the recorded load: clients, or requests a second.
  base::Result<LoadPoint> at_load(const whatif::Variant& variant, double k) const;
  base::Result<LoadPoint> at_clients(const whatif::Variant& variant, uint32_t clients, bool thinking) const;
  base::Result<LoadPoint> at_rate(const whatif::Variant& variant, double per_second) const;
  // `with_limit`: also what limits it. Of a program that hangs before more clients get no more answers, that is the pool, or the
  // permits, whose starvation makes it hang, if twice as many put that off.
  base::Result<Saturation> saturation(const whatif::Variant& variant, bool with_limit) const;
  // Requests answered a second if so many clients ask without thinking, simulated with one seed: for comparisons of
  // variants. 0: the program hangs.
  base::Result<double> capacity(const whatif::Variant& variant, uint32_t clients) const;
  // REQUIRES: so many clients saturate the program. If nothing helps by itself where the cores are used up, the cores with the pool
  // that helps most beside them.
  base::Result<ServiceLimit> limit_of(const whatif::Variant& variant, uint32_t clients) const;

  // The pool of which twice as many workers, or permits, put off that the program hangs; none: there is none. REQUIRES: found.hangs
  base::Result<ServiceLimit> starving_pool(const whatif::Variant& variant, const Saturation& found) const;
  // The least number of clients that do not think, up to `most`, with which the program hangs; none: it does not. Between two numbers
  // with which it runs, of which one is twice the other, none is looked for.
  base::Result<std::optional<LoadPoint>> hangs_from(const whatif::Variant& variant, uint32_t most) const;
  // The least load of the recorded kind, up to `k` times the recorded one, under which the program hangs; an open one to a twentieth.
  // REQUIRES: it hangs under that.
  base::Result<LoadPoint> least_hanging_load(const whatif::Variant& variant, double k) const;

  // The recorded load simulated, against the recording: the median time of answers, as a share. None: the program hangs under it, so
  // that intervals are only those of the simulation.
  std::optional<double> error() const { return error_; }
  // Of the simulated machine; 0: any number.
  uint32_t cores() const;
  // The most clients that are simulated of this program: fewer than of others where its requests are long.
  uint32_t clients_most() const;
  const analysis::Arrivals& arrivals() const { return arrivals_; }
  // What its requests are drawn from, and the pools and locks that they use.
  const whatif::LoadTemplates& drawn() const { return simulator_.templates(); }

 private:
  Service(const whatif::LoadSimulator& simulator, const analysis::Arrivals& arrivals, ServiceOptions options)
      : simulator_(simulator), arrivals_(arrivals), options_(std::move(options)) {}
  bool is_shown(uint32_t drawn) const;
  // Cores that were asked for are whole ones.
  whatif::SimulateOptions machine() const;
  uint32_t cores_of(const whatif::Variant& variant) const;
  base::Result<LoadPoint> run(const whatif::Variant& variant, whatif::Load load) const;
  // Makes intervals wider than the batches are apart: half the width of that of per_second is `half`, those of times are given.
  void widen(double half, LoadPoint& point) const;
  // Each pool, permits and group of threads, and the program with twice as many.
  struct Doubled {
    ServiceLimit pool;
    whatif::Variant variant;
  };
  std::vector<Doubled> doubled_pools(const whatif::Variant& variant) const;
  // Of one simulated closed load.
  struct Most {
    double per_second = 0;
    double cores_used = 0;
    std::map<uint32_t, double> wait_share;  // by lock: of the clients' time
  };
  base::Result<Most> most(const whatif::Variant& variant, uint32_t clients) const;

  const whatif::LoadSimulator& simulator_;
  const analysis::Arrivals& arrivals_;
  ServiceOptions options_;
  std::optional<double> error_;
  double refill_error_ = 0;
};

// Below: exposed for their tests.

// Where MSER cuts the beginning off `values`, which are in the order of time: within their first half.
struct MserCut {
  size_t begin = 0;
  bool steady = true;  // no later cut would be much better
};
MserCut mser_cut(const std::vector<double>& values);

// Half the width of the 90 % interval of the mean of batches; 0 of fewer than two.
double half_width(const std::vector<double>& batches);
// The same of a value of which the sections have values of their own.
double half_width(const std::vector<double>& sections, double of_all);

// The most that a lock allows whose sections are not recorded, in place of what was simulated.
void limit_by(const analysis::LockBound& bound, Saturation& found);
// The same of something that requests wait for; `name`: where, in words.
void limit_by(const whatif::WaitsBetween& waits, std::string name, Saturation& found);

}  // namespace contrafact::advise
