#include "advise/service_gain.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "whatif/load_templates.h"

namespace contrafact::advise {

Figure rate_of(const LoadPoint& point) {
  return {point.per_second, point.rate_spread, std::min(1.0, point.cores_used)};
}

Figure quickness_of(const LoadPoint& point) {
  const double value = point.p99_ns > 0 ? 1e9 / static_cast<double>(point.p99_ns) : 0;
  return {value, point.p99_spread, std::min(1.0, point.cores_used)};
}

KnownErrors known_errors(const Service& service) {
  return {.recorded = std::fabs(service.error().value_or(0)),
          .idle_cores = service.drawn().refill_error(),
          .compiles = service.drawn().still_compiles()};
}

Gain gain_between(const Figure& before, const Figure& after, const KnownErrors& errors) {
  CHECK(before.value > 0);
  const double ratio = after.value / before.value;
  const double noise = ratio * std::hypot(before.spread, after.spread);
  const double refills = ratio * errors.idle_cores * std::fabs(after.cores_used - before.cores_used);
  const double around = std::max(noise, errors.recorded * std::fabs(ratio - 1)) + refills;
  // Of compiled code a program that uses all of the cores answers up to twice as much, one that uses none as much as before.
  const double compiled = errors.compiles ? ratio * (1 + after.cores_used) / (1 + before.cores_used) : ratio;
  return {.share = ratio - 1,
          .low = std::max(-1.0, std::min(ratio, compiled) - 1 - around),
          .high = std::max(ratio, compiled) - 1 + around,
          .origin = model::Origin::simulated};
}

}  // namespace contrafact::advise
