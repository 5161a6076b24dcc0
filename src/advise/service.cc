#include "advise/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/pool_capacity.h"

namespace contrafact::advise {
namespace {

using whatif::Load;
using whatif::LoadRun;
using whatif::ServedRequest;
using whatif::Variant;

const std::vector<double> kPoisson;  // as Load has it
constexpr size_t kBatchOfMser = 5;
constexpr size_t kBatches = 20;
constexpr double kTOfBatches = 1.729;  // Student's, 19 degrees of freedom, 90 %

// The steady part of one simulated run.
struct Steady {
  std::vector<const ServedRequest*> answered;  // in the order of their answers
  std::vector<double> rates;                   // requests a second, by batch
  double per_second = 0;
};

// Answers for each request that comes, in the last three quarters of the time in which some come: behind that, a queue only gets shorter.
double kept_up(const LoadRun& run) {
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  for (const ServedRequest& request : run.served) {
    first_ns = std::min(first_ns, request.arrived_ns);
    last_ns = std::max(last_ns, request.arrived_ns);
  }
  const auto is_meanwhile = [&](int64_t ns) { return ns > first_ns + (last_ns - first_ns) / 4 && ns <= last_ns; };
  double came = 0, answered = 0;
  for (const ServedRequest& request : run.served) {
    came += is_meanwhile(request.arrived_ns) ? 1 : 0;
    answered += is_meanwhile(request.answered_ns) ? 1 : 0;
  }
  return came > 0 ? answered / came : 1;
}

Steady steady_of(const LoadRun& run, bool open, uint32_t clients) {
  std::vector<const ServedRequest*> answered;
  for (const ServedRequest& request : run.served) {
    if (request.answered_ns >= 0) answered.push_back(&request);
  }
  std::ranges::stable_sort(answered, {}, &ServedRequest::answered_ns);
  std::vector<double> times;
  for (const ServedRequest* request : answered)
    times.push_back(static_cast<double>(request->answered_ns - request->arrived_ns));
  const size_t begin = warm_up_end(times);
  // Behind it, not all clients ask any more.
  const size_t end = open || answered.size() <= 2 * clients ? answered.size() : answered.size() - clients;
  Steady steady;
  if (end <= begin + 1) return steady;
  steady.answered.assign(answered.begin() + static_cast<ptrdiff_t>(begin),
                         answered.begin() + static_cast<ptrdiff_t>(end));
  const auto rate = [&](size_t from, size_t to) {
    const int64_t ns = answered[to]->answered_ns - answered[from]->answered_ns;
    return ns > 0 ? static_cast<double>(to - from) * 1e9 / static_cast<double>(ns) : 0;
  };
  steady.per_second = rate(begin, end - 1);
  const size_t batch = (end - 1 - begin) / kBatches;
  for (size_t i = 0; batch > 0 && i < kBatches; ++i)
    steady.rates.push_back(rate(begin + i * batch, begin + (i + 1) * batch));
  return steady;
}

// Half the width of the interval of a mean of batches.
double half_width(const std::vector<double>& batches) {
  if (batches.size() < 2) return 0;
  const auto count = static_cast<double>(batches.size());
  const double mean = std::accumulate(batches.begin(), batches.end(), 0.0) / count;
  double squares = 0;
  for (const double value : batches) squares += (value - mean) * (value - mean);
  return kTOfBatches * std::sqrt(squares / (count - 1) / count);
}

// Sorts them.
EndpointAnswers answers_of(std::vector<int64_t>& ns) {
  std::ranges::sort(ns);
  return {static_cast<uint32_t>(ns.size()), analysis::percentile_ns(ns, 0.5), analysis::percentile_ns(ns, 0.9),
          analysis::percentile_ns(ns, 0.99)};
}

}  // namespace

size_t warm_up_end(const std::vector<double>& values) {
  std::vector<double> batches;
  for (size_t i = 0; i + kBatchOfMser <= values.size(); i += kBatchOfMser)
    batches.push_back(std::accumulate(values.begin() + static_cast<ptrdiff_t>(i),
                                      values.begin() + static_cast<ptrdiff_t>(i + kBatchOfMser), 0.0) /
                      kBatchOfMser);
  // From behind: the sums of what remains. A cut in the second half says that there is no steady state to see.
  double sum = 0, squares = 0, best = INFINITY;
  size_t cut = 0;
  for (size_t i = batches.size(); i-- > 0;) {
    sum += batches[i];
    squares += batches[i] * batches[i];
    const auto count = static_cast<double>(batches.size() - i);
    if (i > batches.size() / 2 || count < 2) continue;
    const double error = (squares - sum * sum / count) / (count * count);
    if (error <= best) best = error, cut = i;
  }
  return cut * kBatchOfMser;
}

Service::Service(const whatif::LoadSimulator& simulator, const analysis::Arrivals& arrivals, ServiceOptions options)
    : simulator_(simulator), arrivals_(arrivals), options_(std::move(options)) {
  refill_share_ = simulator_.refill_share();
  std::vector<int64_t> recorded_ns;
  for (uint32_t i = 0; i < simulator_.recorded_ns().size(); ++i) {
    if (is_shown(i)) recorded_ns.push_back(simulator_.recorded_ns()[i]);
  }
  const base::Result<LoadPoint> recorded = at_load({}, 1);
  if (!recorded || recorded->stuck || recorded_ns.empty()) return;
  // Of the medians: a few answers that something held up say little of what the service can take.
  std::ranges::sort(recorded_ns);
  const int64_t median_ns = analysis::percentile_ns(recorded_ns, 0.5);
  if (median_ns > 0) error_ = static_cast<double>(recorded->p50_ns) / static_cast<double>(median_ns) - 1;
}

whatif::SimulateOptions Service::machine(uint32_t cores) const {
  return {.cores = cores, .whole_cores = options_.cores > 0};
}

bool Service::is_shown(uint32_t drawn) const {
  return options_.shown.empty() || options_.shown[options_.endpoints[drawn]];
}

base::Result<LoadPoint> Service::run(const Variant& variant, Load load) const {
  LoadPoint point{.open = load.open, .clients = load.open ? 0 : load.clients, .offered = load.per_second};
  std::vector<int64_t> answers_ns;
  std::vector<std::vector<int64_t>> by_endpoint;
  std::vector<double> rates;
  double per_second = 0, answered = 0;  // the latter of those that came
  for (uint32_t seed = 1; seed <= options_.seeds; ++seed) {
    load.seed = seed;
    const base::Result<LoadRun> run = simulator_.simulate(variant, load, machine(options_.cores));
    if (!run) return run.error();
    if (!run->simulation.stuck.empty()) {
      point.stuck = true;
      point.stuck_reason = run->simulation.stuck.front().reason;
      return point;
    }
    const Steady steady = steady_of(*run, load.open, load.clients);
    for (const ServedRequest* request : steady.answered) {
      const int64_t ns = request->answered_ns - request->arrived_ns;
      if (is_shown(request->drawn)) answers_ns.push_back(ns);
      if (options_.endpoints.empty()) continue;
      const uint32_t endpoint = options_.endpoints[request->drawn];
      if (by_endpoint.size() <= endpoint) by_endpoint.resize(endpoint + 1);
      by_endpoint[endpoint].push_back(ns);
    }
    rates.insert(rates.end(), steady.rates.begin(), steady.rates.end());
    per_second += steady.per_second / options_.seeds;
    if (load.open) answered += kept_up(*run) / options_.seeds;
    point.cores_used += run->simulation.core_utilisation / options_.seeds;
  }
  for (std::vector<int64_t>& ns : by_endpoint) point.endpoints.push_back(answers_of(ns));
  point.per_second = per_second;
  constexpr double kKeepsUp = 0.97;
  point.keeps_up = !load.open || answered >= kKeepsUp;
  // Open requests that are kept up with come as often as they come.
  const double error = load.open && point.keeps_up ? 0 : std::fabs(error_);
  constexpr double kRefillError = 0.5;  // of the estimate
  const double refills =
      load.open && point.keeps_up ? 0 : kRefillError * refill_share_ * std::min(1.0, point.cores_used);
  const double half = std::max(half_width(rates), error * per_second) + refills * per_second;
  point.low = std::max(0.0, per_second - half);
  // Code that is not compiled yet takes up to twice as long.
  const double uncompiled =
      simulator_.still_compiles() && !(load.open && point.keeps_up) ? std::min(1.0, point.cores_used) : 0;
  point.high = per_second + half + uncompiled * per_second;
  if (!answers_ns.empty()) {
    point.mean_ns =
        static_cast<int64_t>(std::accumulate(answers_ns.begin(), answers_ns.end(), 0.0,
                                             [](double sum, int64_t ns) { return sum + static_cast<double>(ns); }) /
                             static_cast<double>(answers_ns.size()));
  }
  const EndpointAnswers all = answers_of(answers_ns);
  point.p50_ns = all.p50_ns;
  point.p90_ns = all.p90_ns;
  point.p99_ns = all.p99_ns;
  if (options_.progress) options_.progress();
  return point;
}

base::Result<LoadPoint> Service::at_clients(const Variant& variant, uint32_t clients, bool thinking) const {
  constexpr uint32_t kTurns = 20;  // of each client, at least
  Load load{.clients = clients, .requests = std::max(options_.requests, kTurns * clients)};
  if (thinking) load.thinks_ns = arrivals_.thinks_ns;
  return run(variant, std::move(load));
}

base::Result<LoadPoint> Service::at_rate(const Variant& variant, double per_second) const {
  // The recorded gaps are a sample of those that independent requests have, which has no longest one.
  const std::vector<double>& gaps = arrivals_.poisson ? kPoisson : arrivals_.gaps;
  return run(variant, {.open = true, .per_second = per_second, .gaps = gaps, .requests = options_.requests});
}

base::Result<LoadPoint> Service::at_load(const Variant& variant, double k) const {
  if (arrivals_.open) return at_rate(variant, k * arrivals_.per_second);
  return at_clients(variant, std::max(1u, static_cast<uint32_t>(std::lround(k * arrivals_.clients))), true);
}

base::Result<Service::Most> Service::most(const Variant& variant, uint32_t clients,
                                          const whatif::SimulateOptions& machine) const {
  const base::Result<LoadRun> run = simulator_.simulate(
      variant, {.clients = clients, .requests = std::max(options_.requests, 20 * clients)}, machine);
  if (!run) return run.error();
  if (options_.progress) options_.progress();
  Most found;
  found.per_second = run->simulation.stuck.empty() ? steady_of(*run, false, clients).per_second : 0;
  found.cores_used = run->simulation.core_utilisation;
  const auto all_ns = static_cast<double>(clients) * static_cast<double>(run->simulation.duration_ns);
  for (const whatif::LockWait& lock : run->simulation.locks) {
    if (all_ns > 0) found.wait_share[lock.lock] = static_cast<double>(lock.wait_ns) / all_ns;
  }
  return found;
}

base::Result<double> Service::capacity(const Variant& variant, uint32_t clients) const {
  const base::Result<Most> found = most(variant, clients, machine(options_.cores));
  if (!found) return found.error();
  return found->per_second;
}

base::Result<ServiceLimit> Service::limit_of(const Variant& variant, uint32_t clients) const {
  const uint32_t cores = options_.cores > 0 ? options_.cores : simulator_.recorded_cores();
  const base::Result<Most> base = most(variant, clients, machine(options_.cores));
  if (!base) return base.error();
  constexpr double kMoreMin = 0.03;
  ServiceLimit best;
  const auto consider = [&](ServiceLimit limit, const Variant& changed,
                            const whatif::SimulateOptions& machine) -> base::Status {
    const base::Result<Most> made = most(changed, clients, machine);
    if (!made) return made.error();
    limit.more = base->per_second > 0 ? made->per_second / base->per_second - 1 : 0;
    if (limit.more > std::max(kMoreMin, best.more)) best = std::move(limit);
    return {};
  };
  const ServiceLimit the_cores{.kind = ServiceLimit::Kind::cores,
                               .size = cores,
                               .name = fmt::format("the {}", cores == 1 ? "core" : fmt::format("{} cores", cores))};
  if (cores > 0) {
    const base::Status status = consider(the_cores, variant, machine(2 * cores));
    if (!status) return status.error();
  }
  const auto consider_pools = [&](uint32_t of_cores, bool besides) -> base::Status {
    for (uint32_t pool = 0; pool < simulator_.pools().size(); ++pool) {
      const uint32_t size = simulator_.pool_size(pool);
      if (size == 0 || size == model::kUnboundedPool) continue;
      uint32_t now = size;
      for (const whatif::PoolSize& changed : variant.pool_sizes) {
        if (changed.pool.value == pool) now = changed.workers;
      }
      const std::string threads = simulator_.threads_of(pool);
      for (const whatif::ThreadSize& changed : variant.thread_sizes) {
        if (changed.threads == threads) now = changed.count;
      }
      const bool permits = simulator_.pools()[pool].kind == format::PoolKind::permits;
      const auto kind = permits    ? ServiceLimit::Kind::permits
                        : now == 1 ? ServiceLimit::Kind::thread
                                   : ServiceLimit::Kind::pool;
      Variant changed = variant;
      std::erase_if(changed.pool_sizes, [&](const whatif::PoolSize& one) { return one.pool.value == pool; });
      std::erase_if(changed.thread_sizes, [&](const whatif::ThreadSize& one) { return one.threads == threads; });
      if (threads.empty()) {
        changed.pool_sizes.push_back({model::PoolId(pool), 2 * now});
      } else {
        changed.thread_sizes.push_back({threads, 2 * now});
      }
      ServiceLimit limit = the_cores;
      if (besides) {
        limit.besides = simulator_.pool_name(pool);
      } else {
        limit = {.kind = kind, .id = pool, .size = now, .name = simulator_.pool_name(pool)};
      }
      const base::Status status = consider(std::move(limit), changed, machine(of_cores));
      if (!status) return status;
    }
    return {};
  };
  if (const base::Status status = consider_pools(options_.cores, false); !status) return status.error();
  for (const uint32_t lock : simulator_.shared_locks()) {
    // Of the clients' time, what they wait for the lock is all that they can gain. A server may have thousands of locks.
    const auto waited = base->wait_share.find(lock);
    const double share = waited == base->wait_share.end() ? 0 : waited->second;
    if (share < 1 && share / (1 - share) < std::max(kMoreMin, best.more)) continue;
    const base::Status status = consider({.kind = ServiceLimit::Kind::lock, .id = lock},
                                         simulator_.without_lock(variant, lock), machine(options_.cores));
    if (!status) return status.error();
  }
  constexpr double kUsedUp = 0.95;
  if (best.kind == ServiceLimit::Kind::none && cores > 0 && base->cores_used > kUsedUp) {
    if (const base::Status status = consider_pools(2 * cores, true); !status) return status.error();
  }
  return best;
}

void Service::limit_by(const analysis::LockBound& bound, Saturation& found) {
  found.limit = {.kind = ServiceLimit::Kind::lock,
                 .id = bound.lock.value,
                 .is_estimated = true,
                 .more = found.point.per_second / bound.per_second - 1};
  // So many waits as were counted may have been as many more or fewer as their root says.
  const double half = 2 / std::sqrt(static_cast<double>(bound.waits));
  found.point.per_second = bound.per_second;
  found.point.low = std::max(0.0, bound.low_per_second * (1 - half));
  found.point.high = std::min(found.point.high, bound.per_second * (1 + half));
}

// The least number of clients with which the program hangs, above one with which it does not.
base::Result<LoadPoint> Service::least_hanging(const Variant& variant, uint32_t runs_with, LoadPoint hangs) const {
  while (hangs.clients > runs_with + 1) {
    const uint32_t middle = runs_with + (hangs.clients - runs_with) / 2;
    base::Result<LoadPoint> point = at_clients(variant, middle, false);
    if (!point) return point.error();
    if (point->stuck) {
      hangs = *std::move(point);
    } else {
      runs_with = middle;
    }
  }
  return hangs;
}

base::Result<Saturation> Service::saturation(const Variant& variant, bool with_limit) const {
  constexpr double kNoMore = 0.01;
  constexpr uint32_t kClientsMost = 4096;
  Saturation found;
  int flat = 0;
  for (uint32_t clients = 1; clients <= kClientsMost && flat < 2; clients *= 2) {
    base::Result<LoadPoint> point = at_clients(variant, clients, false);
    if (!point) return point.error();
    if (point->stuck) {
      base::Result<LoadPoint> least = least_hanging(variant, clients / 2, *std::move(point));
      if (!least) return least.error();
      found.hangs = *std::move(least);
      break;
    }
    if (point->per_second > found.point.per_second * (1 + kNoMore)) {
      flat = 0;
      found.point = *std::move(point);
    } else {
      ++flat;
    }
  }
  if (found.point.clients > 0 && !options_.lock_bounds.empty() &&
      options_.lock_bounds.front().per_second < found.point.per_second) {
    limit_by(options_.lock_bounds.front(), found);
    return found;
  }
  if (!with_limit || found.point.clients == 0) return found;
  // More clients than saturate the program as it is, so that they can saturate it with more of something, too.
  base::Result<ServiceLimit> limit = limit_of(variant, 2 * found.point.clients);
  if (!limit) return limit.error();
  found.limit = *std::move(limit);
  return found;
}

}  // namespace contrafact::advise
