// SizeChange: a pool or the machine has another size. Which sizes are worth proposing, the simulation decides
// (advise/size_advice.h).
#pragma once

#include "improve/kind.h"

namespace contrafact::improve {

class SizeChange : public Kind {
 public:
  // "pool-size 8 -> 12"
  std::string title(const Candidate& candidate) const override {
    const whatif::Improvement& improvement = candidate.improvement;
    return std::string(name()) + " " + std::to_string(improvement.size_before) + " -> " +
           std::to_string(improvement.size_after);
  }

 protected:
  constexpr SizeChange(std::string_view name, whatif::Target target, Effort effort, int steps)
      : Kind(name, target, whatif::Treatment::keep, effort, steps) {}
};

}  // namespace contrafact::improve
