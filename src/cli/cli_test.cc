#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "cli/command.h"
#include "cli/elf_symbols.h"
#include "cli/exit_code.h"
#include "cli/installation.h"
#include "cli/jdk.h"
#include "cli/launch_plan.h"
#include "cli/nearest.h"
#include "cli/option_values.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/record_checks.h"
#include "cli/record_summary.h"
#include "cli/recording_files.h"
#include "cli/replay_rows.h"
#include "cli/schemas.h"
#include "format/writer.h"
#include "model/text_trace.h"

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

TEST(LaunchPlan, TheAgentIsToldToLeaveTheArgumentsOut) {
  EXPECT_EQ(agent_option_string({.output = "/o", .command = false}), "strict=1,keep=1,output=/o,command=0");
}

TEST(LaunchPlan, FlagsOfTheVirtualMachineFollowTheAgent) {
  const AgentOptions options{.output = "/o",
                             .warm = true,
                             .awake = "/proc/7/fd/5",
                             .vm_flags = {std::string(kWarmFlags[0]), std::string(kWarmFlags[1])}};
  EXPECT_THAT(plan_java({"java", "Main"}, kInstallation, options).arguments,
              ElementsAre("java", "-agentpath:/opt/cf/lib/agent.so=strict=1,keep=1,output=/o,warm=1,awake=/proc/7/fd/5",
                          "-XX:Tier4InvocationThreshold=500", "-XX:Tier4MinInvocationThreshold=60", "Main"));
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

TEST(Replay, AVerdictSaysWhatDisturbsIt) {
  const auto verdict = [](int64_t before_ns, int64_t after_ns, double foreign_share) {
    const MethodRuns runs{.method = "m",
                          .origin = "replayed",
                          .before_ns = {before_ns, before_ns},
                          .after_ns = {after_ns, after_ns},
                          .impossible = "",
                          .foreign_share = foreign_share};
    return row_of(runs, 1000).verdict;
  };
  EXPECT_EQ(verdict(1000, 800, 0.01), "a gain");
  EXPECT_EQ(verdict(1020, 1010, 0.01), "a gain smaller than its error");
  EXPECT_EQ(verdict(1100, 800, 0.01), "a gain, baseline off");
  EXPECT_EQ(verdict(1000, 800, 0.2), "a gain, disturbed");
}

// What stands in front of a runtime goes behind the agent, and the agent takes it out of the environment again.
TEST(LaunchPlan, RuntimesThatStandInArePreloadedBehindTheAgent) {
  Installation installation;
  installation.native_library = "/lib/agent.so";
  AgentOptions options;
  options.preloaded = {"/lib/libomp.so.5", "/lib/tbb.so"};
  const base::Result<LaunchPlan> plan = plan_native({"program"}, installation, options, false, "");
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->environment, testing::ElementsAre("LD_PRELOAD=/lib/agent.so:/lib/libomp.so.5:/lib/tbb.so"));
  EXPECT_THAT(plan->agent_options, HasSubstr(",preloaded="));
  const base::Result<LaunchPlan> after = plan_native({"program"}, installation, options, false, "/own.so");
  EXPECT_THAT(after->environment, testing::Contains("LD_PRELOAD=/lib/agent.so:/lib/libomp.so.5:/lib/tbb.so:/own.so"));
}

// Of this very program.
TEST(ElfSymbols, SayWhatAFileNeedsOfWhichLibraryAndWhatItDefines) {
  const ElfSymbols symbols = read_elf_symbols("/proc/self/exe");
  EXPECT_TRUE(symbols.needed.contains("libc.so.6"));
  EXPECT_TRUE(symbols.sections.contains(".dynsym"));
  bool is_versioned = false;
  for (const auto& [name, version] : symbols.needed.at("libc.so.6")) is_versioned |= version.starts_with("GLIBC_2.");
  EXPECT_TRUE(is_versioned);
  const ElfSymbols of_library = read_elf_symbols("/lib/x86_64-linux-gnu/libc.so.6");
  EXPECT_TRUE(of_library.defined.contains({"pthread_cond_wait", "GLIBC_2.3.2"}));
  EXPECT_TRUE(read_elf_symbols("/dev/null").defined.empty());
  EXPECT_TRUE(has_name_with("/proc/self/exe", "SayWhatAFileNeeds"));
  EXPECT_FALSE(has_name_with("/dev/null", "main"));
}

