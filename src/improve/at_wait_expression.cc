#include "improve/at_wait_expression.h"

#include <fmt/format.h>

#include "improve/expression_parts.h"

namespace contrafact::improve {

AtWaitExpression at_wait_expression(const model::Trace& trace, model::TaskId task) {
  const std::string body = body_text(trace, task);
  switch (hand_out_of(trace, task)) {
    case HandOut::unknown:
      break;
    case HandOut::executor:
      return {fmt::format("new FutureTask<>(() -> {})", block(body)), "((Runnable) future).run();"};
    case HandOut::completable:
      return {"new CompletableFuture<>()", fmt::format("future.completeAsync(() -> {}, Runnable::run);", block(body))};
    case HandOut::fork_join_pool:
      return {fmt::format("ForkJoinTask.adapt(() -> {})", block(body)), "future.invoke();"};
    case HandOut::forked:
      return {fmt::format("/* no fork of {} */", body), "future.invoke();"};
  }
  return {};
}

}  // namespace contrafact::improve
