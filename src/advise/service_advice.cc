#include "advise/service_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "advise/service_worth.h"
#include "improve/kind.h"
#include "improve/kinds/kinds.h"
#include "model/pool_capacity.h"
#include "table/value_text.h"
#include "whatif/load_templates.h"
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
  Worth worth;
  std::string curve = {};
};

// Changes made together.
struct Made {
  std::vector<Tried> members;  // their worths: with them and those before them
  Worth worth = {};
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
    if (base::Status status = find_hanging_load(); !status) return status.error();
    base::Result<WorthMeter> meter =
        WorthMeter::make(service_, pricer_, {options_.objective, options_.load}, found_.before, found_.load_before);
    if (!meter) return meter.error();
    meter_.emplace(*std::move(meter));
    found_.per_second = meter_->per_second();
    const Made nothing{.members = {}, .worth = meter_->recorded(), .clients = meter_->clients()};
    each_alone(nothing);
    Made best = grown(nothing);
    if (!together_.empty()) {
      Made bundle = grown(bundled(nothing));
      if (bundle.worth.exceeds(best.worth, kTellableRate)) best = std::move(bundle);
    }
    drop_useless(best);
    reduce(best);
    tighten(best);
    if (base::Status status = judge(best); !status) return status.error();
    if (base::Status status = add_cores(nothing, best); !status) return status.error();
    return std::move(found_);
  }

 private:
  // With the change beside those made already; in place of another size of the same pool.
  std::optional<Worth> worth_with(const Made& made, const Candidate& candidate) const {
    std::vector<Improvement> all;
    for (const Tried& member : made.members) {
      if (!is_size(candidate) || !is_same(member.candidate, candidate)) all.push_back(member.candidate.improvement);
    }
    all.push_back(candidate.improvement);
    return meter_->worth_of(all, made.clients);
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

  // From which load on the recorded program hangs, if it does under the load that is asked for.
  base::Status find_hanging_load() {
    if (!found_.load_before.stuck) return {};
    base::Result<LoadPoint> least = service_.least_hanging_load({}, options_.load);
    if (!least) return least.error();
    found_.load_hangs = *std::move(least);
    if (found_.before.hangs) return {};
    // It hangs with more clients than saturate it.
    base::Result<std::optional<LoadPoint>> hangs = service_.hangs_from({}, kClientsMost);
    if (!hangs) return hangs.error();
    found_.before.hangs = *std::move(hangs);
    return {};
  }

  // Simulates each change alone.
  void each_alone(const Made& nothing) {
    for (const Candidate& candidate : candidates_) {
      if (const std::optional<Worth> worth = worth_with(nothing, candidate)) alone_.push_back({candidate, *worth});
    }
    if (std::optional<Tried> size = sized(found_.before.limit, nothing)) alone_.push_back(*std::move(size));
    if (!found_.before.hangs || found_.before.limit.starves) return;
    // It hangs with more clients than saturate it: what limits it is not what makes it hang.
    const base::Result<ServiceLimit> starving = service_.starving_pool({}, found_.before);
    if (!starving) return;
    if (std::optional<Tried> size = sized(*starving, nothing)) alone_.push_back(*std::move(size));
  }

  // A change of the size of what limits; none: it has none that a program could set.
  std::optional<Candidate> size_of(const ServiceLimit& limit) const {
    if (limit.is_estimated) return std::nullopt;
    const bool is_pool = limit.kind == ServiceLimit::Kind::pool || limit.kind == ServiceLimit::Kind::permits;
    const std::string threads = service_.drawn().threads_of(limit.id);
    const bool is_own = (is_pool || limit.kind == ServiceLimit::Kind::thread) && !threads.empty();
    if (!is_own && (!is_pool || limit.id >= pricer_.trace().pools.size())) return std::nullopt;
    const whatif::OwnResource* resource = service_.drawn().resource_of(limit.id);
    Candidate candidate;
    if (!is_own) candidate.pool = model::PoolId(limit.id);
    if (resource != nullptr) candidate.waited_at = resource->taken_at;
    candidate.improvement = {.optimisation = improve::kinds::pool_size,
                             .pool = candidate.pool,
                             .threads = threads,
                             .is_resource = resource != nullptr,
                             .size_before = service_.drawn().pool_size(limit.id)};
    return candidate;
  }

  // By size, the least first.
  using Curve = std::vector<std::pair<uint32_t, Worth>>;

  // Of growing sizes, as far as they help.
  Curve curve_of(Candidate candidate, uint32_t size_now, const Made& made) const {
    Curve curve;
    Worth most = made.worth;
    for (const double factor : kSizeFactors) {
      const auto size = std::max(size_now + 1, static_cast<uint32_t>(size_now * factor));
      if (!curve.empty() && curve.back().first >= size) continue;
      candidate.improvement.size_after = size;
      const std::optional<Worth> worth = worth_with(made, candidate);
      if (!worth) break;
      curve.emplace_back(size, *worth);
      const bool hangs = worth->runs == Worth::Runs::as_recorded;
      if (!hangs && !worth->exceeds(most, kTie) && curve.size() > 2) break;
      if (*worth > most) most = *worth;
    }
    return curve;
  }

  // The smallest size that is worth about as much as any.
  std::optional<Tried> sized(const ServiceLimit& limit, const Made& made) const {
    std::optional<Candidate> candidate = size_of(limit);
    if (!candidate) return std::nullopt;
    const Curve curve = curve_of(*candidate, limit.size, made);
    Worth most = made.worth;
    for (const auto& [size, worth] : curve) most = std::max(most, worth);
    const auto best = std::ranges::find_if(curve, [&](const auto& point) { return !most.exceeds(point.second, kTie); });
    if (best == curve.end() || !best->second.exceeds(made.worth, kTellableRate)) return std::nullopt;
    candidate->improvement.size_after = best->first;
    return Tried{*candidate, best->second, words_of(curve)};
  }

  std::string words_of(const Curve& curve) const {
    std::string words;
    for (const auto& [size, worth] : curve) {
      const bool hangs = worth.runs == Worth::Runs::as_recorded;
      words += fmt::format("{}{}: {}", words.empty() ? "" : ", ", size,
                           hangs                                         ? "stands still"
                           : options_.objective == ServiceObjective::p99 ? table::duration_text(1e9 / worth.value)
                                                                         : table::number_text(worth.value) + "/s");
    }
    return words;
  }

  // Of a program that hangs with so many clients, what limits it with fewer.
  base::Result<ServiceLimit> limit_now(const Made& made) const {
    if (made.members.empty()) return found_.before.limit;
    const base::Result<Variant> variant = pricer_.variant(made.improvements());
    if (!variant) return variant.error();
    if (made.worth.runs != Worth::Runs::as_recorded) return service_.limit_of(*variant, made.clients);
    const base::Result<Saturation> saturation = service_.saturation(*variant, true);
    if (!saturation) return saturation.error();
    return saturation->limit;
  }

  // The faster program needs more clients to be saturated.
  void set_clients(Made& made) const {
    const double recorded = meter_->recorded().value;
    if (options_.objective != ServiceObjective::throughput || recorded <= 0) return;
    const double clients = meter_->clients() * made.worth.value / recorded;
    made.clients = std::max(made.clients, static_cast<uint32_t>(std::min<double>(kClientsMost, clients)));
  }

  // Each change that is not made, and the size of what limits, beside those that are.
  std::vector<Tried> tried_beside(const Made& made, const ServiceLimit& limit) const {
    std::vector<Tried> tried;
    for (const Candidate& candidate : candidates_) {
      if (std::ranges::any_of(made.members, [&](const Tried& one) { return is_same(one.candidate, candidate); }))
        continue;
      if (const std::optional<Worth> worth = worth_with(made, candidate)) tried.push_back({candidate, *worth});
    }
    if (std::optional<Tried> size = sized(limit, made)) tried.push_back(*std::move(size));
    return tried;
  }

  // Adds, step by step, the change that is worth most.
  Made grown(Made made) const {
    for (size_t step = 0; step < options_.steps_max; ++step) {
      const base::Result<ServiceLimit> limit = limit_now(made);
      if (!limit) break;
      const bool by_cores = limit->kind == ServiceLimit::Kind::cores && made.worth.runs == Worth::Runs::always;
      std::vector<Tried> tried;
      if (made.members.empty()) {
        tried = alone_;
      } else if (!by_cores || options_.objective == ServiceObjective::p99) {
        tried = tried_beside(made, *limit);
      }
      Worth most{0, Worth::Runs::as_recorded};
      for (const Tried& one : tried) most = std::max(most, one.worth);
      if (!most.exceeds(made.worth, kTellableRate)) {
        if (by_cores || !enlarge_together(made)) break;
        continue;
      }
      std::erase_if(tried, [&](const Tried& one) { return most.exceeds(one.worth, kTie); });
      Tried chosen = *std::ranges::min_element(tried, {}, [](const Tried& one) { return work_of(one.candidate); });
      std::erase_if(made.members, [&](const Tried& one) { return is_same(one.candidate, chosen.candidate); });
      made.worth = chosen.worth;
      set_clients(made);
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
      return meter_->worth_of(all, made.clients);
    };
    std::vector<Candidate> sizes = all_sizes(made, kLarge);
    std::optional<Worth> worth = with(sizes);
    if (sizes.size() < 2 || !worth || !worth->exceeds(made.worth, kTellableRate)) return false;
    for (size_t i = sizes.size(); i-- > 0;) {
      std::vector<Candidate> others = sizes;
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      const std::optional<Worth> less = with(others);
      if (less && !worth->exceeds(*less, kTie)) sizes = std::move(others), worth = less;
    }
    for (Candidate& size : sizes) {
      const uint32_t large = size.improvement.size_after;
      for (const double factor : kSizeFactors) {
        size.improvement.size_after = static_cast<uint32_t>(large / kLarge * factor);
        const std::optional<Worth> less = size.improvement.size_after < large ? with(sizes) : worth;
        if (!less || worth->exceeds(*less, kTie)) continue;
        worth = less;
        break;
      }
    }
    for (const Candidate& size : sizes) {
      std::erase_if(made.members, [&](const Tried& one) { return is_same(one.candidate, size); });
      made.members.push_back({size, *worth});
    }
    made.worth = *worth;
    set_clients(made);
    return true;
  }

  // Each pool of the trace, `times` as large as it is now.
  std::vector<Candidate> all_sizes(const Made& made, uint32_t times) const {
    std::vector<Candidate> sizes;
    for (uint32_t pool = 0; pool < pricer_.trace().pools.size(); ++pool) {
      const uint32_t before = service_.drawn().pool_size(pool);
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
                          .size_after = times * now};
      sizes.push_back(std::move(size));
    }
    return sizes;
  }

  // All that make the run need fewer threads, together: none of them may help by itself.
  Made bundled(Made made) const {
    for (const Candidate& candidate : together_) {
      if (const std::optional<Worth> worth = worth_with(made, candidate)) {
        made.members.push_back({candidate, *worth});
        made.worth = *worth;
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
      const std::optional<Worth> worth = meter_->worth_of(others, made.clients);
      goes[i] = worth && !made.worth.exceeds(*worth, kNothing);
      if (goes[i]) made.worth = std::max(made.worth, *worth);
    }
    for (size_t i = made.members.size(); i-- > 0;) {
      if (goes[i]) made.members.erase(made.members.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  // The member without which the program is best, and how good it is; none: it hangs without any of them.
  std::optional<std::pair<size_t, Worth>> least_missed(const Made& made) const {
    std::optional<std::pair<size_t, Worth>> least;
    for (size_t i = 0; i < made.members.size(); ++i) {
      std::vector<Improvement> others = made.improvements();
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      const std::optional<Worth> worth = meter_->worth_of(others, made.clients);
      if (worth && (!least || *worth > least->second)) least = {i, *worth};
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
      const base::Result<ServiceLimit> limit = limit_now(made);
      if (!limit) return;
      std::optional<Tried> size = sized(*limit, made);
      if (!size) return;
      Made with = made;
      std::erase_if(with.members, [&](const Tried& one) { return is_same(one.candidate, size->candidate); });
      with.worth = size->worth;
      with.members.push_back(*std::move(size));
      if (with.members.size() > options_.changes_max) {
        const auto least = least_missed(with);
        if (!least || !least->second.exceeds(made.worth, kTellableRate)) return;
        with.members.erase(with.members.begin() + static_cast<ptrdiff_t>(least->first));
        with.worth = least->second;
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
        if (least && (!found || !found->second.exceeds(least->second, kTie))) break;
        if (!found) continue;
        least = found;
        made = *smaller;
      }
      if (!least) least = {made.members.size() - 1, made.worth};
      made.members.erase(made.members.begin() + static_cast<ptrdiff_t>(least->first));
      made.worth = least->second;
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
        const std::optional<Worth> worth = meter_->worth_of(made.improvements(), made.clients);
        if (worth && !made.worth.exceeds(*worth, kTie)) break;
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
    for (size_t i = 0; i < best.members.size(); ++i) {
      base::Result<ServiceChange> change = member(best, i);
      if (!change) return change.error();
      found_.best.push_back(*std::move(change));
    }
    std::ranges::stable_sort(found_.best, [](const ServiceChange& x, const ServiceChange& y) {
      return x.is_needed != y.is_needed ? x.is_needed : x.added > y.added;
    });
    std::ranges::stable_sort(alone_, [](const Tried& x, const Tried& y) { return x.worth > y.worth; });
    for (const Tried& one : alone_) {
      const bool is_made = std::ranges::any_of(
          best.members, [&](const Tried& member) { return is_same(member.candidate, one.candidate); });
      if (is_made || !one.worth.exceeds(meter_->recorded(), kTellableRate)) continue;
      base::Result<ServiceChange> change = shown(one);
      if (!change) return change.error();
      found_.others.push_back(*std::move(change));
    }
    return {};
  }

  // A member adds as much as is lost without it.
  base::Result<ServiceChange> member(const Made& best, size_t index) const {
    std::vector<Improvement> others = best.improvements();
    others.erase(others.begin() + static_cast<ptrdiff_t>(index));
    const std::optional<Worth> without = meter_->worth_of(others, best.clients);
    base::Result<ServiceChange> change = shown(best.members[index]);
    if (!change) return change;
    change->is_needed = !without || without->runs < best.worth.runs;
    if (without && without->value > 0) change->added = best.worth.value / without->value - 1;
    return change;
  }

  // What twice the cores would give, by themselves and with the best combination, where they limit one of the two programs.
  base::Status add_cores(const Made& nothing, const Made& best) {
    const auto by_cores = [](const Saturation& one) { return one.limit.kind == ServiceLimit::Kind::cores; };
    const uint32_t cores = service_.cores();
    if (cores == 0 || (!by_cores(found_.before) && !by_cores(found_.after))) return {};
    Candidate candidate;
    candidate.improvement = {.optimisation = improve::kinds::cores, .size_before = cores, .size_after = 2 * cores};
    const Made& made = by_cores(found_.after) ? best : nothing;
    const std::optional<Worth> worth = worth_with(made, candidate);
    if (!worth || !worth->exceeds(made.worth, kTellableRate)) return {};
    base::Result<ServiceChange> change = shown({candidate, *worth, words_of(curve_of(candidate, cores, made))});
    if (!change) return change.error();
    if (!best.members.empty()) {
      const std::optional<Worth> with = worth_with(best, candidate);
      if (with && with->runs == best.worth.runs && best.worth.value > 0)
        change->added = with->value / best.worth.value - 1;
    }
    found_.others.push_back(*std::move(change));
    return {};
  }

  // The change by itself.
  base::Result<ServiceChange> shown(const Tried& one) const {
    ServiceChange change{.candidate = one.candidate, .at_load = {}, .curve = one.curve};
    const base::Result<Variant> variant = pricer_.variant(std::span(&one.candidate.improvement, 1));
    if (!variant) return variant.error();
    const base::Result<double> rate = meter_->per_second(*variant);
    if (!rate) return rate.error();
    change.per_second = *rate;
    base::Result<LoadPoint> point = service_.at_load(*variant, options_.load);
    if (!point) return point.error();
    change.at_load = *std::move(point);
    if (base::Status status = find_hang(*variant, change); !status) return status.error();
    return change;
  }

  // With how many clients the changed program hangs, if the recorded one does. A pool that is larger hangs with as many as it has workers.
  base::Status find_hang(const Variant& variant, ServiceChange& change) const {
    if (!found_.before.hangs) return {};
    const uint32_t least = found_.before.hangs->clients, size = change.candidate.improvement.size_after;
    const uint32_t most = std::min(kClientsMost, std::max({kManyTimesHanging * least, 2 * size, meter_->clients()}));
    const base::Result<std::optional<LoadPoint>> hangs = service_.hangs_from(variant, most);
    if (!hangs) return hangs.error();
    if (*hangs) change.hangs_with = (*hangs)->clients;
    return {};
  }

  const Service& service_;
  const Pricer& pricer_;
  const std::vector<Candidate>& together_;
  const ServiceAdviceOptions options_;
  std::vector<Candidate> candidates_;
  ServiceAdvice found_;
  std::optional<WorthMeter> meter_;
  std::vector<Tried> alone_;
};

}  // namespace

bool ServiceChange::is_of_machine() const {
  return whatif::target_of(candidate.improvement.optimisation) == whatif::Target::machine;
}

std::vector<size_t> ServiceAdvice::hang_removed_by() const {
  std::vector<size_t> rows;
  if (!before.hangs) return rows;
  each_row([&](size_t rank, const ServiceChange& change) {
    if (!change.hangs() && !change.hangs_with) rows.push_back(rank);
  });
  return rows;
}

base::Result<ServiceAdvice> advise_service(const Service& service, const Pricer& pricer,
                                           const ServiceCandidates& candidates, const ServiceAdviceOptions& options) {
  return ServiceAdviser(service, pricer, candidates, options).run();
}

}  // namespace contrafact::advise
