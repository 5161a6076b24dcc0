// Simulations of tiny native runs against results that a person can compute.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <tuple>

#include "model/text_trace.h"
#include "model/trace_builder.h"
#include "whatif/sim_credits.h"
#include "whatif/simulate.h"
#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

using Mode = SectionEdit::Mode;
using model::Trace;

Simulation simulated_with(const Simulator& simulator, const std::vector<SectionEdit>& edits,
                          const SimulateOptions& options = {}) {
  base::Result<Simulation> result = simulator.simulate({.edits = {edits.begin(), edits.end()}}, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(*result) : Simulation();
}

// Two threads hold one lock for 1000 ns each, from 0 on; then each works for 500 ns more. The second one waits.
Trace two_sections(const std::string& kind = "mutex") {
  return trace_of("fact agent native\nfact cores 2\nlock l " + kind +
                  " table\nthread a\nthread b\n"
                  "0 a lock_acquire l -\n1000 a lock_release l -\n1500 a thread_end\n"
                  "0 b lock_request l -\n1000 b lock_acquired l\n2000 b lock_release l -\n2500 b thread_end\n");
}

TEST(SimulateLocks, AnExclusiveLockIsHeldByOne) {
  const Trace trace = two_sections();
  const Simulator simulator(trace);
  for (const LockRule rule : {LockRule::barging, LockRule::fifo, LockRule::recorded}) {
    const Simulation result = simulated_with(simulator, {}, {.recorded_latencies = false, .lock_rule = rule});
    EXPECT_EQ(result.duration_ns, 2500);
    EXPECT_THAT(result.stuck, testing::IsEmpty());
    ASSERT_EQ(result.locks.size(), 1u);
    EXPECT_EQ(result.locks[0].acquisitions, 2u);
    EXPECT_EQ(result.locks[0].contended, 1u);
    EXPECT_EQ(result.locks[0].wait_ns, 1000);
  }
  EXPECT_EQ(simulator.retime_sections({}), 2500);
}

// A JVM's thread that waits for the end of all others ends when they have.
TEST(SimulateLocks, ReTimedAVirtualMachinesOwnThreadsDoNotKeepTheRun) {
  const Trace trace = trace_of(
      "fact jvm.name x\nfact cores 2\nlock l mutex table\nthread a\nthread b\nthread d \"DestroyJavaVM\"\n"
      "0 a lock_acquire l -\n1000 a lock_release l -\n1500 a thread_end\n"
      "0 b lock_request l -\n1000 b lock_acquired l\n2000 b lock_release l -\n2500 b thread_end\n"
      "2500 d thread_begin\n2600 d thread_end\n");
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  EXPECT_EQ(simulator.retime_sections(edits), 2500);
  for (SectionEdit& edit : edits) edit.mode = Mode::none;
  EXPECT_EQ(simulator.retime_sections(edits), 1500);
}

// Thread a writes from 0, 1500 and 3000 on, twice for 1000 and once for 100 ns; b asks at 100 and comes 900 ns after a
// release.
Trace writers(const std::string& kind) {
  return trace_of("fact agent native\nfact cores 2\nlock l " + kind +
                  " table\nthread a\nthread b\n"
                  "0 a lock_acquire l -\n1000 a lock_release l -\n1500 a lock_acquire l -\n2500 a lock_release l -\n"
                  "3000 a lock_acquire l -\n3100 a lock_release l -\n3100 a thread_end\n"
                  "100 b lock_request l -\n4000 b lock_acquired l\n5000 b lock_release l -\n5000 b thread_end\n");
}

// The woken thread finds it held at 1900, sleeps again, and gets it at 3400.
TEST(SimulateLocks, WritersTakeAReaderWriterLockAsAMutex) {
  for (const char* kind : {"mutex", "rwlock"}) {
    const Trace trace = writers(kind);
    EXPECT_EQ(simulated_with(Simulator(trace), {}).duration_ns, 4400) << kind;
  }
}

// Threads a, b and c hold a lock for 1000 ns each, one after the other. With an order of their own, only c waits: for a.
TEST(SimulateLocks, AnOrderOfItsOwnIsAllThatIsKept) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 3\nlock l mutex table\nlock m mutex other\nthread a\nthread b\nthread c\n"
      "0 a lock_acquire l -\n1000 a lock_release l -\n1000 a thread_end\n"
      "0 b lock_request l -\n1000 b lock_acquired l\n2000 b lock_release l -\n2000 b thread_end\n"
      "0 c lock_request l -\n2000 c lock_acquired l\n3000 c lock_release l -\n3000 c thread_end\n");
  const Simulator simulator(trace);
  const auto with = [&](std::vector<uint32_t> begin, std::vector<uint32_t> before) {
    const auto order = std::make_shared<const graph::SectionOrder>(graph::SectionOrder{begin, before});
    const auto result = simulator.simulate({.order = order, .ordered = {true, true}}, {.recorded_latencies = false});
    EXPECT_TRUE(result.ok() && result->stuck.empty());
    return result.ok() ? std::pair(result->duration_ns, result->locks.at(0).wait_ns) : std::pair<int64_t, int64_t>();
  };
  EXPECT_EQ(with({0, 0, 0, 0}, {}), std::pair(int64_t{1000}, int64_t{0}));
  EXPECT_EQ(with({0, 0, 0, 1}, {0}), std::pair(int64_t{2000}, int64_t{1000}));
  EXPECT_EQ(with({0, 0, 1, 3}, {0, 0, 1}), std::pair(int64_t{3000}, int64_t{3000}));
}

