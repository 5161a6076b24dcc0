#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/jdk.h"
#include "cli/launch_plan.h"
#include "cli/output.h"
#include "cli/record_checks.h"
#include "cli/schemas.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Installation kInstallation{"/opt/cf/lib/agent.so"};

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "contrafact-cli-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name, const std::string& content = "") {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }
  std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

TEST(LaunchPlan, TheAgentComesRightAfterTheLauncher) {
  LaunchPlan plan =
      plan_java({"java", "-Xmx1g", "-jar", "x.jar", "1"}, kInstallation, {.output = "/tmp/run.cft.recording"});
  EXPECT_THAT(plan.arguments,
              ElementsAre("java", "-agentpath:/opt/cf/lib/agent.so=strict=1,keep=1,output=/tmp/run.cft.recording",
                          "-Xmx1g", "-jar", "x.jar", "1"));
}

TEST(LaunchPlan, EncodesWhatWouldConfuseTheAgent) {
  AgentOptions options{"/tmp/a b,c%.cft", 268435456, "/etc/t.conf", {"shop.api.*", "shop.Db"}, {"shop.api.Log"}};
  EXPECT_EQ(
      agent_option_string(options),
      "strict=1,keep=1,output=/tmp/a%20b%2Cc%25.cft,memory=268435456,config=/etc/t.conf,include=shop.api.*;shop.Db,"
      "exclude=shop.api.Log");
}

TEST(LaunchPlan, OthersAreAskedThroughTheEnvironment) {
  base::Result<LaunchPlan> plan = plan_other({"mvn", "test"}, kInstallation, {.output = "/o"}, "-Dx=1");
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->arguments, ElementsAre("mvn", "test"));
  EXPECT_EQ(plan->java_tool_options, "-Dx=1 -agentpath:/opt/cf/lib/agent.so=strict=1,keep=1,output=/o");
  plan = plan_other({"mvn"}, {"/my apps/agent.so"}, {.output = "/o"}, "");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->java_tool_options, "\"-agentpath:/my apps/agent.so=strict=1,keep=1,output=/o\"");
  plan = plan_other({"mvn"}, {"/my \"apps\"/agent.so"}, {.output = "/o"}, "");
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("has a quote or a line break"));
}

TEST(Jdk, VersionsOfEveryStyle) {
  EXPECT_EQ(feature_of("17.0.15"), 17);
  EXPECT_EQ(feature_of("25"), 25);
  EXPECT_EQ(feature_of("1.8.0_402"), 8);
  EXPECT_EQ(feature_of("22-ea"), 22);
  EXPECT_EQ(feature_of("?"), 0);
}

TEST(Jdk, FoundThroughLinksAndOnlyUnderItsName) {
  Folder folder;
  folder.file("jdk/release", "IMPLEMENTOR=\"Somebody\"\nJAVA_VERSION=\"21.0.1\"\n");
  folder.file("jdk/lib/server/libjvm.so");
  std::string java = folder.file("jdk/bin/java");
  fs::create_symlink(java, folder.path("link"));
  std::optional<Jdk> jdk = jdk_of_launcher(folder.path("link"));
  ASSERT_TRUE(jdk.has_value());
  EXPECT_EQ(jdk->version, "21.0.1");
  EXPECT_EQ(jdk->vendor, "Somebody");
  EXPECT_TRUE(check_supported(*jdk).ok());
  EXPECT_FALSE(jdk_of_launcher(folder.file("jdk/bin/javac")).has_value());
  EXPECT_FALSE(jdk_of_launcher(folder.file("elsewhere/java")).has_value()) << "a file that is merely called java";
}

TEST(Jdk, RefusesWhatTheAgentDoesNotKnow) {
  base::Status old = check_supported({.home = "/jdk8", .version = "1.8.0_402", .feature = 8});
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().message, "Java 1.8.0_402 in '/jdk8' is not supported: use Java 17 to 25, or --force to try");
  EXPECT_FALSE(check_supported({.home = "/new", .version = "99", .feature = 99}).ok());
  base::Status other = check_supported({.home = "/j9", .version = "17", .feature = 17, .hotspot = false});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("no HotSpot virtual machine"));
}

TEST(Installation, FoundBesideTheExecutable) {
  Folder folder;
  std::string self = folder.file("bin/contrafact");
  base::Result<Installation> missing = find_installation(self);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("the JVM agent is missing: no libcontrafact_jvm.so in"));
  std::string built = folder.file("lib/libcontrafact_jvm.so");
  EXPECT_EQ(find_installation(self)->agent_library, built);
  std::string installed = folder.file("lib/contrafact/libcontrafact_jvm.so");
  EXPECT_EQ(find_installation(self)->agent_library, installed);
}

TEST(TraceConfig, IsCheckedBeforeTheProgramStarts) {
  Folder folder;
  std::string good =
      folder.file("good.conf", "# what to record\ninclude shop.api.*  # the doors\n\n exclude shop.api.Log\r\n");
  EXPECT_TRUE(check_trace_config(good, {"a.*"}, {"a.B.c"}).ok());
  std::string bad = folder.file("bad.conf", "include shop.*\nincldue x\n");
  base::Status status = check_trace_config(bad, {}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, bad + ": line 2: 'incldue x' is neither include nor exclude with a pattern");
  status = check_trace_config(folder.file("empty.conf", "include\n"), {}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("line 1: '' is no pattern"));
}

TEST(Output, ChecksBeforeARecordingStarts) {
  Folder folder;
  EXPECT_TRUE(check_writable(folder.path("run.cft"), 1).ok());
  EXPECT_TRUE(fs::is_empty(folder.path())) << "the check leaves nothing behind";
  base::Status missing = check_writable(folder.path("no/run.cft"), 1);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("there is no folder"));
  base::Status device = check_writable("/dev/full", 1);
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("it is no regular file"));
  base::Status full = check_writable(folder.path("run.cft"), UINT64_MAX);
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().message, HasSubstr("not enough space in"));
}

TEST(Output, ADeviceIsWrittenToAndNeverReplaced) {
  base::Status full = write_output("/dev/full", "x");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message, "cannot write '/dev/full': No space left on device");
  EXPECT_TRUE(write_output("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Commands, EachHasAHelpWithThreeExamples) {
  for (const Command& command : commands()) {
    EXPECT_EQ(std::count(command.examples.begin(), command.examples.end(), '\n'), 2) << command.name;
    EXPECT_EQ(command.summary.find('\n'), std::string_view::npos);
    CLI::App app;
    EXPECT_TRUE(command.declare(app)) << command.name;
  }
}

TEST(Schemas, EveryColumnHasASentence) {
  for (const table::Schema* schema : all_schemas()) {
    EXPECT_TRUE(schema->description.ends_with('.')) << schema->name;
    for (const table::Column& column : schema->columns) {
      EXPECT_TRUE(column.description.ends_with('.')) << schema->name << "." << column.name;
      EXPECT_FALSE(column.title.empty());
      bool timed = column.type == table::Type::duration;
      EXPECT_TRUE(!timed || column.name.ends_with("_ns")) << schema->name << "." << column.name << ": unit last";
    }
  }
}

}  // namespace
}  // namespace contrafact::cli
