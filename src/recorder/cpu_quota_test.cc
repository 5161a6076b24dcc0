#include "recorder/cpu_quota.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace contrafact::recorder {
namespace {

class CpuQuota : public testing::Test {
 protected:
  ~CpuQuota() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::optional<double> quota() const { return cpu_quota(7, root_); }

 private:
  const std::string root_ = testing::TempDir() + "cpu_quota_" + std::to_string(getpid());
};

TEST_F(CpuQuota, ThereMayBeNone) {
  EXPECT_EQ(quota(), std::nullopt);
  write("/proc/7/cgroup", "0::/\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(CpuQuota, OfGroupsWithinEachOtherTheLeast) {
  write("/proc/7/cgroup", "0::/pods/one\n");
  write("/sys/fs/cgroup/pods/one/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 2.5);
  write("/sys/fs/cgroup/pods/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

// The path is that of the machine outside; in the container the limit is at the mount's top.
TEST_F(CpuQuota, OfAContainerThatSeesItsOwnGroupAlone) {
  write("/proc/7/cgroup", "5:cpu,cpuacct:/docker/4711\n1:name=systemd:/\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 1.5);
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
}

}  // namespace
}  // namespace contrafact::recorder