// A section of another lock may be what is waited for; other locks are taken as before.
TEST(SimulateLocks, AnOrderMayNameSectionsOfAnyLock) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 2\nlock l mutex table\nlock m mutex other\nthread a\nthread b\n"
      "0 a lock_acquire m -\n1000 a lock_release m -\n1000 a thread_end\n"
      "0 b lock_acquire l -\n500 b lock_release l -\n500 b thread_end\n");
  const auto order = std::make_shared<const graph::SectionOrder>(graph::SectionOrder{{0, 1, 1}, {1}});
  const auto result = simulate(trace, {.order = order, .ordered = {true, false}}, {.recorded_latencies = false});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->duration_ns, 1500);
}

TEST(SimulateLocks, AnOrderThatIsNotOfTheTraceIsRefused) {
  const Trace trace = two_sections();
  const auto order = std::make_shared<const graph::SectionOrder>(graph::SectionOrder{{0, 0}, {}});
  const auto result = simulate(trace, {.order = order, .ordered = {true}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "the order is not of the trace's 2 critical sections");
}

TEST(SimulateLocks, EditsDropShareAndSplit) {
  const Trace trace = two_sections();
  const Simulator simulator(trace);
  const auto with = [&](auto change) {
    std::vector<SectionEdit> edits = unedited(simulator.sections());
    for (size_t i = 0; i < edits.size(); ++i) change(edits[i], i);
    EXPECT_EQ(simulator.retime_sections(edits), 1500);
    return simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns;
  };
  EXPECT_EQ(with([](SectionEdit& edit, size_t) { edit.mode = Mode::none; }), 1500);
  EXPECT_EQ(with([](SectionEdit& edit, size_t) { edit.mode = Mode::shared; }), 1500);
  EXPECT_EQ(with([](SectionEdit& edit, size_t i) { edit.lock = static_cast<uint32_t>(i + 1); }), 1500);
}

// A pool of two: t1 and t2 hold one lock, t2 after t1, before which a worker stands meanwhile; t3 and t4 queue for the
// workers. Without the wait for the lock the worker takes t4 a hold earlier.
TEST(SimulateLocks, AWorkerThatStoodBeforeALockTakesTheNextTask) {
  const Trace trace = trace_of(
      "fact cores 4\nlock l monitor table\nthread main\nthread w1\nthread w2\npool p thread_pool 2 2\n"
      "0 main thread_begin\n0 main task_spawn t1 - p\n0 main task_spawn t2 - p\n0 main task_spawn t3 - p\n"
      "0 main task_spawn t4 - p\n0 main wait_begin t4\n"
      "0 w1 task_start t1\n0 w1 lock_acquire l -\n1000 w1 lock_release l -\n1000 w1 task_end t1\n"
      "1000 w1 task_start t3\n2000 w1 task_end t3\n2000 w1 task_start t4\n3000 w1 task_end t4\n"
      "0 w2 task_start t2\n0 w2 lock_request l -\n1000 w2 lock_acquired l\n2000 w2 lock_release l -\n2000 w2 task_end "
      "t2\n"
      "3000 main wait_end t4\n3000 main thread_end\n");
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 3000);
  edits[1].lock = 1;
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 2000);
  edits[1].mode = Mode::none;
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 2000);
}

