#include "advise/service_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "improve/kind.h"
#include "improve/kinds/kinds.h"
#include "model/pool_capacity.h"
#include "table/value_text.h"
#include "whatif/own_resources.h"

namespace contrafact::advise {
namespace {

using improve::Candidate;
using whatif::Improvement;
using whatif::Variant;

constexpr double kSizeFactors[] = {1.25, 1.5, 2, 3, 4, 6, 8};
constexpr double kTie = 0.02;  // of throughputs: the smaller size, or the smaller change, is enough

// A change that was simulated beside others.
struct Tried {
  Candidate candidate;
  double value = 0;
  std::string curve = {};
};

// Changes made together.
struct Made {
  std::vector<Tried> members;  // their values: with them and those before them
  double value = 0;
  uint32_t clients = 0;  // that saturate it
  std::vector<Improvement> improvements() const {
    std::vector<Improvement> all;
    for (const Tried& member : members) all.push_back(member.candidate.improvement);
    return all;
  }
};

bool is_size(const Candidate& candidate) {
  return candidate.improvement.optimisation == improve::kinds::pool_size;
}

// Whether both are the same change, of whatever size.
bool is_same(const Candidate& x, const Candidate& y) {
  const Improvement &one = x.improvement, &other = y.improvement;
  return one.optimisation == other.optimisation && one.pool == other.pool && one.threads == other.threads &&
         one.tasks == other.tasks && one.sections == other.sections && one.before == other.before;
}

int work_of(const Candidate& candidate) {
  return static_cast<int>(improve::kind_of(candidate.improvement).effort(candidate)) * 100 +
         improve::kind_of(candidate.improvement).steps();
}

class ServiceAdviser {
 public:
  ServiceAdviser(const Service& service, const Pricer& pricer, const ServiceCandidates& candidates,
                 const ServiceAdviceOptions& options)
      : service_(service), pricer_(pricer), together_(candidates.together), options_(options) {
    for (const Candidate& candidate : candidates.each) {
      const whatif::Target target = whatif::target_of(candidate.improvement.optimisation);
      if (target != whatif::Target::tasks && target != whatif::Target::sections && target != whatif::Target::moves)
        continue;
      if (candidates_.size() < options.candidates_max) candidates_.push_back(candidate);
    }
    found_.objective = options.objective;
    found_.load = options.load;
  }

  base::Result<ServiceAdvice> run() {
    base::Result<Saturation> before = service_.saturation({}, true);
    if (!before) return before.error();
    found_.before = *std::move(before);
    if (base::Status status = points({}, found_.recorded_before, found_.load_before); !status) return status.error();
    Made nothing{.members = {}, .clients = std::max(4u, 4 * found_.before.point.clients)};
    const std::optional<double> value = value_of(nothing.improvements(), nothing.clients);
    if (!value) return base::Error{"the recorded program cannot be simulated under a load"};
    nothing.value = value_ = *value;
    clients_ = nothing.clients;
    each_alone(nothing);
    Made best = grown(nothing);
    if (!together_.empty()) {
      Made bundle = grown(bundled(nothing));
      if (bundle.value > best.value * (1 + kTellableRate)) best = std::move(bundle);
    }
    drop_useless(best);
    reduce(best);
    tighten(best);
    if (base::Status status = judge(best); !status) return status.error();
    return std::move(found_);
  }

 private:
  // The greater the better. None: the changes exclude each other, or the program hangs.
  std::optional<double> value_of(const std::vector<Improvement>& improvements, uint32_t clients) const {
    const base::Result<Variant> variant = pricer_.variant(improvements);
    if (!variant) return std::nullopt;
    if (options_.objective == ServiceObjective::p99) {
      const base::Result<LoadPoint> point = service_.at_load(*variant, options_.load);
      if (!point || point->stuck || point->p99_ns <= 0) return std::nullopt;
      return 1e9 / static_cast<double>(point->p99_ns);
    }
    const base::Result<double> made = service_.capacity(*variant, clients);
    return made && *made > 0 ? std::optional(*made) : std::nullopt;
  }

