// Schedules survive the file; replays by real threads keep the order that their strategy promises. Nothing here is
// about how long anything takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "model/critical_sections.h"
#include "model/text_trace.h"
#include "replay/enforce/burn.h"
#include "replay/enforce/enforce.h"
#include "replay/enforce/process.h"
#include "replay/plan/access_turns.h"
#include "replay/plan/plan.h"

namespace contrafact::replay {
namespace {

using whatif::SectionEdit;

model::Trace parsed(const std::string& text) {
  base::Result<model::Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : model::Trace();
}

// Three threads that take one mutex thirty times each; which one comes next changes all the time.
model::Trace contended() {
  std::string text = "fact agent native\nfact cores 2\nlock l mutex table\nthread a\nthread b\nthread c\n";
  int64_t now = 0;
  for (int i = 0; i < 90; ++i) {
    const char* who = std::array{"a", "b", "c"}[static_cast<size_t>((i * 7 + i / 5) % 3)];
    text += std::to_string(now) + " " + who + " lock_acquire l -\n";
    now += 20'000;
    text += std::to_string(now) + " " + who + " lock_release l -\n";
    now += 1'000;
  }
  return parsed(text);
}

class File {
 public:
  explicit File(const Schedule& schedule)
      : path_(std::filesystem::temp_directory_path() / ("schedule-" + std::to_string(getpid()))) {
    const std::vector<uint8_t> bytes = encode(schedule);
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~File() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Schedule planned(const model::Trace& trace, const whatif::Variant& variant = {}) {
  base::Result<Schedule> schedule = plan_schedule(whatif::Simulator(trace), variant);
  EXPECT_TRUE(schedule.ok());
  return *std::move(schedule);
}

ReplayResult replayed(const Schedule& schedule, Strategy strategy) {
  const File file(schedule);
  base::Result<ReplayResult> result = enforce(file.path(), strategy);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : ReplayResult();
}

TEST(Schedule, SurvivesTheFileAndRefusesOthers) {
  const Schedule schedule = planned(contended());
  EXPECT_GT(schedule.action_count(), 3u * 90u);
  const std::vector<uint8_t> bytes = encode(schedule);
  const base::Result<Schedule> again = decode(bytes);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(encode(*again), bytes);
  EXPECT_FALSE(decode(std::vector<uint8_t>{1, 2, 3}).ok());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode({bytes.data(), size}).ok()) << "cut off at " << size;
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {  // whatever it holds, it is taken or refused
    std::vector<uint8_t> damaged = bytes;
    damaged[8 + random() % (damaged.size() - 8)] = static_cast<uint8_t>(random());
    (void)decode(damaged).ok();
  }
}

TEST(Plan, RefusesWhatCannotBeReplayed) {
  const model::Trace trace = parsed("thread main\n0 main thread_begin\n");
  const base::Result<Schedule> schedule = plan_schedule(whatif::Simulator(trace), {});
  ASSERT_FALSE(schedule.ok());
  EXPECT_THAT(schedule.error().message, testing::HasSubstr("not a recording of a native program"));
}

// Time that only looking at it lets pass.
constexpr int64_t kLookNs = 20;
int64_t g_made_up_ns = 0;
int64_t made_up_ns() {
  return g_made_up_ns += kLookNs;
}

int64_t burn_took_ns(BurnerBy<made_up_ns>& burner, int64_t burn_ns) {
  const int64_t begin_ns = g_made_up_ns;
  burner.burn(burn_ns, nullptr);
  return g_made_up_ns - begin_ns;
}

TEST(Burn, WhatPassesBetweenTwoBurnsIsTakenOffTheNext) {
  BurnerBy<made_up_ns> burner;
  EXPECT_EQ(burn_took_ns(burner, 1'500), 1'500 + kLookNs);  // the look at its begin counts for no burn
  g_made_up_ns += 1'000;
  EXPECT_EQ(burn_took_ns(burner, 1'500), 500);
  EXPECT_EQ(burn_took_ns(burner, 1'500), 1'500) << "nothing passed but the look at its begin";
}

TEST(Burn, WhatIsTakenTooMuchIsTakenOffTheNext) {
  BurnerBy<made_up_ns> burner;
  EXPECT_EQ(burn_took_ns(burner, 1'490), 1'500 + kLookNs);
  EXPECT_EQ(burn_took_ns(burner, 1'490), 1'480);
}

TEST(Burn, ALostCoreDoesNotCount) {
  BurnerBy<made_up_ns> burner;
  burn_took_ns(burner, 1'500);
  g_made_up_ns += burner.kGapMax;
  EXPECT_EQ(burn_took_ns(burner, 1'500), 1'500 + kLookNs);
}

TEST(Enforce, TheRecordedOrderIsKept) {
  const Schedule schedule = planned(contended());
  const ReplayResult result = replayed(schedule, Strategy::recorded);
  EXPECT_EQ(result.sections, 90u);
  EXPECT_EQ(result.out_of_order, 0u);
  EXPECT_EQ(result.blocks, 1u);
  EXPECT_GT(result.run_ns, 0);
}

// Each section takes two of five new locks.
TEST(Enforce, SectionsThatTakeTwoLocksKeepTheOrderOfBoth) {
  const model::Trace trace = contended();
  const whatif::Simulator simulator(trace);
  std::vector<SectionEdit> edits = whatif::unedited(simulator.sections());
  for (uint32_t s = 0; s < edits.size(); ++s) {
    edits[s].lock = 1 + s % 5;
    edits[s].also = 1 + (s + 1 + s / 5 % 4) % 5;
  }
  const Schedule schedule = planned(trace, {.edits = edits});
  for (const Strategy strategy : {Strategy::recorded, Strategy::free, Strategy::deterministic}) {
    const ReplayResult result = replayed(schedule, strategy);
    EXPECT_EQ(result.sections, 2 * 90u);  // as many acquisitions
    if (strategy == Strategy::recorded) {
      EXPECT_EQ(result.out_of_order, 0u);
    }
  }
}

TEST(Enforce, FreeOrderHasEverySectionOnce) {
  EXPECT_EQ(replayed(planned(contended()), Strategy::free).sections, 90u);
}

TEST(Enforce, DeterministicOrderRepeats) {
  const Schedule schedule = planned(contended());
  const ReplayResult first = replayed(schedule, Strategy::deterministic);
  EXPECT_EQ(first.sections, 90u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(replayed(schedule, Strategy::deterministic).order_digest, first.order_digest);
}

void expect_same_orders(const Schedule& schedule, int runs) {
  const ReplayResult first = replayed(schedule, Strategy::deterministic);
  EXPECT_GT(first.sections, 0u);
  for (int i = 1; i < runs; ++i) {
    const ReplayResult again = replayed(schedule, Strategy::deterministic);
    EXPECT_EQ(again.order_digest, first.order_digest);
    EXPECT_EQ(again.waits_left, first.waits_left);
  }
}

// In long quanta, which the schedule has for its dense locks; and in single nanoseconds, which it has once a thread
// that takes none burns so long that locks are rare.
void expect_one_order(Schedule schedule, int runs) {
  expect_same_orders(schedule, runs);
  uint64_t takes = 0;
  for (const ReplayThread& thread : schedule.threads) {
    takes += static_cast<uint64_t>(std::ranges::count_if(thread.actions, [](const Action& action) {
      return action.code == ActionCode::take || action.code == ActionCode::take_shared;
    }));
  }
  constexpr uint64_t kRareNs = 20'000;
  schedule.starts.push_back({.thread = static_cast<uint32_t>(schedule.threads.size())});
  schedule.threads.push_back({.actions = {{.value = takes * kRareNs, .code = ActionCode::burn}}});
  expect_same_orders(schedule, runs / 2);
}

// Threads that let each other go on all the time, in a ring of semaphores, and take one mutex in between: a thread that
// reads the others' clocks must miss none that joins meanwhile, not even if it loses its core between two readings.
TEST(Enforce, DeterministicOrderRepeatsWhereThreadsWakeEachOther) {
  constexpr uint32_t kThreads = 12, kRounds = 50;
  Schedule schedule;
  schedule.locks.assign(kThreads, {.kind = ReplayLockKind::semaphore, .count = 1});
  schedule.locks.push_back({.kind = ReplayLockKind::mutex});
  schedule.credit_needs.resize(schedule.locks.size());
  schedule.threads.resize(kThreads);
  std::mt19937 random(7);
  for (uint32_t i = 0; i < kThreads; ++i) {
    std::vector<Action>& actions = schedule.threads[i].actions;
    for (uint32_t round = 0; round < kRounds; ++round) {
      actions.push_back({.value = i, .code = ActionCode::sem_take});
      actions.push_back({.value = random() % 400, .code = ActionCode::burn});
      actions.push_back({.value = kThreads, .section = round * kThreads + i, .code = ActionCode::take});
      actions.push_back({.value = random() % 400, .code = ActionCode::burn});
      actions.push_back({.value = kThreads, .code = ActionCode::give});
      actions.push_back({.value = (i * 5 + 7) % kThreads, .code = ActionCode::sem_post});
    }
    schedule.starts.push_back({.thread = i});
  }
  expect_one_order(schedule, 15);
}

// Sections of equal length that begin at equal logical times: a lock is released at the very time at which another
// thread tries it. Readers share it with readers that have released it already, and with readers that have not.
TEST(Enforce, DeterministicOrderRepeatsWhereTimesAreEqual) {
  constexpr uint32_t kThreads = 6, kRounds = 200;
  Schedule schedule;
  schedule.locks = {{.kind = ReplayLockKind::mutex}, {.kind = ReplayLockKind::rwlock}};
  schedule.credit_needs.resize(schedule.locks.size());
  schedule.threads.resize(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    std::vector<Action>& actions = schedule.threads[i].actions;
    for (uint32_t round = 0; round < kRounds; ++round) {
      const uint32_t section = round * kThreads + i;
      const bool shared = i % 3 != 0;
      actions.push_back({.value = 0, .section = section, .code = ActionCode::take});
      actions.push_back({.value = 499, .code = ActionCode::burn});
      actions.push_back({.value = 0, .code = ActionCode::give});
      actions.push_back({.value = 1, .section = section, .code = shared ? ActionCode::take_shared : ActionCode::take});
      actions.push_back({.value = 998, .code = ActionCode::burn});
      actions.push_back({.value = 1, .code = shared ? ActionCode::give_shared : ActionCode::give});
    }
    schedule.starts.push_back({.thread = i});
  }
  expect_one_order(schedule, 25);
}

TEST(Enforce, EditsTakeLocksAway) {
  const model::Trace trace = contended();
  std::vector<SectionEdit> edits = whatif::unedited(whatif::Simulator(trace).sections());
  for (SectionEdit& edit : edits) edit.mode = SectionEdit::Mode::none;
  EXPECT_EQ(replayed(planned(trace, {.edits = edits}), Strategy::recorded).sections, 0u);
}

TEST(Plan, RefusesChangesOfTasksAndPools) {
  const model::Trace trace = contended();
  const whatif::Simulator simulator(trace);
  EXPECT_FALSE(plan_schedule(simulator, {.treatments = {whatif::Treatment::inline_at_spawn}}).ok());
  EXPECT_FALSE(plan_schedule(simulator, {.pool_sizes = {{model::PoolId(0), 3}}}).ok());
  EXPECT_FALSE(plan_schedule(simulator, {.edits = {SectionEdit()}}).ok());
}

TEST(Process, IsKeptToSoManyCores) {
  const File file(planned(contended()));
  EXPECT_TRUE(enforce_in_process(file.path(), Strategy::recorded, 60, 1).ok());
  const uint32_t there = cores_to_use();
  const base::Result<ProcessRun> refused = enforce_in_process(file.path(), Strategy::recorded, 60, there + 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("cores are not to be had"));
}

// A thread that creates one and waits for it, a queue with a condition, a semaphore and a barrier: each thread gets to
// its end under every strategy.
TEST(Enforce, ThreadsWaitForEachOther) {
  const model::Trace trace = parsed(
      "fact agent native\nfact cores 2\nlock m mutex queue\nlock c condition filled\nlock s semaphore slots\n"
      "lock b barrier round\nmethod m1 .consume q.cc:1\ncontext c1 - m1:5\ncontext c2 - m1:6\nthread main\nthread w\n"
      "0 main task_spawn t1 c1 - m1\n10 w thread_begin\n10 w task_start t1\n"
      "20 w lock_acquire m c1\n30 w lock_release m c2\n30 w sync_wait c c2\n1020 w sync_woken c\n"
      "1020 w lock_acquire m c2\n1030 w lock_release m -\n1040 w lock_request s -\n2000 w lock_acquired s\n"
      "2100 w sync_wait b -\n3000 w sync_woken b\n3010 w task_end t1\n3010 w thread_end\n"
      "1000 main lock_acquire m -\n1010 main sync_signal c -\n1020 main lock_release m -\n1990 main sync_signal s -\n"
      "3000 main sync_wait b -\n3000 main sync_woken b\n3005 main wait_begin t1 c1\n3020 main wait_end t1\n"
      "3030 main thread_end\n");
  const Schedule schedule = planned(trace);
  for (const Strategy strategy : {Strategy::free, Strategy::recorded, Strategy::deterministic}) {
    const ReplayResult result = replayed(schedule, strategy);
    EXPECT_EQ(result.sections, 3u);
    EXPECT_GT(result.run_ns, 0);
  }
}

// A signal that never comes, and a recorded wake by a thread that waits for that signal first: both waits are left, and
// the rest is done.
TEST(Enforce, WhatNothingCanEndIsLeft) {
  Schedule schedule;
  schedule.locks = {{.kind = ReplayLockKind::condition}, {.kind = ReplayLockKind::mutex}};
  schedule.credit_needs = {{1}, {}};
  schedule.tokens = 1;
  schedule.threads.resize(2);
  schedule.threads[0].actions = {{.value = 0, .need = 1, .code = ActionCode::credit_wait},
                                 {.value = 0, .code = ActionCode::token_wait},
                                 {.value = 1000, .code = ActionCode::burn}};
  schedule.threads[1].actions = {{.value = 1, .code = ActionCode::take},
                                 {.value = 20'000'000, .code = ActionCode::sleep},
                                 {.value = 1, .code = ActionCode::give}};
  schedule.starts = {{.thread = 0}, {.thread = 1}};
  for (const Strategy strategy : {Strategy::free, Strategy::recorded, Strategy::deterministic}) {
    const ReplayResult result = replayed(schedule, strategy);
    EXPECT_EQ(result.waits_left, 2u);
    EXPECT_EQ(result.sections, 1u);
    EXPECT_GE(result.run_ns + result.sleep_over_ns, 20'000'000);  // nobody is let go while a thread sleeps
  }
}

// Two threads that live at once touch the 8 bytes at 0x1000, and the first writes them. 0x2000 is only read, 0x3000 one
// thread's, and 0x4000 was the second thread's before it was the third's, which began later.
model::Trace sharing() {
  return parsed(
      "fact agent native\nfact cores 2\nlock l mutex table\nthread a\nthread b\nthread c\n"
      "access_log a 0 100 complete 0 0x3000+8:wc 0x1000+4:wc 0x2000+8:r 0x1004+2:r 0x3000+8:rwc\n"
      "access_log b 50 150 complete 0 0x1000+1:r 0x2000+8:r 0x4000+8:wc\n"
      "access_log a 300 400 complete 0 0x3000+8:r\n"
      "access_log a 400 500 signal 7 0x1000+8:wc\n"
      "access_log c 900 1000 complete 0 0x4000+8:wc\n"
      "0 a thread_begin\n200 a lock_acquire l -\n250 a lock_release l -\n800 a thread_end\n"
      "0 b thread_begin\n700 b thread_end\n850 c thread_begin\n1100 c thread_end\n");
}

TEST(AccessTurns, LastFromTheFirstSharedAccessOfAChunkToItsLast) {
  SharedAccesses facts;
  const base::Result<model::Trace> with_turns = with_access_turns(sharing(), facts);
  ASSERT_TRUE(with_turns.ok()) << with_turns.error().message;
  EXPECT_EQ(facts.accesses, 11u);
  EXPECT_EQ(facts.shared, 4u);
  EXPECT_EQ(facts.shared_bytes, 8u);
  EXPECT_EQ(facts.turns, 3u);
  EXPECT_EQ(facts.gaps, 1u);
  EXPECT_EQ(facts.lost, 7u);
  std::vector<model::CriticalSection> turns = model::critical_sections(*with_turns);
  std::erase_if(turns, [](const auto& section) { return section.lock.value != 1; });
  ASSERT_EQ(turns.size(), 3u);
  const auto times = [&](size_t i) {
    return std::tuple(turns[i].thread.value, turns[i].acquire_ns, turns[i].release_ns);
  };
  EXPECT_EQ(times(0), std::tuple(0u, 30, 70));  // the second of five accesses to the fourth
  EXPECT_EQ(times(1), std::tuple(1u, 66, 66));  // the first of three
  EXPECT_EQ(times(2), std::tuple(0u, 450, 450));
  EXPECT_EQ(with_turns->string(with_turns->locks[1].name), kAccessTurnsLock);
}

TEST(AccessTurns, AreTakenInTheirOrder) {
  SharedAccesses facts;
  const base::Result<model::Trace> with_turns = with_access_turns(sharing(), facts);
  ASSERT_TRUE(with_turns.ok());
  for (int i = 0; i < 3; ++i) {
    const ReplayResult result = replayed(planned(*with_turns), Strategy::recorded);
    EXPECT_EQ(result.sections, 4u);
    EXPECT_EQ(result.out_of_order, 0u);
  }
}

// Missing by the recorder, with damaged parts of the file, and in a chunk whose bytes are no accesses or not as many as
// it says.
TEST(AccessTurns, SayWhatIsMissing) {
  model::Trace trace = sharing();
  trace.access_log.chunks_missing = 2;
  trace.access_log.accesses_missing = 100;
  SharedAccesses facts;
  ASSERT_TRUE(with_access_turns(trace, facts).ok());
  EXPECT_EQ(facts.gaps, 3u);
  EXPECT_EQ(facts.lost, 107u);
  model::AccessLog::Chunk& first = trace.access_log.chunks[0];
  trace.access_log.bytes[first.bytes_begin] |= 0x60;  // a length follows, but a distance does: the rest makes no sense
  trace.access_log.chunks[1].accesses = 2;            // of three
  ASSERT_TRUE(with_access_turns(trace, facts).ok());
  EXPECT_EQ(facts.gaps, 5u);
}

// The analysis takes half as much memory as the threads touched, whatever a trace says.
TEST(AccessTurns, OfMoreMemoryThanIsLookedAtAreRefused) {
  SharedAccesses facts;
  const model::Trace trace = parsed(
      "fact agent native\nfact cores 2\nthread a\naccess_log a 0 50 complete 0 0x10000+4194304:wc\n"
      "0 a thread_begin\n100 a thread_end\n");
  EXPECT_TRUE(with_access_turns(trace, facts, uint64_t{4} << 20).ok());
  const base::Result<model::Trace> refused = with_access_turns(trace, facts, uint64_t{3} << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("more than 3 MiB"));
}

TEST(AccessTurns, NeedALog) {
  model::Trace damaged = contended();
  damaged.access_log.accesses_missing = 7;
  SharedAccesses none;
  EXPECT_THAT(with_access_turns(damaged, none).error().message, testing::HasSubstr("damaged parts of the file"));
  SharedAccesses facts;
  const base::Result<model::Trace> refused = with_access_turns(contended(), facts);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("contrafact record --accesses"));
}

}  // namespace
}  // namespace contrafact::replay