// On one thread nobody waits for the lock: t1 and t2 are called by main one after the other.
TEST(SimulateLocks, AnInlinedTaskTakesItsSectionAlong) {
  const Trace trace = trace_of(
      "fact cores 4\nlock l monitor table\nthread main\nthread w1\nthread w2\npool p thread_pool 2 2\n"
      "0 main thread_begin\n0 main task_spawn t1 - p\n0 main task_spawn t2 - p\n0 main wait_begin t1\n"
      "0 w1 task_start t1\n0 w1 lock_acquire l -\n1000 w1 lock_release l -\n1000 w1 task_end t1\n"
      "0 w2 task_start t2\n0 w2 lock_request l -\n1000 w2 lock_acquired l\n2000 w2 lock_release l -\n2000 w2 task_end "
      "t2\n"
      "1000 main wait_end t1\n1000 main wait_begin t2\n2000 main wait_end t2\n2000 main thread_end\n");
  const std::vector<Treatment> treatments(2, Treatment::inline_at_spawn);
  const base::Result<Simulation> result = simulate(trace, {.treatments = treatments}, {.recorded_latencies = false});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->duration_ns, 2000);
  ASSERT_EQ(result->locks.size(), 1u);
  EXPECT_EQ(result->locks[0].acquisitions, 2u);
  EXPECT_EQ(result->locks[0].contended, 0u);
  for (const model::CriticalSection& section : model::critical_sections(result->trace))
    EXPECT_EQ(section.thread.value, 0u);
}

// The file ends at 2500, where main waits for b, c sleeps, and b works: without its wait b would be there at 1500.
TEST(SimulateLocks, ACutOffRunLastsAsLongAsTheThreadsThatWorkedAtItsEnd) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 4\nlock l mutex table\nlock m mutex mark\nthread main\nthread a\nthread b\n"
      "thread c\n0 main task_spawn t1 -\n0 main task_spawn t2 -\n0 main task_spawn t3 -\n"
      "0 a task_start t1\n0 a lock_acquire l -\n1000 a lock_release l -\n1500 a task_end t1\n"
      "0 b task_start t2\n0 b lock_request l -\n1000 b lock_acquired l\n2000 b lock_release l -\n"
      "2500 b lock_acquire m -\n0 c task_start t3\n5 c block_begin sleep -\n1 main wait_begin t1\n1500 main wait_end "
      "t1\n"
      "1501 main wait_begin t2\n");
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  EXPECT_EQ(simulator.retime_sections(edits), 2500);
  for (SectionEdit& edit : edits) edit.mode = Mode::none;
  EXPECT_EQ(simulator.retime_sections(edits), 1500);
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 1500);
}

