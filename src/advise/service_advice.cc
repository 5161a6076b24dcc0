#include "advise/service_advice.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "advise/service_gain.h"
#include "advise/service_worth.h"
#include "improve/kinds/kinds.h"

namespace contrafact::advise {
namespace {

using improve::Candidate;
using whatif::Improvement;
using whatif::Variant;

double share_of(const std::optional<Gain>& gain) {
  return gain ? gain->share : 0;
}

class ServiceAdviser {
 public:
  ServiceAdviser(const Service& service, const Pricer& pricer, const ServiceCandidates& candidates,
                 const ServiceAdviceOptions& options)
      : service_(service), pricer_(pricer), candidates_(candidates), options_(options) {
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
    search_.emplace(service_, pricer_, *meter_, found_.before, candidates_, options_);
    const std::vector<Tried> alone = search_->each_alone();
    const Made best = search_->best(alone);
    if (base::Status status = judge(best); !status) return status.error();
    if (base::Status status = add_others(best, alone); !status) return status.error();
    if (base::Status status = add_cores(best); !status) return status.error();
    return std::move(found_);
  }

 private:
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

  // The best combination, and its members.
  base::Status judge(const Made& best) {
    const base::Result<Variant> variant = pricer_.variant(best.improvements());
    if (!variant) return variant.error();
    base::Result<Saturation> after = service_.saturation(*variant, true);
    if (!after) return after.error();
    found_.after = *std::move(after);
    if (meter_->clients() > 0) found_.clients_ratio = static_cast<double>(best.clients) / meter_->clients();
    if (base::Status status = points(*variant, found_.recorded_after, found_.load_after); !status) return status;
    for (const Tried& member : best.members) {
      base::Result<ServiceChange> change = shown(member);
      if (!change) return change.error();
      found_.best.push_back(*std::move(change));
    }
    std::ranges::stable_sort(found_.best, [](const ServiceChange& x, const ServiceChange& y) {
      return x.is_needed != y.is_needed ? x.is_needed : share_of(x.adds) > share_of(y.adds);
    });
    return {};
  }

  // The changes that gain by themselves but are no part of the combination.
  base::Status add_others(const Made& best, std::vector<Tried> alone) {
    std::ranges::stable_sort(alone, [](const Tried& x, const Tried& y) { return x.worth > y.worth; });
    for (const Tried& one : alone) {
      const bool is_made = std::ranges::any_of(
          best.members, [&](const Tried& member) { return is_same(member.candidate, one.candidate); });
      if (is_made || !one.worth.exceeds(meter_->recorded(), kTellableRate)) continue;
      base::Result<ServiceChange> change = shown(one);
      if (!change) return change.error();
      if (is_gain(one, *change)) found_.others.push_back(*std::move(change));
    }
    return {};
  }

  // Whether it is one by all seeds, too; or lets the program run.
  bool is_gain(const Tried& one, const ServiceChange& change) const {
    if (one.worth.runs != meter_->recorded().runs) return true;
    const std::optional<Gain> gain =
        options_.objective == ServiceObjective::p99 ? meter_->gain(found_.load_before, change.at_load) : change.gain;
    return !gain || is_sure(*gain);
  }

  // What twice the cores would give, by themselves and with the best combination, where they limit one of the two programs.
  base::Status add_cores(const Made& best) {
    const auto by_cores = [](const Saturation& one) { return one.limit.kind == ServiceLimit::Kind::cores; };
    const uint32_t cores = service_.cores();
    if (cores == 0 || (!by_cores(found_.before) && !by_cores(found_.after))) return {};
    Candidate candidate;
    candidate.improvement = {.optimisation = improve::kinds::cores, .size_before = cores, .size_after = 2 * cores};
    const Made made = by_cores(found_.after) ? best : search_->nothing();
    const std::optional<Worth> worth = search_->worth_with(made, candidate);
    if (!worth || !worth->exceeds(made.worth, kTellableRate)) return {};
    const std::string curve = search_->words_of(search_->curve_of(candidate, cores, made));
    const std::optional<Gain> adds = best.members.empty() ? std::nullopt : added_to(best, candidate);
    base::Result<ServiceChange> change = shown({.candidate = candidate, .worth = *worth, .curve = curve, .adds = adds});
    if (!change) return change.error();
    const std::optional<Gain>& gain = by_cores(found_.after) && !best.members.empty() ? adds : change->gain;
    if (!gain || is_sure(*gain) || worth->runs != made.worth.runs) found_.others.push_back(*std::move(change));
    return {};
  }

  // How much better the combination is with one more.
  std::optional<Gain> added_to(const Made& best, const Candidate& candidate) const {
    std::vector<Improvement> all = best.improvements();
    const std::optional<LoadPoint> without = meter_->measured(all, best.clients);
    all.push_back(candidate.improvement);
    const std::optional<LoadPoint> with = meter_->measured(all, best.clients);
    return without && with ? meter_->gain(*without, *with) : std::nullopt;
  }

  // The change by itself.
  base::Result<ServiceChange> shown(const Tried& one) const {
    ServiceChange change{.candidate = one.candidate,
                         .gain = {},
                         .at_load = {},
                         .adds = one.adds,
                         .is_needed = one.is_needed,
                         .curve = one.curve};
    const base::Result<Variant> variant = pricer_.variant(std::span(&one.candidate.improvement, 1));
    if (!variant) return variant.error();
    const base::Result<LoadPoint> rate = meter_->rate(*variant);
    if (!rate) return rate.error();
    change.per_second = rate->stuck ? 0 : rate->per_second;
    change.gain = meter_->rate_gain(*rate);
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
  const ServiceCandidates& candidates_;
  const ServiceAdviceOptions options_;
  ServiceAdvice found_;
  std::optional<WorthMeter> meter_;
  std::optional<CombinationSearch> search_;
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
