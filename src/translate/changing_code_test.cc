// Code that changes or goes while it lies in the cache, and code that was made at run time.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "translate/loaded_library_for_test.h"
#include "translate/translate_for_test.h"

namespace contrafact::translate {
namespace {

class ChangingCode : public testing::Test {
 protected:
  // Nobody else says that the test's libraries have gone.
  void TearDown() override {
    test_translator().begin_unload();
    test_translator().end_unload();
  }
};

// mov eax, VALUE; ret
void write_function(uint8_t* at, int value) {
  at[0] = 0xb8;
  std::memcpy(at + 1, &value, 4);
  at[5] = 0xc3;
}

TEST_F(ChangingCode, GeneratedCodeRunsNatively) {
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

// Also code that is met for the first time where no file can be opened.
TEST_F(ChangingCode, IsKnownWithoutFileDescriptors) {
  auto* code = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(code, MAP_FAILED);
  write_function(code, 5);
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const auto function = reinterpret_cast<int (*)()>(library.code());
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  int answer = 0;
  const Gathered unknown = translated([&] { reinterpret_cast<int (*)()>(code)(); });
  const Gathered known = translated([] { getppid(); });
  const Gathered first = translated([&] { answer = function(); });
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(unknown.left, Reason::generated_code);
  EXPECT_EQ(known.left, Reason::none);
  EXPECT_EQ(first.left, Reason::none);
  EXPECT_EQ(answer, 1);
  munmap(code, 4096);
}

TEST_F(ChangingCode, OfALibraryInPlaceOfAnother) {
  if (!reuses_places()) GTEST_SKIP() << "qemu-user gives no place twice in a row";
  LoadedLibrary first(LoadedLibrary::Build::one);
  const uint64_t code = first.code();
  int answer = 0;
  const auto function = reinterpret_cast<int (*)()>(code);
  Gathered gathered = translated([&] { answer = function(); });
  EXPECT_EQ(answer, 1);
  EXPECT_EQ(gathered.left, Reason::none);
  test_translator().begin_unload();
  first.unload();
  test_translator().end_unload();
  const LoadedLibrary second(LoadedLibrary::Build::two);
  ASSERT_EQ(second.code(), code);
  gathered = translated([&] { answer = function(); });
  EXPECT_EQ(answer, 2);
  EXPECT_EQ(gathered.left, Reason::none);
}

// Another thread calls the second library before anybody has said that the first one has gone.
TEST_F(ChangingCode, OfALibraryInPlaceOfAnotherThatIsStillBeingUnloaded) {
  if (!reuses_places()) GTEST_SKIP() << "qemu-user gives no place twice in a row";
  LoadedLibrary first(LoadedLibrary::Build::one);
  const uint64_t code = first.code();
  int answer = 0;
  const auto function = reinterpret_cast<int (*)()>(code);
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::none);
  EXPECT_EQ(answer, 1);
  test_translator().begin_unload();
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::generated_code);
  EXPECT_EQ(translated([] { getppid(); }).left, Reason::none);  // of the C library, which stays
  first.unload();
  const LoadedLibrary second(LoadedLibrary::Build::two);
  ASSERT_EQ(second.code(), code);
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::generated_code);
  EXPECT_EQ(answer, 2);
  test_translator().end_unload();
  answer = 0;
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::none);
  EXPECT_EQ(answer, 2);
}

// The same with memory that the program unmaps itself: a loader maps a library there before the program reports the
// change.
TEST_F(ChangingCode, RunsNativelyFromBeforeItGoes) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const auto function = reinterpret_cast<int (*)()>(library.code());
  const long page = static_cast<long>(library.code() & ~uint64_t{4095});
  const long call[] = {SYS_munmap, page, 4096, 0, 0, 0, 0};
  int answer = 0;
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::none);
  const uint32_t expected = test_translator().expect(call);
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::generated_code);
  EXPECT_EQ(answer, 1);
  test_translator().invalidate_by(call, -EINVAL, expected);
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::none);
}

TEST_F(ChangingCode, RunsNativelyWhileItMayBeWritten) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const auto function = reinterpret_cast<int (*)()>(library.code());
  const uint64_t page = library.code() & ~uint64_t{4095};
  EXPECT_EQ(translated([&] { function(); }).left, Reason::none);
  protect_code(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
  write_function(reinterpret_cast<uint8_t*>(library.code()), 7);
  int answer = 0;
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::generated_code);
  EXPECT_EQ(answer, 7);
  write_function(reinterpret_cast<uint8_t*>(library.code()), 8);
  protect_code(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_EXEC);
  EXPECT_EQ(translated([&] { answer = function(); }).left, Reason::none);
  EXPECT_EQ(answer, 8);
}

// Code of a file, translated, then replaced by another file at the same address.
TEST_F(ChangingCode, IsForgottenWhenItGoes) {
  const int files[2] = {open_code_file(), open_code_file()};
  if (files[0] < 0 || files[1] < 0) GTEST_SKIP() << "no code of files in the build folder can run translated";
  for (int i = 0; i < 2; ++i) {
    uint8_t bytes[4096] = {};
    write_function(bytes, 10 + i);
    ASSERT_EQ(write(files[i], bytes, sizeof bytes), 4096);
  }
  void* code = map_code(nullptr, 4096, files[0]);
  ASSERT_GT(reinterpret_cast<long>(code), 0);
  int out = 0;
  Gathered gathered = translated([&] { out = reinterpret_cast<int (*)()>(code)(); });
  EXPECT_EQ(out, 10);
  EXPECT_EQ(gathered.left, Reason::none);
  ASSERT_EQ(map_code(code, 4096, files[1]), code);
  gathered = translated([&] { out = reinterpret_cast<int (*)()>(code)(); });
  EXPECT_EQ(out, 11);
  EXPECT_EQ(gathered.left, Reason::none);
  unmap_code(code, 4096);
  for (const int file : files) close(file);
}

}  // namespace
}  // namespace contrafact::translate