TEST(Installation, FoundBesideTheExecutable) {
  Folder folder;
  std::string self = folder.file("bin/contrafact");
  base::Result<Installation> missing = find_installation(self);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("the agents are missing: no libcontrafact_jvm.so and no"));
  const std::string native = folder.file("lib/libcontrafact_native.so");
  EXPECT_EQ(find_installation(self)->native_library, native);
  const std::string sets = folder.file("lib/libcontrafact_native_sets.so");
  EXPECT_EQ(find_installation(self)->sets_library, sets);
  EXPECT_EQ(find_installation(self)->tbb_library, "");
  const std::string tbb = folder.file("lib/libcontrafact_native_tbb.so");
  EXPECT_EQ(find_installation(self)->tbb_library, tbb);
  EXPECT_EQ(find_installation(self)->agent_library, "");
  EXPECT_THAT(find_jvm_installation(self).error().message,
              HasSubstr("the JVM agent is missing: no libcontrafact_jvm.so in"));
  std::string built = folder.file("lib/libcontrafact_jvm.so");
  EXPECT_EQ(find_jvm_installation(self)->agent_library, built);
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
  EXPECT_EQ(status.error().message,
            bad + ": line 2: 'incldue x' is neither include, exclude, endpoint nor resource with a pattern");
  status = check_trace_config(folder.file("empty.conf", "include\n"), {}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("line 1: '' is no pattern"));
}

TEST(TraceConfig, ResourcesAreCheckedToo) {
  Folder folder;
  EXPECT_TRUE(
      check_trace_config(
          folder.file("good.conf", "resource shop.Pool take=acquire,tryAcquire give=release size=8 # ours\n"), {}, {})
          .ok());
  const auto message = [&](const std::string& line) {
    const std::string path = folder.file("bad.conf", line);
    return check_trace_config(path, {}, {}).error().message.substr(path.size());
  };
  EXPECT_EQ(message("resource shop.Pool"),
            ": line 1: 'shop.Pool' needs its methods that take and give: resource shop.Pool take=METHOD give=METHOD");
  EXPECT_EQ(message("resource shop.Pool take=get give=put max=8"),
            ": line 1: 'max=8' is not part of a resource; write take=METHOD, give=METHOD or size=N");
  for (const std::string word : {"size=0", "size=8x", "take=", "take=get,", "give=a.put", "give=put()"})
    EXPECT_THAT(message("resource shop.Pool take=get give=put " + word), HasSubstr("'" + word + "' is not part"));
  EXPECT_EQ(message("resource shop.Pool take=get,move give=move"), ": line 1: 'move' cannot both take and give");
  EXPECT_THAT(message("resource shop/Pool take=get give=put"), HasSubstr("line 1: 'shop/Pool' is no pattern"));
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
    Parser parser("contrafact", "");
    OptionList list = parser.options();
    EXPECT_TRUE(command.declare(list)) << command.name;
  }
}

// What the tool answers to a command line.
struct Answer {
  int status = 0;
  std::string out, err;
};

