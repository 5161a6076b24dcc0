// Code that was there at the start, libraries that come, go and take each other's place, and memory that the program
// changes.
#include "translate/code_regions.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <memory>
#include <utility>
#include <vector>

#include "translate/loaded_library_for_test.h"

namespace contrafact::translate {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kOwn = PROT_READ | PROT_EXEC;

int g_variable = 1;

uint64_t page_of(uint64_t address) {
  return address & ~(kPage - 1);
}

class CodeRegionsTest : public testing::Test {
 protected:
  CodeRegionsTest() { regions_.read_loaded(); }

  CodeKind kind(uint64_t address) const { return regions_.at(address).kind; }
  CodeKind kind(const void* address) const { return kind(reinterpret_cast<uint64_t>(address)); }
  auto gone() {
    return [this](uint64_t begin, uint64_t end) { gone_.emplace_back(begin, end); };
  }
  void learn(uint64_t address) { regions_.learn(address, gone()); }
  void protect(uint64_t begin, uint64_t end, int protection) {
    regions_.change({begin, end, false, protection}, gone());
  }
  void unmap(uint64_t begin, uint64_t end) { regions_.change({begin, end, true, PROT_NONE}, gone()); }
  bool is_gone(uint64_t address) const {
    for (const auto& [begin, end] : gone_) {
      if (address >= begin && address < end) return true;
    }
    return false;
  }

  const std::unique_ptr<CodeRegions> owner_ = std::make_unique<CodeRegions>();
  CodeRegions& regions_ = *owner_;
  std::vector<std::pair<uint64_t, uint64_t>> gone_;
};

TEST_F(CodeRegionsTest, KnowWhatIsLoadedAtTheStart) {
  static const int constant = 5;
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&page_of)), CodeKind::program);
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&std::abort)), CodeKind::program);
  EXPECT_EQ(kind(&constant), CodeKind::constant);
  EXPECT_EQ(kind(&g_variable), CodeKind::none);
  EXPECT_EQ(kind(&regions_), CodeKind::none);
  // The dynamic linker's function, through the C library that uses it: not a sanitizer's in front of it.
  void* const c_library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(c_library, nullptr) << dlerror();
  EXPECT_EQ(kind(dlsym(c_library, "__tls_get_addr")), CodeKind::unlogged);
  dlclose(c_library);
  const uint64_t kernels = getauxval(AT_SYSINFO_EHDR);
  EXPECT_EQ(kind(kernels), kernels == 0 ? CodeKind::none : CodeKind::program);
}

TEST_F(CodeRegionsTest, LearnALibraryWhenItIsMetWithoutADescriptor) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  EXPECT_EQ(kind(library.code()), CodeKind::none);
  setrlimit(RLIMIT_NOFILE, &none);
  learn(library.code());
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(kind(library.code()), CodeKind::program);
  EXPECT_EQ(kind(library.address("library_constant")), CodeKind::constant);
  EXPECT_EQ(kind(library.address("library_sealed")), CodeKind::constant);
  EXPECT_EQ(kind(library.address("library_variable")), CodeKind::none);
  EXPECT_TRUE(gone_.empty());
}

TEST_F(CodeRegionsTest, LearnNothingOfMemoryThatIsNoObjects) {
  auto* code = mmap(nullptr, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  learn(reinterpret_cast<uint64_t>(code));
  EXPECT_EQ(kind(code), CodeKind::none);
  munmap(code, kPage);
}

TEST_F(CodeRegionsTest, ForgetALibraryThatHasGone) {
  LoadedLibrary library(LoadedLibrary::Build::one);
  const uint64_t code = library.code();
  learn(code);
  regions_.refresh(gone());
  EXPECT_FALSE(is_gone(code));
  EXPECT_EQ(kind(code), CodeKind::program);
  library.unload();
  regions_.refresh(gone());
  EXPECT_TRUE(is_gone(code));
  EXPECT_EQ(kind(code), CodeKind::none);
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&page_of)), CodeKind::program);
}

// The loader's own record of the second may lie where that of the first was, too: the build ids differ.
TEST_F(CodeRegionsTest, TellALibraryFromAnotherAtItsPlace) {
  if (!reuses_places()) GTEST_SKIP() << "qemu-user gives no place twice in a row";
  LoadedLibrary first(LoadedLibrary::Build::one);
  const uint64_t code = first.code();
  learn(code);
  first.unload();
  const LoadedLibrary second(LoadedLibrary::Build::two);
  ASSERT_EQ(second.code(), code);
  regions_.refresh(gone());
  EXPECT_TRUE(is_gone(code));
  learn(code);
  EXPECT_EQ(kind(code), CodeKind::program);
}

