#include "model/processes.h"

#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"
#include "model/thread_label.h"

namespace contrafact::model {
namespace {

Trace with_facts(const std::string& facts) {
  base::Result<Trace> trace = parse_text(facts +
                                         "thread a\nthread b\nthread c\npool p thread_pool 2 2 \"handlers\"\n"
                                         "lock l mutex\nlock m mutex \"queue\"\n"
                                         "0 a thread_begin\n0 b thread_begin\n0 c thread_begin\n");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

TEST(Processes, RowsBelongToTheProcessThatTheFactsSay) {
  const Trace trace = with_facts("fact process.0 \"1 0 1 17 gateway\"\nfact process.1 \"2 1 2 18 the backend\"\n");
  ASSERT_EQ(trace.processes.size(), 2u);
  EXPECT_EQ(trace.processes[1].pid, 18u);
  EXPECT_EQ(trace.processes[1].name, "the backend");
  EXPECT_EQ(process_of(trace, ThreadId(0)), 0u);
  EXPECT_EQ(process_of(trace, ThreadId(1)), 1u);
  EXPECT_EQ(process_of(trace, ThreadId(2)), kNoProcess);  // added by what was made of a joined trace
  EXPECT_EQ(process_of(trace, ThreadId::none()), kNoProcess);
  EXPECT_EQ(thread_label(trace, ThreadId(1)), "b of the backend");
  EXPECT_EQ(thread_label(trace, ThreadId(2)), "c");
  EXPECT_EQ(pool_label(trace, PoolId(0)), "handlers of the backend");
  EXPECT_EQ(lock_label(trace, LockId(0)), "l of gateway");
  EXPECT_EQ(lock_label(trace, LockId(1)), "queue of the backend");
  EXPECT_EQ(process_fact(trace.processes[1]), "2 1 2 18 the backend");
}

TEST(Processes, ALabelThatBeginsWithTheProcessSaysItOnce) {
  const Trace trace = with_facts("fact process.0 \"3 1 2 17 handlers\"\n");
  EXPECT_EQ(pool_label(trace, PoolId(0)), "handlers");
  EXPECT_EQ(with_process(trace, 0, "handlers-1"), "handlers-1");
}

TEST(Processes, ALabelThatBeginsLikeAProcessIsNotIt) {
  const Trace trace = with_facts("fact process.0 \"3 1 2 17 hand\"\n");
  EXPECT_EQ(pool_label(trace, PoolId(0)), "handlers of hand");
}

TEST(Processes, FactsThatDoNotFitCountAsNone) {
  for (const std::string facts :
       {"fact process.0 \"1 0 0 17\"\n", "fact process.0 \"4 0 0 17 more threads than there are\"\n",
        "fact process.0 \"2 0 0 17 a\"\nfact process.1 \"1 0 0 18 b\"\n", "fact process.0 \"-1 0 0 17 a\"\n",
        "fact process.0 x\n", "fact process.1 \"1 0 0 17 a\"\n", "fact process.exec yes\n"})
    EXPECT_TRUE(with_facts(facts).processes.empty()) << facts;
}

TEST(Processes, EachHasASpaceOfAddresses) {
  constexpr uint64_t kAddress = 0x7ffd'1234'5678;
  EXPECT_EQ(in_space_of(0, kAddress), kAddress);
  EXPECT_NE(in_space_of(1, kAddress), in_space_of(2, kAddress));
  EXPECT_EQ(space_of(in_space_of(2, kAddress)), 2u);
  EXPECT_EQ(without_space(in_space_of(2, kAddress)), kAddress);
  constexpr uint64_t kOfKernel = 0xffff'ffff'ff60'0000;
  EXPECT_EQ(in_space_of(2, kOfKernel), kOfKernel);
  EXPECT_EQ(without_space(kOfKernel), kOfKernel);
}

}  // namespace
}  // namespace contrafact::model
