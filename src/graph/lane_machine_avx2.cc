#include "graph/lane_interpreter.h"

namespace contrafact::graph {

constinit const LaneMachine kAvx2LaneMachine = kLaneMachine;

}  // namespace contrafact::graph
