#include "advise/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "model/facts.h"
#include "model/pool_capacity.h"
#include "whatif/load_templates.h"

namespace contrafact::advise {
namespace {

using whatif::Load;
using whatif::LoadRun;
using whatif::ServedRequest;
using whatif::Variant;

const std::vector<double> kPoisson;  // as Load has it
// Answers: MSER-5, as White, Cobb and Spratt recommend (2000).
constexpr size_t kBatchOfMser = 5;
// Parts of a steady state, which has 1000 to 2000 answers of the 2000: for throughputs twenty, of 50 or more; for percentiles five, so that
// two to four answers of each are longer than its 99th.
constexpr size_t kBatches = 20;
constexpr size_t kSections = 5;
constexpr double kMoreMin = 0.03;  // with twice as much of what limits
constexpr uint32_t kTurns = 20;    // of each client, at least, as long as the memory holds so many requests

// Student's distribution, 90 %, by its expansion in the normal one's quantile (Fisher and Cornish, 1960): to a thousandth from four degrees
// of freedom on.
double student_t(double freedom) {
  constexpr double z = 1.6449, z2 = z * z, z3 = z2 * z, z5 = z3 * z2, z7 = z5 * z2;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

// The steady part of one simulated run.
struct Steady {
  std::vector<const ServedRequest*> answered;  // in the order of their answers
  std::vector<double> rates;                   // requests a second, by batch
  double per_second = 0;
  bool reached = true;
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
  const auto [begin, is_steady] = mser_cut(times);
  // Behind it, not all clients ask any more.
  const size_t end = open || answered.size() <= 2 * clients ? answered.size() : answered.size() - clients;
  Steady steady{.reached = is_steady};
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

// The steady answers of all seeds.
struct Answers {
  std::vector<int64_t> shown_ns;                  // of the requests whose times are asked for
  std::vector<std::vector<int64_t>> by_endpoint;  // of all
  std::vector<double> rates;                      // requests a second, by batch
  std::vector<EndpointAnswers> sections;          // of those that are shown, by section
  uint32_t unsteady = 0;                          // seeds that reached no steady state
};

void add_sections(std::span<const int64_t> ns, Answers& to) {
  for (size_t i = 0; i < kSections; ++i) {
    const size_t begin = ns.size() * i / kSections, end = ns.size() * (i + 1) / kSections;
    std::vector<int64_t> section(ns.begin() + static_cast<ptrdiff_t>(begin), ns.begin() + static_cast<ptrdiff_t>(end));
    if (!section.empty()) to.sections.push_back(answers_of(section));
  }
}

TimeRange range_of(const Answers& answers, int64_t EndpointAnswers::* percentile, int64_t of_all_ns) {
  std::vector<double> sections;
  for (const EndpointAnswers& section : answers.sections) sections.push_back(static_cast<double>(section.*percentile));
  const auto half_ns = static_cast<int64_t>(half_width(sections, static_cast<double>(of_all_ns)));
  return {of_all_ns - half_ns, of_all_ns + half_ns};
}

// Of the threads that are stuck, the one that a person can do something about, rather than a client that waits for its answer. A worker
// that waits for another one of its own pool is the cause where others wait for what it holds.
const std::string& reason_of(const std::vector<whatif::StuckTask>& stuck) {
  using Lacks = whatif::StuckTask::Lacks;
  for (const Lacks lacks : {Lacks::worker_of_its_pool, Lacks::permits, Lacks::worker}) {
    const auto found = std::ranges::find(stuck, lacks, &whatif::StuckTask::lacks);
    if (found != stuck.end()) return found->reason;
  }
  return stuck.front().reason;
}

// Of a pool, or of a group of threads, in the changed program.
uint32_t size_now(const Variant& variant, uint32_t pool, const std::string& threads, uint32_t recorded) {
  uint32_t now = recorded;
  for (const whatif::PoolSize& changed : variant.pool_sizes) {
    if (changed.pool.value == pool) now = changed.workers;
  }
  for (const whatif::ThreadSize& changed : variant.thread_sizes) {
    if (changed.threads == threads) now = changed.count;
  }
  return now;
}

ServiceLimit::Kind kind_of_pool(format::PoolKind kind, uint32_t size) {
  if (kind == format::PoolKind::permits) return ServiceLimit::Kind::permits;
  return size == 1 ? ServiceLimit::Kind::thread : ServiceLimit::Kind::pool;
}

// The point of the least number of clients above `runs` with which the program hangs. `stuck`: one with which it does.
base::Result<LoadPoint> bisected(uint32_t runs, LoadPoint stuck,
                                 const std::function<base::Result<LoadPoint>(uint32_t)>& at) {
  while (stuck.clients > runs + 1) {
    const uint32_t middle = runs + (stuck.clients - runs) / 2;
    base::Result<LoadPoint> point = at(middle);
    if (!point) return point.error();
    if (point->stuck) {
      stuck = *std::move(point);
    } else {
      runs = middle;
    }
  }
  return stuck;
}

}  // namespace

EndpointAnswers answers_of(std::vector<int64_t>& ns) {
  std::ranges::sort(ns);
  return {static_cast<uint32_t>(ns.size()), analysis::percentile_ns(ns, 0.5), analysis::percentile_ns(ns, 0.9),
          analysis::percentile_ns(ns, 0.99)};
}

MserCut mser_cut(const std::vector<double>& values) {
  std::vector<double> batches;
  for (size_t i = 0; i + kBatchOfMser <= values.size(); i += kBatchOfMser)
    batches.push_back(std::accumulate(values.begin() + static_cast<ptrdiff_t>(i),
                                      values.begin() + static_cast<ptrdiff_t>(i + kBatchOfMser), 0.0) /
                      kBatchOfMser);
  // From behind: the sums of what remains. Of the last quarter the errors are too unsure themselves. Chance makes a later cut a little better,
  // and rounding where all values are alike.
  constexpr double kBetter = 0.75, kAlike = 0.001;
  double sum = 0, squares = 0, best = INFINITY, best_later = INFINITY;
  size_t cut = 0;
  for (size_t i = batches.size(); i-- > 0;) {
    sum += batches[i];
    squares += batches[i] * batches[i];
    const auto count = static_cast<double>(batches.size() - i);
    const double error = (squares - sum * sum / count) / (count * count);
    if (i > batches.size() / 2) {
      if (i <= batches.size() / 4 * 3) best_later = std::min(best_later, error);
    } else if (count >= 2 && error <= best) {
      best = error, cut = i;
    }
  }
  const double mean = batches.empty() ? 0 : sum / static_cast<double>(batches.size());
  return {cut * kBatchOfMser, best_later >= kBetter * best || best <= std::pow(kAlike * mean, 2)};
}

double half_width(const std::vector<double>& batches) {
  const double sum = std::accumulate(batches.begin(), batches.end(), 0.0);
  return half_width(batches, sum / static_cast<double>(std::max<size_t>(1, batches.size())));
}

double half_width(const std::vector<double>& sections, double of_all) {
  if (sections.size() < 2) return 0;
  const auto count = static_cast<double>(sections.size());
  double squares = 0;
  for (const double value : sections) squares += (value - of_all) * (value - of_all);
  return student_t(count - 1) * std::sqrt(squares / (count - 1) / count);
}

void limit_by(const analysis::LockBound& bound, Saturation& found) {
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

void limit_by(const whatif::WaitsBetween& waits, std::string name, Saturation& found) {
  // Times of use vary, but seldom as much as exponential ones do.
  const double per_second = std::sqrt(waits.low_per_second * waits.per_second);
  found.limit = {.kind = ServiceLimit::Kind::permits,
                 .id = UINT32_MAX,
                 .name = std::move(name),
                 .is_estimated = true,
                 .more = found.point.per_second / per_second - 1};
  const double half = 2 / std::sqrt(static_cast<double>(waits.waits));  // as of a lock
  found.point.per_second = per_second;
  found.point.low = std::max(0.0, waits.low_per_second * (1 - half));
  found.point.high = std::min(found.point.high, waits.per_second * (1 + half));
}

uint32_t Service::cores() const {
  return options_.cores > 0 ? options_.cores : model::recorded_cores(drawn().trace());
}

uint32_t Service::cores_of(const Variant& variant) const {
  return variant.cores > 0 ? variant.cores : cores();
}

uint32_t Service::clients_most() const {
  return std::min(drawn().clients_most(), kClientsMost);
}

base::Result<Service> Service::make(const whatif::LoadSimulator& simulator, const analysis::Arrivals& arrivals,
                                    ServiceOptions options) {
  Service service(simulator, arrivals, std::move(options));
  service.refill_error_ = simulator.templates().refill_error();
  std::vector<int64_t> recorded_ns;
  const std::vector<int64_t>& all_ns = simulator.templates().recorded_ns();
  for (uint32_t i = 0; i < all_ns.size(); ++i) {
    if (service.is_shown(i)) recorded_ns.push_back(all_ns[i]);
  }
  const base::Result<LoadPoint> recorded = service.at_load({}, 1);
  if (!recorded) return recorded.error();
  // Of the medians: a few answers that something held up say little of what the service can take.
  std::ranges::sort(recorded_ns);
  const int64_t median_ns = analysis::percentile_ns(recorded_ns, 0.5);
  if (!recorded->stuck && median_ns > 0)
    service.error_ = static_cast<double>(recorded->p50_ns) / static_cast<double>(median_ns) - 1;
  return service;
}

whatif::SimulateOptions Service::machine() const {
  return {.cores = options_.cores, .whole_cores = options_.cores > 0};
}

bool Service::is_shown(uint32_t drawn) const {
  return options_.shown.empty() || options_.shown[options_.endpoints[drawn]];
}

base::Result<LoadPoint> Service::run(const Variant& variant, Load load) const {
  LoadPoint point{.open = load.open, .thinks = !load.thinks_ns.empty(), .offered = load.per_second};
  Answers found;
  double answered = 0;  // of those that came
  for (uint32_t seed = 1; seed <= options_.seeds; ++seed) {
    load.seed = seed;
    const base::Result<LoadRun> run = simulator_.simulate(variant, load, machine());
    if (!run) return run.error();
    point.clients = run->clients;
    if (!run->simulation.stuck.empty()) {
      point.stuck = true;
      point.stuck_reason = reason_of(run->simulation.stuck);
      return point;
    }
    const Steady steady = steady_of(*run, load.open, run->clients);
    const size_t shown_before = found.shown_ns.size();
    for (const ServedRequest* request : steady.answered) {
      const int64_t ns = request->answered_ns - request->arrived_ns;
      if (is_shown(request->drawn)) found.shown_ns.push_back(ns);
      if (options_.endpoints.empty()) continue;
      const uint32_t endpoint = options_.endpoints[request->drawn];
      if (found.by_endpoint.size() <= endpoint) found.by_endpoint.resize(endpoint + 1);
      found.by_endpoint[endpoint].push_back(ns);
    }
    add_sections(std::span(found.shown_ns).subspan(shown_before), found);
    found.rates.insert(found.rates.end(), steady.rates.begin(), steady.rates.end());
    const bool is_long = run->clients <= drawn().clients_most();
    found.unsteady += steady.reached && is_long ? 0 : 1;
    point.per_second += steady.per_second / options_.seeds;
    if (load.open) answered += kept_up(*run) / options_.seeds;
    point.cores_used += run->simulation.core_utilisation / options_.seeds;
  }
  for (std::vector<int64_t>& ns : found.by_endpoint) point.endpoints.push_back(answers_of(ns));
  constexpr double kKeepsUp = 0.97;
  point.keeps_up = !load.open || answered >= kKeepsUp;
  point.steady = 2 * found.unsteady <= options_.seeds;
  if (!found.shown_ns.empty()) {
    const double sum_ns = std::accumulate(found.shown_ns.begin(), found.shown_ns.end(), 0.0,
                                          [](double sum, int64_t ns) { return sum + static_cast<double>(ns); });
    point.mean_ns = static_cast<int64_t>(sum_ns / static_cast<double>(found.shown_ns.size()));
  }
  const EndpointAnswers all = answers_of(found.shown_ns);
  point.p50_ns = all.p50_ns;
  point.p90_ns = all.p90_ns;
  point.p99_ns = all.p99_ns;
  point.p50_range = range_of(found, &EndpointAnswers::p50_ns, all.p50_ns);
  point.p90_range = range_of(found, &EndpointAnswers::p90_ns, all.p90_ns);
  point.p99_range = range_of(found, &EndpointAnswers::p99_ns, all.p99_ns);
  const double half = half_width(found.rates);
  if (point.per_second > 0) point.rate_spread = half / point.per_second;
  if (point.p99_ns > 0)
    point.p99_spread = static_cast<double>(point.p99_range.high_ns - point.p99_ns) / static_cast<double>(point.p99_ns);
  widen(half, point);
  if (options_.progress) options_.progress();
  return point;
}

void Service::widen(double half, LoadPoint& point) const {
  const double error = std::fabs(error_.value_or(0)), used = std::min(1.0, point.cores_used);
  const double refills = refill_error_ * used;
  // Code that is not compiled yet takes up to twice as long.
  const double uncompiled = drawn().still_compiles() ? used : 0;
  // Open requests that are kept up with come as often as they come.
  const bool comes = point.open && point.keeps_up;
  const double wide = comes ? half : std::max(half, error * point.per_second) + refills * point.per_second;
  point.low = std::max(0.0, point.per_second - wide);
  point.high = point.per_second + wide + (comes ? 0 : uncompiled * point.per_second);
  const auto widen_times = [&](int64_t ns, TimeRange& range) {
    const auto time = static_cast<double>(ns);
    const double around = std::max(static_cast<double>(range.high_ns - ns), error * time) + refills * time;
    range = {static_cast<int64_t>(std::max(0.0, time - around) / (1 + uncompiled)),
             static_cast<int64_t>(time + around)};
  };
  widen_times(point.p50_ns, point.p50_range);
  widen_times(point.p90_ns, point.p90_range);
  widen_times(point.p99_ns, point.p99_range);
}

base::Result<LoadPoint> Service::at_clients(const Variant& variant, uint32_t clients, bool thinking) const {
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

base::Result<Service::Most> Service::most(const Variant& variant, uint32_t clients) const {
  const base::Result<LoadRun> run = simulator_.simulate(
      variant, {.clients = clients, .requests = std::max(options_.requests, kTurns * clients)}, machine());
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
  if (clients == 0) return 0.0;
  const base::Result<Most> found = most(variant, std::min(clients, clients_most()));
  if (!found) return found.error();
  return found->per_second;
}

std::vector<Service::Doubled> Service::doubled_pools(const Variant& variant) const {
  std::vector<Doubled> all;
  for (uint32_t pool = 0; pool <= drawn().hand_on_pool(); ++pool) {
    const uint32_t size = drawn().pool_size(pool);
    if (size == 0 || size == model::kUnboundedPool) continue;
    const std::string threads = drawn().threads_of(pool);
    const uint32_t now = size_now(variant, pool, threads, size);
    Variant changed = variant;
    std::erase_if(changed.pool_sizes, [&](const whatif::PoolSize& one) { return one.pool.value == pool; });
    std::erase_if(changed.thread_sizes, [&](const whatif::ThreadSize& one) { return one.threads == threads; });
    if (threads.empty()) {
      changed.pool_sizes.push_back({model::PoolId(pool), 2 * now});
    } else {
      changed.thread_sizes.push_back({threads, 2 * now});
    }
    all.push_back(
        {{.kind = kind_of_pool(drawn().pool_kind(pool), now), .id = pool, .size = now, .name = drawn().pool_name(pool)},
         std::move(changed)});
  }
  return all;
}

base::Result<ServiceLimit> Service::starving_pool(const Variant& variant, const Saturation& found) const {
  ServiceLimit best;
  double most = 0;
  for (Doubled& one : doubled_pools(variant)) {
    const base::Result<LoadPoint> point = at_clients(one.variant, found.hangs->clients, false);
    if (!point) return point.error();
    if (point->stuck || point->per_second <= most) continue;
    most = point->per_second;
    best = std::move(one.pool);
    best.starves = true;
    best.more = found.point.per_second > 0 ? std::max(0.0, most / found.point.per_second - 1) : 0;
  }
  return best;
}

base::Result<ServiceLimit> Service::limit_of(const Variant& variant, uint32_t clients) const {
  const uint32_t cores = cores_of(variant);
  clients = std::min(clients, clients_most());
  const base::Result<Most> base = most(variant, clients);
  if (!base) return base.error();
  ServiceLimit best;
  const auto consider = [&](ServiceLimit limit, const Variant& changed) -> base::Status {
    const base::Result<Most> made = most(changed, clients);
    if (!made) return made.error();
    limit.more = base->per_second > 0 ? made->per_second / base->per_second - 1 : 0;
    if (limit.more > std::max(kMoreMin, best.more)) best = std::move(limit);
    return {};
  };
  const ServiceLimit the_cores{.kind = ServiceLimit::Kind::cores,
                               .size = cores,
                               .name = fmt::format("the {}", cores == 1 ? "core" : fmt::format("{} cores", cores))};
  const auto with_twice_the_cores = [&](Variant changed) {
    changed.cores = 2 * cores;
    return changed;
  };
  if (cores > 0) {
    if (const base::Status status = consider(the_cores, with_twice_the_cores(variant)); !status) return status.error();
  }
  const std::vector<Doubled> doubled = doubled_pools(variant);
  for (const Doubled& one : doubled) {
    if (const base::Status status = consider(one.pool, one.variant); !status) return status.error();
  }
  for (const uint32_t lock : drawn().shared_locks()) {
    // Of the clients' time, what they wait for the lock is all that they can gain. A server may have thousands of locks.
    const auto waited = base->wait_share.find(lock);
    const double share = waited == base->wait_share.end() ? 0 : waited->second;
    if (share < 1 && share / (1 - share) < std::max(kMoreMin, best.more)) continue;
    const base::Status status =
        consider({.kind = ServiceLimit::Kind::lock, .id = lock}, simulator_.without_lock(variant, lock));
    if (!status) return status.error();
  }
  constexpr double kUsedUp = 0.95;
  if (best.kind != ServiceLimit::Kind::none || cores == 0 || base->cores_used <= kUsedUp) return best;
  for (const Doubled& one : doubled) {
    ServiceLimit both = the_cores;
    both.besides = one.pool.name;
    const base::Status status = consider(std::move(both), with_twice_the_cores(one.variant));
    if (!status) return status.error();
  }
  return best;
}

base::Result<std::optional<LoadPoint>> Service::hangs_from(const Variant& variant, uint32_t most) const {
  const auto at = [&](uint32_t number) { return at_clients(variant, number, false); };
  most = std::min(most, clients_most());
  for (uint32_t clients = 1, runs_with = 0;; clients = std::min(2 * clients, most)) {
    base::Result<LoadPoint> point = at(clients);
    if (!point) return point.error();
    if (point->stuck) {
      base::Result<LoadPoint> least = bisected(runs_with, *std::move(point), at);
      if (!least) return least.error();
      return std::optional(*std::move(least));
    }
    if (clients >= most) return std::optional<LoadPoint>();
    runs_with = clients;
  }
}

base::Result<LoadPoint> Service::least_hanging_load(const Variant& variant, double k) const {
  base::Result<LoadPoint> stuck = at_load(variant, k);
  if (!stuck) return stuck.error();
  if (!arrivals_.open)
    return bisected(0, *std::move(stuck), [&](uint32_t clients) { return at_clients(variant, clients, true); });
  constexpr double kNear = 1.05;  // to a twentieth
  constexpr int kSteps = 10;  // log2(20 * 50): enough unless it is below a fiftieth of the load that was asked about
  double runs_with = 0;
  for (int step = 0; step < kSteps && stuck->offered > runs_with * kNear; ++step) {
    const double middle = (runs_with + stuck->offered) / 2;
    base::Result<LoadPoint> point = at_rate(variant, middle);
    if (!point) return point.error();
    if (point->stuck) {
      stuck = std::move(point);
    } else {
      runs_with = middle;
    }
  }
  return stuck;
}

base::Result<Saturation> Service::saturation(const Variant& variant, bool with_limit) const {
  constexpr double kNoMore = 0.01;
  Saturation found;
  int flat = 0;
  for (uint32_t clients = 1; clients <= clients_most() && flat < 2; clients *= 2) {
    base::Result<LoadPoint> point = at_clients(variant, clients, false);
    if (!point) return point.error();
    if (point->stuck) {
      base::Result<LoadPoint> least =
          bisected(clients / 2, *std::move(point), [&](uint32_t number) { return at_clients(variant, number, false); });
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
  // Sure to limit it: what it allows at most is less.
  for (const whatif::WaitsBetween& waits : options_.unknown_waits) {
    if (!waits.one_by_one || found.point.clients == 0 || waits.per_second >= found.point.per_second) continue;
    limit_by(waits, drawn().trace().context_label(waits.place), found);
    return found;
  }
  if (!with_limit) return found;
  if (found.hangs && flat == 0) {
    base::Result<ServiceLimit> starving = starving_pool(variant, found);
    if (!starving) return starving.error();
    found.limit = *std::move(starving);
    if (found.limit.more > kMoreMin) return found;
  }
  // More clients than saturate the program as it is, so that they can saturate it with more of something, too.
  uint32_t clients = 2 * found.point.clients;
  if (found.hangs) clients = std::min(clients, found.hangs->clients - 1);
  if (clients == 0) return found;
  base::Result<ServiceLimit> limit = limit_of(variant, clients);
  if (!limit) return limit.error();
  if (limit->kind != ServiceLimit::Kind::none) found.limit = *std::move(limit);
  return found;
}

}  // namespace contrafact::advise