// a holds locks 0 and 1, b 1 and 2, c 3 and 4, for 1000 ns each: only b waits, and for a alone.
TEST(SimulateLocks, SectionsMayTakeTwoLocks) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 3\nlock l mutex table\nthread a\nthread b\nthread c\n"
      "0 a lock_acquire l -\n1000 a lock_release l -\n1500 a thread_end\n"
      "0 b lock_request l -\n1000 b lock_acquired l\n2000 b lock_release l -\n2500 b thread_end\n"
      "0 c lock_request l -\n2000 c lock_acquired l\n3000 c lock_release l -\n3500 c thread_end\n");
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  edits[0].also = 1;
  edits[1].lock = 2, edits[1].also = 1;  // takes 1 first
  edits[2].lock = 4, edits[2].also = 3;
  for (const LockRule rule : {LockRule::barging, LockRule::fifo, LockRule::recorded}) {
    const Simulation result = simulated_with(simulator, edits, {.recorded_latencies = false, .lock_rule = rule});
    EXPECT_EQ(result.duration_ns, 2500);
    EXPECT_THAT(result.stuck, testing::IsEmpty());
    ASSERT_EQ(result.locks.size(), 5u);
    for (const LockWait& lock : result.locks) EXPECT_EQ(lock.wait_ns, lock.lock == 1 ? 1000 : 0) << lock.lock;
  }
  EXPECT_EQ(simulator.retime_sections(edits), 2500);
  edits[2].also = SectionEdit::kAllLocks;
  for (const LockRule rule : {LockRule::barging, LockRule::fifo, LockRule::recorded})
    EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false, .lock_rule = rule}).duration_ns, 3500);
  EXPECT_EQ(simulator.retime_sections(edits), 3500);
}

// b holds 2 and 3; a holds 1 and waits for 2. b releases both and asks again before a is there; c comes in between, for
// 3 and 1. If c acquired 3 first, b would wait for c, c for a, and a for b.
TEST(SimulateLocks, TwoLocksAreTakenInOneOrderByAll) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 8\nlock l mutex\nthread a\nthread b\nthread c\n"
      "0 b lock_acquire l -\n1000 b lock_release l -\n1010 b lock_request l -\n"
      "500 a lock_request l -\n1100 a lock_acquired l\n2100 a lock_release l -\n"
      "1005 c lock_request l -\n2200 c lock_acquired l\n3200 c lock_release l -\n"
      "3300 b lock_acquired l\n4300 b lock_release l -\n");
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  const std::array<std::pair<uint32_t, uint32_t>, 3> locks_of_thread{{{1, 2}, {2, 3}, {3, 1}}};
  for (size_t s = 0; s < edits.size(); ++s)
    std::tie(edits[s].lock, edits[s].also) = locks_of_thread[simulator.sections()[s].thread.index()];
  for (const LockRule rule : {LockRule::barging, LockRule::fifo, LockRule::recorded}) {
    uint64_t taken = 0;
    for (const LockWait& lock : simulated_with(simulator, edits, {.lock_rule = rule}).locks) taken += lock.acquisitions;
    EXPECT_EQ(taken, 8u);  // two in each of four sections
  }
}

// A block of 600 ns in the middle of each hold: with the first 300 ns of CPU before it, or with the last.
TEST(SimulateLocks, EditsHoistBlocks) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 2\nlock l mutex table\nthread a\nthread b\n"
      "0 a lock_acquire l -\n200 a block_begin sleep -\n800 a block_end sleep\n1000 a lock_release l -\n1500 a "
      "thread_end\n"
      "0 b lock_request l -\n1000 b lock_acquired l\n1200 b block_begin sleep -\n1800 b block_end sleep\n"
      "2000 b lock_release l -\n2500 b thread_end\n");
  const Simulator simulator(trace);
  const auto with = [&](int64_t head_ns, int64_t tail_ns) {
    std::vector<SectionEdit> edits = unedited(simulator.sections());
    for (SectionEdit& edit : edits) {
      edit.head_outside_ns = head_ns;
      edit.tail_outside_ns = tail_ns;
    }
    return simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns;
  };
  EXPECT_EQ(with(0, 0), 2500);
  EXPECT_EQ(with(800, 0), 1700);  // both hold for 200 ns, the second one after the first
  EXPECT_EQ(with(0, 800), 1700);
}

