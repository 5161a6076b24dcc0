#include "translate/kernel_state.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace contrafact::translate {
namespace {

constexpr int kProcess = 1000;

template <typename T>
long address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// One section's effect on the kernel's state.
class Section {
 public:
  explicit Section(OpenFiles& files) : files_(files) { segment_->begin(); }
  Section& call(std::vector<long> call, long result = 0) {
    call.resize(7);
    add_kernel_state(call.data(), result, kProcess, files_, *segment_);
    return *this;
  }
  // Whether one changes what the other looks at or changes.
  bool conflicts_with(Section& other) {
    for (const Access& x : accesses()) {
      for (const Access& y : other.accesses()) {
        const bool meet = x.begin < y.begin + y.length_bytes && y.begin < x.begin + x.length_bytes;
        if (meet && ((x.flags | y.flags) & kAccessChanged) != 0) return true;
      }
    }
    return false;
  }
  const std::vector<Access>& accesses() {
    const auto span = segment_->ranges();
    accesses_.insert(accesses_.end(), span.begin(), span.end());
    return accesses_;
  }

 private:
  OpenFiles& files_;
  std::unique_ptr<Segment> segment_ = std::make_unique<Segment>();
  std::vector<Access> accesses_;
};

struct KernelState : testing::Test {
  bool conflict(const std::vector<long>& x, const std::vector<long>& y, long x_result = 1, long y_result = 1) {
    Section first(files), second(files);
    first.call(x, x_result);
    second.call(y, y_result);
    return first.conflicts_with(second);
  }
  OpenFiles files;
};

TEST_F(KernelState, CallsOnOneDescriptorInTurn) {
  for (const long number : {SYS_write, SYS_read, SYS_lseek, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_accept4}) {
    EXPECT_TRUE(conflict({number, 5}, {number, 5})) << number;
    EXPECT_FALSE(conflict({number, 5}, {number, 6})) << number;
  }
  EXPECT_TRUE(conflict({SYS_write, 5}, {SYS_read, 5}));  // the position of both
  EXPECT_TRUE(conflict({SYS_write, 5}, {SYS_pread64, 5, 0, 100, 300}, 100, 100));
  EXPECT_TRUE(conflict({SYS_close, 5}, {SYS_pread64, 5, 0, 100, 300}, 0, 100));
}

TEST_F(KernelState, DirectionsOfAConnectionAreApart) {
  EXPECT_FALSE(conflict({SYS_sendto, 5}, {SYS_recvfrom, 5}));
  EXPECT_FALSE(conflict({SYS_sendto, 5}, {SYS_read, 5}));
  EXPECT_TRUE(conflict({SYS_sendto, 5}, {SYS_write, 5}));
  const long accept[7] = {SYS_accept, 3};
  note_descriptors(accept, 7, files);  // now it is known to have no position
  EXPECT_FALSE(conflict({SYS_read, 7}, {SYS_write, 7}));
  EXPECT_TRUE(conflict({SYS_write, 7}, {SYS_write, 7}));
}

TEST_F(KernelState, PlacesInAFile) {
  EXPECT_TRUE(conflict({SYS_pwrite64, 5, 0, 100, 1000}, {SYS_pread64, 5, 0, 100, 1099}, 100, 100));
  EXPECT_FALSE(conflict({SYS_pwrite64, 5, 0, 100, 1000}, {SYS_pread64, 5, 0, 100, 1100}, 100, 100));
  EXPECT_FALSE(conflict({SYS_pread64, 5, 0, 100, 1000}, {SYS_pread64, 5, 0, 100, 1000}, 100, 100));
  EXPECT_TRUE(conflict({SYS_pwrite64, 5, 0, 10, 0x7ffffffe}, {SYS_pwrite64, 5, 0, 10, 0x7fffffff}, 10, 10));
  EXPECT_TRUE(conflict({SYS_ftruncate, 5, 0}, {SYS_pread64, 5, 0, 100, 1l << 40}, 0, 100));
}

// Its own thread wrote the data that must be written before, or knows of the write by memory.
TEST_F(KernelState, WhatMakesDurableNeedsNoOrderAmongWrites) {
  for (const long number : {SYS_fsync, SYS_fdatasync}) {
    EXPECT_FALSE(conflict({SYS_write, 5}, {number, 5}, 10, 0));
    EXPECT_FALSE(conflict({SYS_ftruncate, 5, 0}, {number, 5}, 0, 0));
    EXPECT_FALSE(conflict({number, 5}, {number, 5}, 0, 0));
    EXPECT_TRUE(conflict({SYS_close, 5}, {number, 5}, 0, 0));
    Section section(files);
    section.call({number, 5});
    const auto is_durable = [](const Access& access) { return access.begin >> 56 == 0x8a; };  // docs/format.md
    EXPECT_EQ(std::ranges::count_if(section.accesses(), is_durable), 1) << number;
  }
}

TEST_F(KernelState, AFailedCallLooked) {
  EXPECT_FALSE(conflict({SYS_read, 5}, {SYS_read, 5}, -EAGAIN, -EAGAIN));
  EXPECT_TRUE(conflict({SYS_read, 5}, {SYS_read, 5}, -EAGAIN, 10));
}

// Each opens, reads and closes a descriptor of the same number, because no two were open at a time.
TEST_F(KernelState, ADescriptorThatIsUsedAgainIsAnother) {
  const char *mine = "/etc/mine", *yours = "/etc/yours";
  Section first(files), second(files), third(files);
  first.call({SYS_openat, AT_FDCWD, address(mine), O_RDONLY}, 5).call({SYS_read, 5}, 10).call({SYS_close, 5});
  second.call({SYS_openat, AT_FDCWD, address(yours), O_RDONLY}, 5).call({SYS_read, 5}, 10);
  third.call({SYS_read, 5}, 10);
  EXPECT_FALSE(first.conflicts_with(second));
  EXPECT_FALSE(first.conflicts_with(third));
  EXPECT_TRUE(second.conflicts_with(third));
}

TEST_F(KernelState, CopiesShareTheFile) {
  EXPECT_FALSE(conflict({SYS_write, 5}, {SYS_write, 9}));
  const long dup[7] = {SYS_dup, 5};
  note_descriptors(dup, 9, files);
  EXPECT_TRUE(conflict({SYS_write, 5}, {SYS_write, 9}));
  EXPECT_TRUE(conflict({SYS_dup2, 5, 1}, {SYS_write, 1}, 1, 10));
}

TEST_F(KernelState, FilesByTheirPaths) {
  const char *log = "/var/log", *same = "//var/./log", *other = "/var/lug", *relative = "log", *folder = "/var";
  const auto open = [](const char* path, long flags) {
    return std::vector<long>{SYS_openat, AT_FDCWD, address(path), flags};
  };
  const long kAppend = O_WRONLY | O_APPEND;
  EXPECT_TRUE(conflict(open(log, kAppend), open(same, O_RDONLY), 5, 6));
  EXPECT_FALSE(conflict(open(log, O_RDONLY), open(same, O_RDONLY), 5, 6));
  EXPECT_FALSE(conflict(open(log, kAppend), open(other, kAppend), 5, 6));
  EXPECT_TRUE(conflict(open(log, O_RDONLY), {SYS_unlink, address(same)}, -ENOENT));
  EXPECT_TRUE(conflict(open(folder, O_RDONLY | O_DIRECTORY), {SYS_unlink, address(log)}, 5));
  EXPECT_TRUE(conflict(open(relative, O_RDONLY), {SYS_chdir, address(folder)}, 5));
  EXPECT_FALSE(conflict(open(log, O_RDONLY), {SYS_chdir, address(folder)}, 5));
  EXPECT_FALSE(conflict(open(relative, kAppend), {SYS_openat, 7, address(relative), kAppend}, 5, 6));
  EXPECT_TRUE(conflict(open(log, kAppend | O_CREAT), {SYS_umask, 022}, 5));
}

// The C library's fstat is one of them.
TEST_F(KernelState, AnEmptyPathIsTheDescriptorsFile) {
  const char* empty = "";
  EXPECT_TRUE(conflict({SYS_newfstatat, 5, address(empty), 0, AT_EMPTY_PATH}, {SYS_write, 5}, 0));
  EXPECT_FALSE(conflict({SYS_newfstatat, 5, address(empty), 0, AT_EMPTY_PATH}, {SYS_write, 6}, 0));
}

TEST_F(KernelState, IntegersAreTheLowerHalfOfTheirRegisters) {
  const long garbage = 0x7654321l << 32;
  const char* path = "log";
  EXPECT_TRUE(conflict({SYS_write, garbage + 5}, {SYS_write, 5}));
  EXPECT_TRUE(conflict({SYS_openat, garbage + static_cast<uint32_t>(AT_FDCWD), address(path), O_WRONLY},
                       {SYS_openat, AT_FDCWD, address(path), O_RDONLY}, 5, 6));
}

TEST_F(KernelState, StateOfTheProcess) {
  EXPECT_TRUE(conflict({SYS_umask, 022}, {SYS_umask, 022}));
  EXPECT_TRUE(conflict({SYS_rt_sigaction, 10, 1}, {SYS_rt_sigaction, 10, 0, 1}, 0, 0));
  EXPECT_FALSE(conflict({SYS_rt_sigaction, 10, 1}, {SYS_rt_sigaction, 12, 1}, 0, 0));
  EXPECT_FALSE(conflict({SYS_rt_sigaction, 10, 0, 1}, {SYS_rt_sigaction, 10, 0, 1}, 0, 0));
  EXPECT_TRUE(conflict({SYS_kill, kProcess, 10}, {SYS_rt_sigtimedwait, 0}, 0, 10));
  EXPECT_FALSE(conflict({SYS_kill, 7, 10}, {SYS_rt_sigtimedwait, 0}, 0, 10));
  EXPECT_TRUE(conflict({SYS_prlimit64, 0, 7, 1}, {SYS_getrlimit, 7, 1}, 0, 0));
  EXPECT_TRUE(conflict({SYS_wait4, -1}, {SYS_wait4, -1}));
  for (const long number : {SYS_getpid, SYS_gettid, SYS_clock_gettime, SYS_getrandom, SYS_sched_yield, SYS_nanosleep}) {
    EXPECT_TRUE(Section(files).call({number}).accesses().empty()) << number;
  }
}

TEST_F(KernelState, WhatIsWaitedForIsLookedAt) {
  pollfd fds[] = {{5, POLLIN, 0}, {6, POLLOUT, 0}};
  EXPECT_TRUE(conflict({SYS_poll, address(fds), 2}, {SYS_read, 5}));
  EXPECT_TRUE(conflict({SYS_poll, address(fds), 2}, {SYS_sendto, 6}));
  EXPECT_FALSE(conflict({SYS_poll, address(fds), 2}, {SYS_recvfrom, 6}));
  EXPECT_FALSE(conflict({SYS_epoll_ctl, 4, 1, 5}, {SYS_epoll_ctl, 4, 1, 6}, 0, 0));
  EXPECT_TRUE(conflict({SYS_epoll_ctl, 4, 1, 5}, {SYS_epoll_ctl, 4, 2, 5}, 0, 0));
}

TEST_F(KernelState, NoMemoryLiesThere) {
  Section section(files);
  section.call({SYS_write, 5}, 10);
  EXPECT_FALSE(section.accesses().empty());
  for (const Access& access : section.accesses()) {
    EXPECT_TRUE(is_kernel_state(access.begin));
    EXPECT_LT(access.begin, access.begin + access.length_bytes);
  }
}

}  // namespace
}  // namespace contrafact::translate
