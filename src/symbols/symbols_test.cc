#include <gtest/gtest.h>
#include <unistd.h>

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
  EXPECT_EQ(without_signature("void shop::run<int>(int, long) const"), "shop::run<int>");
  EXPECT_EQ(without_signature("shop::run(std::function<void (int)>) [clone .cold]"), "shop::run");
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

}  // namespace
}  // namespace contrafact::symbols
