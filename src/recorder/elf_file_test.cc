// This program's own file, against what its loader has made of it.
#include "recorder/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>

// Where the procedure linkage table's addresses begin.
extern "C" __attribute__((visibility("hidden"))) const uint64_t _GLOBAL_OFFSET_TABLE_[];

namespace contrafact::recorder {
namespace {

const int g_constant = 5;
int g_variable = 5;

uint64_t bias() {
  uint64_t found = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<uint64_t*>(to) = info->dlpi_addr;
        return 1;  // the program is first
      },
      &found);
  return found;
}

bool has(const std::vector<ElfFile::Range>& ranges, const void* place) {
  const uint64_t address = reinterpret_cast<uint64_t>(place) - bias();
  return std::ranges::any_of(ranges,
                             [&](const auto& range) { return range.first <= address && address < range.second; });
}

TEST(ElfFile, TellsWhatNobodyWritesTo) {
  std::optional<ElfFile> file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto constants = file->constants();
  EXPECT_TRUE(has(constants, &g_constant));
  EXPECT_TRUE(has(constants, reinterpret_cast<const void*>(&bias)));
  EXPECT_FALSE(has(constants, &g_variable));
  EXPECT_TRUE(has(file->all_data(), &g_variable));
}

// Whether the loader seals the table, as where all is bound at the start, or fills it in by and by.
TEST(ElfFile, FunctionsOfOtherFilesStayWhereTheyAre) {
  std::optional<ElfFile> file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  EXPECT_TRUE(has(file->constants(), &_GLOBAL_OFFSET_TABLE_[3]));
}

TEST(ElfFile, ThatIsNoneIsAbsent) {
  EXPECT_FALSE(ElfFile::open("/proc/self/cmdline"));
  EXPECT_FALSE(ElfFile::open("/no/such/file"));
}

}  // namespace
}  // namespace contrafact::recorder
