#include "translate/system_calls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <memory>
#include <vector>

namespace contrafact::translate {
namespace {

constexpr uint32_t kWritten = kAccessWrite | kAccessChanged;

// The flags with which [object, object + bytes) was accessed, 0 unless all of it was.
struct Effect {
  explicit Effect(std::vector<long> call, long result) {
    call.resize(7);
    segment->begin();
    add_system_call_accesses(call.data(), result, *segment);
    const auto span = segment->ranges();
    accesses.assign(span.begin(), span.end());
  }
  uint32_t on(const void* begin, size_t bytes) const {
    uint32_t flags = 0;
    for (const Access& access : accesses) {
      if (access.begin == reinterpret_cast<uint64_t>(begin) && access.length_bytes == bytes) flags |= access.flags;
    }
    return flags;
  }
  std::unique_ptr<Segment> segment = std::make_unique<Segment>();
  std::vector<Access> accesses;
};

template <typename T>
long address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

TEST(SystemCalls, ReadWritesAsMuchAsItGot) {
  char buffer[100];
  EXPECT_EQ(Effect({SYS_read, 3, address(buffer), 100}, 40).on(buffer, 40), kWritten);
  EXPECT_TRUE(Effect({SYS_read, 3, address(buffer), 100}, 0).accesses.empty());
  EXPECT_TRUE(Effect({SYS_read, 3, address(buffer), 100}, -EAGAIN).accesses.empty());
}

TEST(SystemCalls, VectorsAsFarAsTheResultSays) {
  char a[10], b[10], c[10];
  const iovec parts[] = {{a, 10}, {b, 10}, {c, 10}};
  const Effect effect({SYS_readv, 3, address(parts), 3}, 14);
  EXPECT_EQ(effect.on(parts, sizeof parts), kAccessRead);
  EXPECT_EQ(effect.on(a, 10), kWritten);
  EXPECT_EQ(effect.on(b, 4), kWritten);
  EXPECT_EQ(effect.accesses.size(), 3u);
}

TEST(SystemCalls, MessagesAndNames) {
  char memory[140];  // not side by side, nor beside what else is read: ranges that touch may become one
  char *const name = memory + 30, *const body = memory + 80;
  iovec part{body, 20};
  msghdr message{};
  message.msg_name = name;
  message.msg_namelen = 16;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const Effect effect({SYS_sendmsg, 3, address(&message), 0}, 20);
  EXPECT_EQ(effect.on(body, 20), kAccessRead);
  EXPECT_EQ(effect.on(name, 16), kAccessRead);
  const char* path = "/etc/passwd";
  EXPECT_EQ(Effect({SYS_openat, -100, address(path), 0}, 3).on(path, 12), kAccessRead);
}

TEST(SystemCalls, NullArgumentsAreNotFollowed) {
  EXPECT_TRUE(Effect({SYS_recvfrom, 3, 0, 0, 0, 0, 0}, 0).accesses.empty());
}

TEST(SystemCalls, Kinds) {
  const auto kind_of = [](long number, long second = 0) {
    const long call[7] = {number, 0, second};
    return system_call_kind(call);
  };
  EXPECT_EQ(kind_of(SYS_read), SystemCallKind::known);
  EXPECT_EQ(kind_of(SYS_ioctl), SystemCallKind::unknown);
  EXPECT_EQ(kind_of(SYS_futex, FUTEX_WAIT_PRIVATE), SystemCallKind::known);
  EXPECT_EQ(kind_of(SYS_futex, FUTEX_WAKE_OP_PRIVATE), SystemCallKind::unknown);
  EXPECT_EQ(kind_of(SYS_futex, FUTEX_LOCK_PI_PRIVATE), SystemCallKind::unknown);
  EXPECT_EQ(kind_of(SYS_fcntl, F_GETFL), SystemCallKind::known);
  EXPECT_EQ(kind_of(SYS_fcntl, F_GETLK), SystemCallKind::unknown);
  for (const long number : {SYS_fork, SYS_clone, SYS_execve, SYS_exit, SYS_rt_sigreturn}) {
    EXPECT_EQ(kind_of(number), SystemCallKind::leave) << number;
  }
}

}  // namespace
}  // namespace contrafact::translate
