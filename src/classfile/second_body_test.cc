#include "classfile/second_body.h"

#include <gmock/gmock.h>

#include "classfile/accesses.h"
#include "classfile/instrument.h"
#include "classfile/monitors.h"
#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const RawCode kEmpty{.max_stack = 0, .max_locals = 1, .code = {kReturn}};

// The class with the second body of its one method in it; `edit` is applied to the second body, `edit_both` before that
// to what the two have in common.
using Edit = std::function<void(ClassFile&, Code&)>;
TestClass with_second(TestClass& test, const Edit& edit = {}, const Edit& edit_both = {}) {
  Code code = test.code();
  if (edit_both) edit_both(*test.file, code);
  Code second = code;
  if (edit) edit(*test.file, second);
  auto added = add_second_body(code, second, *test.file, test.method(), "O");
  EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().message);
  auto bytes = code.encode(test.file->pool());
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().message);
  if (!added || !bytes) return TestClass(kEmpty);
  test.file->replace_code(0, std::move(*bytes));
  test.file->set_method_access(0, code.access);
  EXPECT_TRUE(test.file->add_method(added->access, added->name, added->descriptor, added->code).ok());
  return TestClass(test.file->major_version(), [&](ClassFile&) { return test.file->write(); });
}

std::string listing_of(const TestClass& test, size_t method) {
  const auto code = Code::parse(*test.file, test.file->methods().at(method));
  EXPECT_TRUE(code.ok()) << (code.ok() ? "" : code.error().message);
  return code ? listing(*test.file, *code) : "";
}

std::string refusal(TestClass& test) {
  Code code = test.code();
  Code second = code;
  const auto added = add_second_body(code, second, *test.file, test.method(), "O");
  return added ? "none" : added.error().message;
}

TEST(SecondBody, OfAStaticMethod) {
  TestClass test(RawCode{.max_stack = 1, .max_locals = 1, .code = {kIload0, kIreturn}}, 52, kAccPublic | kAccStatic,
                 "m", "(I)I");
  TestClass after = with_second(test);
  ASSERT_EQ(after.file->methods().size(), 2u);
  EXPECT_EQ(after.method().access, kAccPublic | kAccStatic);
  const Member& second = after.file->methods()[1];
  EXPECT_EQ(second.name, "m");
  EXPECT_EQ(second.descriptor, "(ILO;)I");
  EXPECT_EQ(second.access, kAccPrivate | kAccStatic | kAccSynthetic);
  EXPECT_EQ(listing_of(after, 1), "0:26 1:172");
  // getstatic observers; ifeq; observing; ifeq; iload 0; aconst_null; m; ireturn; the method's own code
  EXPECT_EQ(listing_of(after, 0), "0:178 3:153>19 6:184(observing) 9:153>19 12:21 14:1 15:184(m) 18:172 19:26 20:172");
  EXPECT_EQ(after.code().max_stack, 3u);
  EXPECT_EQ(after.code().frames.size(), 1u) << "both jumps go to one place";
}

TEST(SecondBody, OfAnInstanceMethodTakesThisFirst) {
  TestClass test(kEmpty, 52, kAccPublic | kAccFinal, "m", "()V");
  TestClass after = with_second(test);
  const Member& second = after.file->methods()[1];
  EXPECT_EQ(second.descriptor, "(LTest;[LO;)V");
  EXPECT_EQ(second.access, kAccPrivate | kAccStatic | kAccSynthetic);
  EXPECT_EQ(after.method().access, kAccPublic | kAccFinal);
  EXPECT_EQ(listing_of(after, 0), "0:178 3:153>19 6:184(observing) 9:153>19 12:25 14:1 15:184(m) 18:177 19:177");
  const auto code = Code::parse(*after.file, second);
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(code->max_locals, 2u) << "the last parameter has a local, too";
}

