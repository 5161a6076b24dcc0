// Critical sections that are ordered one by one: random programs come to their end, each section after those that it
// follows, and those are the ones that conflicts need and no others.
#include "replay/plan/section_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "model/critical_sections.h"
#include "model/section_sets.h"
#include "model/text_trace.h"
#include "replay/enforce/enforce.h"
#include "replay/plan/plan.h"

namespace contrafact::replay {
namespace {

constexpr uint32_t kThreads = 4;

// A run of threads that do what threads do, one event after the other: sections of two mutexes, some with one of the
// other inside, and of a reader-writer lock; a semaphore, a condition and a barrier. Locks are requested while others
// hold them.
class RandomRun {
 public:
  explicit RandomRun(uint32_t seed) : random_(seed) {}

  std::string text(int steps) {
    for (const char* set : {"none complete", "reads complete 0+8:r", "adds complete 0+8:rwc", "far complete 64+8:rwc",
                            "both complete 0+8:r 64+8:wc"}) {
      head_ += std::string("access_set ") + set + "\n";
    }
    for (uint32_t t = 0; t < kThreads; ++t) head_ += "thread w" + std::to_string(t) + "\n";
    for (uint32_t t = 0; t < kThreads; ++t) at(t, "thread_begin");
    for (int i = 0; i < steps; ++i) step();
    for (uint32_t t = 0; t < kThreads; ++t) at(t, "thread_end");
    return head_ + events_;
  }

 private:
  void step() {
    const uint32_t t = below(kThreads);
    switch (below(10)) {
      case 0:
        at(t, "lock_acquire s -");  // a semaphore
        at(below(kThreads), "sync_signal s -");
        return;
      case 1:
        return wait_at_condition(t);
      case 2:
        return meet();
      case 3:
        return read_together(t);
      case 4:
        return nest(t);
      default:
        return contend(t);
    }
  }

  void at(uint32_t thread, const std::string& what) {
    now_ns_ += 50 + below(3'000);
    events_ += std::to_string(now_ns_) + " w" + std::to_string(thread) + " " + what + "\n";
  }
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  std::string mutex() { return below(2) == 0 ? "m" : "k"; }
  void touch(uint32_t t) {
    constexpr const char* kSets[] = {"none", "reads", "reads", "adds", "far", "both"};
    if (below(8) != 0) at(t, std::string("accesses ") + kSets[below(6)]);  // else it is not known
  }

  // Another thread waits for the lock, and acquires it next.
  void contend(uint32_t t) {
    const uint32_t other = (t + 1 + below(kThreads - 1)) % kThreads;
    const std::string lock = mutex();
    at(t, "lock_acquire " + lock + " -");
    at(other, "lock_request " + lock + " -");
    touch(t);
    at(t, "lock_release " + lock + " -");
    at(other, "lock_acquired " + lock);
    touch(other);
    at(other, "lock_release " + lock + " -");
  }
  void nest(uint32_t t) {
    at(t, "lock_acquire m -");
    touch(t);
    at(t, "lock_acquire k -");
    touch(t);
    at(t, "lock_release k -");
    touch(t);
    at(t, "lock_release m -");
  }
  void read_together(uint32_t t) {
    const uint32_t other = (t + 1) % kThreads, writer = (t + 2) % kThreads;
    at(t, "lock_acquire_shared r -");
    at(other, "lock_acquire_shared r -");
    at(t, "accesses reads");
    at(t, "lock_release r -");
    at(other, "accesses reads");
    at(other, "lock_release r -");
    at(writer, "lock_acquire r -");
    touch(writer);
    at(writer, "lock_release r -");
  }
  // As a queue's consumer does, with the mutex released for the wait.
  void wait_at_condition(uint32_t t) {
    const uint32_t other = (t + 1 + below(kThreads - 1)) % kThreads;
    at(t, "lock_acquire m -");
    at(t, "lock_release m -");
    at(t, "sync_wait c -");
    at(other, "lock_acquire m -");
    touch(other);
    at(other, "sync_signal c -");
    at(other, "lock_release m -");
    at(t, "sync_woken c");
    at(t, "lock_acquire m -");
    touch(t);
    at(t, "lock_release m -");
  }
  void meet() {
    for (uint32_t t = 0; t < kThreads; ++t) at(t, "sync_wait b -");
    for (uint32_t t = 0; t < kThreads; ++t) at(t, "sync_woken b");
  }

  std::mt19937 random_;
  std::string head_ =
      "fact agent native\nfact cores 2\nlock m mutex\nlock k mutex\nlock r rwlock\nlock s semaphore\nlock c condition\n"
      "lock b barrier\n";
  std::string events_;
  int64_t now_ns_ = 0;
};

struct Planned {
  explicit Planned(const std::string& text) : trace(*model::parse_text(text)), simulator(trace) {
    sections = model::critical_sections(trace);
    sets = model::section_sets(trace, sections);
    recorded = graph::recorded_order(trace, sections);
    needed = graph::needed_order(trace, sections, sets, recorded);
  }
  Schedule schedule(const graph::SectionOrder& order) const {
    Schedule schedule = *plan_schedule(simulator, {});
    const std::vector<uint32_t> group_of(sections.size(), 0);
    order_sections(schedule, order, 1, group_of);
    return schedule;
  }

