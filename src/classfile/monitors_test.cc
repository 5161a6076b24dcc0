#include "classfile/monitors.h"

#include <gmock/gmock.h>

#include "classfile/instrument.h"
#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {

using testing::HasSubstr;

// Calls of P.ask, P.got and P.gives, to be recognised in listings.
MonitorProbe monitor_calls(std::vector<MonitorSite>* sites = nullptr) {
  const auto build = [sites](const char* name) {
    return [sites, name](const MonitorSite& site, Sequence& sequence) {
      if (sites != nullptr) sites->push_back(site);
      sequence.invokestatic("P", name, "()V");
    };
  };
  return {build("ask"), build("got"), build("gives")};
}

// What javac makes of `synchronized (argument) { do {} while (null != null); }`:
// 0: aload_0; dup; astore_1; 3: monitorenter; 4: aconst_null; 5: ifnonnull 4; 8: aload_1; 9: monitorexit; 10: return;
// 11: astore_2; aload_1; 13: monitorexit; aload_2; 15: athrow, where 11 handles 4 to 9 and 11 to 13.
TestClass locked_loop(uint16_t version = 52, uint16_t access = kAccStatic) {
  return TestClass(version, [&](ClassFile& file) {
    const uint8_t object = static_cast<uint8_t>(file.pool().add_class("java/lang/Object"));
    const uint8_t throwable = static_cast<uint8_t>(file.pool().add_class("java/lang/Throwable"));
    const RawCode raw{.max_stack = 2,
                      .max_locals = 3,
                      .code = {kAload0, kDup, 76, kMonitorenter, kAconstNull, kIfnonnull, 0xFF, 0xFF, 43, kMonitorexit,
                               kReturn, 77, 43, kMonitorexit, 44, kAthrow},
                      .exceptions = {{4, 10, 11, 0}, {11, 14, 11, 0}},
                      .attributes = {{"StackMapTable", {0, 2, 252, 0, 4, 7, 0, object, 70, 7, 0, throwable}}}};
    return class_with_method(file, raw, access, "m", "(Ljava/lang/Object;)V");
  });
}

TEST(WrapMonitors, EachPartHasItsOwnRangeAndALoopBehindMonitorenterDoesNotRunItAgain) {
  TestClass test = locked_loop();
  Code code = test.code();
  std::vector<MonitorSite> sites;
  const auto enters = wrap_monitors(code, *test.file, monitor_calls(&sites));
  ASSERT_TRUE(enters.ok());
  EXPECT_EQ(*enters, 1u);
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  EXPECT_EQ(listing(*after.file, moved),
            "0:42 1:89 2:76 3:89 4:58 6:184(ask) 9:194 10:184(got) 13:1 14:199>13 "
            "17:43 18:58 20:184(gives) 23:25 25:195 26:177 27:77 28:43 29:58 31:184(gives) 34:25 36:195 37:44 38:191 "
            "39:87 40:167>13 43:87 44:167>23 47:87 48:167>34");
  EXPECT_EQ(exceptions(after.method()), "[10,13)->39 [20,23)->43 [31,34)->47 [13,26)->27 [27,37)->27 ");
  EXPECT_EQ(moved.max_locals, 6u);
  ASSERT_EQ(sites.size(), 4u);
  EXPECT_EQ(sites[0].pc, 3u);
  EXPECT_EQ(sites[1].pc, 3u);
  EXPECT_EQ(sites[2].pc, 9u);
  EXPECT_EQ(sites[3].pc, 13u);
  EXPECT_EQ(sites[0].object, 3u);
  EXPECT_EQ(sites[0].token, 4u);
}

TEST(WrapMonitors, TheHandlerOfAProbeKeepsTheLocalsOfItsPlace) {
  TestClass test = locked_loop();
  Code code = test.code();
  MonitorProbe probe;
  probe.before_exit = [](const MonitorSite& site, Sequence& sequence) { sequence.iconst(1).istore(site.token); };
  ASSERT_TRUE(wrap_monitors(code, *test.file, probe).ok());
  TestClass after = rewritten(test, code);
  using T = VerificationType;
  const T object = T::object("java/lang/Object"), throwable = T::object("java/lang/Throwable");
  size_t handlers = 0;
  for (const auto& [label, frame] : after.code().frames) {
    handlers += frame == Frame{{object, object, T(), object}, {throwable}};
    handlers += frame == Frame{{object, object, throwable, object}, {throwable}};
  }
  EXPECT_EQ(handlers, 2u) << "not the token, which the probe's code may not have stored yet";
}

