#include "analysis/arrivals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace contrafact::analysis {
namespace {

using model::Request;

double variance(const std::vector<int64_t>& values) {
  double sum = 0, squares = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  const double mean = values.empty() ? 0 : sum / static_cast<double>(values.size());
  for (const int64_t value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  return values.empty() ? 0 : squares / static_cast<double>(values.size());
}

// The time of a load: without the pauses in which nobody asked (before it began, between two loads). A pause is a gap between
// two requests that takes a fiftieth of the recording, and as long as no gap of a load does: of 10^8 gaps that vary as
// exponential times do, one is longer than twenty times their mean.
class LoadTime {
 public:
  // REQUIRES: they are sorted by arrived_ns.
  explicit LoadTime(const std::vector<Request>& requests) {
    constexpr int64_t kOfSpan = 50, kOfMean = 20;
    if (requests.size() < 2) return;
    const int64_t span_ns = requests.back().arrived_ns - requests.front().arrived_ns;
    const int64_t mean_ns = span_ns / static_cast<int64_t>(requests.size() - 1);
    const int64_t most_ns = std::max(span_ns / kOfSpan, kOfMean * mean_ns);
    for (size_t i = 1; i < requests.size(); ++i) {
      const int64_t begin_ns = requests[i - 1].arrived_ns, end_ns = requests[i].arrived_ns;
      if (end_ns - begin_ns > most_ns) {
        pauses_.push_back({begin_ns, end_ns, pauses_ns_});
        pauses_ns_ += end_ns - begin_ns;
      } else {
        gaps_ns_.push_back(end_ns - begin_ns);
      }
    }
  }

  // How much of it has passed at an instant of the recording; what it is counted from does not matter.
  int64_t at(int64_t ns) const {
    auto pause = std::ranges::upper_bound(pauses_, ns, {}, &Pause::begin_ns);
    if (pause == pauses_.begin()) return ns;
    --pause;
    return ns - pause->before_ns - (std::min(ns, pause->end_ns) - pause->begin_ns);
  }
  const std::vector<int64_t>& gaps_ns() const { return gaps_ns_; }  // between two requests
  int64_t pauses_ns() const { return pauses_ns_; }

 private:
  struct Pause {
    int64_t begin_ns, end_ns;
    int64_t before_ns;  // sum of the pauses before it
  };
  std::vector<Pause> pauses_;
  std::vector<int64_t> gaps_ns_;
  int64_t pauses_ns_ = 0;
};

// Requests under way over time.
struct UnderWay {
  double mean = 0;
  uint32_t most = 0;
};

UnderWay under_way(const std::vector<Request>& requests, const LoadTime& time) {
  std::vector<std::pair<int64_t, int>> changes;
  for (const Request& request : requests) {
    changes.emplace_back(time.at(request.arrived_ns), 1);
    changes.emplace_back(time.at(std::max(request.answered_ns, request.arrived_ns)), -1);
  }
  std::ranges::sort(changes);
  UnderWay found;
  int now = 0;
  double area = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i > 0) area += static_cast<double>(now) * static_cast<double>(changes[i].first - changes[i - 1].first);
    now += changes[i].second;
    found.most = std::max(found.most, static_cast<uint32_t>(std::max(0, now)));
  }
  const int64_t span_ns = changes.back().first - changes.front().first;
  found.mean = span_ns > 0 ? area / static_cast<double>(span_ns) : 0;
  return found;
}

// Connections between their first and last request, at a time, at most.
uint32_t connections_in_use(const std::map<uint32_t, std::vector<const Request*>>& by_connection) {
  std::vector<std::pair<int64_t, int>> changes;
  for (const auto& [connection, requests] : by_connection) {
    changes.emplace_back(requests.front()->arrived_ns, -1);
    changes.emplace_back(requests.back()->answered_ns, 1);
  }
  std::ranges::sort(changes);
  int now = 0, most = 0;
  for (const auto& [time_ns, change] : changes) most = std::max(most, now -= change);
  return static_cast<uint32_t>(std::max(most, 1));
}

// Whether gaps, as multiples of their mean, may well be those of a Poisson process: the largest distance of their distribution
// from the exponential one is no larger than in 19 of 20 such samples (Lilliefors, 1969; the bound is Stephens', 1974).
bool may_be_poisson(const std::vector<double>& sorted_gaps) {
  constexpr double kBound = 1.094;
  constexpr size_t kGapsMin = 20;
  const auto count = static_cast<double>(sorted_gaps.size());
  if (sorted_gaps.size() < kGapsMin) return false;
  double distance = 0;
  for (size_t i = 0; i < sorted_gaps.size(); ++i) {
    const double expected = 1 - std::exp(-sorted_gaps[i]);
    const auto below = static_cast<double>(i) / count, up_to = static_cast<double>(i + 1) / count;
    distance = std::max({distance, up_to - expected, expected - below});
  }
  const double root = std::sqrt(count);
  return (distance - 0.2 / count) * (root + 0.26 + 0.5 / root) <= kBound;
}