  model::Trace trace;
  whatif::Simulator simulator;
  std::vector<model::CriticalSection> sections;
  model::SectionSets sets;
  graph::SectionOrder recorded, needed;
};

ReplayResult replayed_by_sections(const Schedule& schedule) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("section-turns-" + std::to_string(getpid()));
  const std::vector<uint8_t> bytes = encode(schedule);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  base::Result<ReplayResult> result = enforce(path.string(), Strategy::sections);
  std::filesystem::remove(path);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : ReplayResult();
}

// All that come before each section, by the order and by threads' own: sections are sorted by lock and time.
std::vector<std::set<uint32_t>> all_before(const Planned& run, const Schedule& schedule) {
  std::vector<std::set<uint32_t>> before(run.sections.size());
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> last;  // by lock and thread
  for (uint32_t s = 0; s < before.size(); ++s) {
    std::vector<uint32_t> direct = schedule.sections[s].follows;
    const auto own = last.try_emplace({run.sections[s].lock.value, run.sections[s].thread.value}, s);
    if (!own.second) direct.push_back(std::exchange(own.first->second, s));
    for (const uint32_t other : direct) {
      before[s].insert(other);
      before[s].insert(before[other].begin(), before[other].end());
    }
  }
  return before;
}

// A section conflicts with each that it follows directly (or one of the two is not known); and each conflict is kept in
// order, directly or by way of others.
TEST(SectionTurns, AreThoseOfConflictsAndNoOthers) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Planned run(RandomRun(seed).text(60));
    const Schedule schedule = run.schedule(run.needed);
    graph::SectionConflicts conflicts(run.sets);
    const std::vector<std::set<uint32_t>> before = all_before(run, schedule);
    for (uint32_t s = 0; s < run.sections.size(); ++s) {
      const model::CriticalSection& section = run.sections[s];
      if (!section.release.valid() || !model::is_held(run.trace.locks[section.lock.index()].kind)) continue;
      for (const uint32_t other : schedule.sections[s].follows) {
        EXPECT_EQ(run.sections[other].lock, section.lock);
        EXPECT_LE(run.sections[other].release_ns, section.acquire_ns);
        const bool is_kept = run.trace.locks[section.lock.index()].kind == format::LockKind::rwlock;  // whole, at times
        const auto kind = conflicts.between(run.sets.of_section[other], run.sets.of_section[s]);
        EXPECT_TRUE(is_kept || !graph::is_unnecessary(kind)) << "seed " << seed << " section " << s;
      }
      for (uint32_t other = 0; other < s; ++other) {
        if (run.sections[other].lock != section.lock || run.sections[other].thread == section.thread) continue;
        if (run.sections[other].release_ns > section.acquire_ns) continue;  // readers side by side
        const auto kind = conflicts.between(run.sets.of_section[other], run.sets.of_section[s]);
        if (kind != graph::PairKind::conflict) continue;
        EXPECT_TRUE(before[s].contains(other)) << "seed " << seed << ": section " << s << " may come before " << other;
      }
    }
  }
}