Answer answer_to(std::vector<const char*> words) {
  words.insert(words.begin(), "contrafact");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Answer answer{.status = run_tool(static_cast<int>(words.size()), words.data())};
  answer.out = testing::internal::GetCapturedStdout();
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

TEST(UsageErrors, SayWhatWhereAndWhatToDo) {
  auto error = [](std::vector<const char*> words) {
    Answer answer = answer_to(std::move(words));
    EXPECT_EQ(answer.status, 1);
    EXPECT_EQ(answer.out, "");
    return answer.err;
  };
  EXPECT_EQ(error({"advise", "a", "--cores", "0"}), "contrafact: --cores: '0' is no whole number of at least 1\n");
  EXPECT_EQ(error({"advise", "a", "--cores", "4294967296"}),
            "contrafact: --cores: '4294967296' is no whole number of at least 1\n");
  EXPECT_EQ(error({"advise", "a", "--cores"}), "contrafact: advise --cores takes one value, once\n");
  EXPECT_EQ(error({"replay", "a", "--order"}),
            "contrafact: replay --order takes one value each time: --order A --order B\n");
  EXPECT_EQ(error({"record", "--accesses=", "--", "x"}), "contrafact: '--accesses=': the value behind = is missing\n");
  EXPECT_EQ(error({"locks", "a", "--top", "-3"}), "contrafact: --top: '-3' is no whole number of at least 1\n");
  EXPECT_EQ(error({"advise", "a", "--slower-max", "nan"}),
            "contrafact: --slower-max: 'nan' is no number of at least 0\n");
  EXPECT_EQ(error({"blueprint", "a", "--top", "0"}), "contrafact: --top: '0' is no whole number from 1 to 1000000\n");
  EXPECT_EQ(error({"advise", "a", "--model", "x"}), "contrafact: --model: 'x' is none of fixed, both\n");
  EXPECT_EQ(error({"record", "--memory", "12Q", "--", "java"}),
            "contrafact: --memory: '12Q' is no size; give a number with k, M or G behind it, e.g. 256M\n");
  EXPECT_EQ(error({"record", "--memory", "1k", "--", "java"}),
            "contrafact: --memory: 1024 bytes are too little for the buffers; give at least 1M, better 64M\n");
  EXPECT_EQ(error({"record", "-o", "x", "java", "-jar", "y"}),
            "contrafact: the program must stand behind --, as in: contrafact record -o FILE -- java -jar y\n");
  EXPECT_EQ(error({"record", "--cores", "--", "java"}),
            "contrafact: record has no option '--cores'; contrafact record --help lists them\n");
  EXPECT_EQ(
      error({"record", "-Xmx1g", "java"}),
      "contrafact: record has no option '-Xmx1g'; contrafact record --help lists them, and the program stands behind "
      "-- with its own\n");
  EXPECT_EQ(error({"ulc", "a", "b", "c"}),
            "contrafact: 'c' is one argument too many for ulc; contrafact ulc --help says what it takes\n");
  EXPECT_EQ(error({"advise"}), "contrafact: advise: trace is missing, as in: contrafact advise run.cft\n");
  EXPECT_EQ(error({"compare", "a"}),
            "contrafact: compare: give a second run, or --apply SPEC for the one that it makes\n");
  EXPECT_EQ(error({"nonsense"}), "contrafact: there is no command 'nonsense'; contrafact help lists the commands\n");
  EXPECT_EQ(error({"--wat"}), "contrafact: there is no option '--wat'; contrafact help lists the commands\n");
}

TEST(UsageErrors, SayWhatMayHaveBeenMeant) {
  EXPECT_THAT(answer_to({"advice"}).err, HasSubstr("; did you mean 'advise'?"));
  EXPECT_THAT(answer_to({"help", "table"}).err, HasSubstr("; did you mean 'tables'?"));
  EXPECT_THAT(answer_to({"advise", "a", "--wieghts=time=1"}).err, HasSubstr("; did you mean '--weights'?"));
  EXPECT_THAT(answer_to({"tasks", "a", "--by", "context,"}).err, HasSubstr("; did you mean 'context'?"));
  EXPECT_THAT(answer_to({"compare", "a", "b", "--metrics", "peak_activ"}).err,
              HasSubstr("; did you mean 'peak_active'?"));
  EXPECT_EQ(nearest("xyzzy", {"advise", "ulc"}), "");
  EXPECT_EQ(nearest("ucl", {"advise", "ulc"}), "ulc");
  EXPECT_EQ(nearest("a", {"b", "record"}), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), {"advise"}), "");
}

