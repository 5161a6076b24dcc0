#include "classfile/instrument.h"

#include <gmock/gmock.h>

#include "classfile/sequence.h"
#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {

using testing::HasSubstr;

// Calls of P.<name>()V, to be recognised in listings.
Sequence call(ClassFile& file, std::string_view name) {
  Sequence sequence(file.pool());
  sequence.invokestatic("P", name, "()V");
  return sequence;
}

struct Probes {
  explicit Probes(ClassFile& file) : enter(call(file, "in")), leave(call(file, "out")), failed(call(file, "bad")) {}
  EntryExit edit() const { return {&enter, &leave, &failed, {}}; }
  Sequence enter, leave, failed;
};

// 0: iload_0; 1: ifeq 7; 4: goto 0; 7: return, with frames at 0 and 7: a loop back to the very first instruction, and a
// jump to a return.
RawCode loop_to_start() {
  return {.max_stack = 1,
          .max_locals = 1,
          .code = {kIload0, kIfeq, 0, 6, kGoto, 0xFF, 0xFC, kReturn},
          .attributes = {{"StackMapTable", {0, 2, 0, 6}}}};
}

TEST(EntryExit, EntryRunsOnceAndExitOnEveryWayToTheReturn) {
  TestClass test(loop_to_start(), 52, kAccStatic, "m", "(I)V");
  Code code = test.code();
  const Probes probes(*test.file);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, probes.edit()).ok());
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  // The loop goes back to 3, behind the entry code; the jump to the return goes to 10, where the exit code is.
  EXPECT_EQ(listing(*after.file, moved), "0:184(in) 3:26 4:153>10 7:167>3 10:184(out) 13:177 14:184(bad) 17:191");
  EXPECT_EQ(exceptions(after.method()), "[3,10)->14 ");
  EXPECT_EQ(moved.frames.size(), 3u);
  EXPECT_EQ(moved.max_stack, 1u);
}

// 0: nop; 1: return; 2: astore_1; 3: return, where 2 handles what 0 throws.
RawCode with_handler() {
  return {.max_stack = 1,
          .max_locals = 2,
          .code = {kNop, kReturn, 76, kReturn},
          .exceptions = {{0, 1, 2, 0}},
          // same_locals_1_stack_item at 2, of type null: no class constant is needed
          .attributes = {{"StackMapTable", {0, 1, 66, 5}}}};
}

TEST(EntryExit, HandlerComesLastAndSeesTheSavedLocals) {
  TestClass test(with_handler(), 52, kAccStatic, "m", "(I)V");
  Code code = test.code();
  const uint32_t saved = code.new_local("J");
  EXPECT_EQ(saved, 2u);
  Sequence enter(test.file->pool()), leave(test.file->pool()), failed(test.file->pool());
  enter.lconst(1).lstore(saved);
  leave.lload(saved).pop2();
  failed.lload(saved).pop2();
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {&enter, &leave, &failed, {{saved, "J"}}}).ok());
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  EXPECT_EQ(listing(*after.file, moved), "0:10 1:55 3:0 4:22 6:88 7:177 8:76 9:22 11:88 12:177 13:22 15:88 16:191");
  EXPECT_EQ(exceptions(after.method()), "[3,4)->8 [3,4)->13 [8,9)->13 ");
  EXPECT_EQ(moved.max_locals, 4u);
  EXPECT_EQ(moved.max_stack, 3u);
  ASSERT_EQ(moved.frames.size(), 2u);
  using T = VerificationType;
  const T second{T::kSecondHalf};
  for (const auto& [label, frame] : moved.frames) {
    const bool own = frame.stack[0].tag == T::kNull;
    const std::vector<T> expected =
        own ? std::vector<T>{T{T::kInteger}, T(), T{T::kLong}, second} : std::vector<T>{T(), T(), T{T::kLong}, second};
    EXPECT_EQ(frame.locals, expected);
  }
}

