#include "translate/mapping_changes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

namespace contrafact::translate {
namespace {

using testing::ElementsAre, testing::IsEmpty;
using Call = std::array<long, 7>;

std::vector<MappingChange> changes_of(const Call& call, long result) {
  MappingChange changes[kMappingChangesMax];
  const size_t count = mapping_changes(call.data(), result, changes);
  return {changes, changes + count};
}

std::vector<MappingChange> possible_changes_of(const Call& call) {
  MappingChange changes[kMappingChangesMax];
  const size_t count = possible_mapping_changes(call.data(), changes);
  return {changes, changes + count};
}

MATCHER_P2(Gone, begin, end, "") {
  return arg.is_gone && arg.begin == static_cast<uint64_t>(begin) && arg.end == static_cast<uint64_t>(end);
}
MATCHER_P3(Protected, begin, end, protection, "") {
  return !arg.is_gone && arg.begin == static_cast<uint64_t>(begin) && arg.end == static_cast<uint64_t>(end) &&
         arg.protection == protection;
}

TEST(MappingChanges, OfEachCall) {
  EXPECT_THAT(changes_of({SYS_munmap, 0x10000, 0x1234}, 0), ElementsAre(Gone(0x10000, 0x12000)));
  EXPECT_THAT(changes_of({SYS_munmap, 0x10000, 0x1000}, -EINVAL), IsEmpty());
  EXPECT_THAT(changes_of({SYS_mprotect, 0x10000, 1, PROT_READ}, 0),
              ElementsAre(Protected(0x10000, 0x11000, PROT_READ)));
  EXPECT_THAT(changes_of({SYS_mprotect, 0x10000, 1, PROT_READ}, -ENOMEM),
              ElementsAre(Protected(0x10000, 0x11000, PROT_NONE)));  // a part of it may be
  EXPECT_THAT(changes_of({SYS_mmap, 0, 0x1000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS}, 0x20000),
              ElementsAre(Gone(0x20000, 0x21000)));
  EXPECT_THAT(changes_of({SYS_mmap, 0, 0x1000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS}, -ENOMEM), IsEmpty());
  EXPECT_THAT(changes_of({SYS_mmap, 0x30000, 0x1000, PROT_READ, MAP_PRIVATE | MAP_FIXED}, -ENOMEM),
              ElementsAre(Gone(0x30000, 0x31000)));
  EXPECT_THAT(changes_of({SYS_mremap, 0x10000, 0x1000, 0x2000, MREMAP_MAYMOVE}, 0x40000),
              ElementsAre(Gone(0x10000, 0x11000), Gone(0x40000, 0x42000)));
  EXPECT_THAT(changes_of({SYS_mremap, 0x10000, 0x1000, 0x2000, 0}, -ENOMEM), IsEmpty());
  EXPECT_THAT(changes_of({SYS_getpid}, 5), IsEmpty());
  EXPECT_THAT(changes_of({SYS_munmap, -0x1000, 0x2000}, 0), ElementsAre(Gone(-0x1000, -1)));
}

TEST(MappingChanges, OfCallsThatWereInterrupted) {
  EXPECT_THAT(possible_changes_of({SYS_munmap, 0x10000, 0x1000}), ElementsAre(Gone(0x10000, 0x11000)));
  EXPECT_THAT(possible_changes_of({SYS_mprotect, 0x10000, 1, PROT_READ | PROT_EXEC}),
              ElementsAre(Protected(0x10000, 0x11000, PROT_NONE)));
  EXPECT_THAT(possible_changes_of({SYS_mmap, 0x10000, 0x1000, PROT_READ, MAP_PRIVATE}), IsEmpty());
  EXPECT_THAT(possible_changes_of({SYS_mmap, 0x10000, 0x1000, PROT_READ, MAP_PRIVATE | MAP_FIXED}),
              ElementsAre(Gone(0x10000, 0x11000)));
  EXPECT_THAT(possible_changes_of({SYS_mremap, 0x10000, 0x1000, 0x2000, MREMAP_FIXED, 0x50000}),
              ElementsAre(Gone(0x10000, 0x11000), Gone(0x50000, 0x52000)));
  EXPECT_THAT(possible_changes_of({SYS_read, 3, 0x1000, 5}), IsEmpty());
}

TEST(MappingChanges, CodeIsOfAFileThatIsNotInMemory) {
  const long file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), in_memory = memfd_create("code", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_GE(in_memory, 0);
  constexpr long kCode = PROT_READ | PROT_EXEC;
  EXPECT_TRUE(maps_file_code(Call{SYS_mmap, 0, 1, kCode, MAP_PRIVATE, file}.data(), 0x10000));
  EXPECT_FALSE(maps_file_code(Call{SYS_mmap, 0, 1, kCode, MAP_PRIVATE, in_memory}.data(), 0x10000));
  EXPECT_FALSE(maps_file_code(Call{SYS_mmap, 0, 1, kCode, MAP_SHARED, file}.data(), 0x10000));
  EXPECT_FALSE(maps_file_code(Call{SYS_mmap, 0, 1, kCode, MAP_PRIVATE | MAP_ANONYMOUS, -1}.data(), 0x10000));
  EXPECT_FALSE(maps_file_code(Call{SYS_mmap, 0, 1, kCode | PROT_WRITE, MAP_PRIVATE, file}.data(), 0x10000));
  EXPECT_FALSE(maps_file_code(Call{SYS_mmap, 0, 1, kCode, MAP_PRIVATE, file}.data(), -EPERM));
  close(static_cast<int>(file));
  close(static_cast<int>(in_memory));
}

}  // namespace
}  // namespace contrafact::translate
