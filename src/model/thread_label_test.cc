#include "model/thread_label.h"

#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

TEST(ThreadLabel, IsTheNameOrTheNumber) {
  const auto trace = parse_text(
      "thread main\nthread a \"\" virtual_thread\nthread b \"the loader\" virtual_thread\nthread c \"\"\n"
      "0 main thread_begin\n1 a thread_begin\n2 b thread_begin\n3 c thread_begin\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(thread_label(*trace, ThreadId(0)), "main");
  EXPECT_EQ(thread_label(*trace, ThreadId(1)), "virtual thread 1");
  EXPECT_EQ(thread_label(*trace, ThreadId(2)), "the loader");
  EXPECT_EQ(thread_label(*trace, ThreadId(3)), "thread 3");
}

}  // namespace
}  // namespace contrafact::model