TEST(EntryExit, LeavesOutTheHandlerWhenNothingCanThrow) {
  TestClass test(RawCode{.code = {kReturn}});
  Code code = test.code();
  const Probes probes(*test.file);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, probes.edit()).ok());
  TestClass after = rewritten(test, code);
  EXPECT_EQ(listing(*after.file, after.code()), "0:184(in) 3:184(out) 6:177");
  EXPECT_EQ(exceptions(after.method()), "");
}

TEST(EntryExit, OldClassesGetNoFrames) {
  RawCode raw = loop_to_start();
  raw.attributes.clear();
  TestClass test(raw, 49, kAccStatic, "m", "(I)V");
  Code code = test.code();
  const Probes probes(*test.file);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, probes.edit()).ok());
  TestClass after = rewritten(test, code);
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:184(in) 3:26 4:153>10 7:167>3 10:184(out) 13:177 14:184(bad) 17:191");
  EXPECT_TRUE(after.file->attributes_of(after.method())->size() == 1);
  EXPECT_TRUE(after.code().attributes.empty());
}

TEST(EntryExit, Version50WithoutFramesKeepsFallingBack) {
  RawCode raw = loop_to_start();
  raw.attributes.clear();
  TestClass test(raw, 50, kAccStatic, "m", "(I)V");
  Code code = test.code();
  EXPECT_FALSE(code.has_frames);
}

TEST(EntryExit, RefusesAnEmptyFinalizer) {
  TestClass test(RawCode{.code = {kReturn}}, 52, kAccProtected, "finalize", "()V");
  Code code = test.code();
  const Probes probes(*test.file);
  EXPECT_THAT(instrument_entry_exit(code, *test.file, probes.edit()).error().message, HasSubstr("finalizable"));
}

// A constructor; `body` gets the index of Object.<init>.
template <typename Body>
TestClass constructor(Body body) {
  return TestClass(52, [&](ClassFile& file) {
    const uint16_t init = file.pool().add_member_ref(kTagMethodRef, "java/lang/Object", "<init>", "()V");
    return class_with_method(file, body(static_cast<uint8_t>(init)), kAccPublic, "<init>", "()V");
  });
}

TEST(EntryExit, ConstructorsAreEnteredAfterSuper) {
  TestClass test = constructor(
      [](uint8_t init) { return RawCode{.code = {kNop, kAload0, kInvokespecial, 0, init, kNop, kReturn}}; });
  Code code = test.code();
  const Probes probes(*test.file);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, probes.edit()).ok());
  TestClass after = rewritten(test, code);
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:0 1:42 2:183(<init>) 5:184(in) 8:0 9:184(out) 12:177 13:184(bad) 16:191");
  EXPECT_EQ(exceptions(after.method()), "[8,9)->13 ");
}

TEST(EntryExit, WholeConstructorsAreEnteredFirstAndNoHandlerCoversTheCallOfSuper) {
  TestClass test = constructor(
      [](uint8_t init) { return RawCode{.code = {kNop, kAload0, kInvokespecial, 0, init, kNop, kReturn}}; });
  Code code = test.code();
  const Probes probes(*test.file);
  EntryExit edit = probes.edit();
  edit.whole_constructor = true;
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, edit).ok());
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  EXPECT_EQ(listing(*after.file, moved),
            "0:184(in) 3:0 4:42 5:183(<init>) 8:0 9:184(out) 12:177 13:184(bad) 16:191 17:184(bad) 20:191");
  EXPECT_EQ(exceptions(after.method()), "[8,9)->13 [3,5)->17 ");
  size_t uninitialized = 0;
  for (const auto& [label, frame] : moved.frames) uninitialized += frame.this_uninitialized();
  EXPECT_EQ(uninitialized, 1u);  // of the handler before the call
}

