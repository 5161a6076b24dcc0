#include "advise/verdict.h"

#include <cmath>

#include "advise/pricer.h"

namespace contrafact::advise {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::gain:
      return "a gain";
    case Verdict::within_error:
      return "within its error";
    case Verdict::no_gain:
      return "no gain";
    case Verdict::loss:
      return "a loss";
    case Verdict::baseline_off:
      return "baseline off";
    case Verdict::not_simulated:
      return "not simulated";
  }
  return "?";
}

Verdict verdict_of(const Effect& effect, const std::optional<whatif::BaselineCheck>& baseline) {
  if (!baseline || !ends_simulated(effect)) return Verdict::not_simulated;
  return verdict_of(gain_of(*baseline, *effect.simulated), baseline->trusted);
}

Verdict verdict_of(const Gain& gain, bool trusted) {
  if (!trusted) return gain.low > kGainTie ? Verdict::gain : Verdict::baseline_off;
  if (std::fabs(gain.share) < kGainMin) return Verdict::no_gain;
  if (gain.low <= 0 && gain.high >= 0) return Verdict::within_error;
  return gain.share < 0 ? Verdict::loss : Verdict::gain;
}

}  // namespace contrafact::advise
