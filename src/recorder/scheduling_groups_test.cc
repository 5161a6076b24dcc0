#include "recorder/scheduling_groups.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace contrafact::recorder {
namespace {

// A kernel's folder of processes, of which this one is `self`, in session 1 and group "/".
class SchedulingGroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    add("self", "S", "1", "0::/\n");
    write("sys/kernel/sched_autogroup_enabled", "1\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  void add(const std::string& process, const std::string& state, const std::string& session,
           const std::string& groups) {
    write(process + "/stat", "7 (a) 9 Z) " + state + " 1 1 " + session + " 0 -1\n");
    write(process + "/cgroup", groups);
    write(process + "/task/7/children", "");
  }
  void starts(const std::string& process, const std::string& thread, const std::string& children) {
    write(process + "/task/" + thread + "/children", children);
  }
  bool share() const { return SchedulingGroups(folder_).descendants_share_ours(); }

  const std::filesystem::path folder_ = testing::TempDir() + "/scheduling_groups." + std::to_string(getpid());
};

TEST_F(SchedulingGroupsTest, NobodyIsOfAnotherGroup) {
  EXPECT_TRUE(share());
  add("20", "S", "1", "0::/\n");
  starts("self", "7", "20 ");
  EXPECT_TRUE(share());
}

TEST_F(SchedulingGroupsTest, AChildMayHaveAControlGroupOrASessionOfItsOwn) {
  starts("self", "7", "20 21 ");
  add("20", "S", "1", "0::/\n");
  add("21", "S", "1", "0::/app\n");
  EXPECT_FALSE(share());
  add("21", "S", "21", "0::/\n");
  EXPECT_FALSE(share());
  write("sys/kernel/sched_autogroup_enabled", "0\n");
  EXPECT_TRUE(share()) << "sessions are no groups";
}

// As a start script does: setsid java ... & wait
TEST_F(SchedulingGroupsTest, WhatAChildStartedMayHaveThem) {
  starts("self", "7", "20 ");
  add("20", "S", "1", "0::/\n");
  starts("20", "7", "30 ");
  add("30", "R", "30", "0::/\n");
  EXPECT_FALSE(share());
}

TEST_F(SchedulingGroupsTest, AnyThreadMayHaveStartedIt) {
  starts("self", "7", "20 ");
  add("20", "S", "1", "0::/\n");
  starts("20", "8", "30");
  add("30", "S", "30", "0::/\n");
  EXPECT_FALSE(share());
}

// Of one that has ended, cgroup v1 says that it is in the root of each hierarchy.
TEST_F(SchedulingGroupsTest, WhatHasEndedSharesWhateverItsGroupsAreSaidToBe) {
  starts("self", "7", "20 21 ");
  add("20", "Z", "20", "1:cpu:/other\n");
  EXPECT_TRUE(share()) << "and 21 is not there any more";
}

TEST_F(SchedulingGroupsTest, NumbersThatComeAgainAreLookedAtOnce) {
  starts("self", "7", "20");
  add("20", "S", "1", "0::/\n");
  starts("20", "7", "20 self");
  EXPECT_TRUE(share());
}

TEST_F(SchedulingGroupsTest, TheSystemsOwnFolderCanBeRead) {
  EXPECT_TRUE(SchedulingGroups().descendants_share_ours()) << "a test starts no process";
}

}  // namespace
}  // namespace contrafact::recorder