// Nobody said that the first one has gone, as nobody says so of what the C library loads for itself.
TEST_F(CodeRegionsTest, LearnALibraryThatOverlapsTheFormerOne) {
  if (!reuses_places()) GTEST_SKIP() << "qemu-user gives no place twice in a row";
  LoadedLibrary first(LoadedLibrary::Build::one);
  const uint64_t code = first.code();
  const LoadedLibrary::Extent hole = first.extent();
  learn(code);
  first.unload();
  // The last page of the hole that the first one left, so that the second one lies lower.
  void* const last = reinterpret_cast<void*>(page_of(hole.end - 1));
  ASSERT_EQ(mmap(last, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), last);
  const LoadedLibrary second(LoadedLibrary::Build::two);
  munmap(last, kPage);
  if (!second.extent().overlaps(hole))
    GTEST_SKIP() << "not measured: this time the second library came to another hole";
  learn(second.code());
  EXPECT_EQ(kind(second.code()), CodeKind::program);
  EXPECT_TRUE(is_gone(code));
}

// To forget what the former library shares with others takes room; where there is none, all is forgotten for good.
TEST_F(CodeRegionsTest, LearnNothingOnceTheyAreClosed) {
  if (!reuses_places()) GTEST_SKIP() << "qemu-user gives no place twice in a row";
  LoadedLibrary first(LoadedLibrary::Build::one);
  const uint64_t code = first.code();
  learn(code);
  Dl_info place;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(code), &place), 0);
  const auto begin = reinterpret_cast<uint64_t>(place.dli_fbase);
  regions_.add_file_code(begin - kPage, begin + kPage);
  for (uint64_t i = 0; i < RegionTable::kRegionsMax; ++i) {
    regions_.add_file_code((uint64_t{1} << 45) + 2 * i * kPage, (uint64_t{1} << 45) + (2 * i + 1) * kPage);
  }
  first.unload();
  // The last page of the hole that the first one left, so that the second one lies lower.
  void* last = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(last, MAP_FAILED);
  const LoadedLibrary second(LoadedLibrary::Build::two);
  munmap(last, kPage);
  if (second.code() <= begin || second.code() >= begin + 8 * kPage || second.code() == code) {
    GTEST_SKIP() << "this system fills no hole with the next mapping";
  }
  learn(second.code());
  EXPECT_TRUE(is_gone(UINT64_MAX - 1));
  EXPECT_EQ(kind(second.code()), CodeKind::none);
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&page_of)), CodeKind::none);
}

TEST_F(CodeRegionsTest, FollowTheProtectionOfCode) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const uint64_t code = library.code(), page = page_of(code), constant = library.address("library_constant");
  learn(code);
  protect(page, page + kPage, kOwn | PROT_WRITE);
  EXPECT_TRUE(is_gone(code));
  EXPECT_EQ(kind(code), CodeKind::generated);
  EXPECT_EQ(kind(constant), CodeKind::constant);
  learn(code);
  EXPECT_EQ(kind(code), CodeKind::generated);
  protect(page, page + kPage, kOwn);
  EXPECT_EQ(kind(code), CodeKind::program);
  protect(page_of(constant), page_of(constant) + kPage, PROT_READ | PROT_WRITE);
  EXPECT_EQ(kind(constant), CodeKind::generated);
  protect(page_of(constant), page_of(constant) + kPage, PROT_READ);
  EXPECT_EQ(kind(constant), CodeKind::constant);
}

TEST_F(CodeRegionsTest, FollowTheProtectionOfALibraryThatIsNotKnownYet) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const uint64_t code = library.code(), page = page_of(code);
  protect(page, page + kPage, kOwn | PROT_WRITE);
  learn(library.address("library_constant"));
  EXPECT_EQ(kind(code), CodeKind::generated);
  EXPECT_EQ(kind(library.address("library_constant")), CodeKind::constant);
  protect(page, page + kPage, kOwn);
  EXPECT_EQ(kind(code), CodeKind::program);
}

