#include "agent_jvm/trace_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/glob.h"

namespace contrafact::agent_jvm {
namespace {

TEST(TraceConfig, StarsMatchAnyCharacters) {
  EXPECT_TRUE(base::matches_glob("shop.*", "shop.api.Feed"));
  EXPECT_TRUE(base::matches_glob("*Feed", "shop.api.Feed"));
  EXPECT_TRUE(base::matches_glob("a*b*c", "axxbyybzc"));
  EXPECT_TRUE(base::matches_glob("**", ""));
  EXPECT_FALSE(base::matches_glob("shop.*", "shopping"));
  EXPECT_FALSE(base::matches_glob("a*b", "abc"));
}

TEST(TraceConfig, ChoosesByClassAndByMethod) {
  TraceConfig config;
  ASSERT_TRUE(
      config.add_lines("# what to trace\ninclude shop.*   # all\n  include web.Api.get*\n\nexclude *.toString\r\n"));
  EXPECT_TRUE(config.chooses("shop.Feed", "load"));
  EXPECT_FALSE(config.chooses("shop.Feed", "toString"));
  EXPECT_TRUE(config.chooses("web.Api", "getUser"));
  EXPECT_FALSE(config.chooses("web.Api", "put"));
  EXPECT_TRUE(config.may_choose_from("web.Api"));
}

TEST(TraceConfig, NeverTheProbesThemselves) {
  TraceConfig config;
  config.add_include("*");
  EXPECT_FALSE(config.may_choose_from("java.lang.ContrafactEvents"));
  EXPECT_FALSE(config.may_choose_from("java.lang.Thread"));
  EXPECT_TRUE(config.may_choose_from("java.util.ArrayList"));
}

TEST(TraceConfig, AnErrorNamesTheLine) {
  TraceConfig config;
  base::Status status = config.add_lines("include a.*\ninclde b\n");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("line 2"));
  EXPECT_FALSE(config.add_lines("include"));
  EXPECT_FALSE(config.add_lines("include a b"));
}

TEST(TraceConfig, ChoosesClassesByTheWholePattern) {
  TraceConfig config;
  config.add_include("shop.*Cache");
  EXPECT_TRUE(config.chooses_class("shop.api.FeedCache"));
  EXPECT_FALSE(config.chooses_class("shop.api.Feed"));
  config.add_include("*Thread");
  EXPECT_FALSE(config.chooses_class("java.lang.Thread"));
  EXPECT_FALSE(TraceConfig().chooses_class("shop.Feed"));
}

}  // namespace
}  // namespace contrafact::agent_jvm