// Sections that recording made longer take half of it: a holds for 500 ns, b waits for that, and both work on for 500
// ns. What moves out of the lock is as much shorter.
TEST(SimulateLocks, SectionsTakeLessTimeThanRecorded) {
  const Trace trace = two_sections();
  const Simulator simulator(trace);
  const auto duration_ns = [&](std::vector<float> scales, auto change) {
    std::vector<SectionEdit> edits = unedited(simulator.sections());
    for (SectionEdit& edit : edits) change(edit);
    const base::Result<Simulation> result = simulator.simulate(
        {.edits = {edits.begin(), edits.end()}, .cpu_scales = std::move(scales)}, {.recorded_latencies = false});
    return result.ok() ? result->duration_ns : -1;
  };
  const auto nothing = [](SectionEdit&) {};
  EXPECT_EQ(duration_ns({0.5, 0.5}, nothing), 1500);
  EXPECT_EQ(duration_ns({0.5, 1}, nothing), 2000);
  EXPECT_EQ(duration_ns({0.5, 0.5}, [](SectionEdit& edit) { edit.mode = Mode::none; }), 1000);
  EXPECT_EQ(duration_ns({0.5, 0.5}, [](SectionEdit& edit) { edit.head_outside_ns = 400; }), 1300);
  EXPECT_EQ(duration_ns({0.5, 0.5}, [](SectionEdit& edit) { edit.tail_outside_ns = 400; }), 1300);
  const base::Result<Simulation> unedited_run =
      simulator.simulate({.cpu_scales = {0.5, 0.5}}, {.recorded_latencies = false});
  ASSERT_TRUE(unedited_run.ok());
  EXPECT_EQ(unedited_run->duration_ns, 1500);
}

// Both look for 200 ns first; a changes nothing and holds the lock as a reader, b waits for that.
TEST(SimulateLocks, ASecondLookTakesTime) {
  const Trace trace = two_sections();
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  edits[1].look_ns = 200;
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns,
            2500);  // it waits that long anyway
  edits[0].mode = edits[1].mode = Mode::shared;
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 1700);
}

// The trace shows which thread held which lock, with the lock that the second section has now and the sets of the first
// run.
TEST(SimulateLocks, TheChangedRunIsATrace) {
  const Trace trace = two_sections();
  std::vector<SectionEdit> edits = unedited(Simulator(trace).sections());
  edits[1].lock = 1;
  const base::Result<Simulation> split =
      simulate(trace, {.edits = {edits.begin(), edits.end()}}, {.recorded_latencies = false});
  ASSERT_TRUE(split.ok());
  ASSERT_EQ(split->trace.locks.size(), 2u);
  EXPECT_EQ(split->trace.string(split->trace.locks[1].name), "table (part 2)");
  EXPECT_EQ(split->trace.end_ns() - split->trace.begin_ns(), 1500);
  const std::vector<model::CriticalSection> sections = model::critical_sections(split->trace);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].lock.value, 0u);
  EXPECT_EQ(sections[1].lock.value, 1u);
  for (const model::CriticalSection& section : sections) EXPECT_EQ(section.hold_ns(), 1000);
  edits[0].lock = edits[1].lock = 0;
  for (SectionEdit& edit : edits) edit.mode = Mode::shared;
  const base::Result<Simulation> shared =
      simulate(trace, {.edits = {edits.begin(), edits.end()}}, {.recorded_latencies = false});
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->trace.locks[0].kind, format::LockKind::rwlock);
  EXPECT_FALSE(simulate(trace, {.edits = std::vector<SectionEdit>(1)}).ok());
}

// Half of each hold happens outside: the second section begins when the first, shortened one is over.
TEST(SimulateLocks, EditsHoistWork) {
  const Trace trace = two_sections();
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (SectionEdit& edit : edits) edit.head_outside_ns = 500;
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 2000);
  EXPECT_EQ(simulator.retime_sections(edits), 2000);
  edits = unedited(simulator.sections());
  for (SectionEdit& edit : edits) edit.tail_outside_ns = 400;
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 2100);
  EXPECT_EQ(simulator.retime_sections(edits), 2100);
  // No more than there is.
  for (SectionEdit& edit : edits) edit.tail_outside_ns = 5000;
  EXPECT_EQ(simulated_with(simulator, edits, {.recorded_latencies = false}).duration_ns, 1500);
}