// `m(int)` and a static `m(Test, int)`, of which the first takes `this` where the second takes its argument.
TEST(SecondBody, MethodsThatDifferInThisAloneHaveDifferentSecondBodies) {
  TestClass test(52, [](ClassFile& file) {
    const RawCode raw{.max_stack = 1, .max_locals = 2, .code = {kReturn}};
    class_with_method(file, raw, kAccPublic, "m", "(I)V");
    return class_with_method(file, raw, kAccPublic | kAccStatic, "m", "(LTest;I)V");
  });
  std::vector<std::string> descriptors;
  for (size_t i = 0; i < 2; i++) {
    const Member& method = test.file->methods()[i];
    Code code = *Code::parse(*test.file, method);
    Code second = code;
    const auto added = add_second_body(code, second, *test.file, method, "O");
    ASSERT_TRUE(added.ok());
    descriptors.push_back(added->descriptor);
    EXPECT_TRUE(test.file->add_method(added->access, added->name, added->descriptor, added->code).ok());
  }
  EXPECT_THAT(descriptors, testing::ElementsAre("(LTest;I[LO;)V", "(LTest;ILO;)V"));
}

// The class `Test` as an interface.
TestClass interface_with(const RawCode& raw, uint16_t access) {
  TestClass test(52, [&](ClassFile& file) { return class_with_method(file, raw, access, "m", "()V"); });
  return TestClass(52, [&](ClassFile&) {
    std::vector<uint8_t> bytes = test.bytes;
    // Behind the pool: the flags, then this class (2) and its superclass (4).
    const std::vector<uint8_t> flags = {0, kAccPublic, 0, 2, 0, 4};
    const auto at = std::search(bytes.begin(), bytes.end(), flags.begin(), flags.end());
    EXPECT_NE(at, bytes.end());
    if (at != bytes.end()) {
      at[0] = (kAccInterface | kAccAbstract) >> 8;
    }
    return bytes;
  });
}

TEST(SecondBody, OfAMethodOfAnInterface) {
  for (const uint16_t access : {kAccPublic + 0, kAccPublic | kAccStatic, kAccPrivate + 0}) {
    TestClass test = interface_with(kEmpty, access);
    TestClass after = with_second(test);
    EXPECT_NE(after.file->access() & kAccInterface, 0);
    EXPECT_EQ(after.file->methods()[1].access, kAccPrivate | kAccStatic | kAccSynthetic);
    const Code code = after.code();
    std::vector<ConstantTag> called;
    for (const Node& node : code.nodes) {
      if (node.opcode == kInvokestatic) called.push_back(after.file->pool().tag(load_u2(&code.bytes_of(node)[1])));
    }
    EXPECT_THAT(called, testing::ElementsAre(kTagMethodRef, kTagInterfaceMethodRef));
  }
}

TEST(SecondBody, ArgumentsAndResultsOfEveryKind) {
  struct Case {
    const char* type;
    uint8_t load, back;
    int slots;
  };
  for (const Case& of : {Case{"I", kIload, kIreturn, 1}, Case{"Z", kIload, kIreturn, 1}, Case{"B", kIload, kIreturn, 1},
                         Case{"C", kIload, kIreturn, 1}, Case{"S", kIload, kIreturn, 1}, Case{"J", kLload, kLreturn, 2},
                         Case{"F", kFload, kFreturn, 1}, Case{"D", kDload, kDreturn, 2},
                         Case{"Ljava/lang/String;", kAload, kAreturn, 1}, Case{"[[I", kAload, kAreturn, 1}}) {
    const std::string type = of.type;
    TestClass test(RawCode{.max_stack = 2, .max_locals = 3, .code = {of.load, 0, of.back}}, 52, kAccStatic, "m",
                   "(" + type + ")" + type);
    TestClass after = with_second(test);
    EXPECT_EQ(after.file->methods()[1].descriptor, "(" + type + "LO;)" + type);
    const std::string load = std::to_string(of.load), back = std::to_string(of.back);
    EXPECT_EQ(listing_of(after, 0), "0:178 3:153>19 6:184(observing) 9:153>19 12:" + load +
                                        " 14:1 15:184(m) 18:" + back + " 19:" + load + " 21:" + back);
    EXPECT_EQ(listing_of(after, 1), "0:" + load + " 2:" + back);
    EXPECT_GE(after.code().max_stack, static_cast<uint32_t>(of.slots) + 1);
    EXPECT_GE(Code::parse(*after.file, after.file->methods()[1])->max_locals, static_cast<uint32_t>(of.slots) + 1);
  }
}

