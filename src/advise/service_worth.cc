#include "advise/service_worth.h"

#include <algorithm>

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
  const base::Result<double> most = meter.capacity({}, meter.clients_without_hang());
  if (!most) return most.error();
  meter.per_second_ = *most;
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

base::Result<double> WorthMeter::per_second(const Variant& variant) const {
  base::Result<double> rate = capacity(variant, clients_);
  if (!rate || *rate > 0 || !before_.hangs) return rate;
  return capacity(variant, clients_without_hang());
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
