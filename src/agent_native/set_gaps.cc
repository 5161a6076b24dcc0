#include "agent_native/set_gaps.h"

#include <cstddef>
#include <iterator>

namespace contrafact::agent_native {

using format::SetGap;
using translate::Reason;

SetGap gap_of(Reason reason) {
  switch (reason) {
    case Reason::none:
      return SetGap::complete;
    case Reason::unsupported:
    case Reason::gather:
      return SetGap::unsupported;
    case Reason::system_call:
    case Reason::unknown_effect:
      return SetGap::system_call;
    case Reason::signal:
      return SetGap::signal;
    case Reason::not_resumed:
      return SetGap::left;
    case Reason::overflow:
      return SetGap::overflow;
    case Reason::generated_code:
    case Reason::cache_full:
    case Reason::long_section:
    case Reason::disabled:
    case Reason::called_natively:
      return SetGap::not_observed;
    case Reason::not_wanted:
      return SetGap::outside_window;
  }
  return SetGap::not_observed;
}

const char* name_of(SetGap gap) {
  constexpr const char* kNames[] = {"complete", "not_observed", "outside_window", "unsupported", "system_call",
                                    "signal",   "left",         "overflow",       "lost"};
  static_assert(std::size(kNames) == static_cast<size_t>(format::kSetGapLast) + 1);
  return kNames[static_cast<size_t>(gap)];
}

const char* name_of(Reason reason) {
  constexpr const char* kNames[translate::kReasons] = {
      "none",        "generated_code", "unsupported", "cache_full",     "system_call", "signal",     "long_section",
      "not_resumed", "disabled",       "gather",      "unknown_effect", "overflow",    "not_wanted", "called_natively"};
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace contrafact::agent_native
