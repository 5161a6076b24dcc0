#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "model/text_trace.h"
#include "symbols/code_reader.h"
#include "symbols/demangle.h"
#include "symbols/module_map.h"
#include "symbols/resolve.h"

int symbols_test_variable[4] = {1, 2, 3, 4};

extern "C" __attribute__((noinline)) int symbols_test_function(int x) {
  return x + symbols_test_variable[2];
}

namespace contrafact::symbols {
namespace {

TEST(FunctionNames, AreShort) {
  EXPECT_EQ(function_name("main"), "main");
  EXPECT_EQ(function_name("_ZN4shop4Feed4loadEi"), "shop::Feed::load");
  EXPECT_EQ(function_name("consumer.part.0"), "consumer");
  EXPECT_EQ(function_name("_ZN4shop4Feed4loadEi.constprop.0.cold"), "shop::Feed::load");
  EXPECT_EQ(function_name("runtime.futex.abi0"), "runtime.futex");
  EXPECT_EQ(function_name("main.(*Server).handle"), "main.(*Server).handle");
  EXPECT_EQ(function_name("_ZN3svc12update_cache17h0123456789abcdefE"), "svc::update_cache");
  EXPECT_EQ(function_name("_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE"),
            "core::ptr::drop_in_place<alloc::string::String>");
  EXPECT_EQ(function_name("_RNvC3svc4main"), "svc::main");
  EXPECT_EQ(function_name("_RNvMs_C3svcNtB4_5Cache6update"), "<svc::Cache>::update");
  EXPECT_EQ(without_signature("void shop::run<int>(int, long) const"), "shop::run<int>");
  EXPECT_EQ(without_signature("shop::run(std::function<void (int)>) [clone .cold]"), "shop::run");
  EXPECT_EQ(without_signature("shop::name_of[abi:cxx11](int)"), "shop::name_of");
  EXPECT_EQ(without_signature("std::string shop::at[abi:cxx11]<int>(int) const"), "shop::at<int>");
  EXPECT_EQ(without_signature("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda(int)#1}::operator()");
}

TEST(FunctionNames, OfAThreadIsWhatItRuns) {
  EXPECT_EQ(
      thread_body_name("std::thread::_State_impl<std::thread::_Invoker<std::tuple<shop::Pool::start()::{lambda()#1}, "
                       "std::vector<int> > > >::_M_run"),
      "shop::Pool::start()::{lambda()#1}, std::vector<int> ");
  EXPECT_EQ(thread_body_name("worker"), "worker");
}

TEST(Modules, ParseTheirFacts) {
  Module module;
  ASSERT_TRUE(parse_module("12 0 55a0 55a1000 55a2000 c8fd /tmp/a program", module));
  EXPECT_EQ(module.loaded_ns, 12);
  EXPECT_EQ(module.bias, 0x55a0u);
  EXPECT_EQ(module.end, 0x55a2000u);
  EXPECT_EQ(module.build_id, "c8fd");
  EXPECT_EQ(module.path, "/tmp/a program");
  ASSERT_TRUE(parse_module("1 2 0 10 20 - /x", module));
  EXPECT_EQ(module.build_id, "");
  EXPECT_FALSE(parse_module("1 2 0 20 10 - /x", module));
  EXPECT_FALSE(parse_module("nonsense", module));
}

// A trace in which this very program is the recorded one. Its bias is found as the agent finds it.
model::Trace trace_of_ourselves() {
  extern const char begin __asm__("__executable_start");
  extern const char end __asm__("etext");
  char path[4096] = {};
  EXPECT_GT(readlink("/proc/self/exe", path, sizeof path - 1), 0);
  const auto bias = reinterpret_cast<uint64_t>(&begin);
  auto trace = model::parse_text("fact agent native\nthread main\n0 main thread_begin\n1 main thread_end\n");
  EXPECT_TRUE(trace.ok());
  trace->facts.push_back({"module.0", "0 0 " + [&] {
                            char text[4300];
                            std::snprintf(text, sizeof text, "%lx %lx %lx - %s", bias, bias,
                                          reinterpret_cast<uint64_t>(&end), path);
                            return std::string(text);
                          }()});
  return *std::move(trace);
}

TEST(CodeReader, FindsFunctionFileLineAndVariables) {
  const model::Trace trace = trace_of_ourselves();
  const ModuleMap modules(trace);
  CodeReader reader(modules);
  const auto frames = reader.frames(reinterpret_cast<uint64_t>(&symbols_test_function));
  ASSERT_FALSE(frames.empty());
  EXPECT_TRUE(frames[0].function.starts_with("symbols_test_function")) << frames[0].function;
  EXPECT_EQ(reader.variable(reinterpret_cast<uint64_t>(&symbols_test_variable)), "symbols_test_variable");
  EXPECT_EQ(reader.variable(reinterpret_cast<uint64_t>(&symbols_test_variable[1])), "symbols_test_variable+4");
  EXPECT_EQ(reader.frames(0x10)[0].function, "0x10");
}

// A library of test_libraries, and where its function and its code lie in the file.
struct Library {
  std::string path;
  uint64_t function = 0, begin = 0, end = 0;
  uint64_t variable = 0;  // 0: it has none
};

Library library(const char* path, const char* function, const char* variable) {
  Library found;
  found.path = path;
  void* loaded = dlopen(path, RTLD_NOW);
  link_map* map = nullptr;
  if (!loaded || dlinfo(loaded, RTLD_DI_LINKMAP, &map) != 0) {
    ADD_FAILURE() << dlerror();
    return found;
  }
  const auto in_file = [&](const char* name) {
    return reinterpret_cast<uint64_t>(dlsym(loaded, name)) - static_cast<uint64_t>(map->l_addr);
  };
  found.function = in_file(function);
  if (variable) found.variable = in_file(variable);
  constexpr uint64_t kPageMask = 4095, kFunctionBytesMax = 64;
  found.begin = found.function & ~kPageMask;
  while (found.begin > kPageMask + 1) found.begin -= kPageMask + 1;  // the linker lays code behind one page of headers
  found.end = found.function + kFunctionBytesMax;
  dlclose(loaded);
  return found;
}

Library near_library() {
  return library(symbols_test_near, "near_function", "near_variable");
}
Library far_library() {
  return library(symbols_test_far, "far_function", nullptr);
}

constexpr uint64_t kPlace = 0x7f0000000000;
constexpr uint64_t kCodeBytes = 256;

// A trace of a process in which the libraries lay at their places one after the other.
model::Trace trace_of(const std::vector<Library>& libraries, const std::vector<uint64_t>& places,
                      const char* build_id = "-") {
  auto trace = model::parse_text("fact agent native\nthread main\n0 main thread_begin\n1 main thread_end\n");
  EXPECT_TRUE(trace.ok());
  for (size_t i = 0; i < libraries.size(); ++i) {
    const bool stays = i + 1 == libraries.size();
    trace->facts.push_back(
        {fmt::format("module.{}", i),
         fmt::format("{} {} {:x} {:x} {:x} {} {}", 10 * i, stays ? 0 : 10 * i + 5, places[i],
                     places[i] + libraries[i].begin, places[i] + libraries[i].end, build_id, libraries[i].path)});
  }
  return *std::move(trace);
}

// All of them at kPlace.
model::Trace trace_of(const std::vector<Library>& libraries, const char* build_id = "-") {
  return trace_of(libraries, std::vector(libraries.size(), kPlace), build_id);
}

TEST(CodeReader, FindsFunctionsWithinTheirNamespace) {
  Library clang = library(symbols_test_in_namespace, "clang_function", nullptr);
  clang.end += kCodeBytes;
  const model::Trace trace = trace_of({clang});
  const ModuleMap modules(trace);
  CodeReader reader(modules);
  std::set<std::string> functions;
  for (uint64_t address = clang.begin; address < clang.function + kCodeBytes; ++address) {
    for (const CodeFrame& frame : reader.frames(kPlace + address)) {
      if (frame.file.ends_with("in_namespace.cc") && frame.line > 0) functions.insert(frame.function);
    }
  }
  EXPECT_THAT(functions, testing::IsSupersetOf({"clang_function", "shop::twice", "shop::Cache::look_up"}));
}

TEST(CodeReader, FindsLinesWithoutATableOfAddresses) {
  for (const char* path : {symbols_test_near, symbols_test_near ".no_aranges"}) {
    const Library near = library(path, "near_function", "near_variable");
    const model::Trace trace = trace_of({near});
    const ModuleMap modules(trace);
    CodeReader reader(modules);
    const CodeFrame frame = reader.frames(kPlace + near.function)[0];
    EXPECT_EQ(frame.function, "near_function") << path;
    EXPECT_TRUE(frame.file.ends_with("near.cc")) << path << ": " << frame.file;
    EXPECT_GT(frame.line, 0u) << path;
  }
}

TEST(CodeReader, NamesALibraryThatCameBackToItsPlace) {
  const Library near = near_library(), far = far_library();
  for (const std::vector<Library>& libraries : {std::vector{near, near}, {near, near, near}, {near, far, near}}) {
    const model::Trace trace = trace_of(libraries);
    const ModuleMap modules(trace);
    CodeReader reader(modules);
    EXPECT_EQ(reader.frames(kPlace + near.function)[0].function, "near_function") << libraries.size();
    EXPECT_EQ(reader.variable(kPlace + near.variable), "near_variable") << libraries.size();
    EXPECT_THAT(reader.problems(), testing::IsEmpty());
  }
}

TEST(CodeReader, NamesLibrariesThatLayOverEachOther) {
  const Library near = near_library(), far = far_library();
  ASSERT_LT(near.end, far.function);
  const model::Trace trace = trace_of({far, near});
  const ModuleMap modules(trace);
  CodeReader reader(modules);
  EXPECT_EQ(reader.frames(kPlace + near.function)[0].function, "near_function");  // both had code there: the later one
  EXPECT_EQ(reader.frames(kPlace + far.function)[0].function, "far_function");
}

// Copies of one library, some in the same place, most over each other: a variable of one has its name only where no
// later one lies around it.
TEST(CodeReader, NamesVariablesOfTheLastModuleAround) {
  const Library near = near_library();
  constexpr uint64_t kPageBytes = 4096;
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint64_t> places(1 + random() % 8);
    for (uint64_t& place : places) place = kPlace + random() % 12 * kPageBytes;
    const model::Trace trace = trace_of(std::vector(places.size(), near), places);
    const ModuleMap modules(trace);
    CodeReader reader(modules);
    for (uint64_t page = 0; page < 24; ++page) {
      const uint64_t variable = kPlace + page * kPageBytes + near.variable % kPageBytes;
      std::string name;
      for (const uint64_t place : places) {
        if (place <= variable && variable <= place + near.variable) {
          name = variable == place + near.variable ? "near_variable" : "";
        }
      }
      EXPECT_EQ(reader.variable(variable), name) << "round " << round << ", page " << page;
    }
  }
}

// A program that maps its own file, as Node.js does, and cannot run where that lies.
TEST(CodeReader, NamesAnExecutableThatWasMappedTwice) {
  Library program = near_library();
  std::ifstream original(program.path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(original), {}};
  ASSERT_GT(bytes.size(), 64u);
  bytes[16] = 2;  // ET_EXEC
  program.path = testing::TempDir() + "/contrafact-symbols-test-executable";
  std::ofstream(program.path, std::ios::binary) << bytes;
  const model::Trace trace = trace_of({program, program}, {0, kPlace});
  const ModuleMap modules(trace);
  CodeReader reader(modules);
  EXPECT_EQ(reader.frames(program.function)[0].function, "near_function");
  EXPECT_EQ(reader.frames(kPlace + program.function)[0].function, fmt::format("{:#x}", program.function));
  EXPECT_THAT(reader.problems(), testing::ElementsAre(testing::HasSubstr("was mapped a second time")));
  std::remove(program.path.c_str());
}

TEST(CodeReader, UsesNoFileOfAnotherBuild) {
  const Library near = near_library();
  const model::Trace trace = trace_of({near, near}, "c8fd");
  const ModuleMap modules(trace);
  CodeReader reader(modules);
  EXPECT_EQ(reader.frames(kPlace + near.function)[0].function, fmt::format("{:#x}", near.function));
  EXPECT_EQ(reader.variable(kPlace + near.variable), "");
  EXPECT_THAT(reader.problems(), testing::ElementsAre(testing::HasSubstr("is not the file that was recorded")));
}

TEST(Resolve, NamesMethodsLocksAndThreads) {
  model::Trace trace = trace_of_ourselves();
  trace.methods.emplace_back();
  trace.contexts.push_back({{}, format::MethodId(0), 0});
  trace.method_addresses.push_back({format::MethodId(0), reinterpret_cast<uint64_t>(&symbols_test_function), true});
  trace.locks.push_back({format::LockKind::mutex, reinterpret_cast<uint64_t>(&symbols_test_variable), {}});
  trace.facts.push_back({"thread.name.0", "chief"});
  resolve(trace);
  EXPECT_TRUE(trace.method_label(format::MethodId(0)).starts_with("symbols_test_function"));
  EXPECT_EQ(trace.string(trace.locks[0].name), "symbols_test_variable");
  EXPECT_EQ(trace.string(trace.threads[0].name), "chief");
  EXPECT_TRUE(trace.method_addresses.empty());
}

TEST(ModuleMap, LibrariesOfTheSystemAreNotTheProgram) {
  EXPECT_EQ(system_library("/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", "/home/a/run"), "libz");
  EXPECT_EQ(system_library("/lib64/libbz2.so.1", "/usr/bin/pbzip2"), "libbz2");
  EXPECT_EQ(system_library("/home/a/build/libshop.so", "/home/a/run"), "");
  EXPECT_EQ(system_library("/usr/bin/pbzip2", "/usr/bin/pbzip2"), "");
  EXPECT_EQ(system_library("/usr/lib/firefox/libxul.so", "/usr/lib/firefox/firefox-bin"), "");
  EXPECT_EQ(system_library("/usr/lib/libz.so.1", ""), "libz");
}

}  // namespace
}  // namespace contrafact::symbols