TEST(EntryExit, RefusesWholeConstructorsThatMoveThis) {
  // aload_0; astore_1; aconst_null; astore_0; aload_1; invokespecial; return
  TestClass test = constructor([](uint8_t init) {
    return RawCode{.code = {kAload0, 76, kAconstNull, 75, 43, kInvokespecial, 0, init, kReturn}};
  });
  Code code = test.code();
  const Probes probes(*test.file);
  EntryExit edit = probes.edit();
  edit.whole_constructor = true;
  EXPECT_THAT(instrument_entry_exit(code, *test.file, edit).error().message,
              HasSubstr("keeps `this` in another local"));
}

TEST(AtHandlers, CodeRunsWhereExceptionsAreCaught) {
  TestClass test(with_handler(), 52, kAccStatic, "m", "(I)V");
  Code code = test.code();
  const Sequence caught = call(*test.file, "caught");
  auto handlers = insert_at_handlers(code, caught);
  ASSERT_TRUE(handlers.ok());
  EXPECT_EQ(*handlers, 1u);
  TestClass after = rewritten(test, code);
  EXPECT_EQ(listing(*after.file, after.code()), "0:0 1:177 2:184(caught) 5:76 6:177");
  EXPECT_EQ(exceptions(after.method()), "[0,1)->2 ");
}

TEST(AtHandlers, HandlersOfOtherEditsAreLeftAlone) {
  TestClass test(loop_to_start(), 52, kAccStatic, "m", "(I)V");
  Code code = test.code();
  const Probes probes(*test.file);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, probes.edit()).ok());
  const Sequence caught = call(*test.file, "caught");
  auto handlers = insert_at_handlers(code, caught);
  ASSERT_TRUE(handlers.ok());
  EXPECT_EQ(*handlers, 0u);
}

TEST(Behind, CodeIsPutBehindWhatMakesObjectsAndNotWhereOneJumpsTo) {
  // 0: iconst_3; 1: newarray int; 3: pop; 4: goto 0
  TestClass test(RawCode{.max_stack = 1,
                         .code = {6, kNewarray, 10, kPop, kGoto, 0xFF, 0xFC},
                         .attributes = {{"StackMapTable", {0, 1, 0}}}},
                 52, kAccStatic, "m", "()V");
  Code code = test.code();
  auto chosen = insert_behind(code, *test.file, [](Bytes instruction, Sequence& behind) {
    if (instruction[0] == kNewarray) behind.dup().pop().invokestatic("P", "made", "()V");
  });
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(*chosen, 1u);
  TestClass after = rewritten(test, code);
  EXPECT_EQ(listing(*after.file, after.code()), "0:6 1:188 3:89 4:87 5:184(made) 8:87 9:167>0");
  EXPECT_EQ(after.code().max_stack, 2u);
}

TEST(EntryExit, RefusesConstructorsWithoutOneCallOfSuper) {
  TestClass none = constructor([](uint8_t) { return RawCode{.code = {kAconstNull, kAthrow}}; });
  Code code = none.code();
  const Probes probes(*none.file);
  EXPECT_THAT(instrument_entry_exit(code, *none.file, probes.edit()).error().message,
              HasSubstr("<init>: constructor with 0 reachable calls of this() or super()"));

  // iconst_0; ifeq 9; aload_0; invokespecial; return; 9: aload_0; invokespecial; return
  TestClass two = constructor([](uint8_t init) {
    return RawCode{.code = {kIconst0, kIfeq, 0, 8, kAload0, kInvokespecial, 0, init, kReturn, kAload0, kInvokespecial,
                            0, init, kReturn},
                   .attributes = {{"StackMapTable", {0, 1, 9}}}};
  });
  Code second = two.code();
  EXPECT_THAT(instrument_entry_exit(second, *two.file, Probes(*two.file).edit()).error().message,
              HasSubstr("2 reachable calls"));
}