TEST(SecondBody, WideArgumentsTakeTwoSlotsEach) {
  TestClass test(RawCode{.max_stack = 2, .max_locals = 8, .code = {kLload, 1, kLreturn}}, 52, kAccPublic, "m",
                 "(JIDLjava/lang/String;)J");
  TestClass after = with_second(test);
  EXPECT_EQ(after.file->methods()[1].descriptor, "(LTest;JIDLjava/lang/String;[LO;)J");
  // aload 0; lload 1; iload 3; dload 4; aload 6; aconst_null
  EXPECT_EQ(
      listing_of(after, 0),
      "0:178 3:153>27 6:184(observing) 9:153>27 12:25 14:22 16:21 18:24 20:25 22:1 23:184(m) 26:173 27:22 29:173");
  EXPECT_EQ(after.code().max_stack, 10u);
}

TEST(SecondBody, HasAsManyArgumentsAsAMethodMayHaveAndNoMore) {
  const auto method = [](size_t ints, uint16_t access) {
    return TestClass(RawCode{.max_stack = 0, .max_locals = 255, .code = {kReturn}}, 52, access, "m",
                     "(" + std::string(ints, 'I') + ")V");
  };
  TestClass most = method(254, kAccStatic), most_of_this = method(253, kAccPublic);
  EXPECT_EQ(refusal(most), "none");
  EXPECT_EQ(refusal(most_of_this), "none");
  TestClass more = method(255, kAccStatic), more_with_this = method(254, kAccPublic);
  EXPECT_THAT(refusal(more), HasSubstr("m: has 255 slots of arguments already"));
  EXPECT_THAT(refusal(more_with_this), HasSubstr("m: has 255 slots of arguments already"));
}

TEST(SecondBody, EditsOfTheSecondBodyAreInItAlone) {
  TestClass test(52, [](ClassFile& file) {
    const uint8_t x = static_cast<uint8_t>(file.pool().add_member_ref(kTagFieldRef, "Test", "x", "I"));
    const RawCode raw{.max_stack = 2, .max_locals = 2, .code = {kAload0, 27, kPutfield, 0, x, kReturn}};
    return class_with_method(file, raw, kAccPublic, "m", "(I)V");
  });
  TestClass after = with_second(test, [](ClassFile& file, Code& second) {
    const AccessProbe probe{.observer = "O", .number = [](const FieldSite&) { return 7u; }};
    EXPECT_EQ(*probe_accesses(second, file, probe), 1u);
  });
  EXPECT_THAT(listing_of(after, 0), testing::Not(HasSubstr("wrote")));
  // The scratch local is the one that the last parameter has.
  EXPECT_EQ(listing_of(after, 1),
            "0:42 1:27 2:54 4:89 5:198>20 8:89 9:89 10:180 13:21 15:16 17:184(wrote) 20:21 22:181 25:177");
  const auto second = Code::parse(*after.file, after.file->methods()[1]);
  using T = VerificationType;
  ASSERT_EQ(second->frames.size(), 1u);
  EXPECT_EQ(second->frames.begin()->second,
            (Frame{{T::object("Test"), T{T::kInteger}, T{T::kInteger}}, {T::object("Test")}}));
  EXPECT_EQ(second->max_locals, 3u);
}

TEST(SecondBody, TheTestComesBeforeWhatOtherEditsPutAtTheEntry) {
  TestClass test(RawCode{.code = {kReturn}});
  TestClass after = with_second(test, {}, [](ClassFile& file, Code& both) {
    Sequence enter(file.pool()), leave(file.pool());
    enter.invokestatic("P", "in", "()V");
    leave.invokestatic("P", "out", "()V");
    ASSERT_TRUE(instrument_entry_exit(both, file, {.entry = &enter, .exit = &leave}).ok());
  });
  // Of the two bodies one tells that the method runs, and the return from the second one is no exit of the first.
  EXPECT_EQ(listing_of(after, 0),
            "0:178 3:153>17 6:184(observing) 9:153>17 12:1 13:184(m) 16:177 17:184(in) 20:184(out) 23:177");
  EXPECT_EQ(listing_of(after, 1), "0:184(in) 3:184(out) 6:177");
}

