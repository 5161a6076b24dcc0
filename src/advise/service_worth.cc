#include "advise/service_worth.h"

#include <algorithm>

#include "advise/service_gain.h"

namespace contrafact::advise {

using whatif::Improvement;
using whatif::Variant;

uint32_t clients_to_judge_by(const Saturation& recorded) {
  const uint32_t many = std::max(4u, 4 * recorded.point.clients);
  return std::min(kClientsMost, recorded.hangs ? std::max(many, 2 * recorded.hangs->clients) : many);
}

base::Result<WorthMeter> WorthMeter::make(const Service& service, const Pricer& pricer, const WorthOptions& options,
                                          const Saturation& before, const LoadPoint& at_load) {
  WorthMeter meter(service, pricer, options, before, at_load);
  meter.clients_ = clients_to_judge_by(before);
  const base::Result<double> many = service.capacity({}, meter.clients_without_hang());
  if (!many) return many.error();
  meter.falls_off_ = *many < before.point.per_second * (1 - kTellableRate);
  base::Result<LoadPoint> most = meter.capacity_point({}, meter.clients_without_hang());
  if (!most) return most.error();
  meter.rate_ = *std::move(most);
  const std::optional<Worth> worth = meter.worth_of({}, meter.clients_);
  if (!worth) return base::Error{"the recorded program cannot be simulated under a load"};
  meter.recorded_ = *worth;
  return meter;
}

// With which the recorded program runs, and is saturated as far as it can be; 0: it hangs with one.
uint32_t WorthMeter::clients_without_hang() const {
  return before_.hangs ? std::min(clients_, before_.hangs->clients - 1) : clients_;
}

// 0: it hangs with `clients`.
base::Result<double> WorthMeter::capacity(const Variant& variant, uint32_t clients) const {
  base::Result<double> most = service_.capacity(variant, clients);
  if (!most || *most <= 0 || !falls_off_) return most;
  for (const uint32_t fewer : {before_.point.clients, 2 * before_.point.clients}) {
    if (fewer >= clients) continue;
    const base::Result<double> made = service_.capacity(variant, fewer);
    if (!made) return made;
    most = std::max(*most, *made);
  }
  return most;
}

// The same by all seeds.
base::Result<LoadPoint> WorthMeter::capacity_point(const Variant& variant, uint32_t clients) const {
  if (clients == 0) return LoadPoint{.stuck = true};
  base::Result<LoadPoint> most = service_.at_clients(variant, clients, false);
  if (!most || most->stuck || !falls_off_) return most;
  for (const uint32_t fewer : {before_.point.clients, 2 * before_.point.clients}) {
    if (fewer >= clients || fewer == 0) continue;
    base::Result<LoadPoint> made = service_.at_clients(variant, fewer, false);
    if (!made) return made;
    if (!made->stuck && made->per_second > most->per_second) most = std::move(made);
  }
  return most;
}

base::Result<LoadPoint> WorthMeter::rate(const Variant& variant) const {
  base::Result<LoadPoint> point = capacity_point(variant, clients_);
  if (!point || !point->stuck || !before_.hangs) return point;
  return capacity_point(variant, clients_without_hang());
}

std::optional<Gain> WorthMeter::rate_gain(const LoadPoint& after) const {
  if (rate_.stuck || after.stuck || rate_.per_second <= 0) return std::nullopt;
  return gain_between(rate_of(rate_), rate_of(after), known_errors(service_));
}

std::optional<LoadPoint> WorthMeter::measured(const std::vector<Improvement>& improvements, uint32_t clients) const {
  const base::Result<Variant> variant = pricer_.variant(improvements);
  if (!variant) return std::nullopt;
  const bool by_p99 = options_.objective == ServiceObjective::p99;
  base::Result<LoadPoint> point =
      by_p99 ? service_.at_load(*variant, options_.load) : capacity_point(*variant, clients);
  if (point && point->stuck && !by_p99 && before_.hangs) point = capacity_point(*variant, clients_without_hang());
  if (!point || point->stuck) return std::nullopt;
  return *std::move(point);
}

std::optional<Gain> WorthMeter::gain(const LoadPoint& before, const LoadPoint& after) const {
  const auto figure = options_.objective == ServiceObjective::p99 ? quickness_of : rate_of;
  if (before.stuck || after.stuck || figure(before).value <= 0) return std::nullopt;
  return gain_between(figure(before), figure(after), known_errors(service_));
}

std::optional<Worth> WorthMeter::by_p99(const Variant& variant) const {
  const base::Result<LoadPoint> point = service_.at_load(variant, options_.load);
  if (!point) return std::nullopt;
  if (point->stuck) return at_load_.stuck ? std::optional(Worth{0, Worth::Runs::as_recorded}) : std::nullopt;
  return point->p99_ns > 0 ? std::optional(Worth{1e9 / static_cast<double>(point->p99_ns)}) : std::nullopt;
}

std::optional<Worth> WorthMeter::worth_of(const std::vector<Improvement>& improvements, uint32_t clients) const {
  const base::Result<Variant> variant = pricer_.variant(improvements);
  if (!variant) return std::nullopt;
  if (options_.objective == ServiceObjective::p99) return by_p99(*variant);
  const base::Result<double> made = capacity(*variant, clients);
  if (!made) return std::nullopt;
  if (!before_.hangs) return *made > 0 ? std::optional(Worth{*made}) : std::nullopt;
  if (*made <= 0 || improvements.empty()) {
    const base::Result<double> fewer = capacity(*variant, clients_without_hang());
    return fewer ? std::optional(Worth{*fewer, Worth::Runs::as_recorded}) : std::nullopt;
  }
  const base::Result<double> many =
      service_.capacity(*variant, std::min(kClientsMost, kManyTimesHanging * before_.hangs->clients));
  return Worth{*made, many && *many > 0 ? Worth::Runs::always : Worth::Runs::with_more};
}

}  // namespace contrafact::advise
