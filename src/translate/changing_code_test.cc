// Code that changes or goes while it lies in the cache, and code that was made at run time.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "translate/translate_for_test.h"

namespace contrafact::translate {
namespace {

// mov eax, VALUE; ret
void write_function(uint8_t* at, int value) {
  at[0] = 0xb8;
  std::memcpy(at + 1, &value, 4);
  at[5] = 0xc3;
}

TEST(ChangingCode, GeneratedCodeRunsNatively) {
  auto* code = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(code, MAP_FAILED);
  for (int value = 0; value < 5; ++value) {
    write_function(code, value);
    int out = -1;
    const Gathered gathered = translated([&] { out = reinterpret_cast<int (*)()>(code)(); });
    EXPECT_EQ(out, value);
    EXPECT_EQ(gathered.left, Reason::generated_code);
  }
  munmap(code, 4096);
}

// Where no file can be opened the map of the process cannot be read: what was known of its code still is.
TEST(ChangingCode, IsKnownWithoutFileDescriptors) {
  translated([] {});  // the map has been read
  auto* code = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(code, MAP_FAILED);
  write_function(code, 5);
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  usleep(30'000);  // it may be read again
  setrlimit(RLIMIT_NOFILE, &none);
  const Gathered unknown = translated([&] { reinterpret_cast<int (*)()>(code)(); });
  const Gathered known = translated([] { getppid(); });
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(unknown.left, Reason::generated_code);
  EXPECT_EQ(known.left, Reason::none);
  munmap(code, 4096);
}

// Code of a file, translated, then replaced by another file at the same address.
TEST(ChangingCode, IsForgottenWhenItGoes) {
  char names[2][32] = {"/tmp/contrafact-code-XXXXXX", "/tmp/contrafact-code-XXXXXX"};
  int files[2];
  for (int i = 0; i < 2; ++i) {
    files[i] = mkstemp(names[i]);
    uint8_t bytes[4096] = {};
    write_function(bytes, 10 + i);
    ASSERT_EQ(write(files[i], bytes, sizeof bytes), 4096);
    unlink(names[i]);
  }
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, files[0], 0);
  ASSERT_NE(code, MAP_FAILED);
  test_translator().refresh();
  int out = 0;
  Gathered gathered = translated([&] { out = reinterpret_cast<int (*)()>(code)(); });
  EXPECT_EQ(out, 10);
  EXPECT_EQ(gathered.left, Reason::none);
  ASSERT_EQ(mmap(code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, files[1], 0), code);
  test_translator().invalidate(reinterpret_cast<uint64_t>(code), reinterpret_cast<uint64_t>(code) + 4096);
  gathered = translated([&] { out = reinterpret_cast<int (*)()>(code)(); });
  EXPECT_EQ(out, 11);
  EXPECT_EQ(gathered.left, Reason::none);
  munmap(code, 4096);
  for (const int file : files) close(file);
}

}  // namespace
}  // namespace contrafact::translate