TEST(OptionValues, SizesArePowersOf1024) {
  auto bytes = [](std::string text) { return size_value().refusal(text).empty() ? text : "refused"; };
  EXPECT_EQ(bytes("1048576"), "1048576");
  EXPECT_EQ(bytes("1k"), "1024");
  EXPECT_EQ(bytes("3MB"), "3145728");
  EXPECT_EQ(bytes("2GiB"), "2147483648");
  EXPECT_EQ(bytes("16777215T"), "18446742974197923840");
  for (const char* bad : {"", "M", "-1", "1.5M", "12Q", "1MiBs", "16777216T", "99999999999999999999"}) {
    EXPECT_EQ(bytes(bad), "refused") << bad;
  }
}

TEST(Help, IsTheSameByBothWays) {
  EXPECT_EQ(answer_to({"help"}).out, answer_to({"--help"}).out);
  for (const Command& command : commands()) {
    std::string name(command.name);
    EXPECT_EQ(answer_to({"help", name.c_str()}).out, answer_to({name.c_str(), "--help"}).out) << name;
  }
}

TEST(TraceInput, ATextThatIsNoTraceIsNotTakenForOne) {
  Folder folder;
  std::string readme = folder.file("README", "# Title\n\nA tool that does things.\n");
  Answer answer = answer_to({"info", readme.c_str()});
  EXPECT_EQ(answer.status, 2);
  EXPECT_EQ(answer.err,
            "contrafact: " + readme + " is no Contrafact trace; contrafact record -o run.cft -- PROGRAM makes one\n");
  std::string slip = folder.file("slip.txt", "# a trace with a slip\nthread main\n5 mian thread_begin\n");
  EXPECT_EQ(answer_to({"info", slip.c_str()}).err, "contrafact: " + slip + ": line 3: no thread \"mian\"\n");
}

TEST(Options, OneThatMayStandSeveralTimesTakesOneValueEachTime) {
  Folder folder;
  std::string trace = folder.file("t.txt", "thread main\n0 main thread_begin\n5 main thread_end\n");
  const Answer in_front = answer_to({"compare", "--metrics", "waits", trace.c_str(), trace.c_str()});
  EXPECT_EQ(in_front.status, 0) << in_front.err;
  EXPECT_EQ(in_front.out, answer_to({"compare", trace.c_str(), trace.c_str(), "--metrics", "waits"}).out);
}