// How much likelier it is that requests come at one rate than that each client that waits for no answer asks at one rate: the
// logarithm. Of clients that think, fewer ask while more of them wait. Requests that open a connection say nothing, nor do pauses.
double likelier_at_one_rate(const std::map<uint32_t, std::vector<const Request*>>& by_connection) {
  constexpr double kOfMean = 20;
  struct Change {
    int64_t time_ns;
    int under_way, in_use;
  };
  std::vector<Change> changes;
  for (const auto& [connection, requests] : by_connection) {
    for (const Request* one : requests) {
      changes.push_back({one->arrived_ns, 1, one == requests.front()});
      changes.push_back({std::max(one->answered_ns, one->arrived_ns + 1), -1, one == requests.back() ? -1 : 0});
    }
  }
  // A connection that is answered at that time is free then.
  std::ranges::sort(changes, {}, [](const Change& one) { return std::pair(one.time_ns, one.under_way); });
  const double steps = static_cast<double>(changes.size()) / 2;
  const double pause_ns = kOfMean * static_cast<double>(changes.back().time_ns - changes.front().time_ns) / steps;
  double count = 0, idle_logs = 0, all_ns = 0, idle_ns = 0;
  int under_way = 0, in_use = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    const double idle = std::max(in_use - under_way, 0);
    const double step_ns = i > 0 ? static_cast<double>(change.time_ns - changes[i - 1].time_ns) : 0;
    if (under_way > 0 || step_ns <= pause_ns) all_ns += step_ns, idle_ns += idle * step_ns;
    if (change.under_way > 0 && change.in_use == 0) ++count, idle_logs += std::log(std::max(idle, 1.0));
    under_way += change.under_way;
    in_use += change.in_use;
  }
  if (count == 0 || all_ns <= 0 || idle_ns <= 0) return 0;
  return count * std::log(idle_ns / all_ns) - idle_logs;
}

// Whether connections are a store that requests share which come at their own times, as generators of open load have one: about as many
// come while few are free as while many are. Clients that all think for equally long may come in waves, which looks alike.
bool come_regardless(const std::map<uint32_t, std::vector<const Request*>>& by_connection,
                     const std::vector<int64_t>& thinks_ns) {
  constexpr double kLikelier = 1000, kVary = 0.5;
  const double mean_ns =
      std::accumulate(thinks_ns.begin(), thinks_ns.end(), 0.0) / static_cast<double>(thinks_ns.size());
  if (thinks_ns.empty() || variance(thinks_ns) < std::pow(kVary * mean_ns, 2)) return false;
  return likelier_at_one_rate(by_connection) > std::log(kLikelier);
}

}  // namespace

int64_t percentile_ns(const std::vector<int64_t>& sorted_ns, double share) {
  if (sorted_ns.empty()) return 0;
  const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted_ns.size())));
  return sorted_ns[std::clamp<size_t>(at, 1, sorted_ns.size()) - 1];
}

Arrivals arrivals_of(const model::Requests& requests) {
  constexpr double kFewRequests = 1.5;  // of a connection
  constexpr size_t kComeAndGo = 3;
  constexpr double kNearlyAll = 0.8, kFewUnderWay = 0.1, kHalf = 0.5;
  Arrivals found;
  std::map<uint32_t, std::vector<const Request*>> by_connection;
  for (const Request& request : requests.all) by_connection[request.connection].push_back(&request);
  const LoadTime time(requests.all);
  std::vector<int64_t> gaps_ns = time.gaps_ns();
  found.span_ns = requests.all.back().arrived_ns - requests.all.front().arrived_ns - time.pauses_ns();
  if (found.span_ns > 0)
    found.per_second = static_cast<double>(gaps_ns.size()) * 1e9 / static_cast<double>(found.span_ns);
  const UnderWay busy = under_way(requests.all, time);
  found.under_way = busy.mean;
  std::vector<int64_t> between_ns;
  for (const auto& [connection, own] : by_connection) {
    for (size_t i = 1; i < own.size(); ++i) {
      const int64_t arrived_ns = time.at(own[i]->arrived_ns);
      between_ns.push_back(arrived_ns - time.at(own[i - 1]->arrived_ns));
      found.thinks_ns.push_back(std::max<int64_t>(0, arrived_ns - time.at(own[i - 1]->answered_ns)));
    }
  }
  const double each = static_cast<double>(requests.all.size()) / static_cast<double>(by_connection.size());
  // Those that only served the warm-up came and went, too.
  const size_t connections = std::max<size_t>(by_connection.size(), requests.connections);
  const bool come_and_go = connections >= kComeAndGo * connections_in_use(by_connection);
  if (requests.by_task || each < kFewRequests || come_and_go) {
    found.open = busy.mean < kNearlyAll * busy.most || busy.most < 2;
    found.clients = std::max(1u, busy.most);
    found.thinks_ns.clear();
  } else {
    found.clients = connections_in_use(by_connection);
    const bool mostly_think = busy.mean < kFewUnderWay * found.clients;
    const bool many_are_free = busy.mean < kHalf * found.clients;
    found.open = mostly_think || variance(found.thinks_ns) > variance(between_ns) ||
                 (many_are_free && come_regardless(by_connection, found.thinks_ns));
  }
  std::ranges::sort(found.thinks_ns);
  std::ranges::sort(gaps_ns);
  const double mean_ns = found.per_second > 0 ? 1e9 / found.per_second : 0;
  for (const int64_t ns : gaps_ns) found.gaps.push_back(mean_ns > 0 ? static_cast<double>(ns) / mean_ns : 1);
  found.poisson = may_be_poisson(found.gaps);
  return found;
}

}  // namespace contrafact::analysis
