// The pieces that Java expressions for a change are put together from. Pure. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "model/trace.h"

namespace contrafact::improve {

// "Feed.Item" of "shop.Feed$Item".
std::string simple_name(std::string_view class_name);

// "Feed.load, Feed.java:41"; of a lambda its place alone.
std::string body_text(const model::Trace& trace, model::TaskId task);

// The body of a lambda: a comment to be replaced. It compiles even before that.
std::string block(std::string_view comment);

// How a task was handed out, by the classes of java.util.concurrent between the program's own code and its spawn.
enum class HandOut : uint8_t {
  unknown,         // by no call that there is an expression for
  executor,        // given to an executor
  fork_join_pool,  // given to a ForkJoinPool, which returns a ForkJoinTask
  forked,          // by ForkJoinTask.fork or its like
  completable,     // by a CompletableFuture's supplyAsync or its like, which gives it to any executor
};
HandOut hand_out_of(const model::Trace& trace, model::TaskId task);

}  // namespace contrafact::improve
