#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/column.h"
#include "base/fifo.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/merge_runs.h"
#include "base/percent.h"
#include "base/result.h"
#include "base/shared_flag.h"
#include "base/strong_id.h"
#include "base/utf8.h"

namespace contrafact::base {
namespace {

std::string scratch_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "contrafact-base-XXXXXX").string();
  CHECK(::mkdtemp(pattern.data()) != nullptr);
  return pattern;
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 3;
  Result<int> bad = Error{"no such thing"};
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "no such thing");
}

TEST(StrongId, DefaultIsNoIndex) {
  using Id = StrongId<struct Tag>;
  EXPECT_FALSE(Id().valid());
  EXPECT_TRUE(Id(0).valid());
  EXPECT_LT(Id(1), Id(2));
}

TEST(File, WritesWholeOrNotAtAll) {
  std::string folder = scratch_folder();
  std::string path = folder + "/out";
  ASSERT_TRUE(write_file(path, std::string_view("first")).ok());
  ASSERT_TRUE(write_file(path, std::string_view("second")).ok());
  EXPECT_EQ(*read_text_file(path), "second");
  Status failed = write_file(folder + "/missing/out", std::string_view("x"));
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("missing/out"), std::string::npos);
  size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) entries += entry.exists();
  EXPECT_EQ(entries, 1u) << "no temporary file may be left behind";
  std::filesystem::remove_all(folder);
}

TEST(File, ANewFileHasItsModeWhateverWasThere) {
  const std::string folder = scratch_folder(), path = folder + "/out", elsewhere = folder + "/elsewhere";
  ASSERT_TRUE(write_file(path, std::string_view("open to all")).ok());
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  // A link that somebody has put where the temporary file goes is not followed.
  ASSERT_EQ(symlink(elsewhere.c_str(), (path + "." + std::to_string(getpid()) + ".tmp").c_str()), 0);
  NewFile file(path, 0600);
  file.write("its user's alone");
  ASSERT_TRUE(file.finish().ok());
  struct stat status;
  ASSERT_EQ(lstat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_EQ(*read_text_file(path), "its user's alone");
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
  std::filesystem::remove_all(folder);
}

TEST(File, ReadErrorSaysPathAndReason) {
  auto missing = read_file("/nonexistent/trace.cft");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "cannot open '/nonexistent/trace.cft': No such file or directory");
}

TEST(Hex, HasAtLeastTheDigitsAskedFor) {
  EXPECT_EQ(hex(0), "0");
  EXPECT_EQ(hex(0x7f1c), "7f1c");
  EXPECT_EQ(hex(7, 2), "07");
  EXPECT_EQ(hex(0x123, 2), "123");
  EXPECT_EQ(hex(UINT64_MAX), "ffffffffffffffff");
}

// Across the size from which a column lies on pages of its own.
TEST(Column, KeepsItsValuesWhileItGrowsAndShrinks) {
  Column<uint32_t> column;
  for (size_t size : {10, 1'000'000, 6'000'000, 30'000'000}) {
    const size_t before = column.size();
    column.resize(size);
    for (size_t i = before; i < size; ++i) column[i] = static_cast<uint32_t>(i * 7);
  }
  for (size_t i = 0; i < column.size(); ++i) ASSERT_EQ(column[i], static_cast<uint32_t>(i * 7));
  column.resize(5);
  column.shrink_to_fit();
  const Column<uint32_t> copy = column;
  EXPECT_EQ(copy, (Column<uint32_t>{0, 7, 14, 21, 28}));
}

TEST(Percent, NothingThatSeparatesOptionsIsLeft) {
  EXPECT_EQ(base::percent_encode("a b,c=d;e%/f.so"), "a%20b%2Cc%3Dd%3Be%25/f.so");
  EXPECT_EQ(base::percent_encode("\xc3\xa9"), "%C3%A9");
}

TEST(Percent, DecodesWhatItEncodedAndLeavesTheRest) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(base::percent_decode(base::percent_encode(all)), all);
  EXPECT_EQ(base::percent_decode("100%, %4 %zz%2c"), "100%, %4 %zz,");
}

TEST(Utf8, WhatActsOnATerminalIsHarmful) {
  for (const char* text : {"\x1b", "\n", "\x7f", "\xc2\x9b", "\xd8\x9c", "\xe2\x80\xae", "\xe2\x81\xa7", "\xef\xbb\xbf",
                           "\xe0\x80\x9b", "\xf3\xa0\x81\x81"}) {
    EXPECT_GT(utf8_length(text), 0u) << text;
    EXPECT_TRUE(is_harmful(decode_utf8(text))) << text;
  }
  for (const char* text : {"a", " ", "\xc3\xbc", "\xe2\x80\xa6", "\xe6\xbc\xa2", "\xf0\x9f\x99\x82"}) {
    EXPECT_EQ(utf8_length(text), std::string_view(text).size()) << text;
    EXPECT_FALSE(is_harmful(decode_utf8(text))) << text;
  }
  for (const char* text : {"\xff", "\x80", "\xc3", "\xe2\x80", "\xc0\xaf"}) EXPECT_EQ(utf8_length(text), 0u) << text;
}

TEST(MergeRuns, SortsAndKeepsTheOrderOfEquals) {
  using Pair = std::pair<int, char>;
  const auto before = [](const Pair& x, const Pair& y) { return x.first < y.first; };
  std::vector<Pair> values{{1, 'a'}, {4, 'a'}, {9, 'a'}, {0, 'c'}, {4, 'c'}, {4, 'd'}, {1, 'e'}};
  const std::vector<size_t> begins{0, 3, 3, 5, 6};  // the second run is empty
  std::vector<Pair> expected = values;
  std::ranges::stable_sort(expected, before);
  merge_runs(values, begins, before);
  EXPECT_EQ(values, expected);
  std::vector<Pair> none;
  merge_runs(none, {0}, before);
  EXPECT_TRUE(none.empty());
}

TEST(SharedFlag, AnyByteButZeroIsYes) {
  SharedFlag flag;
  EXPECT_FALSE(flag.load());
  for (int byte = 1; byte < 256; ++byte) {
    std::memset(static_cast<void*>(&flag), byte, sizeof(flag));
    EXPECT_TRUE(flag.load()) << byte;
  }
  flag = false;
  EXPECT_FALSE(flag);
  EXPECT_FALSE(flag.exchange(true));
  EXPECT_TRUE(flag.exchange(false));
}

// Against a model: each way to push and pop, long and short.
TEST(Fifo, GivesBackInOrderFromEitherEnd) {
  Fifo<int> fifo;
  std::vector<int> model;
  unsigned random = 1;
  for (int i = 0; i < 20000; ++i) {
    random = random * 1664525 + 1013904223;
    const bool grows = (i / 500) % 2 == 0;
    if (model.empty() || (random >> 24) % 4 < (grows ? 3u : 1u)) {
      fifo.push_back(i);
      model.push_back(i);
    } else if ((random >> 16) % 2 == 0) {
      fifo.pop_front();
      model.erase(model.begin());
    } else {
      fifo.pop_back();
      model.pop_back();
    }
    ASSERT_EQ(fifo.size(), model.size());
    ASSERT_EQ(fifo.empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(fifo.front(), model.front());
      ASSERT_EQ(fifo.back(), model.back());
    }
  }
}

}  // namespace
}  // namespace contrafact::base
