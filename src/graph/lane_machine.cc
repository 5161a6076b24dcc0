#include "graph/lane_machine.h"

namespace contrafact::graph {

std::vector<const LaneMachine*> lane_machines() {
  std::vector<const LaneMachine*> machines{&kPlainLaneMachine};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) machines.push_back(&kAvx2LaneMachine);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    machines.push_back(&kAvx512LaneMachine);
#endif
  return machines;
}

const LaneMachine& lane_machine() {
  static const LaneMachine& best = *lane_machines().back();
  return best;
}

}  // namespace contrafact::graph