  // With the change beside those made already; in place of another size of the same pool.
  std::optional<double> value_with(const Made& made, const Candidate& candidate) const {
    std::vector<Improvement> all;
    for (const Tried& member : made.members) {
      if (!is_size(candidate) || !is_same(member.candidate, candidate)) all.push_back(member.candidate.improvement);
    }
    all.push_back(candidate.improvement);
    return value_of(all, made.clients);
  }

  base::Status points(const Variant& variant, LoadPoint& recorded, LoadPoint& at_load) const {
    base::Result<LoadPoint> one = service_.at_load(variant, 1);
    if (!one) return one.error();
    recorded = *std::move(one);
    at_load = recorded;
    if (options_.load == 1) return {};
    base::Result<LoadPoint> other = service_.at_load(variant, options_.load);
    if (!other) return other.error();
    at_load = *std::move(other);
    return {};
  }

  // Simulates each change alone.
  void each_alone(const Made& nothing) {
    for (const Candidate& candidate : candidates_) {
      if (const std::optional<double> value = value_with(nothing, candidate)) alone_.push_back({candidate, *value});
    }
    if (std::optional<Tried> size = sized(found_.before.limit, nothing)) alone_.push_back(*std::move(size));
  }

  // A change of the size of what limits; none: it has none that a program could set.
  std::optional<Candidate> size_of(const ServiceLimit& limit) const {
    const bool is_pool = limit.kind == ServiceLimit::Kind::pool || limit.kind == ServiceLimit::Kind::permits;
    const std::string threads = service_.simulator().threads_of(limit.id);
    const bool is_own = (is_pool || limit.kind == ServiceLimit::Kind::thread) && !threads.empty();
    if (!is_own && (!is_pool || limit.id >= pricer_.trace().pools.size())) return std::nullopt;
    const whatif::OwnResource* resource = service_.simulator().resource_of(limit.id);
    Candidate candidate;
    if (!is_own) candidate.pool = model::PoolId(limit.id);
    if (resource != nullptr) candidate.waited_at = resource->taken_at;
    candidate.improvement = {.optimisation = improve::kinds::pool_size,
                             .pool = candidate.pool,
                             .threads = threads,
                             .is_resource = resource != nullptr,
                             .size_before = service_.simulator().pool_size(limit.id)};
    return candidate;
  }

  // The smallest size that is worth about as much as any.
  std::optional<Tried> sized(const ServiceLimit& limit, const Made& made) const {
    std::optional<Candidate> sizes = size_of(limit);
    if (!sizes) return std::nullopt;
    Candidate& candidate = *sizes;
    std::vector<std::pair<uint32_t, double>> curve;
    double most = made.value;
    for (const double factor : kSizeFactors) {
      const auto size = std::max(limit.size + 1, static_cast<uint32_t>(limit.size * factor));
      if (!curve.empty() && curve.back().first >= size) continue;
      candidate.improvement.size_after = size;
      const std::optional<double> value = value_with(made, candidate);
      if (!value) break;
      curve.emplace_back(size, *value);
      if (*value <= most * (1 + kTie) && curve.size() > 2) break;
      most = std::max(most, *value);
    }
    const auto best = std::ranges::find_if(curve, [&](const auto& point) { return point.second * (1 + kTie) >= most; });
    if (best == curve.end() || best->second < made.value * (1 + kTellableRate)) return std::nullopt;
    candidate.improvement.size_after = best->first;
    return Tried{candidate, best->second, words_of(curve)};
  }

  std::string words_of(const std::vector<std::pair<uint32_t, double>>& curve) const {
    std::string words;
    for (const auto& [size, value] : curve) {
      words += fmt::format("{}{}: {}", words.empty() ? "" : ", ", size,
                           options_.objective == ServiceObjective::p99 ? table::duration_text(1e9 / value)
                                                                       : table::number_text(value) + "/s");
    }
    return words;
  }