TEST(SimulateLocks, EditsOfAnotherTraceAreRefused) {
  const Trace trace = two_sections();
  const auto result = Simulator(trace).simulate({.edits = std::vector<SectionEdit>(3)});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, testing::HasSubstr("3 critical sections, the trace has 2"));
}

// On one core the lock's holder computes while the other could only wait: nothing is won by dropping the lock.
TEST(SimulateLocks, WhereCoresAreTheLimitALockCostsNothing) {
  const Trace trace = two_sections();
  const Simulator simulator(trace);
  std::vector<SectionEdit> none = unedited(simulator.sections());
  for (SectionEdit& edit : none) edit.mode = Mode::none;
  const SimulateOptions one_core{.cores = 1, .recorded_latencies = false};
  EXPECT_EQ(simulated_with(simulator, {}, one_core).duration_ns, 3000);
  EXPECT_EQ(simulated_with(simulator, none, one_core).duration_ns, 3000);
}

// A spinning thread keeps its core: on one core the holder has to wait for the spinner's slice to end.
TEST(SimulateLocks, SpinningTakesACore) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 2\nlock l spinlock table\nthread a\nthread b\n"
      "0 a lock_acquire l -\n1000 a lock_release l -\n1000 a thread_end\n"
      "0 b lock_acquire l -\n1000 b lock_release l -\n1000 b thread_end\n");
  const Simulator simulator(trace);
  const Simulation result = simulated_with(simulator, {}, {.cores = 1, .recorded_latencies = false, .slice_ns = 600});
  // a for 600, b spins for 600, a for 400 and releases the lock; b holds it from then on.
  EXPECT_EQ(result.duration_ns, 2600);
  EXPECT_EQ(result.cpu_ns, 2600);
}

TEST(SimulateLocks, ReadersShareAndWritersDoNot) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 4\nlock l rwlock table\nthread a\nthread b\nthread c\n"
      "0 a lock_acquire_shared l -\n1000 a lock_release l -\n1000 a thread_end\n"
      "0 b lock_acquire_shared l -\n900 b lock_release l -\n900 b thread_end\n"
      "10 c lock_request l -\n1000 c lock_acquired l\n1500 c lock_release l -\n1500 c thread_end\n");
  const Simulator simulator(trace);
  for (const LockRule rule : {LockRule::barging, LockRule::fifo, LockRule::recorded})
    EXPECT_EQ(simulated_with(simulator, {}, {.recorded_latencies = false, .lock_rule = rule}).duration_ns, 1500);
  EXPECT_EQ(simulator.retime_sections({}), 1500);
}

// Whoever comes to the queue first gets the first item, and none comes to an item before it is there.
TEST(SimulateLocks, ConsumersNeedSignals) {
  const std::string text =
      "fact agent native\nfact cores 3\nlock m mutex queue\nlock c condition filled\n"
      "method m1 .consume q.cc:1\ncontext c1 - m1:5\ncontext c2 - m1:6\n"
      "thread p\nthread a\nthread b\n"
      "1000 p lock_acquire m -\n1010 p sync_signal c -\n1020 p lock_release m -\n"
      "3000 p lock_acquire m -\n3010 p sync_signal c -\n3020 p lock_release m -\n3020 p thread_end\n"
      "0 a lock_acquire m c1\n10 a lock_release m c2\n10 a sync_wait c c2\n1020 a sync_woken c\n"
      "1020 a lock_acquire m c2\n1030 a lock_release m -\n1100 a thread_end\n"
      "4000 b lock_acquire m c1\n4010 b lock_release m -\n4100 b thread_end\n";
  const Trace trace = trace_of(text);
  const Simulator simulator(trace);
  EXPECT_EQ(simulated_with(simulator, {}, {.recorded_latencies = false}).duration_ns, 4100);
  // b is there at once, and has to wait for the second item: it is done 100 ns after it was signalled.
  std::string early = text;
  const size_t at = early.find("4000 b");
  early.replace(at, std::string::npos, "3030 b lock_acquire m c1\n3040 b lock_release m -\n3140 b thread_end\n");
  const Trace soon = trace_of(early);
  const Simulator other(soon);
  EXPECT_EQ(simulated_with(other, {}, {.recorded_latencies = false}).duration_ns, 3140);
}