TEST(Options, WhatCannotBeIsRefused) {
  Folder folder;
  std::string trace = folder.file("t.txt", "thread main\n0 main thread_begin\n5 main thread_end\n");
  Answer answer = answer_to({"compare", trace.c_str(), trace.c_str(), "--metrics", "waits", "--metrics", "wits"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_EQ(answer.err,
            "contrafact: --metrics: there is no metric 'wits'; contrafact metrics lists them; did you mean 'waits'?\n");
  answer = answer_to({"export", trace.c_str(), "--format", "json", "--what", "tasks"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_EQ(answer.err, "contrafact: --what is for csv: json is of the whole trace\n");
  EXPECT_EQ(answer_to({"record", "--sets=1s/100ms", "--", "true"}).status, 1);
}

TEST(TraceInput, QuietKeepsNotesToItself) {
  Folder folder;
  std::string lossy = folder.file("lossy.txt", "thread main\nloss 3\n0 main thread_begin\n5 main thread_end\n");
  EXPECT_THAT(answer_to({"metrics", lossy.c_str()}).err, HasSubstr("contrafact: note: "));
  Answer quiet = answer_to({"metrics", lossy.c_str(), "-q"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, answer_to({"metrics", lossy.c_str()}).out);
}

// A recording as left by a program that ends at once: `finished` or not, with these facts, and an event or none.
std::string recording(Folder& folder, std::initializer_list<const char*> facts, bool finished, bool has_event = false) {
  const std::string path = folder.path("run.cft");
  std::unique_ptr<format::Writer> writer = *format::Writer::create(*format::open_file_sink(path));
  for (const char* key : facts) EXPECT_TRUE(writer->add_fact(key, "yes").ok());
  if (has_event) {
    format::EventEncoder events;
    const uint32_t operands[4] = {};
    events.begin_run(format::ThreadId(0));
    events.append(format::EventKind::thread_begin, 1, operands);
    EXPECT_TRUE(writer->add_events(events).ok());
  }
  if (finished) {
    EXPECT_TRUE(writer->finish({.exit_reason = "exit"}).ok());
  }
  return path;
}

// Figures that were not counted while the recording was written, as when the recorder was killed, are counted in the
// events.
TEST(RecordSummary, CountsLocksThatWereTaken) {
  for (const bool finished : {true, false}) {
    Folder folder;
    const std::string path = folder.path("run.cft");
    std::unique_ptr<format::Writer> writer = *format::Writer::create(*format::open_file_sink(path));
    EXPECT_TRUE(writer->add_fact("agent", "native").ok());
    format::EventEncoder events;
    events.begin_run(format::ThreadId(0));
    auto append = [&, time_ns = int64_t{0}](format::EventKind kind, format::Outcome outcome) mutable {
      const uint32_t operands[4] = {0, static_cast<uint32_t>(outcome)};
      events.append(kind, ++time_ns, operands);
    };
    append(format::EventKind::lock_acquire, format::Outcome::normal);
    append(format::EventKind::lock_request, format::Outcome::normal);
    append(format::EventKind::lock_acquired, format::Outcome::timeout);
    append(format::EventKind::lock_request, format::Outcome::normal);
    append(format::EventKind::lock_acquired, format::Outcome::normal);
    EXPECT_TRUE(writer->add_events(events).ok());
    if (finished) {
      EXPECT_TRUE(writer->add_fact("locks.waits_given_up", "1").ok());
      EXPECT_TRUE(writer->finish({.exit_reason = "exit"}).ok());
    }
    writer.reset();
    EXPECT_THAT(summarise_recording(path).value(), HasSubstr("5 events, 2 locks taken, 0 threads")) << finished;
  }
}

TEST(RecordSummary, HoldsNothingOfAJvmThatWasNotUp) {
  Folder folder;
  EXPECT_EQ(holds_nothing(recording(folder, {"pid"}, false)).value(), true);
  EXPECT_EQ(holds_nothing(recording(folder, {"pid", "jvm.up"}, false)).value(), false);
  EXPECT_EQ(holds_nothing(recording(folder, {"pid"}, false, true)).value(), false);
  EXPECT_EQ(holds_nothing(recording(folder, {"pid", "jvm.name"}, false, true)).value(), true);
  EXPECT_EQ(holds_nothing(recording(folder, {"pid", "jvm.name", "jvm.up"}, false, true)).value(), false);
  EXPECT_EQ(holds_nothing(recording(folder, {"pid"}, true)).value(), false);
  EXPECT_FALSE(holds_nothing(folder.path("none.cft")).ok());
}

TEST(RecordingFiles, EachIsNamedAndFoundByThePattern) {
  Folder folder;
  const std::string output = folder.path("my.run.cft"), recording = output + ".recording";
  for (const char* id : {"4711", "4711.2", "4712"}) std::ofstream(recording + "." + id) << id;
  fs::create_directory(folder.path("my.run.4712.cft"));
  const FurtherRecordings further = name_further_recordings(recording, output);
  EXPECT_THAT(further.files,
              ElementsAre(folder.path("my.run.4711.cft"), folder.path("my.run.4711.2.cft"), recording + ".4712"));
  EXPECT_THAT(further.failures, ElementsAre(testing::AllOf(HasSubstr("cannot rename '" + recording + ".4712'"),
                                                           HasSubstr("the recording is under its first name"))));
  EXPECT_TRUE(fs::exists(folder.path("my.run.4711.2.cft")));
  EXPECT_EQ(pattern_of_further_recordings(output), folder.path("my.run.[0-9]*.cft"));
  EXPECT_EQ(pattern_of_further_recordings("run"), "run.[0-9]*");
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
