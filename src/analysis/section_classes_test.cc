#include "analysis/section_classes.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

constexpr std::string_view kHolderRows =
    "fact jvm.name x\nmethod m1 shop.Cache.get Cache.java:10\nmethod m2 shop.Loader.load Loader.java:5\n"
    "method m3 java.util.HashMap.put HashMap.java:600\nmethod m4 shop.Main.run Main.java:3\n"
    "method m5 shop.Door.ask Door.java:2\ncontext c1 - m4:4\ncontext c2 c1 m1:12\ncontext c3 c2 m2:7\ncontext c4 c3 "
    "m3:610\ncontext c5 - m5:2\n"
    "method m6 java.util.Vector.get Vector.java:740\nmethod m7 java.lang.ClassLoader.loadClass ClassLoader.java:500\n"
    "method m8 java.util.concurrent.locks.LockSupport.park LockSupport.java:200\n"
    "method m9 shop.Door.pass Door.java:9\n"
    "context c6 c1 m6:749\ncontext c7 c1 m7:510\ncontext c8 c1 m8:211\ncontext c9 c1 m5:2\ncontext c10 c1 m9:9\n"
    "lock l1 monitor \"shop.Cache.lock (Object)\"\nlock l2 condition \"java.util.ArrayList\"\n"
    "lock l3 mutex \"java.util.concurrent.locks.ReentrantLock\"\nthread a\nthread b\n";

std::vector<std::string> names(std::string_view events) {
  std::vector<std::string> out;
  for (const SectionClass& each : section_classes(parsed(std::string(kHolderRows) + std::string(events))))
    out.push_back(each.name);
  return out;
}

// The holder is in HashMap.put, called by a loader, called inside of the section.
TEST(SectionClasses, AreThoseThatAskAndAllOnTheHoldersStack) {
  EXPECT_THAT(names("10 a block_begin monitor c5\n10 a blocked_on l1 b\n10 a holder_at c4\n40 a block_end monitor\n"),
              testing::ElementsAre("shop.Cache", "shop.Door", "shop.Loader", "shop.Main"));
}

// The holder's Cache asks for locks of that name elsewhere: it is the one that took it.
TEST(SectionClasses, OfAHoldersCallersTheOneThatAsksForTheLock) {
  EXPECT_THAT(names("10 a block_begin monitor c2\n10 a blocked_on l1 b\n10 a holder_at c4\n40 a block_end monitor\n"),
              testing::ElementsAre("shop.Cache"));
}

// Door.ask only takes the lock, and Main.run, which called it, holds it, while it is in Door.pass.
TEST(SectionClasses, OfAMethodThatOnlyTakesTheLockAlsoTheCaller) {
  EXPECT_THAT(names("10 a block_begin park c9\n10 a blocked_on l3 b\n10 a holder_at c10\n40 a block_end park\n"
                    "50 b block_begin park c9\n50 b blocked_on l3 a\n50 b holder_at c10\n80 b block_end park\n"),
              testing::ElementsAre("shop.Door", "shop.Main"));
}

TEST(SectionClasses, LeavesOutWhatHasLessThanAHundredth) {
  EXPECT_THAT(names("10 a block_begin monitor c1\n10 a blocked_on l1\n10000 a block_end monitor\n"
                    "10000 a block_begin monitor c2\n10000 a blocked_on l1\n10050 a block_end monitor\n"),
              testing::ElementsAre("shop.Main"));
}

TEST(SectionClasses, AreKnownFromARecordingOfChosenClasses) {
  EXPECT_THAT(names("10 a lock_acquire l1 c1\n20 b lock_request l1 c2\n40 a lock_release l1 c1\n"
                    "41 b lock_acquired l1 normal\n50 b lock_release l1 c2\n"),
              testing::ElementsAre("shop.Cache"));
}

// Who calls Vector.get takes no lock: Vector does.
TEST(SectionClasses, OfAMonitorTheJdksClassThatEntersIt) {
  EXPECT_THAT(names("10 a block_begin monitor c6\n10 a blocked_on l1 b\n10 a holder_at c6\n40 a block_end monitor\n"),
              testing::ElementsAre("java.util.Vector"));
}

TEST(SectionClasses, OfTheJdksOwnLocksTheProgramsClass) {
  EXPECT_THAT(names("10 a block_begin monitor c7\n10 a blocked_on l1\n40 a block_end monitor\n"
                    "50 a block_begin park c8\n50 a blocked_on l3\n80 a block_end park\n"),
              testing::ElementsAre("shop.Main"));
}

TEST(SectionClasses, OfConditionsThereAreNone) {
  EXPECT_TRUE(names("10 a block_begin object_wait c2\n10 a blocked_on l2\n40 a block_end object_wait\n").empty());
}

}  // namespace
}  // namespace contrafact::analysis