TEST(WrapMonitors, ValuesBelowTheObjectSurviveWhatTheProbeThrows) {
  // lconst_1; aload_0; monitorexit; lreturn
  TestClass test(RawCode{.max_stack = 3, .max_locals = 1, .code = {10, kAload0, kMonitorexit, kLreturn}}, 52,
                 kAccStatic, "m", "(Ljava/lang/Object;)J");
  Code code = test.code();
  EXPECT_EQ(*wrap_monitors(code, *test.file, monitor_calls()), 0u);
  TestClass after = rewritten(test, code);
  // astore 1; lstore 4; gives; lload 4; aload 1; the handler goes to the load.
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:10 1:42 2:58 4:55 6:184(gives) 9:22 11:25 13:195 14:173 15:87 16:167>9");
  EXPECT_EQ(exceptions(after.method()), "[6,9)->15 ");
  EXPECT_EQ(after.code().max_locals, 6u);
  EXPECT_EQ(after.code().max_stack, 3u);
}

TEST(WrapMonitors, MethodsWithoutMonitorsStayAsTheyAre) {
  TestClass test(RawCode{.code = {kReturn}});
  Code code = test.code();
  EXPECT_EQ(*wrap_monitors(code, *test.file, monitor_calls()), 0u);
  EXPECT_EQ(code.nodes.size(), 1u);
  EXPECT_FALSE(test.file->pool().grown());
}

TEST(WrapMonitors, RefusesWhatIsNoObject) {
  TestClass test(RawCode{.code = {10, kMonitorexit, kReturn}});  // lconst_1; monitorexit
  Code code = test.code();
  EXPECT_THAT(wrap_monitors(code, *test.file, monitor_calls()).error().message,
              HasSubstr("m: pc 1: no object for the monitor"));
}

TEST(WrapMonitors, RefusesSubroutines) {
  // 0: aload_0; monitorenter; 2: jsr 6; 5: return; 6: astore_1; ret 1
  TestClass test(RawCode{.code = {kAload0, kMonitorenter, kJsr, 0, 4, kReturn, 76, kRet, 1}}, 48, kAccStatic, "m",
                 "(Ljava/lang/Object;)V");
  Code code = test.code();
  EXPECT_THAT(wrap_monitors(code, *test.file, monitor_calls()).error().message,
              HasSubstr("m: has subroutines (jsr) and monitors"));
}

// 0: aload_0; 1: ifnull 6; 4: iconst_1; ireturn; 6: iconst_0; ireturn
RawCode two_returns() {
  return {.max_stack = 1,
          .max_locals = 1,
          .code = {kAload0, kIfnull, 0, 5, 4, kIreturn, kIconst0, kIreturn},
          .attributes = {{"LineNumberTable", {0, 2, 0, 0, 0, 7, 0, 6, 0, 8}}, {"StackMapTable", {0, 1, 6}}}};
}

TEST(OpenSynchronized, EveryWayOutGivesTheMonitorBack) {
  TestClass test(two_returns(), 52, kAccSynchronized | kAccPublic, "m", "()I");
  Code code = test.code();
  std::vector<MonitorSite> sites;
  ASSERT_TRUE(open_synchronized(code, *test.file, monitor_calls(&sites)).ok());
  EXPECT_EQ(code.access, kAccPublic);
  EXPECT_EQ(sites.at(0).pc, Node::kInserted);
  test.file->set_method_access(0, code.access);
  TestClass after = rewritten(test, code);
  EXPECT_EQ(after.method().access, kAccPublic);
  // The result is kept in local 4 while the probe's code runs, the exception, too. The handlers of that code are last.
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:25 2:89 3:58 5:184(ask) 8:194 9:184(got) "
            "12:42 13:198>28 16:4 17:54 19:184(gives) 22:21 24:25 26:195 27:172 "
            "28:3 29:54 31:184(gives) 34:21 36:25 38:195 39:172 "
            "40:58 42:184(gives) 45:25 47:25 49:195 50:191 "
            "51:87 52:167>12 55:87 56:167>22 59:87 60:167>34 63:87 64:167>45");
  EXPECT_EQ(exceptions(after.method()),
            "[9,12)->51 [19,22)->55 [31,34)->59 [42,45)->63 [12,27)->40 [28,39)->40 [40,50)->40 ");
}

TEST(OpenSynchronized, WaitingForTheMonitorIsAtTheFirstLine) {
  TestClass test(two_returns(), 52, kAccSynchronized, "m", "()I");
  Code code = test.code();
  ASSERT_TRUE(open_synchronized(code, *test.file, monitor_calls()).ok());
  TestClass after = rewritten(test, code);
  EXPECT_EQ(after.file->line_of(after.method(), 7), 7);
}