TEST(EntryExit, TheConstructorOfAnotherObjectIsNotSuper) {
  TestClass test(52, [&](ClassFile& file) {
    const uint16_t init = file.pool().add_member_ref(kTagMethodRef, "java/lang/Object", "<init>", "()V");
    const uint8_t object = static_cast<uint8_t>(file.pool().add_class("java/lang/Object"));
    const uint8_t call = static_cast<uint8_t>(init);
    return class_with_method(
        file, RawCode{.code = {kNew, 0, object, kInvokespecial, 0, call, kAload0, kInvokespecial, 0, call, kReturn}},
        kAccPublic, "<init>", "()V");
  });
  Code code = test.code();
  const auto call = find_constructor_call(code, test.file->pool());
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(code.nodes[call->node].pc, 7u);
}

// 0: aload_0; 1: invokeinterface run; 6: return; 7: astore_1; 8: return, where 7 handles 0 to 6.
TestClass guarded_run() {
  return TestClass(52, [&](ClassFile& file) {
    const uint16_t run = file.pool().add_member_ref(kTagInterfaceMethodRef, "java/lang/Runnable", "run", "()V");
    const uint8_t throwable = static_cast<uint8_t>(file.pool().add_class("java/lang/Throwable"));
    return class_with_method(
        file,
        RawCode{.max_stack = 1,
                .max_locals = 2,
                .code = {kAload0, kInvokeinterface, 0, static_cast<uint8_t>(run), 1, 0, kReturn, 76, kReturn},
                .exceptions = {{0, 6, 7, 0}},
                .attributes = {{"StackMapTable", {0, 1, 71, 7, 0, throwable}}}},
        kAccStatic, "m", "(Ljava/lang/Runnable;)V");
  });
}

CallWrap wrap_run(std::vector<uint32_t>* slots = nullptr) {
  CallWrap wrap;
  wrap.selects = [](const CallSite& site) { return site.name == "run" && site.opcode == kInvokeinterface; };
  wrap.copy_operands = slots != nullptr;
  wrap.build = [slots](const CallSite&, const CallOperands& operands, Sequence& before, Sequence& after,
                       Sequence& exception) {
    if (slots != nullptr) slots->push_back(operands.receiver);
    before.invokestatic("P", "before", "()V");
    after.invokestatic("P", "after", "()V");
    exception.invokestatic("P", "thrown", "()V");
  };
  return wrap;
}

TEST(WrapCalls, OwnHandlerComesFirstAndIsCoveredLikeTheCall) {
  TestClass test = guarded_run();
  Code code = test.code();
  std::vector<uint32_t> slots;
  const auto wrapped = wrap_calls(code, *test.file, wrap_run(&slots));
  ASSERT_TRUE(wrapped.ok());
  EXPECT_EQ(*wrapped, 1u);
  EXPECT_EQ(slots, std::vector<uint32_t>{2});
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  EXPECT_EQ(listing(*after.file, moved),
            "0:42 1:58 3:25 5:184(before) 8:185(run) 13:184(after) 16:177 17:76 18:177 19:184(thrown) 22:191");
  EXPECT_EQ(exceptions(after.method()), "[8,13)->19 [0,16)->17 [19,23)->17 ");
  using T = VerificationType;
  const T runnable = T::object("java/lang/Runnable");
  size_t own = 0;
  for (const auto& [label, frame] : moved.frames) {
    EXPECT_EQ(frame.stack, std::vector<T>{T::object("java/lang/Throwable")});
    if (frame.locals == std::vector<T>{runnable, T(), runnable}) own++;
  }
  EXPECT_EQ(own, 1u) << "the handler has the locals of the call";
}

TEST(WrapCalls, CombinesWithEntryAndExitInEitherOrder) {
  for (const bool wrap_first : {false, true}) {
    TestClass test = guarded_run();
    Code code = test.code();
    const Probes probes(*test.file);
    if (wrap_first) {
      ASSERT_TRUE(wrap_calls(code, *test.file, wrap_run()).ok());
    }
    ASSERT_TRUE(instrument_entry_exit(code, *test.file, probes.edit()).ok());
    if (!wrap_first) {
      ASSERT_TRUE(wrap_calls(code, *test.file, wrap_run()).ok());
    }
    TestClass after = rewritten(test, code);
    const std::string text = listing(*after.file, after.code());
    EXPECT_THAT(text, HasSubstr("184(before) 7:185(run) 12:184(after)"));
    // The call first; then the method's own handler; what leaves that handler or the wrapping one reaches the
    // catch-all.
    EXPECT_THAT(exceptions(after.method()), testing::StartsWith("[7,12)->"));
    EXPECT_THAT(exceptions(after.method()), HasSubstr("[3,15)->19 "));
  }
}