  // Adds, step by step, the change that is worth most.
  Made grown(Made made) const {
    for (size_t step = 0; step < options_.steps_max; ++step) {
      ServiceLimit limit = found_.before.limit;
      if (!made.members.empty()) {
        const base::Result<Variant> variant = pricer_.variant(made.improvements());
        if (!variant) break;
        const base::Result<ServiceLimit> next = service_.limit_of(*variant, made.clients);
        if (!next) break;
        limit = *next;
      }
      std::vector<Tried> tried;
      if (made.members.empty()) {
        tried = alone_;
      } else if (limit.kind != ServiceLimit::Kind::cores || options_.objective == ServiceObjective::p99) {
        for (const Candidate& candidate : candidates_) {
          if (std::ranges::any_of(made.members, [&](const Tried& one) { return is_same(one.candidate, candidate); }))
            continue;
          if (const std::optional<double> value = value_with(made, candidate)) tried.push_back({candidate, *value});
        }
        if (std::optional<Tried> size = sized(limit, made)) tried.push_back(*std::move(size));
      }
      double most = 0;
      for (const Tried& one : tried) most = std::max(most, one.value);
      if (most < made.value * (1 + kTellableRate)) {
        if (limit.kind == ServiceLimit::Kind::cores || !enlarge_together(made)) break;
        continue;
      }
      std::erase_if(tried, [&](const Tried& one) { return one.value * (1 + kTie) < most; });
      Tried chosen = *std::ranges::min_element(tried, {}, [](const Tried& one) { return work_of(one.candidate); });
      std::erase_if(made.members, [&](const Tried& one) { return is_same(one.candidate, chosen.candidate); });
      // The faster program needs more clients to be saturated.
      if (options_.objective == ServiceObjective::throughput)
        made.clients = std::max(made.clients, static_cast<uint32_t>(clients_ * chosen.value / value_));
      made.value = chosen.value;
      made.members.push_back(std::move(chosen));
    }
    return made;
  }

  // Where several pools limit together, no size of one of them helps. Gives those other sizes that have to have them. False:
  // none help.
  bool enlarge_together(Made& made) const {
    constexpr uint32_t kLarge = 4;
    const auto with = [&](const std::vector<Candidate>& sizes) {
      std::vector<Improvement> all;
      for (const Tried& member : made.members) {
        const auto is_replaced = [&](const Candidate& size) { return is_same(size, member.candidate); };
        if (std::ranges::none_of(sizes, is_replaced)) all.push_back(member.candidate.improvement);
      }
      for (const Candidate& size : sizes) all.push_back(size.improvement);
      return value_of(all, made.clients);
    };
    std::vector<Candidate> sizes;
    for (uint32_t pool = 0; pool < pricer_.trace().pools.size(); ++pool) {
      const uint32_t before = service_.simulator().pool_size(pool);
      if (before == 0 || before == model::kUnboundedPool) continue;
      uint32_t now = before;
      for (const Tried& member : made.members) {
        if (is_size(member.candidate) && member.candidate.pool.value == pool)
          now = member.candidate.improvement.size_after;
      }
      Candidate size;
      size.pool = model::PoolId(pool);
      size.improvement = {.optimisation = improve::kinds::pool_size,
                          .pool = size.pool,
                          .size_before = before,
                          .size_after = kLarge * now};
      sizes.push_back(std::move(size));
    }
    std::optional<double> value = with(sizes);
    if (sizes.size() < 2 || !value || *value < made.value * (1 + kTellableRate)) return false;
    for (size_t i = sizes.size(); i-- > 0;) {
      std::vector<Candidate> others = sizes;
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      const std::optional<double> less = with(others);
      if (less && *less * (1 + kTie) >= *value) sizes = std::move(others), value = less;
    }
    for (Candidate& size : sizes) {
      const uint32_t large = size.improvement.size_after;
      for (const double factor : kSizeFactors) {
        size.improvement.size_after = static_cast<uint32_t>(large / kLarge * factor);
        const std::optional<double> less = size.improvement.size_after < large ? with(sizes) : value;
        if (!less || *less * (1 + kTie) < *value) continue;
        value = less;
        break;
      }
    }
    for (const Candidate& size : sizes) {
      std::erase_if(made.members, [&](const Tried& one) { return is_same(one.candidate, size); });
      made.members.push_back({size, *value});
    }
    if (options_.objective == ServiceObjective::throughput)
      made.clients = std::max(made.clients, static_cast<uint32_t>(clients_ * *value / value_));
    made.value = *value;
    return true;
  }

