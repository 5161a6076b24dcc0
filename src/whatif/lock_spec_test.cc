#include "whatif/lock_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::whatif {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refused(std::string_view json) {
  const auto read = read_lock_spec(json);
  return read.ok() ? "read" : read.error().message;
}

TEST(LockSpec, WhatIsWrittenSelectsTheSameCodeAgain) {
  const auto trace = model::parse_text(
      "fact command \"/opt/bin/queue -n 3\"\nmethod m .add queue.cc:1\ncontext c - m:7\nthread x\n0 x thread_begin\n");
  ASSERT_TRUE(trace.ok());
  const LockImprovement improvement{LockOptimisation::split_lock, {0, 1}, {0, 1}};
  const LockSpec spec{&improvement, {model::ContextId(0)}, {"queue_mutex"}, 2, 2};
  const std::string text = write_lock_spec(*trace, {&spec, 1});
  EXPECT_THAT(text, HasSubstr("\"parts\": 2"));
  const auto read = read_lock_spec(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ((*read)[0].optimisation, LockOptimisation::split_lock);
  EXPECT_THAT((*read)[0].sites, ElementsAre(frame_key(*trace, model::ContextId(0))));
  EXPECT_THAT((*read)[0].locks, ElementsAre("queue_mutex"));
  EXPECT_EQ((*read)[0].program, "queue");
}

TEST(LockSpec, TheSameLineOfAnotherFileIsOtherCode) {
  const auto key = [](std::string_view method) {
    const auto trace = model::parse_text(std::string(method) + "\ncontext c - m:7\nthread x\n0 x thread_begin\n");
    return trace.ok() ? frame_key(*trace, model::ContextId(0)) : trace.error().message;
  };
  EXPECT_EQ(key("method m .add queue.cc:1"), "add (queue.cc:7)");
  EXPECT_EQ(key("method m .add stack.cc:1"), "add (stack.cc:7)");
}

TEST(LockSpec, ErrorsSayWhatIsWrong) {
  const auto with = [](std::string_view entry) {
    return R"({"schema": "contrafact-improvement-1", "improvements": [)" + std::string(entry) + "]}";
  };
  EXPECT_EQ(refused("no"), "the spec is not valid JSON");
  EXPECT_THAT(refused("{}"), HasSubstr("\"schema\" is not"));
  EXPECT_EQ(refused(with("")), "the spec has no \"improvements\"");
  EXPECT_THAT(refused(with(R"({"optimisation": "hoist-branch"})")), HasSubstr("improvement 1: \"hoist-branch\" is no"));
  EXPECT_THAT(refused(with(R"({"optimisation": "drop-lock"})")), HasSubstr("names no \"sites\""));
  EXPECT_THAT(refused(with(R"({"optimisation": 3})")), HasSubstr("improvement 1:"));
  EXPECT_THAT(refused(with(R"({"optimisation": "drop-lock", "sites": [{"frames": [{"line": "x"}]}]})")),
              HasSubstr("improvement 1:"));
}

}  // namespace
}  // namespace contrafact::whatif
