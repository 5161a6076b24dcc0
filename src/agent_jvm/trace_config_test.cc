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

TEST(TraceConfig, EndpointsAreMethods) {
  TraceConfig config;
  ASSERT_TRUE(config
                  .add_lines("endpoint shop.*Handler.handle\n"
                             "endpoint web.Router.route  method=1.name path=2.getUri # as it is asked\n")
                  .ok());
  EXPECT_TRUE(config.empty());
  EXPECT_TRUE(config.may_have_endpoint("shop.OrderHandler"));
  EXPECT_FALSE(config.may_have_endpoint("java.lang.String"));
  ASSERT_NE(config.endpoint("shop.OrderHandler", "handle"), nullptr);
  EXPECT_EQ(config.endpoint("shop.OrderHandler", "toString"), nullptr);
  const EndpointRule* rule = config.endpoint("web.Router", "route");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->method.argument, 1u);
  EXPECT_EQ(rule->method.getter, "name");
  EXPECT_EQ(rule->path.argument, 2u);
  EXPECT_EQ(rule->path.getter, "getUri");
}

TEST(TraceConfig, EndpointsThatAreNone) {
  TraceConfig config;
  EXPECT_EQ(config.add_lines("endpoint\n").error().message, "line 1: expected 'endpoint PATTERN'");
  EXPECT_EQ(config.add_lines("endpoint a.B.c path=x").error().message,
            "line 1: expected 'method=N', 'path=N' or these with '.GETTER', got 'path=x'");
  EXPECT_EQ(config.add_lines("endpoint a.B.c method=1").error().message,
            "line 1: an endpoint with method=N needs path=N, too");
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
