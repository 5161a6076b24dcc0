#include "agent_native/options.h"

#include <gtest/gtest.h>

namespace contrafact::agent_native {
namespace {

TEST(NativeOptions, SurviveTheEnvironment) {
  Options options;
  options.output = "/tmp/a b,c=%.cft";
  options.memory_bytes_max = 1 << 20;
  options.children = true;
  options.process = 17;
  options.kernel_clock = true;
  const auto parsed = parse_options(print_options(options));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->output, options.output);
  EXPECT_EQ(parsed->memory_bytes_max, options.memory_bytes_max);
  EXPECT_TRUE(parsed->children);
  EXPECT_TRUE(parsed->cpu_switches);
  EXPECT_TRUE(parsed->kernel_clock);
  EXPECT_EQ(parsed->process, 17);
}

TEST(NativeOptions, SetsAreGatheredAlwaysOrInWindows) {
  Options options;
  options.output = "x";
  EXPECT_FALSE(parse_options(print_options(options))->sets);
  options.sets = true;
  auto parsed = parse_options(print_options(options));
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->sets);
  EXPECT_TRUE(parsed->sets_translate);
  EXPECT_EQ(parsed->sets_period_ns, 0);
  options.sets_window_ns = 1'000;
  options.sets_period_ns = 20'000;
  parsed = parse_options(print_options(options));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->sets_window_ns, 1'000);
  EXPECT_EQ(parsed->sets_period_ns, 20'000);
  options.sets_translate = false;
  EXPECT_FALSE(parse_options(print_options(options))->sets_translate);
  for (const char* bad : {"", "1", "2/1", "0/5", "-1/5", "always/1"}) {
    EXPECT_FALSE(parse_options(std::string("output=x,sets=") + bad).ok()) << bad;
  }
}

TEST(NativeOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_FALSE(parse_options("output=x,colour=red").ok());
  EXPECT_FALSE(parse_options("output=x,memory=much").ok());
  EXPECT_FALSE(parse_options("memory=1").ok());
}

TEST(NativeOptions, TheLibraryIsTakenOutOfThePreloads) {
  EXPECT_EQ(without_library("/lib/ours.so", "/lib/ours.so"), "");
  EXPECT_EQ(without_library("/a.so:/lib/ours.so /b.so", "/lib/ours.so"), "/a.so:/b.so");
  EXPECT_EQ(without_library("/lib/ours.so.1", "/lib/ours.so"), "/lib/ours.so.1");
}

}  // namespace
}  // namespace contrafact::agent_native
