#include "advise/service_combination.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "advise/service_gain.h"
#include "improve/kind.h"
#include "improve/kinds/kinds.h"
#include "model/pool_capacity.h"
#include "table/value_text.h"
#include "whatif/load_templates.h"
#include "whatif/own_resources.h"

namespace contrafact::advise {

using improve::Candidate;
using whatif::Improvement;
using whatif::Variant;

namespace {

constexpr double kSizeFactors[] = {1.25, 1.5, 2, 3, 4, 6, 8};
constexpr double kTie = 0.02;  // of throughputs: the smaller size, or the smaller change, is enough

bool is_size(const Candidate& candidate) {
  return candidate.improvement.optimisation == improve::kinds::pool_size;
}

int work_of(const Candidate& candidate) {
  return static_cast<int>(improve::kind_of(candidate.improvement).effort(candidate)) * 100 +
         improve::kind_of(candidate.improvement).steps();
}

}  // namespace

// Whether both are the same change, of whatever size.
bool is_same(const Candidate& x, const Candidate& y) {
  const Improvement &one = x.improvement, &other = y.improvement;
  return one.optimisation == other.optimisation && one.pool == other.pool && one.threads == other.threads &&
         one.tasks == other.tasks && one.sections == other.sections && one.before == other.before;
}

std::vector<Improvement> Made::improvements() const {
  std::vector<Improvement> all;
  for (const Tried& member : members) all.push_back(member.candidate.improvement);
  return all;
}

std::vector<Improvement> Made::without(size_t member) const {
  std::vector<Improvement> others = improvements();
  others.erase(others.begin() + static_cast<ptrdiff_t>(member));
  return others;
}

CombinationSearch::CombinationSearch(const Service& service, const Pricer& pricer, const WorthMeter& meter,
                                     const Saturation& before, const ServiceCandidates& candidates,
                                     const ServiceAdviceOptions& options)
    : service_(service),
      pricer_(pricer),
      meter_(meter),
      before_(before),
      together_(candidates.together),
      options_(options) {
  for (const Candidate& candidate : candidates.each) {
    const whatif::Target target = whatif::target_of(candidate.improvement.optimisation);
    if (target != whatif::Target::tasks && target != whatif::Target::sections && target != whatif::Target::moves)
      continue;
    if (candidates_.size() < options.candidates_max) candidates_.push_back(candidate);
  }
}

Made CombinationSearch::nothing() const {
  return {.members = {}, .worth = meter_.recorded(), .clients = meter_.clients()};
}

std::vector<Tried> CombinationSearch::each_alone() const {
  const Made none = nothing();
  std::vector<Tried> alone;
  for (const Candidate& candidate : candidates_) {
    if (const std::optional<Worth> worth = worth_with(none, candidate)) alone.push_back({candidate, *worth});
  }
  if (std::optional<Tried> size = sized(before_.limit, none)) alone.push_back(*std::move(size));
  if (!before_.hangs || before_.limit.starves) return alone;
  // It hangs with more clients than saturate it: what limits it is not what makes it hang.
  const base::Result<ServiceLimit> starving = service_.starving_pool({}, before_);
  if (!starving) return alone;
  if (std::optional<Tried> size = sized(*starving, none)) alone.push_back(*std::move(size));
  return alone;
}

Made CombinationSearch::best(const std::vector<Tried>& alone) const {
  Made best = grown(nothing(), alone);
  if (!together_.empty()) {
    Made bundle = grown(bundled(nothing()), alone);
    if (bundle.worth.exceeds(best.worth, kTellableRate)) best = std::move(bundle);
  }
  drop_useless(best);
  reduce(best);
  tighten(best);
  drop_unsure(best);
  return best;
}

std::optional<Worth> CombinationSearch::worth_with(const Made& made, const Candidate& candidate) const {
  std::vector<Improvement> all;
  for (const Tried& member : made.members) {
    if (!is_size(candidate) || !is_same(member.candidate, candidate)) all.push_back(member.candidate.improvement);
  }
  all.push_back(candidate.improvement);
  return meter_.worth_of(all, made.clients);
}

std::optional<Candidate> CombinationSearch::size_of(const ServiceLimit& limit) const {
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

SizeCurve CombinationSearch::curve_of(Candidate candidate, uint32_t size_now, const Made& made) const {
  SizeCurve curve;
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

std::optional<Tried> CombinationSearch::sized(const ServiceLimit& limit, const Made& made) const {
  std::optional<Candidate> candidate = size_of(limit);
  if (!candidate) return std::nullopt;
  const SizeCurve curve = curve_of(*candidate, limit.size, made);
  Worth most = made.worth;
  for (const auto& [size, worth] : curve) most = std::max(most, worth);
  const auto best = std::ranges::find_if(curve, [&](const auto& point) { return !most.exceeds(point.second, kTie); });
  if (best == curve.end() || !best->second.exceeds(made.worth, kTellableRate)) return std::nullopt;
  candidate->improvement.size_after = best->first;
  return Tried{*candidate, best->second, words_of(curve)};
}

std::string CombinationSearch::words_of(const SizeCurve& curve) const {
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

base::Result<ServiceLimit> CombinationSearch::limit_now(const Made& made) const {
  if (made.members.empty()) return before_.limit;
  const base::Result<Variant> variant = pricer_.variant(made.improvements());
  if (!variant) return variant.error();
  if (made.worth.runs != Worth::Runs::as_recorded) return service_.limit_of(*variant, made.clients);
  const base::Result<Saturation> saturation = service_.saturation(*variant, true);
  if (!saturation) return saturation.error();
  return saturation->limit;
}

void CombinationSearch::set_clients(Made& made) const {
  const double recorded = meter_.recorded().value;
  if (options_.objective != ServiceObjective::throughput || recorded <= 0) return;
  const double clients = meter_.clients() * made.worth.value / recorded;
  made.clients = std::max(made.clients, static_cast<uint32_t>(std::min<double>(kClientsMost, clients)));
}

std::vector<Tried> CombinationSearch::tried_beside(const Made& made, const ServiceLimit& limit) const {
  std::vector<Tried> tried;
  for (const Candidate& candidate : candidates_) {
    if (std::ranges::any_of(made.members, [&](const Tried& one) { return is_same(one.candidate, candidate); }))
      continue;
    if (const std::optional<Worth> worth = worth_with(made, candidate)) tried.push_back({candidate, *worth});
  }
  if (std::optional<Tried> size = sized(limit, made)) tried.push_back(*std::move(size));
  return tried;
}

Made CombinationSearch::grown(Made made, const std::vector<Tried>& alone) const {
  for (size_t step = 0; step < options_.steps_max; ++step) {
    const base::Result<ServiceLimit> limit = limit_now(made);
    if (!limit) break;
    const bool by_cores = limit->kind == ServiceLimit::Kind::cores && made.worth.runs == Worth::Runs::always;
    std::vector<Tried> tried;
    if (made.members.empty()) {
      tried = alone;
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

bool CombinationSearch::enlarge_together(Made& made) const {
  constexpr uint32_t kLarge = 4;
  const auto with = [&](const std::vector<Candidate>& sizes) {
    std::vector<Improvement> all;
    for (const Tried& member : made.members) {
      const auto is_replaced = [&](const Candidate& size) { return is_same(size, member.candidate); };
      if (std::ranges::none_of(sizes, is_replaced)) all.push_back(member.candidate.improvement);
    }
    for (const Candidate& size : sizes) all.push_back(size.improvement);
    return meter_.worth_of(all, made.clients);
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

std::vector<Candidate> CombinationSearch::all_sizes(const Made& made, uint32_t times) const {
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
    size.improvement = {
        .optimisation = improve::kinds::pool_size, .pool = size.pool, .size_before = before, .size_after = times * now};
    sizes.push_back(std::move(size));
  }
  return sizes;
}

Made CombinationSearch::bundled(Made made) const {
  for (const Candidate& candidate : together_) {
    if (const std::optional<Worth> worth = worth_with(made, candidate)) {
      made.members.push_back({candidate, *worth});
      made.worth = *worth;
    }
  }
  return made;
}

void CombinationSearch::drop_useless(Made& made) const {
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
    const std::optional<Worth> worth = meter_.worth_of(others, made.clients);
    goes[i] = worth && !made.worth.exceeds(*worth, kNothing);
    if (goes[i]) made.worth = std::max(made.worth, *worth);
  }
  for (size_t i = made.members.size(); i-- > 0;) {
    if (goes[i]) made.members.erase(made.members.begin() + static_cast<ptrdiff_t>(i));
  }
}

std::optional<std::pair<size_t, Worth>> CombinationSearch::least_missed(const Made& made) const {
  std::optional<std::pair<size_t, Worth>> least;
  for (size_t i = 0; i < made.members.size(); ++i) {
    const std::optional<Worth> worth = meter_.worth_of(made.without(i), made.clients);
    if (worth && (!least || *worth > least->second)) least = {i, *worth};
  }
  return least;
}

std::optional<Made> CombinationSearch::shrunk(const Made& made) {
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

void CombinationSearch::resize(Made& made) const {
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

void CombinationSearch::reduce(Made& made) const {
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

void CombinationSearch::tighten(Made& made) const {
  for (Tried& member : made.members) {
    if (!is_size(member.candidate)) continue;
    Improvement& size = member.candidate.improvement;
    const uint32_t chosen = size.size_after;
    for (const double factor : kSizeFactors) {
      const auto smaller = std::max(size.size_before + 1, static_cast<uint32_t>(size.size_before * factor));
      if (smaller >= chosen) break;
      size.size_after = smaller;
      const std::optional<Worth> worth = meter_.worth_of(made.improvements(), made.clients);
      if (worth && !made.worth.exceeds(*worth, kTie)) break;
      size.size_after = chosen;
    }
    if (size.size_after != chosen) member.curve.clear();  // it was simulated beside other changes
  }
}

void CombinationSearch::find_adds(Made& made) const {
  const std::optional<LoadPoint> with = meter_.measured(made.improvements(), made.clients);
  for (size_t i = 0; i < made.members.size(); ++i) {
    Tried& member = made.members[i];
    const std::vector<Improvement> others = made.without(i);
    const std::optional<Worth> worth = meter_.worth_of(others, made.clients);
    member.is_needed = !worth || worth->runs < made.worth.runs;
    const std::optional<LoadPoint> without = meter_.measured(others, made.clients);
    member.adds = with && without ? meter_.gain(*without, *with) : std::nullopt;
  }
}

void CombinationSearch::drop_unsure(Made& made) const {
  const auto may_go = [](const Tried& one) {
    return !one.is_needed && one.adds && !is_sure(*one.adds) && one.adds->share < kTellableRate;
  };
  for (find_adds(made); std::ranges::any_of(made.members, may_go); find_adds(made)) {
    const auto share = [&](const Tried& one) { return may_go(one) ? one.adds->share : INFINITY; };
    made.members.erase(std::ranges::min_element(made.members, {}, share));
    if (const std::optional<Worth> worth = meter_.worth_of(made.improvements(), made.clients)) made.worth = *worth;
  }
}

}  // namespace contrafact::advise