// p wakes a at a futex as late as it got its lock, and without the lock 590 ns earlier.
TEST(SimulateLocks, AWaitAtAFutexEndsWithItsSignal) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 3\nlock l mutex table\nlock f futex\nthread p\nthread a\nthread b\n"
      "10 p lock_request l -\n600 p lock_acquired l\n650 p lock_release l -\n700 p sync_signal f -\n710 p thread_end\n"
      "100 a sync_wait f -\n700 a sync_woken f\n1200 a thread_end\n"
      "0 b lock_acquire l -\n600 b lock_release l -\n600 b thread_end\n");
  const Simulator simulator(trace);
  for (const LockRule rule : {LockRule::barging, LockRule::recorded}) {
    const SimulateOptions options{.recorded_latencies = false, .lock_rule = rule};
    EXPECT_EQ(simulated_with(simulator, {}, options).duration_ns, 1200);
    std::vector<SectionEdit> edits = unedited(simulator.sections());
    for (size_t s = 0; s < edits.size(); ++s)
      if (model::is_held(trace.locks[simulator.sections()[s].lock.index()].kind)) edits[s].mode = Mode::none;
    EXPECT_EQ(simulated_with(simulator, edits, options).duration_ns, 610);
  }
}

// a releases the mutex and then waits at a futex: that is no wait at a condition, and a thread that acquires the mutex
// needs no signal.
TEST(SimulateLocks, AMutexBeforeAWaitAtAFutexHasNothingToDoWithIt) {
  const Trace trace = trace_of(
      "fact agent native\nfact cores 3\nlock m mutex table\nlock f futex\nmethod m1 .f q.cc:1\ncontext c1 - m1:5\n"
      "thread a\nthread b\nthread p\n"
      "0 a lock_acquire m c1\n10 a lock_release m c1\n10 a sync_wait f c1\n1000 a sync_woken f\n1100 a thread_end\n"
      "1500 b lock_acquire m c1\n1510 b lock_release m c1\n1600 b thread_end\n"
      "1000 p sync_signal f c1\n1010 p thread_end\n");
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  const Credits credits = count_credits(trace, sections, model::sync_wakes(trace, sections));
  ASSERT_EQ(sections.size(), 3u);
  for (size_t s = 0; s < sections.size(); ++s)
    EXPECT_EQ(credits.condition_of[s] == Credits::kNone, model::is_held(trace.locks[sections[s].lock.index()].kind));
}

TEST(SimulateLocks, BarriersAndSemaphores) {
  const Trace barrier = trace_of(
      "fact agent native\nfact cores 2\nlock b barrier round\nthread x\nthread y\n"
      "100 x sync_wait b -\n700 x sync_woken b\n800 x thread_end\n"
      "700 y sync_wait b -\n700 y sync_woken b\n1000 y thread_end\n");
  EXPECT_EQ(simulated_with(Simulator(barrier), {}, {.recorded_latencies = false}).duration_ns, 1000 - 100);
  const Trace semaphore = trace_of(
      "fact agent native\nfact cores 2\nlock s semaphore slots\nthread x\nthread y\n"
      "10 x lock_request s -\n500 x lock_acquired s\n600 x thread_end\n"
      "0 y lock_acquire s -\n500 y sync_signal s -\n900 y thread_end\n");
  EXPECT_EQ(simulated_with(Simulator(semaphore), {}, {.recorded_latencies = false}).duration_ns, 900);
}

