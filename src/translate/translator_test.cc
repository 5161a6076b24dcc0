// Runs code natively and translated and compares what it did; and holds the accesses that were gathered against those
// that the code makes.
#include "translate/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "translate/translate_for_test.h"

namespace contrafact::translate {
namespace {

using testing::Contains;
using testing::Field;
using testing::Not;

// Did [object, object + bytes) get accessed with just these flags?
template <typename T>
uint32_t flags_on(const Gathered& gathered, const T& object) {
  const auto begin = reinterpret_cast<uint64_t>(&object);
  uint32_t flags = 0;
  for (const Access& access : gathered.accesses) {
    if (access.begin < begin + sizeof(T) && access.begin + access.length_bytes > begin) flags |= access.flags;
  }
  return flags;
}

volatile long g_read = 7, g_written, g_silent = 3, g_added, g_untouched;

void touch_globals() {
  g_written = g_read;
  g_silent = 3;
  __asm__ volatile("addq $5, %0" : "+m"(g_added)::"cc");
}

TEST(Translator, GathersReadsAndWrites) {
  const Gathered gathered = translated(touch_globals);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(flags_on(gathered, g_read), kAccessRead);
  EXPECT_EQ(flags_on(gathered, g_written), kAccessWrite | kAccessChanged);
  EXPECT_EQ(flags_on(gathered, g_silent), kAccessWrite);
  EXPECT_EQ(flags_on(gathered, g_added), kAccessRead | kAccessWrite | kAccessChanged | kAccessCommutative);
  EXPECT_EQ(flags_on(gathered, g_untouched), 0u);
  EXPECT_EQ(g_written, 7);
}

TEST(Translator, RunsTheLibrary) {
  std::string text;
  const Gathered gathered = translated([&] {
    std::vector<int> numbers(1000);
    for (int i = 0; i < 1000; ++i) numbers[static_cast<size_t>(i)] = i * 7919 % 1000;
    std::sort(numbers.begin(), numbers.end());
    char buffer[100];
    snprintf(buffer, sizeof buffer, "%d %.3f %s", numbers[500], 3.14159, "text");
    text = buffer;
  });
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(text, "500 3.142 text");
}

}  // namespace
}  // namespace contrafact::translate
