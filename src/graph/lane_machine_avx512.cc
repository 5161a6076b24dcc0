#include "graph/lane_interpreter.h"

namespace contrafact::graph {

constinit const LaneMachine kAvx512LaneMachine = kLaneMachine;

}  // namespace contrafact::graph