TEST(OpenSynchronized, StaticMethodsLockTheirClass) {
  TestClass test(RawCode{.code = {kReturn}}, 49, kAccSynchronized | kAccStatic);
  Code code = test.code();
  ASSERT_TRUE(open_synchronized(code, *test.file, {}).ok());
  TestClass after = rewritten(test, code);
  // ldc_w; dup; astore 0; monitorenter; aload 0; monitorexit; return; aload 0; monitorexit; athrow
  EXPECT_EQ(listing(*after.file, after.code()), "0:19 3:89 4:58 6:194 7:25 9:195 10:177 11:25 13:195 14:191");
  EXPECT_EQ(exceptions(after.method()), "[7,10)->11 [11,14)->11 ");
}

TEST(OpenSynchronized, ABlockInTheMethodMayLockThisAgain) {
  TestClass test = locked_loop(52, kAccSynchronized);
  Code code = test.code();
  ASSERT_TRUE(open_synchronized(code, *test.file, {}).ok());
  TestClass after = rewritten(test, code);
  EXPECT_THAT(listing(*after.file, after.code()), HasSubstr("0:25 2:184(requireNonNull) 5:89 6:58 8:194 9:42"));
}

TEST(OpenSynchronized, CombinesWithTheOtherEditsInEitherOrder) {
  for (const bool open_first : {false, true}) {
    TestClass test(two_returns(), 52, kAccSynchronized, "m", "()I");
    Code code = test.code();
    Sequence in(test.file->pool()), out(test.file->pool()), bad(test.file->pool());
    in.invokestatic("P", "in", "()V");
    out.invokestatic("P", "out", "()V");
    bad.invokestatic("P", "bad", "()V");
    if (open_first) {
      ASSERT_TRUE(open_synchronized(code, *test.file, monitor_calls()).ok());
    }
    ASSERT_TRUE(instrument_entry_exit(code, *test.file, {&in, &out, &bad, {}}).ok());
    if (!open_first) {
      ASSERT_TRUE(open_synchronized(code, *test.file, monitor_calls()).ok());
    }
    EXPECT_EQ(*wrap_monitors(code, *test.file, monitor_calls()), 0u) << "the monitor of an edit is none of the method";
    TestClass after = rewritten(test, code);
    const std::string text = listing(*after.file, after.code());
    EXPECT_THAT(text, open_first ? testing::ContainsRegex("in.*ask.*got.*gives.*195.*out.*172")
                                 : testing::ContainsRegex("ask.*got.*in.*out.*gives.*195.*172"));
  }
}

TEST(OpenSynchronized, Refuses) {
  TestClass plain(RawCode{.code = {kReturn}});
  Code code = plain.code();
  EXPECT_THAT(open_synchronized(code, *plain.file, {}).error().message, HasSubstr("m: is no synchronized method"));

  TestClass old(RawCode{.code = {kReturn}}, 48, kAccSynchronized | kAccStatic);
  Code old_code = old.code();
  EXPECT_THAT(open_synchronized(old_code, *old.file, {}).error().message,
              HasSubstr("class file version 48 has no class constants"));
  EXPECT_EQ(old_code.access, kAccSynchronized | kAccStatic);
  EXPECT_FALSE(old.file->pool().grown());

  TestClass finalizer(RawCode{.code = {kReturn}}, 52, kAccSynchronized, "finalize", "()V");
  Code empty = finalizer.code();
  EXPECT_THAT(open_synchronized(empty, *finalizer.file, {}).error().message, HasSubstr("finalizable"));

  // jsr 4; return; astore_0; ret 0
  TestClass jsr(RawCode{.code = {kJsr, 0, 4, kReturn, 75, kRet, 0}}, 48, kAccSynchronized);
  Code jsr_code = jsr.code();
  EXPECT_THAT(open_synchronized(jsr_code, *jsr.file, {}).error().message, HasSubstr("has subroutines"));
}

TEST(Huge, OnlyWhatAnEditMadeTooLong) {
  const auto of_length = [](size_t length) {
    RawCode raw{.code = std::vector<uint8_t>(length, kNop)};
    raw.code.back() = kReturn;
    TestClass test(raw);
    return std::vector<uint8_t>(test.method().code.begin(), test.method().code.end());
  };
  EXPECT_FALSE(becomes_huge(of_length(100), of_length(8000)));
  EXPECT_TRUE(becomes_huge(of_length(8000), of_length(8001)));
  EXPECT_FALSE(becomes_huge(of_length(8001), of_length(9000)));
}

}  // namespace
}  // namespace contrafact::classfile
