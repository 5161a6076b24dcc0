#include "advise/load_curve.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace contrafact::advise {
namespace {

using whatif::Variant;

// Of what a program can take.
constexpr double kShares[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

// Requests a second: shares of what this program can take, and of what the best one can.
std::vector<double> rates_of(double own, double best) {
  std::vector<double> rates;
  for (const double share : kShares) rates.push_back(share * own);
  for (const double share : kShares) {
    if (share * best > rates.back()) rates.push_back(share * best);
  }
  return rates;
}

base::Status add_open(const Service& service, const Variant& variant, double best, ProgramLoads& loads) {
  for (const double rate : rates_of(loads.saturation.point.per_second, best)) {
    if (rate <= 0) continue;
    base::Result<LoadPoint> point = service.at_rate(variant, rate);
    if (!point) return point.error();
    loads.curve.push_back(*std::move(point));
    if (loads.curve.back().stuck || !loads.curve.back().keeps_up) break;
  }
  return {};
}

// Whether more clients than those of the curve's last point would show nothing new.
bool is_saturated(const ProgramLoads& loads) {
  constexpr double kNearly = 0.97, kNoMore = 0.01;
  const std::vector<LoadPoint>& curve = loads.curve;
  if (curve.back().stuck || curve.back().per_second >= kNearly * loads.saturation.point.per_second) return true;
  return curve.size() > 1 && curve.back().per_second <= curve[curve.size() - 2].per_second * (1 + kNoMore);
}

// Goes on with the curve until `clients_least` clients, and until the program is saturated.
base::Status add_closed(const Service& service, const Variant& variant, uint32_t clients_least, ProgramLoads& loads) {
  uint32_t clients = loads.curve.empty() ? 1 : 2 * loads.curve.back().clients;
  for (; clients <= service.clients_most(); clients *= 2) {
    if (!loads.curve.empty() && (loads.curve.back().stuck || (clients > clients_least && is_saturated(loads)))) break;
    base::Result<LoadPoint> point = service.at_clients(variant, clients, true);
    if (!point) return point.error();
    loads.curve.push_back(*std::move(point));
  }
  return {};
}

}  // namespace

base::Status add_curves(const Service& service, std::span<const Variant> variants, std::span<ProgramLoads> programs) {
  CHECK(variants.size() == programs.size());
  double best = 0;
  uint32_t clients = service.arrivals().clients;
  for (const ProgramLoads& loads : programs) {
    best = std::max(best, loads.saturation.point.per_second);
    clients = std::max(clients, loads.saturation.point.clients);
  }
  if (service.arrivals().open) {
    for (size_t i = 0; i < programs.size(); ++i) {
      if (base::Status status = add_open(service, variants[i], best, programs[i]); !status) return status;
    }
    return {};
  }
  clients *= 2;
  // The second time, as far as the one that went farthest.
  for (int turn = 0; turn < 2; ++turn) {
    for (size_t i = 0; i < programs.size(); ++i) {
      if (base::Status status = add_closed(service, variants[i], clients, programs[i]); !status) return status;
      if (!programs[i].curve.empty()) clients = std::max(clients, programs[i].curve.back().clients);
    }
  }
  return {};
}

}  // namespace contrafact::advise
