// What other programs took of the cores, and what threads did in calls into the system, against results that a person
// can compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/text_trace.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

using model::Trace;

Trace native_trace(const std::string& text) {
  base::Result<Trace> trace = model::parse_text("fact agent native\nthread a\nthread b\n" + text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

Simulation simulated_native(const Trace& trace, const SimulateOptions& options = {}) {
  base::Result<Simulation> result = Simulator(trace).simulate({}, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(*result) : Simulation();
}

constexpr const char* kForeignNote = "other programs had";

// One of two threads was preempted for 600 us of its 2000.
std::string one_preempted(const std::string& cores) {
  return "fact cores " + cores +
         "\ncpu a 400000 1000000 preempted\n0 a thread_begin\n2000000 a thread_end\n0 b thread_begin\n2000000 b "
         "thread_end\n";
}

TEST(SimulateForeign, ACoreThatNobodyOfTheProgramHadIsGone) {
  const Simulation result = simulated_native(native_trace(one_preempted("2")));
  EXPECT_EQ(result.duration_ns, 2'000'000);
  EXPECT_EQ(result.cpu_ns, 4'000'000);
  EXPECT_THAT(result.notes,
              testing::Contains(testing::HasSubstr(std::string(kForeignNote) +
                                                   " 15 % of the cores while this one's threads wanted them")));
}

TEST(SimulateForeign, ACoreThatAnotherThreadHadIsNot) {
  const Simulation result = simulated_native(native_trace(one_preempted("1")));
  EXPECT_EQ(result.cpu_ns, 1'400'000 + 2'000'000);
  EXPECT_THAT(result.notes, testing::Not(testing::Contains(testing::HasSubstr(kForeignNote))));
}

// b came onto the core that a left, 1 us after: until b left it again a waited in that core's queue, though another
// core was free. Then others had it for 300 us.
TEST(SimulateForeign, ACoreThatAnotherThreadTookIsNotWhileItHasIt) {
  const Simulation result = simulated_native(native_trace(
      "fact cores 2\ncpu a 400000 1000000 preempted\ncpu b 100000 401000 blocked\ncpu b 700000 1500000 blocked\n"
      "0 a thread_begin\n2000000 a thread_end\n0 b thread_begin\n2000000 b thread_end\n"));
  EXPECT_EQ(result.cpu_ns, (2'000'000 - 600'000 + 300'000) + (100'000 + 299'000 + 500'000));
}

// b took a's core for the whole 600 us, and the other core was not idle: others had it, and so it is lost to a.
TEST(SimulateForeign, ACoreThatOthersHadWhileThreadsSharedOneIsGone) {
  const std::string shared =
      "cpu a 100000000 400000000 preempted\ncpu b 0 100001000 blocked\ncpu b 399999000 1000000000 blocked\n"
      "0 a thread_begin\n1000000000 a thread_end\n0 b thread_begin\n1000000000 b thread_end\n";
  const Simulation unknown = simulated_native(native_trace("fact cores 2\n" + shared));
  const Simulation idle = simulated_native(native_trace("fact cores 2\ncores_idle 1000000000 1000000000\n" + shared));
  const Simulation busy = simulated_native(native_trace("fact cores 2\ncores_idle 1000000000 0\n" + shared));
  EXPECT_EQ(unknown.cpu_ns, 700'000'000 + 299'998'000);
  EXPECT_NEAR(static_cast<double>(idle.cpu_ns), static_cast<double>(unknown.cpu_ns), 1'000)
      << "a waited in the queue of a core while another one idled";
  EXPECT_EQ(busy.cpu_ns, 1'000'000'000 + 299'998'000);
  EXPECT_EQ(busy.duration_ns, 1'000'000'000);
}

// Both threads wanted the one core from 500 to 900 us, and neither had it: 400 in all, whoever is meant.
TEST(SimulateForeign, ThreadsThatWantedOneCoreLostItOnce) {
  const Trace trace = native_trace(
      "fact cores 1\ncpu a 0 500000 blocked\ncpu a 500000 900000 preempted\ncpu b 500000 1200000 preempted\n"
      "0 a thread_begin\n1200000 a thread_end\n0 b thread_begin\n1500000 b thread_end\n");
  // In us: a slept 500, lost 200, ran 300; b ran 500, lost 200, ran 300.
  const Simulation result = simulated_native(trace);
  EXPECT_EQ(result.cpu_ns, 800'000 + 400'000 + 300'000);
  EXPECT_EQ(result.duration_ns, 1'500'000);
}

// As recorded, whatever becomes of the lock: b lost 300 us while it held it.
TEST(SimulateForeign, ChangedRunsLoseTheSame) {
  const Trace trace = native_trace(
      "fact cores 2\nlock l mutex table\ncpu b 1100000 1400000 preempted\ncpu a 1000000 1500000 blocked\n"
      "0 a lock_acquire l -\n1000000 a lock_release l -\n1500000 a thread_end\n"
      "0 b lock_request l -\n1000000 b lock_acquired l\n2300000 b lock_release l -\n2300000 b thread_end\n");
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (SectionEdit& edit : edits) edit.mode = SectionEdit::Mode::none;
  const SimulateOptions options{.recorded_latencies = false};
  EXPECT_EQ(simulator.simulate({}, options)->duration_ns, 2'300'000);
  EXPECT_EQ(simulator.simulate({.edits = {edits.begin(), edits.end()}}, options)->duration_ns,
            1'500'000);  // a's; b's is over after 1300 us
}

// A call of 1000 that was on its core for 300 before it slept and for 200 after.
std::string call_of_1000(const std::string& more) {
  return "fact cores 1\ncpu a 300 800 blocked\n" + more +
         "0 a block_begin io -\n1000 a block_end io\n1000 a thread_end\n";
}

TEST(SimulateForeign, CallsIntoTheSystemUseTheirCore) {
  const Simulation result = simulated_native(native_trace(call_of_1000("")));
  EXPECT_EQ(result.duration_ns, 1000);
  EXPECT_EQ(result.cpu_ns, 500);
}

// Where the kernel has lost switches, it may have lost those of the call: it is taken to have slept.
TEST(SimulateForeign, WithoutTheKernelsWholeWordCallsSleep) {
  const Simulation result = simulated_native(native_trace(call_of_1000("fact cpu.switches.lost 3\n")));
  EXPECT_EQ(result.duration_ns, 1000);
  EXPECT_EQ(result.cpu_ns, 0);
}

// b ran until a came back: a may have waited for that core as long as b had run, 200. The nine other calls at that
// place took 100 each, so this one may have been as short.
TEST(SimulateForeign, WaitingForACoreIsSimulatedAnew) {
  std::string text = "fact cores 1\n";
  for (int i = 0; i < 9; ++i) {
    const int at = 1000 * (i + 1);
    text += "cpu a " + std::to_string(at) + " " + std::to_string(at + 100) + " blocked\n";
    text += std::to_string(at) + " a block_begin io -\n" + std::to_string(at + 100) + " a block_end io\n";
  }
  text += "cpu a 10000 10500 blocked\n10000 a block_begin io -\n10500 a block_end io\n11000 a thread_end\n";
  text += "cpu b 0 10300 blocked\n0 b thread_begin\n10500 b thread_end\n";
  // Of a's last call 300 are left, in which b's 200 have their place.
  const Simulation result = simulated_native(native_trace(text));
  EXPECT_EQ(result.duration_ns, 11000);
  EXPECT_EQ(simulated_native(native_trace(text), {.cores = 2}).duration_ns, 10800);
}

// ---- Tasks of a JVM

Trace parsed_jvm(const std::string& text) {
  base::Result<Trace> trace = model::parse_text(
      "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\ncontext c1 - m1:7\n"
      "pool p thread_pool 2 2\nthread main\nthread w1\nthread w2\n" +
      text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

int64_t simulated_ns(const Trace& trace, const std::vector<Treatment>& treatments = {}) {
  base::Result<Simulation> result =
      simulate(trace, {.treatments = {treatments.begin(), treatments.end()}}, {.recorded_latencies = false});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? result->duration_ns : 0;
}

// Main and w1 compute for 2000 us, but that others (the compiler, say) had w1's core for 600 of them.
constexpr const char* kBesideACompiler =
    "cpu w1 400000 1000000 preempted\n"
    "0 main task_spawn t1 c1 p m2\n0 main block_begin sleep c1\n0 main block_end sleep\n2000000 main wait_begin t1 "
    "c1\n2000000 main wait_end t1\n2000000 main thread_end\n"
    "0 w1 task_start t1\n2000000 w1 task_complete t1\n2000000 w1 task_end t1\n";

TEST(SimulateForeign, OthersTakeTheCoreThatAChangeLeavesFree) {
  const Trace trace = parsed_jvm(kBesideACompiler);
  EXPECT_EQ(simulated_ns(trace), 2'000'000);
  // Main runs both, 1400 and 2000 us, and the compiler on the other core.
  EXPECT_EQ(simulated_ns(trace, {Treatment::inline_at_spawn}), 3'400'000);
}

// Others had both cores: they would take one of main's, too.
TEST(SimulateForeign, OthersThatHadAllCoresStayInTheWay) {
  const Trace trace = parsed_jvm(std::string("cpu main 400000 1000000 preempted\n") + kBesideACompiler);
  EXPECT_EQ(simulated_ns(trace), 2'000'000);
  EXPECT_EQ(simulated_ns(trace, {Treatment::inline_at_spawn}), 4'000'000);
}

// w1 had no core already when the virtual machine stopped the program: that it stood still for 500 us is the stop's
// doing alone.
TEST(SimulateForeign, AStopTakesNoCores) {
  const Trace trace = parsed_jvm(
      "pause 1000000 1500000\ncpu w1 900000 1600000 preempted\ncpu main 1000000 1500000 blocked\n"
      "0 main task_spawn t1 c1 p m2\n0 main block_begin sleep c1\n0 main block_end sleep\n2000000 main wait_begin t1 "
      "c1\n"
      "2000000 main wait_end t1\n2000000 main thread_end\n"
      "0 w1 task_start t1\n2000000 w1 task_complete t1\n2000000 w1 task_end t1\n");
  EXPECT_EQ(simulated_ns(trace), 2'000'000);
}

// The virtual machine stops both workers for 500 us, as it would stop the one thread that runs both tasks.
TEST(SimulateForeign, AStopOfTheVirtualMachineStopsTheProgramOnce) {
  const Trace trace = parsed_jvm(
      "pause 1000000 1500000\n"
      "cpu w1 1000000 1500000 blocked\ncpu w2 1000000 1500000 blocked\n"
      "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n0 main wait_begin t1 c1\n2000000 main wait_end t1\n"
      "2000000 main wait_begin t2 c1\n2000000 main wait_end t2\n2000000 main thread_end\n"
      "0 w1 task_start t1\n2000000 w1 task_complete t1\n2000000 w1 task_end t1\n"
      "0 w2 task_start t2\n2000000 w2 task_complete t2\n2000000 w2 task_end t2\n");
  EXPECT_EQ(simulated_ns(trace), 2'000'000);
  EXPECT_EQ(simulated_ns(trace, {Treatment::inline_at_spawn, Treatment::inline_at_spawn}), 3'500'000);
}

}  // namespace
}  // namespace contrafact::whatif
