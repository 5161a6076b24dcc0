#include "advise/branch_hint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

TEST(BranchHint, SaysWhichMethodsToRecord) {
  std::string text =
      "thread main\nthread w1\npool p thread_pool 1 1\nmethod m1 shop.Main.main Main.java:3\n"
      "method m2 shop.Feed$Item.load Feed.java:20\ncontext c1 - m1:7\n";
  for (int i = 1; i <= 10; ++i) text += fmt::format("{} main task_spawn t{} c1 p m2\n", i, i);
  int64_t now = 100;
  for (int i = 1; i <= 10; ++i) {
    text += fmt::format("{} w1 task_start t{}\n", now, i);
    now += i % 2 == 0 ? 40'000 : 1'000;
    text += fmt::format("{} w1 task_end t{}\n", now, i);
  }
  text += fmt::format("{} main thread_end\n", now);
  const model::Trace trace = *model::parse_text(text);
  EXPECT_EQ(branch_hint(trace, improve::task_candidates(trace)),
            "the 10 tasks handed out at Main.main (Main.java:7) run for 1 us to 40 us on one recorded path: if they "
            "branch, hoist-branch sees it in a recording with --include 'shop.Feed*'");
  const model::Trace traced = *model::parse_text(text + "1 main method_enter m1\n2 main method_exit m1\n");
  EXPECT_EQ(branch_hint(traced, improve::task_candidates(traced)), "");
}

}  // namespace
}  // namespace contrafact::advise
