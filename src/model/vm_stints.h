// When threads of the virtual machine's own (compiler, collector) were on a core, as the event vm_ran says.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/saturating.h"
#include "model/trace.h"

namespace contrafact::model {

constexpr int64_t kNsPerUs = 1'000;

constexpr VmStint vm_stint(int64_t end_ns, uint32_t ran_us) {
  return {base::subtract_saturated(end_ns, kNsPerUs * int64_t{ran_us}), end_ns};
}
constexpr uint32_t ran_us_of(const VmStint& stint) {
  const int64_t ran_ns = base::subtract_saturated(stint.end_ns, stint.begin_ns);
  return static_cast<uint32_t>(std::clamp<int64_t>(ran_ns / kNsPerUs, 0, UINT32_MAX));
}

}  // namespace contrafact::model
