// Which library's code lies where, as the facts of the trace say it.
#include "recorder/loaded_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "base/file.h"

namespace contrafact::recorder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Facts = std::vector<std::pair<std::string, std::string>>;

class Libraries : public testing::Test {
 protected:
  Facts told() {
    NewRows rows;
    tables_.take_new(rows);
    return rows.facts;
  }
  void list(const std::vector<std::string>& libraries, int64_t now_ns) {
    for (const std::string& library : libraries) libraries_.list(library);
    libraries_.end_list(now_ns);
  }
  Tables tables_;
  LoadedLibraries libraries_{tables_, getpid()};
};

constexpr const char* kC = "1000 2000 3000 ab12 /lib/libc.so.6";
constexpr const char* kPlugin = "8000 9000 a000 cd34 /opt/a plug-in.so";

TEST_F(Libraries, ComeAndGo) {
  list({kC}, 10);
  EXPECT_THAT(told(), ElementsAre(Pair("module.0", std::string("10 0 ") + kC)));
  list({kC, kPlugin}, 20);
  EXPECT_THAT(told(), ElementsAre(Pair("module.1", std::string("20 0 ") + kPlugin)));
  EXPECT_THAT(libraries_.loaded(), ElementsAre(kC, kPlugin));
  EXPECT_EQ(libraries_.path_at(0x9000), "/opt/a plug-in.so");
  EXPECT_EQ(libraries_.path_at(0x2fff), "/lib/libc.so.6");
  EXPECT_EQ(libraries_.path_at(0x8fff), "");
  EXPECT_EQ(libraries_.path_at(0x1fff), "");
  list({kC}, 30);
  EXPECT_THAT(told(), ElementsAre(Pair("module.1", std::string("20 30 ") + kPlugin)));
  list({kC, kPlugin}, 40);  // again, at the same place
  EXPECT_THAT(told(), ElementsAre(Pair("module.2", std::string("40 0 ") + kPlugin)));
  list({kC, kPlugin}, 50);
  EXPECT_THAT(told(), IsEmpty());
}

// It differs from the one before by nothing but its build.
TEST_F(Libraries, OneInThePlaceOfAnotherOfItsLength) {
  list({kPlugin}, 10);
  told();
  const std::string other = "8000 9000 a000 ef56 /opt/other.so";
  list({other}, 20);
  EXPECT_THAT(told(),
              ElementsAre(Pair("module.0", std::string("10 20 ") + kPlugin), Pair("module.1", "20 0 " + other)));
  EXPECT_THAT(libraries_.loaded(), ElementsAre(other));
}

TEST_F(Libraries, ByAnotherNameAreTheSame) {
  list({kPlugin}, 10);
  told();
  list({"8000 9000 a000 cd34 /opt/link/plug-in.so"}, 20);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(libraries_.loaded(), ElementsAre(kPlugin));
}

TEST_F(Libraries, ListsThatMakeNoSenseArePassedOver) {
  list({"", "nonsense", "10 20", "zz 1 2 - /x", kC}, 10);
  EXPECT_THAT(libraries_.loaded(), ElementsAre(kC));
}

TEST_F(Libraries, TheProgramItselfByItsPath) {
  list({"0 1000 2000 - /proc/self/exe"}, 10);
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  ASSERT_GT(n, 0);
  EXPECT_THAT(libraries_.loaded(), ElementsAre(fmt::format("0 1000 2000 - {}", std::string_view(path, n))));
}

// A process that cannot list its own: it was forked while another thread may have held the loader's lock.
class ForkedProcess : public testing::Test {
 protected:
  static constexpr const char* kLibrary = "libBrokenLocale.so.1";  // the C library's, which nobody loads

  // A child that loads the library, and waits.
  void SetUp() override {
    ASSERT_EQ(dlopen(kLibrary, RTLD_NOLOAD | RTLD_LAZY), nullptr);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const char loaded = dlopen(kLibrary, RTLD_NOW) ? 1 : 0;
      if (write(ends[1], &loaded, 1) != 1) _exit(1);
      for (;;) pause();
    }
    char loaded = 0;
    ASSERT_EQ(read(ends[0], &loaded, 1), 1);
    ASSERT_EQ(loaded, 1);
    close(ends[0]);
    close(ends[1]);
  }
  void TearDown() override {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  // The first address of the library's code, by the kernel's map.
  uint64_t code_of_library() const {
    std::istringstream lines(*base::read_text_file(fmt::format("/proc/{}/maps", pid_)));
    for (std::string line; std::getline(lines, line);) {
      if (line.find(kLibrary) != std::string::npos && line.find(" r-xp ") != std::string::npos) {
        return std::stoull(line, nullptr, 16);
      }
    }
    return 0;
  }
  pid_t pid_ = 0;
};

TEST_F(ForkedProcess, ItsCodeIsFoundInTheKernelsMap) {
  const uint64_t code = code_of_library();
  ASSERT_NE(code, 0u);
  Tables tables;
  LoadedLibraries libraries(tables, pid_);
  libraries.find({code}, 10);
  uint64_t bias = 0, begin = 0, end = 0;
  char build[256] = {}, path[4096] = {};
  for (const std::string& library : libraries.loaded()) {
    if (library.find(kLibrary) == std::string::npos) continue;
    ASSERT_EQ(std::sscanf(library.c_str(), "%lx %lx %lx %255s %4095s", &bias, &begin, &end, build, path), 5);
  }
  EXPECT_THAT(std::string(path), HasSubstr(kLibrary));
  EXPECT_LT(bias, begin);
  EXPECT_LE(code, begin);  // the mapping begins with the code's page
  EXPECT_LT(begin - code, 4096u);
  EXPECT_GT(end, begin);
  EXPECT_NE(std::string(build), "");

  NewRows rows;
  tables.take_new(rows);
  const size_t told = rows.facts.size();
  EXPECT_GT(told, 2u);  // the C library and this program, too
  libraries.find({begin, end - 1}, 20);
  tables.take_new(rows);
  EXPECT_THAT(rows.facts, IsEmpty()) << "it is known";

  // The list that the process makes later, where it can, is the same.
  const std::vector<std::string> before = libraries.loaded();
  for (const std::string& library : before) libraries.list(library);
  libraries.end_list(30);
  tables.take_new(rows);
  EXPECT_THAT(rows.facts, IsEmpty());
}

}  // namespace
}  // namespace contrafact::recorder
