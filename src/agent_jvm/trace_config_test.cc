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

TEST(TraceConfig, ResourcesAreClasses) {
  TraceConfig config;
  ASSERT_TRUE(config
                  .add_lines("resource shop.*Pool take=acquire,tryAcquire give=release size=getMaxSize\n"
                             "resource shop.db.Keys  give=back take=lend # the size is what is seen\n"
                             "resource shop.db.Slots take=lend give=back size=8\n")
                  .ok());
  const ResourceRule* rule = config.resource("shop.db.ConnectionPool");
  ASSERT_NE(rule, nullptr);
  EXPECT_THAT(rule->takes, testing::ElementsAre("acquire", "tryAcquire"));
  EXPECT_THAT(rule->gives, testing::ElementsAre("release"));
  EXPECT_EQ(rule->size, "getMaxSize");
  ASSERT_NE(config.resource("shop.db.Keys"), nullptr);
  EXPECT_EQ(config.resource("shop.db.Keys")->size, "");
  EXPECT_EQ(config.resource("shop.db.Slots")->size, "8");
  EXPECT_EQ(config.resource("shop.db.Keys$Key"), nullptr);
  EXPECT_TRUE(config.empty());
}

TEST(TraceConfig, ResourcesThatAreNone) {
  TraceConfig config;
  const auto message = [&](std::string_view line) { return config.add_lines(line).error().message; };
  EXPECT_EQ(message("resource\n"), "line 1: a resource needs a class, take=METHOD and give=METHOD");
  EXPECT_EQ(message("resource a.Pool take=get\n"), "line 1: a resource needs a class, take=METHOD and give=METHOD");
  EXPECT_EQ(message("resource take=get give=put"),
            "line 1: expected 'CLASS take=METHOD,... give=METHOD,... [size=N, FIELD or GETTER]', got 'take=get'");
  for (const std::string word :
       {"take=", "take=a,", "give=a.b", "give=(a)", "size=0", "size=8x", "size=", "sise=8", "take"}) {
    EXPECT_EQ(message("resource a.Pool " + word),
              "line 1: expected 'CLASS take=METHOD,... give=METHOD,... [size=N, FIELD or GETTER]', got '" + word + "'");
  }
  EXPECT_EQ(message("resource a.Pool take=get,move give=move"), "line 1: 'move' cannot both take and give");
  EXPECT_TRUE(config.resources().empty());
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
