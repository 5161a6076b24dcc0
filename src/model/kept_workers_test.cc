#include "model/kept_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

std::vector<uint32_t> kept(const std::string& text) {
  base::Result<Trace> trace = parse_text(
      "method m1 shop.Job.run Job.java:1\npool p thread_pool 4 4\nthread main\nthread w1\nthread w2\nthread w3\n"
      "connection c accepted 80 5001\n0 main task_spawn t1 - p m1\n0 main task_spawn t2 - p m1\n0 main task_spawn t3 - "
      "p m1\n" +
      text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? kept_workers(*trace, requests_by_connection(*trace)) : std::vector<uint32_t>();
}

// w1 accepts; w2 polls, serves a request, and is no more than a worker then, since w3 polls in its place.
TEST(KeptWorkers, WhoAcceptsAndWhoPollsInTurn) {
  EXPECT_THAT(kept("1 w1 task_start t1\n2 w1 block_begin io -\n"
                   "1 w2 task_start t2\n2 w2 block_begin poll -\n100 w2 block_end poll\n101 w2 receive c 10\n"
                   "300 w2 send c 10\n301 w2 task_end t2\n"
                   "102 w3 task_start t3\n103 w3 block_begin poll -\n400 w3 block_end poll\n401 w3 receive c 10\n"
                   "500 w3 send c 10\n600 w3 task_end t3\n"),
              testing::ElementsAre(2u));
}

// Each of the loops polls for itself, and serves what comes.
TEST(KeptWorkers, LoopsOfTheirOwnAreWorkers) {
  EXPECT_THAT(kept("1 w1 task_start t1\n2 w1 block_begin poll -\n100 w1 block_end poll\n101 w1 receive c 10\n"
                   "300 w1 send c 10\n301 w1 block_begin poll -\n900 w1 block_end poll\n900 w1 receive c 10\n"
                   "910 w1 send c 1\n"
                   "1 w2 task_start t2\n2 w2 block_begin poll -\n700 w2 block_end poll\n701 w2 receive c 10\n"
                   "800 w2 send c 10\n801 w2 block_begin poll -\n950 w2 block_end poll\n"),
              testing::ElementsAre(0u));
}

}  // namespace
}  // namespace contrafact::model