TEST(WrapCalls, NothingSelectedChangesNothing) {
  TestClass test = guarded_run();
  Code code = test.code();
  CallWrap wrap = wrap_run();
  wrap.selects = [](const CallSite&) { return false; };
  EXPECT_EQ(*wrap_calls(code, *test.file, wrap), 0u);
  const auto encoded = code.encode(test.file->pool());
  ASSERT_TRUE(encoded.ok());
  EXPECT_TRUE(std::equal(encoded->begin(), encoded->end(), test.method().code.begin(), test.method().code.end()));
}

TEST(WrapCalls, CopiesWideArgumentsAndKeepsTheStack) {
  TestClass test(52, [&](ClassFile& file) {
    const uint8_t callee =
        static_cast<uint8_t>(file.pool().add_member_ref(kTagMethodRef, "A", "f", "(JLjava/lang/String;D)I"));
    RawCode raw{.max_stack = 6,
                .max_locals = 1,
                .code = {kAconstNull, 9, kAconstNull, 14, kInvokevirtual, 0, callee, kPop, kReturn}};
    return class_with_method(file, raw, kAccStatic, "m", "()V");
  });
  Code code = test.code();
  CallWrap wrap;
  CallOperands seen;
  wrap.selects = [](const CallSite&) { return true; };
  wrap.copy_operands = true;
  wrap.with_exception = false;
  wrap.build = [&](const CallSite&, const CallOperands& operands, Sequence&, Sequence&, Sequence&) { seen = operands; };
  ASSERT_TRUE(wrap_calls(code, *test.file, wrap).ok());
  EXPECT_EQ(seen.receiver, 1u);
  EXPECT_EQ(seen.arguments, (std::vector<uint32_t>{2, 4, 5}));
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  EXPECT_EQ(listing(*after.file, moved),
            "0:1 1:9 2:1 3:14 4:57 6:58 8:55 10:58 12:25 14:22 16:25 18:24 20:182(f) 23:87 24:177");
  EXPECT_EQ(moved.max_locals, 7u);
  EXPECT_EQ(moved.max_stack, 6u);
}

TEST(WrapCalls, BranchesInInsertedCodeGetFrames) {
  TestClass test = guarded_run();
  Code code = test.code();
  CallWrap wrap = wrap_run();
  wrap.with_exception = false;
  wrap.build = [](const CallSite&, const CallOperands&, Sequence& before, Sequence&, Sequence&) {
    const auto over = before.new_label();
    before.dup().ifnull(over).invokestatic("P", "before", "()V").bind(over);
  };
  ASSERT_TRUE(wrap_calls(code, *test.file, wrap).ok());
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  using T = VerificationType;
  const T runnable = T::object("java/lang/Runnable");
  size_t found = 0;
  for (const auto& [label, frame] : moved.frames) found += frame == Frame{{runnable}, {runnable}};
  EXPECT_EQ(found, 1u) << "the operand is on the stack at the inserted label";
}

TEST(Types, RefusesCodeThatDoesNotFitTogether) {
  TestClass test(52, [&](ClassFile& file) {
    return class_with_method(file, RawCode{.code = {kPop, kReturn}}, kAccPublic, "<init>", "()V");
  });
  Code code = test.code();
  EXPECT_THAT(find_constructor_call(code, test.file->pool()).error().message,
              HasSubstr("before pc 0 cannot be inferred"));
}

}  // namespace
}  // namespace contrafact::classfile