  // All that make the run need fewer threads, together: none of them may help by itself.
  Made bundled(Made made) const {
    for (const Candidate& candidate : together_) {
      if (const std::optional<double> value = value_with(made, candidate)) {
        made.members.push_back({candidate, *value});
        made.value = *value;
      }
    }
    return made;
  }

  // Members without which the program is about as good go, those with the most work first.
  void drop_useless(Made& made) const {
    constexpr double kNothing = 0.005;
    std::vector<size_t> order(made.members.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t x, size_t y) {
      return work_of(made.members[x].candidate) > work_of(made.members[y].candidate);
    });
    std::vector<bool> goes(made.members.size());
    for (const size_t i : order) {
      goes[i] = true;
      std::vector<Improvement> others;
      for (size_t j = 0; j < made.members.size(); ++j) {
        if (!goes[j]) others.push_back(made.members[j].candidate.improvement);
      }
      const std::optional<double> value = value_of(others, made.clients);
      goes[i] = value && *value * (1 + kNothing) >= made.value;
      if (goes[i]) made.value = std::max(made.value, *value);
    }
    for (size_t i = made.members.size(); i-- > 0;) {
      if (goes[i]) made.members.erase(made.members.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  // The member without which the program is best, and that value; none: it hangs without any of them.
  std::optional<std::pair<size_t, double>> least_missed(const Made& made) const {
    std::optional<std::pair<size_t, double>> least;
    for (size_t i = 0; i < made.members.size(); ++i) {
      std::vector<Improvement> others = made.improvements();
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      const std::optional<double> value = value_of(others, made.clients);
      if (value && (!least || *value > least->second)) least = {i, *value};
    }
    return least;
  }

  // The same changes with each size one step smaller, where it is one: none if there is no such step.
  static std::optional<Made> shrunk(const Made& made) {
    Made smaller = made;
    bool shrinks = false;
    for (Tried& member : smaller.members) {
      Improvement& size = member.candidate.improvement;
      if (!is_size(member.candidate)) continue;
      uint32_t next = size.size_before;
      for (const double factor : kSizeFactors) {
        const auto tried = static_cast<uint32_t>(size.size_before * factor);
        if (tried < size.size_after) next = std::max(next, tried);
      }
      if (next <= size.size_before) continue;
      size.size_after = next;
      member.curve.clear();  // it was simulated beside other changes
      shrinks = true;
    }
    return shrinks ? std::optional(std::move(smaller)) : std::nullopt;
  }

  // Gives the pool that limits the program then another size, in place of a change that is missed less if need be.
  void resize(Made& made) const {
    for (size_t step = 0; step < options_.steps_max; ++step) {
      const base::Result<Variant> variant = pricer_.variant(made.improvements());
      if (!variant) return;
      const base::Result<ServiceLimit> limit = service_.limit_of(*variant, made.clients);
      if (!limit) return;
      std::optional<Tried> size = sized(*limit, made);
      if (!size) return;
      Made with = made;
      std::erase_if(with.members, [&](const Tried& one) { return is_same(one.candidate, size->candidate); });
      with.value = size->value;
      with.members.push_back(*std::move(size));
      if (with.members.size() > options_.changes_max) {
        const auto least = least_missed(with);
        if (!least || least->second < made.value * (1 + kTellableRate)) return;
        with.members.erase(with.members.begin() + static_cast<ptrdiff_t>(least->first));
        with.value = least->second;
      }
      made = std::move(with);
    }
  }

  // Keeps changes_max of the members.
  void reduce(Made& made) const {
    if (made.members.size() <= options_.changes_max) return;
    while (made.members.size() > options_.changes_max) {
      auto least = least_missed(made);
      for (std::optional<Made> smaller = shrunk(made); smaller; smaller = shrunk(*smaller)) {
        const auto found = least_missed(*smaller);
        if (least && (!found || found->second < least->second * (1 + kTie))) break;
        if (!found) continue;
        least = found;
        made = *smaller;
      }
      if (!least) least = {made.members.size() - 1, made.value};
      made.members.erase(made.members.begin() + static_cast<ptrdiff_t>(least->first));
      made.value = least->second;
    }
    resize(made);
  }

  // Each size is the smallest that is worth about as much, beside the other members.
  void tighten(Made& made) const {
    for (Tried& member : made.members) {
      if (!is_size(member.candidate)) continue;
      Improvement& size = member.candidate.improvement;
      const uint32_t chosen = size.size_after;
      for (const double factor : kSizeFactors) {
        const auto smaller = std::max(size.size_before + 1, static_cast<uint32_t>(size.size_before * factor));
        if (smaller >= chosen) break;
        size.size_after = smaller;
        const std::optional<double> value = value_of(made.improvements(), made.clients);
        if (value && *value * (1 + kTie) >= made.value) break;
        size.size_after = chosen;
      }
      if (size.size_after != chosen) member.curve.clear();  // it was simulated beside other changes
    }
  }

  base::Status judge(const Made& best) {
    const base::Result<Variant> variant = pricer_.variant(best.improvements());
    if (!variant) return variant.error();
    base::Result<Saturation> after = service_.saturation(*variant, true);
    if (!after) return after.error();
    found_.after = *std::move(after);
    if (base::Status status = points(*variant, found_.recorded_after, found_.load_after); !status) return status;
    // A member adds as much as is lost without it.
    for (size_t i = 0; i < best.members.size(); ++i) {
      std::vector<Improvement> others = best.improvements();
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      const std::optional<double> value = value_of(others, best.clients);
      base::Result<ServiceChange> change = shown(best.members[i]);
      if (!change) return change.error();
      change->added = value ? best.value / *value - 1 : 0;
      found_.best.push_back(*std::move(change));
    }
    std::ranges::stable_sort(found_.best,
                             [](const ServiceChange& x, const ServiceChange& y) { return x.added > y.added; });
    std::ranges::stable_sort(alone_, [](const Tried& x, const Tried& y) { return x.value > y.value; });
    for (const Tried& one : alone_) {
      const bool is_made = std::ranges::any_of(
          best.members, [&](const Tried& member) { return is_same(member.candidate, one.candidate); });
      if (is_made || one.value < value_ * (1 + kTellableRate)) continue;
      base::Result<ServiceChange> change = shown(one);
      if (!change) return change.error();
      found_.others.push_back(*std::move(change));
    }
    return {};
  }

  // The change by itself.
  base::Result<ServiceChange> shown(const Tried& one) const {
    ServiceChange change{.candidate = one.candidate, .at_load = {}, .curve = one.curve};
    const base::Result<Variant> variant = pricer_.variant(std::span(&one.candidate.improvement, 1));
    if (!variant) return variant.error();
    const base::Result<double> rate = service_.capacity(*variant, clients_);
    if (!rate) return rate.error();
    change.per_second = *rate;
    base::Result<LoadPoint> point = service_.at_load(*variant, options_.load);
    if (!point) return point.error();
    change.at_load = *std::move(point);
    return change;
  }

  const Service& service_;
  const Pricer& pricer_;
  const std::vector<Candidate>& together_;
  const ServiceAdviceOptions options_;
  std::vector<Candidate> candidates_;
  ServiceAdvice found_;
  uint32_t clients_ = 0;  // that saturate the recorded program
  double value_ = 0;      // of it
  std::vector<Tried> alone_;
};

}  // namespace

base::Result<ServiceAdvice> advise_service(const Service& service, const Pricer& pricer,
                                           const ServiceCandidates& candidates, const ServiceAdviceOptions& options) {
  return ServiceAdviser(service, pricer, candidates, options).run();
}

}  // namespace contrafact::advise
