#include "agent_native/options.h"

#include <gtest/gtest.h>

namespace contrafact::agent_native {
namespace {

TEST(NativeOptions, AreReadFromTheEnvironment) {
  const auto parsed = parse_options("control=%2Fproc%2F7%2Ffd%2F3,children=1");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->control, "/proc/7/fd/3");
  EXPECT_TRUE(parsed->children);
  EXPECT_FALSE(parsed->sets);
  EXPECT_TRUE(parsed->sets_translate);
}

TEST(NativeOptions, SetsAreGatheredAlwaysOrInWindows) {
  auto parsed = parse_options("control=x,sets=always");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->sets);
  EXPECT_EQ(parsed->sets_period_ns, 0);
  parsed = parse_options("control=x,sets=1000/20000,sets_translate=0");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->sets_window_ns, 1'000);
  EXPECT_EQ(parsed->sets_period_ns, 20'000);
  EXPECT_FALSE(parsed->sets_translate);
  for (const char* bad : {"", "1", "2/1", "0/5", "-1/5", "always/1"}) {
    EXPECT_FALSE(parse_options(std::string("control=x,sets=") + bad).ok()) << bad;
  }
}

TEST(NativeOptions, NameWhatIsPreloadedWithTheAgent) {
  EXPECT_EQ(parse_options("control=x")->preloaded, "");
  EXPECT_EQ(parse_options("control=x,preloaded=%2fa.so%3a%2fb.so")->preloaded, "/a.so:/b.so");
  EXPECT_FALSE(parse_options("control=x,preloaded=").ok());
}

TEST(NativeOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_FALSE(parse_options("control=x,colour=red").ok());
  EXPECT_FALSE(parse_options("control=x,children=yes").ok());
  EXPECT_FALSE(parse_options("children=1").ok());
}

TEST(NativeOptions, TheLibraryIsTakenOutOfThePreloads) {
  EXPECT_EQ(without_library("/lib/ours.so", "/lib/ours.so"), "");
  EXPECT_EQ(without_library("/a.so:/lib/ours.so /b.so", "/lib/ours.so"), "/a.so:/b.so");
  EXPECT_EQ(without_library("/lib/ours.so.1", "/lib/ours.so"), "/lib/ours.so.1");
}

}  // namespace
}  // namespace contrafact::agent_native
