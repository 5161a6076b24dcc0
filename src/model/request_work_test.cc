#include "model/request_work.h"

#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

struct Work {
  explicit Work(std::string_view events) : trace(parse(events)), hand_outs(trace) {
    for (uint32_t i = 0; i < trace.threads.size(); ++i) {
      for (TaskWalk walk(trace, ThreadId(i)); walk.next();) {
        hand_outs.note(walk);
        if (walk.kind() == EventKind::endpoint) asked_about.emplace_back(walk.event(), walk.task());
      }
    }
  }
  static Trace parse(std::string_view events) {
    base::Result<Trace> parsed = parse_text(
        "thread loop\nthread w1\nthread w2\npool p thread_pool 2 max\nmethod m1 shop.Orders.run\n"
        "connection c1 accepted\nconnection c2 accepted\nendpoint e1 \"GET /\"\n" +
        std::string(events));
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    return *std::move(parsed);
  }
  // For which request each event `endpoint` is done, thread by thread.
  std::vector<uint32_t> owners() {
    const Requests requests = requests_by_connection(trace);
    RequestWork work(trace, hand_outs, requests.all);
    std::vector<uint32_t> found;
    for (const auto& [event, task] : asked_about) found.push_back(work.request_of(event, task));
    return found;
  }

  Trace trace;
  HandOuts hand_outs;
  std::vector<std::pair<EventIndex, TaskId>> asked_about;
};

constexpr uint32_t kNone = RequestWork::kNoRequest;

TEST(RequestWork, WhatComesBeforeARequestInItsTurnIsForNone) {
  Work work(
      "0 loop block_begin poll -\n1000 loop block_end poll\n1005 loop endpoint e1 path\n1010 loop receive c1 5\n"
      "1015 loop endpoint e1 path\n1020 loop send c1 5\n1030 loop block_begin poll -\n9000 loop block_end poll\n"
      "9010 loop endpoint e1 path\n9900 loop thread_end\n");
  EXPECT_EQ(work.owners(), (std::vector<uint32_t>{kNone, 0, kNone}));
}

// The first request's task is handed out at once, and hands out another one for it, which the second request's thread runs.
TEST(RequestWork, AThreadThatWaitsInOneRequestsTaskMayRunAnothers) {
  Work work(
      "0 loop task_spawn t1 - p m1\n10 loop task_spawn t2 - p m1\n"
      "100 w1 task_start t1\n110 w1 receive c1 10\n120 w1 task_spawn t3 - p m1\n900 w1 send c1 10\n"
      "1000 w1 task_end t1\n"
      "200 w2 task_start t2\n210 w2 receive c2 10\n220 w2 wait_begin t3 -\n230 w2 task_start t3\n"
      "240 w2 endpoint e1 path\n250 w2 task_end t3\n260 w2 wait_end t3\n270 w2 endpoint e1 path\n800 w2 send c2 10\n"
      "900 w2 task_end t2\n");
  EXPECT_EQ(work.owners(), (std::vector<uint32_t>{0, 1}));
}

// Of a task that nobody is recorded to have handed out, all that is known is where it ran.
TEST(RequestWork, ATaskThatNobodyHandedOutIsForTheRequestAroundIt) {
  Work work(
      "0 loop task_spawn t1 - p m1\n100 w1 task_start t1\n110 w1 receive c1 10\n120 w1 task_start t2\n"
      "130 w1 endpoint e1 path\n140 w1 task_end t2\n900 w1 send c1 10\n1000 w1 task_end t1\n"
      "1010 w1 endpoint e1 path\n");
  EXPECT_EQ(work.owners(), (std::vector<uint32_t>{0, kNone}));
}

// Five others' tasks ran in it before, while it waited.
TEST(RequestWork, BehindOthersTasksTheTaskAroundThemGoesOn) {
  std::string events = "0 loop task_spawn t1 - p m1\n0 w1 task_start t1\n";
  std::vector<Request> requests(6);
  requests[0].task = TaskId(0);
  for (uint32_t i = 1; i <= 5; ++i) {
    const std::string task = "t" + std::to_string(i + 1);
    events += "0 loop task_spawn " + task + " - p m1\n1 w1 task_start " + task + "\n1 w1 task_end " + task + "\n";
    requests[i].task = TaskId(i);
  }
  Work work(events + "2 w1 task_start t9\n3 w1 endpoint e1 path\n4 w1 task_end t9\n5 w1 task_end t1\n");
  RequestWork found(work.trace, work.hand_outs, requests);
  ASSERT_EQ(work.asked_about.size(), 1u);
  EXPECT_EQ(found.request_of(work.asked_about[0].first, work.asked_about[0].second), 0u);
}

}  // namespace
}  // namespace contrafact::model