TEST_F(CodeRegionsTest, TrustNoMemoryInPlaceOfALibrarysCode) {
  for (const bool is_known : {true, false}) {
    LoadedLibrary library(LoadedLibrary::Build::one);
    const uint64_t code = library.code(), page = page_of(code);
    if (is_known) learn(code);
    unmap(page, page + kPage);
    learn(library.address("library_constant"));
    protect(page, page + kPage, kOwn);
    EXPECT_EQ(kind(code), CodeKind::generated) << is_known;
    EXPECT_EQ(kind(library.address("library_constant")), CodeKind::constant) << is_known;
    regions_.refresh(gone());
    EXPECT_EQ(kind(code), CodeKind::generated) << is_known;
    library.unload();
    regions_.refresh(gone());  // the next one may lie where this one lay, or beside it
  }
}

// The page of the headers holds code, too, in programs that are linked so.
TEST_F(CodeRegionsTest, KnowTheObjectWhoseCodeChanged) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const uint64_t code = library.code();
  learn(code);
  protect(page_of(code), page_of(code) + kPage, kOwn | PROT_WRITE);
  Dl_info place;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(code), &place), 0);
  auto* const begin = static_cast<char*>(place.dli_fbase);
  ASSERT_EQ(mprotect(begin, kPage, PROT_READ | PROT_WRITE), 0);
  begin[kPage - 1] = static_cast<char>(~begin[kPage - 1]);
  regions_.refresh(gone());
  EXPECT_EQ(kind(code), CodeKind::generated);
  begin[kPage - 1] = static_cast<char>(~begin[kPage - 1]);
}

// Once a library has gone its place is like any other, whether the library was known or not.
TEST_F(CodeRegionsTest, ForgetWhatWasReplacedWithItsLibrary) {
  if (!reuses_places()) GTEST_SKIP() << "qemu-user gives no place twice in a row";
  for (const bool is_known : {true, false}) {
    LoadedLibrary first(LoadedLibrary::Build::one);
    const uint64_t code = first.code(), page = page_of(code);
    if (is_known) learn(code);
    unmap(page, page + kPage);
    first.unload();
    regions_.refresh(gone());
    LoadedLibrary second(LoadedLibrary::Build::two);
    ASSERT_EQ(second.code(), code);
    learn(code);
    EXPECT_EQ(kind(code), CodeKind::program) << is_known;
    second.unload();
    regions_.refresh(gone());
  }
}

TEST_F(CodeRegionsTest, KnowFilesThatTheProgramMaps) {
  constexpr uint64_t kBegin = uint64_t{1} << 45;
  regions_.add_file_code(kBegin, kBegin + 3 * kPage);
  EXPECT_EQ(kind(kBegin + 3 * kPage - 1), CodeKind::program);
  EXPECT_EQ(kind(kBegin + 3 * kPage), CodeKind::none);
  protect(kBegin, kBegin + kPage, PROT_READ | PROT_WRITE);
  EXPECT_EQ(kind(kBegin), CodeKind::generated);
  unmap(kBegin + kPage, kBegin + 2 * kPage);
  EXPECT_EQ(kind(kBegin + kPage), CodeKind::none);
  EXPECT_EQ(kind(kBegin + 2 * kPage), CodeKind::program);
}

TEST_F(CodeRegionsTest, CloseWhenChangesDoNotFit) {
  constexpr uint64_t kBegin = uint64_t{1} << 45, kPages = 2 * RegionTable::kRegionsMax;
  regions_.add_file_code(kBegin, kBegin + kPages * kPage);
  for (uint64_t i = 0; i < kPages; i += 2)
    protect(kBegin + i * kPage, kBegin + (i + 1) * kPage, PROT_READ | PROT_WRITE);
  EXPECT_TRUE(is_gone(UINT64_MAX - 1));  // all of it
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&page_of)), CodeKind::none);
  learn(reinterpret_cast<uint64_t>(&page_of));
  regions_.add_file_code(kBegin, kBegin + kPage);
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&page_of)), CodeKind::none);
  EXPECT_EQ(kind(kBegin), CodeKind::none);
}

TEST_F(CodeRegionsTest, TrustNothingFromBeforeAChangeUntilAfterIt) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const uint64_t code = library.code(), page = page_of(code);
  learn(code);
  const MappingChange change{page, page + kPage, true, PROT_NONE};
  ASSERT_TRUE(regions_.begin_pending(change, gone()));
  EXPECT_TRUE(is_gone(code));
  EXPECT_EQ(kind(code), CodeKind::generated);
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&page_of)), CodeKind::program);
  regions_.end_pending(change);
  EXPECT_EQ(kind(code), CodeKind::program);
  EXPECT_FALSE(regions_.begin_pending({uint64_t{1} << 45, uint64_t{1} << 46, true, PROT_NONE}, gone()));
}

