#include "advise/size_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "advise/headline.h"
#include "analysis/headroom.h"
#include "improve/kinds/kinds.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

using whatif::Improvement;

struct Point {
  uint32_t size;
  SimulatedEffect effect;
};

constexpr double kFactors[] = {1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0};

// Sizes from a little above `size` to eight times as many, or some of these.
std::vector<uint32_t> sizes_above(uint32_t size, size_t sizes_max) {
  const size_t count = std::min(sizes_max, std::size(kFactors));
  std::vector<uint32_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    const double factor = kFactors[(i + 1) * std::size(kFactors) / count - 1];
    constexpr double kSizeMax = 1'000'000;
    const auto larger = static_cast<uint32_t>(std::min(kSizeMax, std::max(size + 1.0, size * factor)));
    if (larger > (sizes.empty() ? size : sizes.back())) sizes.push_back(larger);
  }
  return sizes;
}

Improvement sized(Improvement improvement, uint32_t size) {
  improvement.size_after = size;
  return improvement;
}

// None: it cannot be simulated.
std::optional<Point> point_at(const Pricer& pricer, const Improvement& improvement, uint32_t size) {
  const Improvement one = sized(improvement, size);
  base::Result<SimulatedEffect> effect = pricer.simulate(std::span(&one, 1));
  if (!effect || effect->stuck) return std::nullopt;
  return Point{size, *std::move(effect)};
}

// The gains at growing sizes, up to the second size in turn that gains no more than the one before.
std::vector<Point> curve_of(const Pricer& pricer, const Improvement& improvement, size_t sizes_max) {
  std::vector<Point> curve;
  int flat = 0;
  for (const uint32_t size : sizes_above(improvement.size_before, sizes_max)) {
    std::optional<Point> point = point_at(pricer, improvement, size);
    if (!point) break;
    const double before = curve.empty() ? 0 : curve.back().effect.gain;
    flat = point->effect.gain - before < kGainTie ? flat + 1 : 0;
    curve.push_back(*std::move(point));
    if (flat == 2) break;
  }
  return curve;
}

// Where few sizes can be simulated, the largest comes first; the others are simulated only if it gains.
std::vector<Point> short_curve_of(const Pricer& pricer, const Improvement& improvement, size_t sizes_max) {
  const std::vector<uint32_t> sizes = sizes_above(improvement.size_before, std::max<size_t>(2, sizes_max));
  if (sizes.empty()) return {};
  std::optional<Point> largest = point_at(pricer, improvement, sizes.back());
  if (!largest) return {};
  std::vector<Point> curve;
  for (size_t i = 0; i + 1 < sizes.size() && largest->effect.gain >= kGainMin; ++i) {
    std::optional<Point> point = point_at(pricer, improvement, sizes[i]);
    if (!point) break;
    const bool enough = point->effect.gain + kGainTie >= largest->effect.gain;
    curve.push_back(*std::move(point));
    if (enough) break;
  }
  curve.push_back(*std::move(largest));
  return curve;
}

// "10: 18 %, 12: 31 %, 16: 31 %", and whether even the last size tried gained more than the one before.
std::string words_of(const std::vector<Point>& curve) {
  std::string text;
  for (const Point& point : curve) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", point.size, table::percent_text(point.effect.gain));
  }
  const double before = curve.size() < 2 ? 0 : curve[curve.size() - 2].effect.gain;
  if (curve.back().effect.gain - before >= kGainTie) text += fmt::format("; no optimum up to {}", curve.back().size);
  return text;
}

// The smallest size that gains about as much as any; nothing if no size gains.
std::optional<Advice> advice_of(const Pricer& pricer, const Improvement& improvement, const std::vector<Point>& curve) {
  double most = 0;
  for (const Point& point : curve) most = std::max(most, point.effect.gain);
  if (most < kGainMin) return std::nullopt;
  const auto best =
      std::ranges::find_if(curve, [&](const Point& point) { return point.effect.gain + kGainTie >= most; });
  Advice advice;
  advice.candidate.improvement = sized(improvement, best->size);
  advice.candidate.pool = improvement.pool;
  advice.effect.simulated = best->effect;
  advice.verdict = verdict_of(advice.effect, pricer.baseline());
  advice.curve = words_of(curve);
  return advice;
}

// Of tasks that never started, nobody knows what they would have done on more workers.
bool all_started(const model::Trace& trace, model::PoolId pool) {
  return std::ranges::all_of(trace.tasks, [&](const model::TaskRow& task) {
    return task.pool != pool || !task.spawn.valid() || task.start.valid();
  });
}

}  // namespace

SizeAdvices advise_sizes(const Pricer& pricer, const Shortage& shortage, size_t sizes_max) {
  SizeAdvices found;
  std::vector<Improvement> improvements;
  for (const Shortage::Pool& pool : shortage.pools)
    improvements.push_back({.optimisation = improve::kinds::pool_size, .pool = pool.pool, .size_before = pool.size});
  if (shortage.cores > 0)
    improvements.push_back({.optimisation = improve::kinds::cores, .size_before = shortage.cores});
  std::vector<std::vector<Point>> curves(improvements.size());
  constexpr size_t kFew = 3;
  const auto curve = sizes_max <= kFew ? short_curve_of : curve_of;
  for_each_index(curves.size(), {}, [&](size_t i) { curves[i] = curve(pricer, improvements[i], sizes_max); });
  for (size_t i = 0; i < curves.size(); ++i) {
    if (std::optional<Advice> advice = advice_of(pricer, improvements[i], curves[i])) {
      if (i < shortage.pools.size()) advice->candidate.waited_at = shortage.pools[i].waited_at;
      found.advices.push_back(*std::move(advice));
    } else if (!curves[i].empty() && improvements[i].pool.valid() &&
               all_started(pricer.trace(), improvements[i].pool)) {
      found.useless.push_back(improvements[i].pool);
    }
  }
  return found;
}

}  // namespace contrafact::advise