TEST(SectionTurns, RandomRunsComeToTheirEndInTheirOrder) {
  for (uint32_t seed = 0; seed < 25; ++seed) {
    const Planned run(RandomRun(100 + seed).text(80));
    for (const graph::SectionOrder* order : {&run.recorded, &run.needed}) {
      const Schedule schedule = run.schedule(*order);
      const ReplayResult result = replayed_by_sections(schedule);
      EXPECT_EQ(result.out_of_order, 0u) << "seed " << seed;
      EXPECT_EQ(result.waits_left, 0u) << "seed " << seed;
      EXPECT_GT(result.sections, 50u);
      ASSERT_EQ(result.wait_ns_by_group.size(), 1u);
      EXPECT_GE(result.wait_ns_by_group[0], 0);
    }
  }
}

// Nobody waits for a section that is not replayed: a section that would follow it follows those that it would follow.
TEST(SectionTurns, ASectionWithoutAnEndHandsOnWhatItFollows) {
  const Planned run(
      "fact agent native\nfact cores 2\nlock m mutex\naccess_set adds complete 0+8:rwc\nthread a\nthread b\nthread c\n"
      "0 a lock_acquire m -\n5 a accesses adds\n10 a lock_release m -\n20 b lock_acquire m -\n25 b accesses adds\n"
      "30 b lock_release m -\n40 c lock_acquire m -\n45 c accesses adds\n50 c lock_release m -\n");
  Schedule schedule = *plan_schedule(run.simulator, {});
  for (Action& action : schedule.threads[1].actions) action = {.value = 1, .code = ActionCode::burn};
  const std::vector<uint32_t> group_of(run.sections.size(), 0);
  const TurnCounts counts = order_sections(schedule, run.needed, 1, group_of);
  EXPECT_EQ(counts.sections, 2u);
  EXPECT_THAT(schedule.sections[2].follows, testing::ElementsAre(0u));
}

// Posts let waits go on in the recorded order, whichever comes first: else the thread that posts next might never go
// on.
TEST(SectionTurns, SemaphoresAreHadInTheRecordedOrder) {
  Schedule schedule;
  schedule.locks = {{.kind = ReplayLockKind::semaphore}};
  schedule.credit_needs.resize(1);
  schedule.sections.resize(2);
  schedule.threads.resize(2);
  // The second thread is there at once, but goes on second: it waits for the first one's post.
  schedule.threads[0].actions = {{.value = 2'000'000, .code = ActionCode::sleep},
                                 {.value = 0, .code = ActionCode::sem_post},
                                 {.value = 0, .section = 0, .need = 1, .code = ActionCode::sem_take},
                                 {.value = 0, .code = ActionCode::sem_post}};
  schedule.threads[1].actions = {{.value = 0, .section = 1, .need = 2, .code = ActionCode::sem_take}};
  schedule.starts = {{.thread = 0}, {.thread = 1}};
  EXPECT_EQ(replayed_by_sections(schedule).waits_left, 0u);
}

TEST(SectionTurns, SurviveTheFile) {
  const Planned run(RandomRun(7).text(30));
  const Schedule schedule = run.schedule(run.needed);
  const std::vector<uint8_t> bytes = encode(schedule);
  const base::Result<Schedule> again = decode(bytes);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(encode(*again), bytes);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {  // whatever it holds, it is taken or refused
    std::vector<uint8_t> damaged = bytes;
    damaged[8 + random() % (damaged.size() - 8)] = static_cast<uint8_t>(random());
    (void)decode(damaged).ok();
  }
}

}  // namespace
}  // namespace contrafact::replay