TEST(SecondBody, JumpsToTheFirstInstructionDoNotAskAgain) {
  // 0: iload_0; 1: ifeq 7; 4: goto 0; 7: return
  TestClass test(RawCode{.max_stack = 1,
                         .max_locals = 1,
                         .code = {kIload0, kIfeq, 0, 6, kGoto, 0xFF, 0xFC, kReturn},
                         .attributes = {{"StackMapTable", {0, 2, 0, 6}}}},
                 52, kAccStatic, "m", "(I)V");
  TestClass after = with_second(test);
  EXPECT_EQ(listing_of(after, 0),
            "0:178 3:153>19 6:184(observing) 9:153>19 12:21 14:1 15:184(m) 18:177 19:26 20:153>26 23:167>19 26:177");
  EXPECT_EQ(listing_of(after, 1), "0:26 1:153>7 4:167>0 7:177");
  const auto second = Code::parse(*after.file, after.file->methods()[1]);
  EXPECT_EQ(second->frames.size(), 2u);
  for (const auto& [label, frame] : second->frames) {
    EXPECT_EQ(frame.locals.size(), 1u) << "without the last parameter, which nothing reads";
  }
}

TEST(SecondBody, TheTestHasALineOfItsOwn) {
  TestClass test(RawCode{.max_stack = 0,
                         .max_locals = 0,
                         .code = {kNop, kReturn},
                         .attributes = {{"LineNumberTable", {0, 2, 0, 0, 0, 7, 0, 1, 0, 8}}}});
  TestClass after = with_second(test);
  const Member& second = after.file->methods()[1];
  EXPECT_EQ(after.file->line_of(after.method(), 13), kSecondBodyLine) << "the call of the second body";
  EXPECT_EQ(after.file->line_of(after.method(), 17), 7);
  EXPECT_EQ(after.file->line_of(after.method(), 18), 8);
  EXPECT_EQ(after.file->line_of(second, 0), 7);
  EXPECT_EQ(after.file->line_of(second, 1), 8);
}

TEST(SecondBody, OldClassesGetNoFrames) {
  TestClass test(RawCode{.code = {kReturn}}, 49);
  TestClass after = with_second(test);
  EXPECT_THAT(listing_of(after, 0), StartsWith("0:178 3:153>17 "));
  EXPECT_TRUE(after.code().frames.empty());
  EXPECT_TRUE(after.code().attributes.empty());
}

TEST(SecondBody, RunsWithTheMonitorOfASynchronizedMethod) {
  TestClass test(kEmpty, 52, kAccSynchronized, "m", "()V");
  TestClass after = with_second(test);
  EXPECT_EQ(after.method().access, kAccSynchronized);
  EXPECT_EQ(after.file->methods()[1].access, kAccPrivate | kAccStatic | kAccSynthetic);
}

TEST(SecondBody, TakesTheMonitorItselfIfTheMethodWasOpenedBefore) {
  TestClass test(kEmpty, 52, kAccSynchronized, "m", "()V");
  TestClass after =
      with_second(test, {}, [](ClassFile& file, Code& both) { ASSERT_TRUE(open_synchronized(both, file, {}).ok()); });
  EXPECT_EQ(after.method().access, 0);
  // aload 0; dup; astore; monitorenter; aload; monitorexit; return; the handler
  const std::string body = listing_of(after, 1);
  EXPECT_THAT(body, StartsWith("0:25 2:89 3:58 5:194 6:25 8:195 9:177 "));
  EXPECT_THAT(listing_of(after, 0),
              StartsWith("0:178 3:153>19 6:184(observing) 9:153>19 12:25 14:1 15:184(m) 18:177 19:25"));
}

TEST(SecondBody, RefusesConstructorsInitialisersAndEmptyFinalizers) {
  TestClass constructor(RawCode{.code = {kReturn}}, 52, kAccPublic, "<init>", "()V");
  EXPECT_EQ(refusal(constructor), "<init>: cannot have a second body");
  TestClass initialiser(RawCode{.code = {kReturn}}, 52, kAccStatic, "<clinit>", "()V");
  EXPECT_EQ(refusal(initialiser), "<clinit>: cannot have a second body");
  TestClass finalizer(RawCode{.code = {kReturn}}, 52, kAccProtected, "finalize", "()V");
  EXPECT_THAT(refusal(finalizer), HasSubstr("finalizable"));
}

}  // namespace
}  // namespace contrafact::classfile
