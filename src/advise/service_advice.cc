#include "advise/service_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "improve/kind.h"
#include "improve/kinds/kinds.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

using improve::Candidate;
using whatif::Improvement;
using whatif::Variant;

constexpr double kSizeFactors[] = {1.25, 1.5, 2, 3, 4, 6, 8};
constexpr double kTie = 0.02;  // of throughputs: the smaller size, or the smaller change, is enough

class ServiceAdviser {
 public:
  ServiceAdviser(const Service& service, const Pricer& pricer, const std::vector<Candidate>& candidates,
                 const ServiceAdviceOptions& options)
      : service_(service), pricer_(pricer), options_(options) {
    for (const Candidate& candidate : candidates) {
      const whatif::Target target = whatif::target_of(candidate.improvement.optimisation);
      if (target != whatif::Target::tasks && target != whatif::Target::sections) continue;
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
    clients_ = std::max(4u, 4 * found_.before.point.clients);
    const base::Result<double> base = service_.capacity({}, clients_);
    if (!base) return base.error();
    base_ = *base;
    found_.limits.push_back(found_.before.limit);
    if (base::Status status = each_alone(); !status) return status.error();
    if (base::Status status = combine(); !status) return status.error();
    if (base::Status status = judge_combination(); !status) return status.error();
    return std::move(found_);
  }

 private:
  struct Tried {
    Candidate candidate;
    double per_second = 0;
    std::string curve;
  };

  static int work_of(const Candidate& candidate) {
    return static_cast<int>(improve::kind_of(candidate.improvement).effort(candidate)) * 100 +
           improve::kind_of(candidate.improvement).steps();
  }

  std::optional<Variant> variant_with(const Candidate& candidate) const {
    std::vector<Improvement> all = made_;
    all.push_back(candidate.improvement);
    base::Result<Variant> variant = pricer_.variant(all);
    if (!variant) return std::nullopt;
    return *std::move(variant);
  }

  // None: it cannot be made together with what is made already.
  std::optional<double> capacity_with(const Candidate& candidate) const {
    const std::optional<Variant> variant = variant_with(candidate);
    if (!variant) return std::nullopt;
    const base::Result<double> made = service_.capacity(*variant, clients_);
    return made ? std::optional(*made) : std::nullopt;
  }

  base::Status points(const Variant& variant, LoadPoint& recorded, LoadPoint& at_load) const {
    base::Result<LoadPoint> one = service_.at_load(variant, 1);
    if (!one) return one.error();
    recorded = *std::move(one);
    if (options_.load == 1) {
      at_load = recorded;
      return {};
    }
    base::Result<LoadPoint> other = service_.at_load(variant, options_.load);
    if (!other) return other.error();
    at_load = *std::move(other);
    return {};
  }

  // What each change gains by itself.
  base::Status each_alone() {
    for (const Candidate& candidate : candidates_) {
      const std::optional<double> made = capacity_with(candidate);
      if (made) alone_.push_back({candidate, *made, ""});
    }
    if (std::optional<Tried> size = sized(found_.before.limit, base_)) alone_.push_back(*std::move(size));
    return {};
  }

  // The smallest size that lets the program answer about as much as any.
  std::optional<Tried> sized(const ServiceLimit& limit, double before) const {
    if (limit.kind != ServiceLimit::Kind::pool && limit.kind != ServiceLimit::Kind::permits) return std::nullopt;
    if (limit.id >= pricer_.trace().pools.size()) return std::nullopt;  // threads of the program's own
    Candidate candidate;
    candidate.pool = model::PoolId(limit.id);
    candidate.improvement = {.optimisation = improve::kinds::pool_size, .pool = candidate.pool,
                             .size_before = service_.simulator().pool_size(limit.id)};
    std::vector<std::pair<uint32_t, double>> curve;
    double most = before;
    for (const double factor : kSizeFactors) {
      const auto size = std::max(limit.size + 1, static_cast<uint32_t>(limit.size * factor));
      if (!curve.empty() && curve.back().first >= size) continue;
      candidate.improvement.size_after = size;
      const std::optional<double> made = capacity_with(candidate);
      if (!made) break;
      curve.emplace_back(size, *made);
      if (*made <= most * (1 + kTie) && curve.size() > 2) break;
      most = std::max(most, *made);
    }
    const auto best = std::ranges::find_if(curve, [&](const auto& point) { return point.second * (1 + kTie) >= most; });
    if (best == curve.end() || best->second < before * (1 + kTellableRate)) return std::nullopt;
    candidate.improvement.size_after = best->first;
    std::string words;
    for (const auto& [size, rate] : curve)
      words += fmt::format("{}{}: {}/s", words.empty() ? "" : ", ", size, table::number_text(rate));
    return Tried{candidate, best->second, words};
  }

  base::Status combine() {
    double rate = base_;
    ServiceLimit limit = found_.before.limit;
    while (made_.size() < options_.steps_max && rate > 0) {
      std::vector<Tried> tried;
      if (made_.empty()) {
        tried = alone_;
      } else {
        for (const Candidate& candidate : candidates_) {
          if (is_made(candidate)) continue;
          if (const std::optional<double> made = capacity_with(candidate)) tried.push_back({candidate, *made, ""});
        }
        if (std::optional<Tried> size = sized(limit, rate)) {
          drop_size_of(size->candidate);
          tried.push_back(*std::move(size));
        }
      }
      if (tried.empty()) break;
      const double most = std::ranges::max_element(tried, {}, &Tried::per_second)->per_second;
      if (most < rate * (1 + kTellableRate)) break;
      std::erase_if(tried, [&](const Tried& one) { return one.per_second * (1 + kTie) < most; });
      Tried& chosen = *std::ranges::min_element(tried, {}, [](const Tried& one) { return work_of(one.candidate); });
      made_.push_back(chosen.candidate.improvement);
      found_.best.push_back({.candidate = chosen.candidate,
                             .per_second = alone_rate(chosen.candidate),
                             .at_load = {},
                             .added = chosen.per_second / rate - 1,
                             .curve = chosen.curve});
      rate = chosen.per_second;
      clients_ = std::max(clients_, static_cast<uint32_t>(4.0 * static_cast<double>(clients_) / 4));
      base::Result<Variant> variant = pricer_.variant(made_);
      if (!variant) return variant.error();
      base::Result<ServiceLimit> next = service_.limit_of(*variant, clients_);
      if (!next) return next.error();
      limit = *std::move(next);
      found_.limits.push_back(limit);
      if (limit.kind == ServiceLimit::Kind::cores) break;
    }
    return {};
  }

  bool is_made(const Candidate& candidate) const {
    return std::ranges::any_of(found_.best, [&](const ServiceChange& change) {
      return change.candidate.improvement.optimisation == candidate.improvement.optimisation &&
             change.candidate.improvement.tasks == candidate.improvement.tasks &&
             change.candidate.improvement.sections == candidate.improvement.sections;
    });
  }

  // A pool whose size changes a second time has the new size only.
  void drop_size_of(const Candidate& candidate) {
    std::erase_if(made_, [&](const Improvement& one) {
      return one.optimisation == candidate.improvement.optimisation && one.pool == candidate.pool;
    });
    std::erase_if(found_.best, [&](const ServiceChange& one) {
      return one.candidate.improvement.optimisation == candidate.improvement.optimisation &&
             one.candidate.pool == candidate.pool;
    });
  }

  double alone_rate(const Candidate& candidate) const {
    for (const Tried& one : alone_) {
      if (one.candidate.improvement.tasks == candidate.improvement.tasks &&
          one.candidate.improvement.sections == candidate.improvement.sections &&
          one.candidate.improvement.optimisation == candidate.improvement.optimisation &&
          one.candidate.pool == candidate.pool)
        return one.per_second;
    }
    return base_;
  }

  // Its members that add nothing any more go; then the figures of what is left.
  base::Status judge_combination() {
    for (size_t i = found_.best.size(); i-- > 0 && found_.best.size() > 1;) {
      std::vector<Improvement> without = made_;
      without.erase(without.begin() + static_cast<ptrdiff_t>(i));
      const base::Result<Variant> less = pricer_.variant(without), all = pricer_.variant(made_);
      if (!less || !all) continue;
      const base::Result<double> rate_without = service_.capacity(*less, clients_), rate = service_.capacity(*all, clients_);
      if (!rate_without || !rate || *rate_without * (1 + kTellableRate) < *rate) continue;
      made_ = std::move(without);
      found_.best.erase(found_.best.begin() + static_cast<ptrdiff_t>(i));
    }
    base::Result<Variant> variant = pricer_.variant(made_);
    if (!variant) return variant.error();
    base::Result<Saturation> after = service_.saturation(*variant, true);
    if (!after) return after.error();
    found_.after = *std::move(after);
    if (base::Status status = points(*variant, found_.recorded_after, found_.load_after); !status) return status.error();
    std::ranges::stable_sort(alone_, [](const Tried& x, const Tried& y) { return x.per_second > y.per_second; });
    for (ServiceChange& change : found_.best) {
      if (base::Status status = add_point(change); !status) return status;
    }
    for (const Tried& one : alone_) {
      if (one.per_second < base_ * (1 + kTellableRate) || is_in_best(one.candidate)) continue;
      ServiceChange change{.candidate = one.candidate, .per_second = one.per_second, .at_load = {}, .added = 0, .curve = one.curve};
      if (base::Status status = add_point(change); !status) return status;
      found_.others.push_back(std::move(change));
    }
    return {};
  }

  bool is_in_best(const Candidate& candidate) const {
    if (candidate.improvement.optimisation != improve::kinds::pool_size) return is_made(candidate);
    return std::ranges::any_of(found_.best, [&](const ServiceChange& one) {
      return one.candidate.improvement.optimisation == improve::kinds::pool_size && one.candidate.pool == candidate.pool;
    });
  }

  base::Status add_point(ServiceChange& change) const {
    const base::Result<Variant> variant = pricer_.variant(std::span(&change.candidate.improvement, 1));
    if (!variant) return {};
    base::Result<LoadPoint> point = service_.at_load(*variant, options_.load);
    if (!point) return point.error();
    change.at_load = *std::move(point);
    return {};
  }

  const Service& service_;
  const Pricer& pricer_;
  const ServiceAdviceOptions options_;
  std::vector<Candidate> candidates_;
  ServiceAdvice found_;
  uint32_t clients_ = 0;  // that saturate the program, and any variant of it
  double base_ = 0;
  std::vector<Tried> alone_;
  std::vector<Improvement> made_;  // of found_.best
};

}  // namespace

base::Result<ServiceAdvice> advise_service(const Service& service, const Pricer& pricer,
                                           const std::vector<Candidate>& candidates,
                                           const ServiceAdviceOptions& options) {
  return ServiceAdviser(service, pricer, candidates, options).run();
}

}  // namespace contrafact::advise