TEST(SimulateLocks, SeedsVaryAndRepeat) {
  std::string text = "fact agent native\nfact cores 2\nlock l mutex table\nthread a\nthread b\n";
  int64_t now = 0;
  for (int i = 0; i < 40; ++i) {  // a and b alternate; each waits for the other, and is late by another time
    const char* who = i % 2 == 0 ? "a" : "b";
    text += std::to_string(i == 0 ? 0 : now - 900) + " " + who + " lock_request l -\n";
    now += i * 7;
    text += std::to_string(now) + " " + who + " lock_acquired l\n";
    now += 1000;
    text += std::to_string(now) + " " + who + " lock_release l -\n";
  }
  const Trace trace = trace_of(text);
  const Simulator simulator(trace);
  const auto duration = [&](uint64_t seed) { return simulated_with(simulator, {}, {.seed = seed}).duration_ns; };
  EXPECT_EQ(duration(1), duration(1));
  EXPECT_EQ(duration(0), duration(0));
  EXPECT_NE(duration(1), duration(2));
}

TEST(SimulateLocks, TheUnchangedRunIsChecked) {
  const Trace trace = two_sections();
  const auto check = Simulator(trace).check_baseline();
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->recorded_ns, 2500);
  EXPECT_EQ(check->retimed_ns, 2500);
  EXPECT_TRUE(check->trusted);
}

// Events of locks that no program would produce, as damaged recordings may hold them.
Trace random_locks(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  model::TraceBuilder builder;
  builder.add_fact("agent", "native");
  builder.add_fact("cores", std::to_string(1 + below(3)));
  const uint32_t threads = 1 + below(5);
  for (uint32_t i = 0; i < threads; ++i) builder.add_thread("thread");
  for (uint32_t i = 0; i < 7; ++i) builder.add_lock("", static_cast<format::LockKind>(i));
  const model::MethodId method = builder.add_method("", "work");
  for (uint32_t i = 0; i < 4; ++i) builder.add_context({}, method, i + 1);
  int64_t now_ns = 0;
  for (uint32_t i = 0; i < 20 + seed % 300; ++i) {
    constexpr auto kFirst = static_cast<uint32_t>(model::EventKind::lock_acquire);
    constexpr auto kLast = static_cast<uint32_t>(model::EventKind::sync_broadcast);
    now_ns += below(40);
    builder.add(model::ThreadId(below(threads)), static_cast<model::EventKind>(kFirst + below(kLast - kFirst + 1)),
                now_ns, {below(7), below(4), 0, 0});
  }
  return std::move(*builder.build());
}

// Whatever it holds, the simulation ends, under every order and whatever is changed, and does the same twice.
TEST(SimulateLocksDamaged, AlwaysEnds) {
  uint64_t waited = 0;
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    const Trace trace = random_locks(seed);
    const Simulator simulator(trace);
    std::mt19937 random(seed);
    std::vector<SectionEdit> edits = unedited(simulator.sections());
    for (SectionEdit& edit : edits) {
      edit.mode = static_cast<Mode>(random() % 3);
      if (random() % 3 == 0) edit.lock = static_cast<uint32_t>(trace.locks.size() + random() % 2);
      if (random() % 3 == 0) edit.also = static_cast<uint32_t>(trace.locks.size() + random() % 2);
      if (random() % 30 == 0) edit.also = SectionEdit::kAllLocks;
      edit.head_outside_ns = static_cast<int64_t>(random() % 50);
      edit.tail_outside_ns = static_cast<int64_t>(random() % 50);
    }
    const bool may_edit = edits.size() > 1;  // two new locks need two sections
    for (const LockRule rule : {LockRule::barging, LockRule::fifo, LockRule::recorded}) {
      for (const auto& made : {std::vector<SectionEdit>(), may_edit ? edits : std::vector<SectionEdit>()}) {
        const SimulateOptions options{.lock_rule = rule, .seed = seed, .slice_ns = 30};
        const Simulation result = simulated_with(simulator, made, options);
        EXPECT_EQ(result.duration_ns, simulated_with(simulator, made, options).duration_ns) << seed;
        for (const LockWait& lock : result.locks) waited += lock.contended;
      }
    }
    EXPECT_GE(simulator.retime_sections(may_edit ? edits : std::vector<SectionEdit>()), 0) << seed;
  }
  EXPECT_GT(waited, 1000u);
}

}  // namespace
}  // namespace contrafact::whatif
