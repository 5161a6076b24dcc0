// How inline-at-wait is written in Java: the expression that replaces the call that hands a task out, and the statement
// in front of the call that waits for it. The waiting thread gets the result, or a failure, as before. Both compile as
// they are where `future` is the program's own name for the task's future.
#pragma once

#include <compare>
#include <string>

#include "model/trace.h"

namespace contrafact::improve {

struct AtWaitExpression {
  std::string spawn;
  std::string wait;
  auto operator<=>(const AtWaitExpression&) const = default;
};

// Both empty where the task was not handed out by java.util.concurrent.
AtWaitExpression at_wait_expression(const model::Trace& trace, model::TaskId task);

}  // namespace contrafact::improve