// A block of code ends where the code behind it is about to change.
TEST_F(CodeRegionsTest, EndWhereAChangeIsPending) {
  constexpr uint64_t kBegin = uint64_t{1} << 45;
  regions_.add_file_code(kBegin, kBegin + 3 * kPage);
  const MappingChange change{kBegin + kPage, kBegin + 2 * kPage, false, PROT_READ};
  ASSERT_TRUE(regions_.begin_pending(change, gone()));
  EXPECT_EQ(regions_.at(kBegin).end, kBegin + kPage);
  EXPECT_EQ(kind(kBegin + 2 * kPage), CodeKind::program);
}

TEST_F(CodeRegionsTest, TrustNoLibraryThatMayGoWhileOneIsUnloaded) {
  LoadedLibrary library(LoadedLibrary::Build::one);
  const LoadedLibrary unknown(LoadedLibrary::Build::two);
  const uint64_t code = library.code();
  learn(code);
  regions_.begin_unload(gone());
  EXPECT_TRUE(is_gone(code));
  EXPECT_EQ(kind(code), CodeKind::generated);
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&std::abort)), CodeKind::program);
  learn(unknown.code());
  EXPECT_EQ(kind(unknown.code()), CodeKind::none);
  regions_.begin_unload(gone());
  regions_.end_unload(gone());
  EXPECT_EQ(kind(code), CodeKind::generated);  // the other one goes on
  library.unload();
  regions_.end_unload(gone());
  EXPECT_EQ(kind(code), CodeKind::none);
  learn(unknown.code());
  EXPECT_EQ(kind(unknown.code()), CodeKind::program);
}

// Another thread of the parent was about to change mappings, and the child cannot know whether it did.
TEST_F(CodeRegionsTest, InAChildPendingChangesWereMade) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  constexpr uint64_t kBegin = uint64_t{1} << 45;
  learn(library.code());
  regions_.add_file_code(kBegin, kBegin + kPage);
  ASSERT_TRUE(regions_.begin_pending({kBegin, kBegin + kPage, true, PROT_NONE}, gone()));
  regions_.begin_unload(gone());
  const auto child = std::make_unique<CodeRegions>();
  child->take_over(regions_);
  EXPECT_EQ(child->at(kBegin).kind, CodeKind::none);
  EXPECT_EQ(child->at(library.code()).kind, CodeKind::none);
  EXPECT_EQ(child->at(reinterpret_cast<uint64_t>(&page_of)).kind, CodeKind::program);
  child->learn(library.code(), gone());
  EXPECT_EQ(child->at(library.code()).kind, CodeKind::program);
}

// A C library before 2.35.
TEST_F(CodeRegionsTest, WithoutAFinderKnowTheStart) {
  LoadedLibrary early(LoadedLibrary::Build::one);
  const uint64_t code = early.code();
  regions_.read_loaded();
  regions_.find_nothing_for_test();
  const LoadedLibrary late(LoadedLibrary::Build::two);
  learn(late.code());
  EXPECT_EQ(kind(code), CodeKind::program);
  EXPECT_EQ(kind(late.code()), CodeKind::none);
  early.unload();
  regions_.refresh(gone());
  EXPECT_TRUE(is_gone(code));
  EXPECT_EQ(kind(code), CodeKind::none);
  EXPECT_EQ(kind(reinterpret_cast<const void*>(&page_of)), CodeKind::program);
}

TEST_F(CodeRegionsTest, AreTakenOverByAChild) {
  const LoadedLibrary library(LoadedLibrary::Build::one);
  const uint64_t code = library.code(), page = page_of(code);
  learn(code);
  protect(page, page + kPage, kOwn | PROT_WRITE);
  regions_.add_native(1, 2);
  const auto child = std::make_unique<CodeRegions>();
  child->take_over(regions_);
  EXPECT_EQ(child->at(code).kind, CodeKind::generated);
  EXPECT_EQ(child->at(library.address("library_constant")).kind, CodeKind::constant);
  EXPECT_EQ(child->at(1).kind, CodeKind::native);
  child->change({page, page + kPage, false, kOwn}, gone());
  EXPECT_EQ(child->at(code).kind, CodeKind::program);
}

}  // namespace
}  // namespace contrafact::translate
