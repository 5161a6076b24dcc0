#include "agent_jvm/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace contrafact::agent_jvm {
namespace {

TEST(Options, AllOfThemWithEscapedValues) {
  auto options =
      parse_options("output=a%2Cb%25.cft,memory=1000,include=shop.*;web.Api,exclude=*.toString,depth=8,strict=1");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->output, "a,b%.cft");
  EXPECT_EQ(options->memory_bytes_max, 1000u);
  EXPECT_THAT(options->include, testing::ElementsAre("shop.*", "web.Api"));
  EXPECT_THAT(options->exclude, testing::ElementsAre("*.toString"));
  EXPECT_EQ(options->context_depth_max, 8u);
  EXPECT_TRUE(options->strict);
}

TEST(Options, EmptyTextGivesTheDefaults) {
  auto options = parse_options("");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->output, "run.cft");
  EXPECT_FALSE(options->strict);
}

TEST(Options, AnErrorNamesTheOption) {
  for (const char* text : {"outptu=x", "memory=many", "memory=1k", "depth=0", "depth=100000", "output=", "strict"}) {
    auto options = parse_options(text);
    ASSERT_FALSE(options) << text;
    EXPECT_THAT(options.error().message, testing::HasSubstr(text));
  }
}

}  // namespace
}  // namespace contrafact::agent_jvm
