#include "graph/lane_interpreter.h"

namespace contrafact::graph {

constinit const LaneMachine kPlainLaneMachine = kLaneMachine;

}  // namespace contrafact::graph
