#include "classfile/flows.h"

#include <gmock/gmock.h>

#include "classfile/method_hash.h"
#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {
namespace of_flows {  // other tests have functions of these names

using testing::HasSubstr;
using testing::Not;

constexpr uint8_t kIconst0Op = 3, kOpIconst1 = 4, kOpLconst0 = 9, kOpIload1 = 27, kOpIload2 = 28, kLload0 = 30,
                  kOpLload1 = 31, kOpAload1 = 43, kOpIaload = 46, kOpLaload = 47, kIstore1 = 60, kIstore2 = 61,
                  kOpIastore = 79, kOpLastore = 80, kLcmp = 148, kOpAastore = 83, kAstore1 = 76;
constexpr uint32_t kFieldNumber = 7;

FlowProbe probe_all() {
  return {.tracker = "T", .number = [](const FieldSite& site) { return site.name == "none" ? 0u : kFieldNumber; }};
}
FlowProbe probe_sections() {
  FlowProbe probe = probe_all();
  probe.sections = true;
  probe.may_lock = [](const CallSite& site) { return site.name == "lock"; };
  return probe;
}

using Build = std::function<RawCode(ConstantPool&)>;

TestClass flow_method(std::string_view descriptor, const Build& build, uint16_t version = 52,
                      std::string_view name = "m", uint16_t access = kAccStatic) {
  return TestClass(version, [&](ClassFile& file) {
    const RawCode raw = build(file.pool());
    return class_with_method(file, raw, access, name, descriptor);
  });
}

TestClass flow_method(std::string_view descriptor, std::vector<uint8_t> code, uint16_t version = 52) {
  return flow_method(
      descriptor, [&](ConstantPool&) { return RawCode{.max_stack = 6, .max_locals = 6, .code = std::move(code)}; },
      version);
}

uint8_t flow_field(ConstantPool& pool, std::string_view type, std::string_view name = "x") {
  return static_cast<uint8_t>(pool.add_member_ref(kTagFieldRef, "Test", name, type));
}
uint8_t flow_callee(ConstantPool& pool, std::string_view name, std::string_view descriptor) {
  return static_cast<uint8_t>(pool.add_member_ref(kTagMethodRef, "Test", name, descriptor));
}

// The code in words: loads and stores of ints as <N and >N, constants as numbers, those that stand for methods as their names,
// calls of the tracker as names, and all else by opcode.
std::string words_of(const TestClass& test, const std::vector<std::pair<std::string, std::string>>& methods = {}) {
  const Code code = test.code();
  std::string text;
  for (const Node& node : code.nodes) {
    if (!node.is_instruction()) continue;
    std::string word = "#" + std::to_string(node.opcode);
    if (node.kind == Node::kPlain) {
      const Bytes bytes = code.bytes_of(node);
      const auto access = local_access(bytes);
      if (node.opcode == kIload || node.opcode == kIstore)
        word = (access->is_store ? ">" : "<") + std::to_string(access->slot);
      if (node.opcode >= 2 && node.opcode <= 8) word = std::to_string(node.opcode - kIconst0Op);
      if (node.opcode == kBipush) word = std::to_string(bytes[1]);
      if (node.opcode == kLdcW) {
        word = "?";
        ConstantPool& pool = const_cast<TestClass&>(test).file->pool();
        for (const auto& [name, descriptor] : methods) {
          if (pool.add_integer(method_hash(name, descriptor)) == load_u2(&bytes[1])) word = name;
        }
      }
      if (node.opcode == kInvokestatic) {
        const auto callee = test.file->pool().member_ref(load_u2(&bytes[1]));
        if (callee && callee->owner == "T") word = std::string(callee->name);
      }
    }
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

TestClass tracked(TestClass& test, size_t expected, const FlowProbe& probe = probe_all()) {
  Code code = test.code();
  const auto count = propagate_taints(code, *test.file, probe);
  EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
  if (count) {
    EXPECT_EQ(*count, expected);
  }
  return rewritten(test, code);
}

std::string refused_with(TestClass& test, const FlowProbe& probe = probe_all()) {
  Code code = test.code();
  const auto count = propagate_taints(code, *test.file, probe);
  return count ? "" : count.error().message;
}

// ---- locals and operations

TEST(Flows, ParametersAreTakenOverAndReturned) {
  TestClass test = flow_method("(JI)I", {kOpIload2, kIreturn});
  EXPECT_EQ(words_of(tracked(test, 1), {{"m", "(JI)I"}}), "m entered 1 parameter >6 #28 m <6 returning #172");
  TestClass wide = flow_method("(JI)J", {kLload0, kLreturn});
  EXPECT_EQ(words_of(tracked(wide, 1), {{"m", "(JI)J"}}), "m entered 0 parameter >6 #30 m <6 returning #173");
}

TEST(Flows, ThisCountsAsParameter) {
  TestClass test = flow_method(
      "(I)I", [](ConstantPool&) { return RawCode{.max_locals = 2, .code = {kOpIload1, kIreturn}}; }, 52, "m", 0);
  EXPECT_EQ(words_of(tracked(test, 1), {{"m", "(I)I"}}), "m entered 1 parameter >2 #27 m <2 returning #172");
}

TEST(Flows, WithoutTaintsThereIsLittleCode) {
  TestClass test = flow_method("()I", {kOpIconst1, kIstore1, kOpIload1, kOpIload1, kIadd, kIreturn});
  EXPECT_EQ(words_of(tracked(test, 1), {{"m", "()I"}}), "m entered 1 #60 #27 #27 #96 m 0 returning #172");
}

TEST(Flows, AnOperationYieldsTheUnion) {
  TestClass test = flow_method("(II)I", {kIload0, kOpIload1, kIadd, kIload0, kIadd, kIreturn});
  EXPECT_EQ(words_of(tracked(test, 1), {{"m", "(II)I"}}),
            "m entered 0 parameter >6 1 parameter >7 #26 #27 #96 #26 #96 m <6 <7 joined returning #172");
}

TEST(Flows, ManyTaintsAreJoinedInBetween) {
  std::vector<uint8_t> code = {kIload0};
  for (uint8_t i = 1; i < 6; ++i) code.insert(code.end(), {kIload, i, kIadd});
  code.push_back(kIreturn);
  TestClass test = flow_method("(IIIIII)I", code);
  EXPECT_THAT(
      words_of(tracked(test, 2)),
      HasSubstr("#96 <4 <6 <7 joined <8 joined <9 joined <10 joined >12 #96 <5 #96 ? <12 <11 joined returning"));
}

TEST(Flows, AStoreTakesTheTaintAlong) {
  // istore_1; iinc 1; iload_1
  TestClass test = flow_method("(I)I", {kIload0, kIstore1, kIinc, 1, 1, kOpIload1, kIreturn});
  EXPECT_THAT(words_of(tracked(test, 2)), HasSubstr("0 >7 #26 <6 >7 #60 #132 #27 ? <7 returning"));
}

TEST(Flows, AStoreThatNothingReadsIsLeftAlone) {
  TestClass test = flow_method("(I)I", {kIload0, kIstore1, kIload0, kIreturn});
  EXPECT_THAT(words_of(tracked(test, 1)), HasSubstr("parameter >6 #26 #60 #26 ? <6 returning"));
}

TEST(Flows, AStoreOfNoTaintClearsWhatMayBeThere) {
  TestClass test = flow_method("(I)I", {kIload0, kOpIconst1, kIstore0, kIload0, kIadd, kIreturn});
  EXPECT_THAT(words_of(tracked(test, 2)), HasSubstr("parameter >6 #26 1 <6 >7 0 >6 #59 #26 #96 ? <7 returning"));
}

// The stack keeps the old taint of the local in another variable than what is stored has its own in.
TEST(Flows, AStoreKeepsWhatTheStackHolds) {
  // iload_0; aload_1; getfield x; istore_0; iload_0; iadd; ireturn
  TestClass test = flow_method("(ILTest;)I", [](ConstantPool& pool) {
    return RawCode{
        .max_stack = 2,
        .max_locals = 2,
        .code = {kIload0, kOpAload1, kGetfield, 0, flow_field(pool, "I"), kIstore0, kIload0, kIadd, kIreturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 3)),
              HasSubstr("#89 7 field >4 #180 <2 >5 <3 <4 joined >2 #59 #26 #96 ? <5 <2 joined returning"));
}

TEST(Flows, AResultDoesNotGoAtOnceToALocalWhoseTaintIsOnTheStack) {
  TestClass test = flow_method("(I)I", [](ConstantPool& pool) {
    return RawCode{
        .max_stack = 2,
        .max_locals = 1,
        .code = {kIload0, kInvokestatic, 0, flow_callee(pool, "f", "()I"), kIstore0, kIload0, kIadd, kIreturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 3)), HasSubstr("called >2 <1 >3 <2 >1 #59 #26 #96 ? <3 <1 joined returning"));
}

TEST(Flows, WideLocals) {
  TestClass test = flow_method("(I)J", [](ConstantPool&) {
    return RawCode{
        .max_stack = 2,
        .max_locals = 402,
        .code = {kIload0, kI2l, kWide, kLstore, 1, 0x90, kWide, kIinc, 0, 0, 1, 0, kWide, kLload, 1, 0x90, kLreturn}};
  });
  TestClass after = tracked(test, 2);
  EXPECT_THAT(listing(*after.file, after.code()), HasSubstr(":196 "));
  EXPECT_EQ(after.code().max_locals, 404u);
}

struct StackCase {
  const char* what;
  std::vector<uint8_t> code;
  const char* returned;
};

// Of the locals 0 and 1, which have the taints 6 and 7: what is on top in the end.
TEST(Flows, TheStackIsRearranged) {
  for (const StackCase& of : {
           StackCase{"swap", {kIload0, kOpIload1, kSwap, kIstore2, kIreturn}, "<7"},
           {"dup_x1", {kIload0, kOpIload1, kDupX1, kPop2, kIreturn}, "<7"},
           {"dup_x2", {kIload0, kOpIconst1, kOpIload1, kDupX2, kPop2, kPop, kIreturn}, "<7"},
           {"dup2", {kIload0, kOpIload1, kDup2, kPop, kIstore2, kPop, kIreturn}, "<6"},
           {"dup2_x1", {kOpIconst1, kIload0, kOpIload1, kDup2X1, kPop2, kPop, kPop, kIreturn}, "<6"},
           {"dup2_x2", {kOpIconst1, kOpIconst1, kIload0, kOpIload1, kDup2X2, kPop2, kPop2, kPop, kIreturn}, "<6"},
       }) {
    TestClass test = flow_method("(II)I", of.code);
    EXPECT_THAT(words_of(tracked(test, 1)), HasSubstr("? " + std::string(of.returned) + " returning")) << of.what;
  }
}

TEST(Flows, ALongHasOneTaint) {
  // lload_0; dup2; ladd; lload_0; lcmp
  TestClass test = flow_method("(J)I", {kLload0, kDup2, kLadd, kLload0, kLcmp, kIreturn});
  EXPECT_THAT(words_of(tracked(test, 1)), HasSubstr("#148 ? <6 returning"));
}

// ---- fields and elements

TEST(Flows, AFieldIsReadWithTheTaintOfTheObject) {
  TestClass test = flow_method("(LTest;)I", [](ConstantPool& pool) {
    return RawCode{.max_locals = 1, .code = {kAload0, kGetfield, 0, flow_field(pool, "I"), kIreturn}};
  });
  TestClass after = tracked(test, 2);
  EXPECT_THAT(words_of(after), HasSubstr("parameter >1 #42 #89 7 field >2 #180 ? <1 <2 joined returning"));
}

TEST(Flows, AFieldWithoutATaintOfItsOwn) {
  TestClass test = flow_method("(LTest;I)I", [](ConstantPool& pool) {
    const uint8_t x = flow_field(pool, "I", "none");
    return RawCode{.max_locals = 2, .code = {kAload0, kOpIload1, kPutfield, 0, x, kAload0, kGetfield, 0, x, kIreturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 1)), HasSubstr("#42 #27 #181 #42 #180 ? <2 returning"));
}

TEST(Flows, AFieldIsWritten) {
  TestClass test = flow_method("(LTest;I)V", [](ConstantPool& pool) {
    return RawCode{
        .max_stack = 2, .max_locals = 2, .code = {kAload0, kOpIload1, kPutfield, 0, flow_field(pool, "I"), kReturn}};
  });
  TestClass after = tracked(test, 2);
  EXPECT_THAT(words_of(after), HasSubstr("#42 #27 #92 #87 7 <3 setField #181"));
  EXPECT_EQ(after.code().max_stack, 5u);
  TestClass wide = flow_method("(LTest;)V", [](ConstantPool& pool) {
    return RawCode{
        .max_stack = 3, .max_locals = 1, .code = {kAload0, kOpLconst0, kPutfield, 0, flow_field(pool, "J"), kReturn}};
  });
  EXPECT_THAT(words_of(tracked(wide, 2)), HasSubstr("#42 #9 #93 #88 #91 7 0 setField #181"));
}

TEST(Flows, StaticsAreToldOfBehindTheInstruction) {
  TestClass test = flow_method("()V", [](ConstantPool& pool) {
    const uint8_t x = flow_field(pool, "D");
    return RawCode{.max_stack = 2, .max_locals = 0, .code = {kGetstatic, 0, x, kPutstatic, 0, x, kReturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 3)), HasSubstr("#178 7 staticField >0 #179 7 <0 setStaticField"));
}

TEST(Flows, OfConstructorsTheWritesOfThisAreNotToldOfUpToTheCallOfAnother) {
  const Build build = [](ConstantPool& pool) {
    const uint8_t x = flow_field(pool, "I");
    const uint8_t init = static_cast<uint8_t>(pool.add_member_ref(kTagMethodRef, "java/lang/Object", "<init>", "()V"));
    return RawCode{.max_stack = 2,
                   .max_locals = 2,
                   .code = {kAload0, kOpIload1, kPutfield, 0, x, kAload0, kInvokespecial, 0, init, kAload0, kOpIload1,
                            kPutfield, 0, x, kReturn}};
  };
  TestClass test = flow_method("(I)V", build, 52, "<init>", kAccPublic);
  EXPECT_EQ(words_of(tracked(test, 3), {{"<init>", "(I)V"}, {"<init>", "()V"}}),
            "<init> entered 1 parameter >2 #42 #27 #181 #42 <init> calling #183 <init> 0 called #87 "
            "#42 #27 #92 #87 7 <2 setField #181 <init> 0 returning #177");
}

TEST(Flows, AnElementIsRead) {
  TestClass test = flow_method("([II)I", {kAload0, kOpIload1, kOpIaload, kIreturn});
  EXPECT_THAT(words_of(tracked(test, 2)), HasSubstr("#42 #27 <7 control #92 element >8 #46 ? <6 <8 joined returning"));
  TestClass wide = flow_method("([J)J", {kAload0, kIconst0Op, kOpLaload, kLreturn});
  EXPECT_THAT(words_of(tracked(wide, 2)), HasSubstr("#42 0 #92 element >7 #47 ? <6 <7 joined returning"));
}

TEST(Flows, AnElementIsWritten) {
  TestClass test = flow_method("([III)V", {kAload0, kOpIload1, kOpIload2, kOpIastore, kReturn});
  EXPECT_THAT(words_of(tracked(test, 2)), HasSubstr("#42 #27 #28 <7 control #91 #87 #93 <8 setElement #79"));
  TestClass wide = flow_method("([J)V", {kAload0, kIconst0Op, kOpLconst0, kOpLastore, kReturn});
  EXPECT_THAT(words_of(tracked(wide, 2)), HasSubstr("#42 0 #9 #94 #88 #94 0 setElement #80"));
  TestClass object = flow_method("([Ljava/lang/Object;)V", {kAload0, kIconst0Op, kAload0, kOpAastore, kReturn});
  EXPECT_THAT(words_of(tracked(object, 2)), HasSubstr("#91 #87 #93 <6 setElement #83"));
}

TEST(Flows, NewArraysHaveNoTaintAndTheirSizeIsControl) {
  TestClass test = flow_method("(I)I", {kIload0, kNewarray, 10, kArraylength, kIreturn});
  EXPECT_THAT(words_of(tracked(test, 2)), HasSubstr("#26 <6 control #188 #190 ? 0 returning"));
  TestClass matrix = flow_method("(II)V", [](ConstantPool& pool) {
    const uint8_t type = static_cast<uint8_t>(pool.add_class("[[I"));
    return RawCode{
        .max_stack = 2, .max_locals = 2, .code = {kIload0, kOpIload1, kMultianewarray, 0, type, 2, kPop, kReturn}};
  });
  EXPECT_THAT(words_of(tracked(matrix, 2)), HasSubstr("#26 #27 <2 <3 joined control #197 #87"));
}

// ---- branches

TEST(Flows, BranchesAndSwitchesAreControl) {
  // 0: iload_0; ifeq 5; nop; 5: iload_0; iload_1; if_icmplt 11; nop; 11: return
  TestClass test = flow_method("(II)V", {kIload0, kIfeq, 0, 4, kNop, kIload0, kOpIload1, 161, 0, 4, kNop, kReturn}, 49);
  EXPECT_THAT(words_of(tracked(test, 3)), HasSubstr("#26 <6 control #153 #0 #26 #27 <6 <7 joined control #161 #0"));
  TestClass none = flow_method("()V", {kIconst0Op, kIfeq, 0, 4, kNop, kReturn}, 49);
  EXPECT_THAT(words_of(tracked(none, 1)), Not(HasSubstr("control")));
  // 0: iload_0; 1: lookupswitch, no pairs, default 12
  TestClass choice = flow_method("(I)V", {kIload0, kLookupswitch, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, kReturn}, 49);
  EXPECT_THAT(words_of(tracked(choice, 2)), HasSubstr("#26 <6 control #171 ? 0 returning #177"));
}

// iload_1 or 5, whichever: both ways leave it where the return finds it.
TEST(Flows, TaintsOnTheStackMeetInItsVariable) {
  // 0: iload_0; ifeq 8; 4: iload_1; goto 9; 8: iconst_1; 9: ireturn
  TestClass test = flow_method("(II)I", {kIload0, kIfeq, 0, 7, kOpIload1, kGoto, 0, 4, kOpIconst1, kIreturn}, 49);
  EXPECT_THAT(words_of(tracked(test, 3)), HasSubstr("#153 #27 <7 >8 #167 1 0 >8 ? <8 returning #172"));
}

TEST(Flows, FramesDefineTheVariables) {
  // The same in a class with frames: at 8 an empty stack, at 9 an int.
  TestClass test = flow_method("(II)I", [](ConstantPool&) {
    return RawCode{.max_stack = 1,
                   .max_locals = 2,
                   .code = {kIload0, kIfeq, 0, 7, kOpIload1, kGoto, 0, 4, kOpIconst1, kIreturn},
                   .attributes = {{"StackMapTable", {0, 2, 8, 64, 1}}}};
  });
  TestClass after = tracked(test, 3);
  const Code code = after.code();
  ASSERT_EQ(code.frames.size(), 2u);
  size_t with_stack = 0;
  for (const auto& [label, frame] : code.frames) {
    EXPECT_EQ(frame.locals.size(), frame.stack.empty() ? 4u : 5u);
    EXPECT_EQ(frame.locals.back().tag, VerificationType::kInteger);
    with_stack += frame.stack.size();
  }
  EXPECT_EQ(with_stack, 1u);
}

// ---- calls

TEST(Flows, ACallIsToldOfItsTaintedArguments) {
  TestClass test = flow_method("(JI)D", [](ConstantPool& pool) {
    return RawCode{
        .max_stack = 4,
        .max_locals = 3,
        .code = {kLload0, kOpIconst1, kOpIload2, kInvokestatic, 0, flow_callee(pool, "f", "(JII)D"), kDreturn}};
  });
  EXPECT_EQ(words_of(tracked(test, 2), {{"m", "(JI)D"}, {"f", "(JII)D"}}),
            "m entered 0 parameter >3 1 parameter >4 #30 1 #28 f calling 0 <3 argument 2 <4 argument #184 "
            "f <3 <4 joined called >5 m <5 returning #175");
}

TEST(Flows, AReceiverIsArgumentZero) {
  TestClass test = flow_method("(LTest;)V", [](ConstantPool& pool) {
    return RawCode{.max_stack = 2,
                   .max_locals = 1,
                   .code = {kAload0, kOpIconst1, kInvokevirtual, 0, flow_callee(pool, "f", "(I)V"), kReturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 2), {{"f", "(I)V"}}),
              HasSubstr("#42 1 f calling 0 <1 argument #182 f 0 called #87"));
}

TEST(Flows, AResultThatIsStoredGoesToTheLocalAtOnce) {
  TestClass test = flow_method("()I", [](ConstantPool& pool) {
    return RawCode{.max_locals = 2,
                   .code = {kInvokestatic, 0, flow_callee(pool, "f", "()I"), kIstore1, kOpIload1, kIreturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 2), {{"f", "()I"}}),
              HasSubstr("0 >2 f calling #184 f 0 called >2 #60 #27 ? <2 returning"));
}

TEST(Flows, ANewObjectGetsTheTaintWhereverItIs) {
  // new; dup; astore_1 (of an object that is not initialized); dup; iload_0; <init>(I); astore_2; aload_1; areturn
  TestClass test = flow_method("(I)LTest;", [](ConstantPool& pool) {
    const uint8_t type = static_cast<uint8_t>(pool.add_class("Test"));
    return RawCode{.max_stack = 3,
                   .max_locals = 2,
                   .code = {kNew, 0, type, kDup, kAstore1, kDup, kIload0, kInvokespecial, 0,
                            flow_callee(pool, "<init>", "(I)V"), kOpAload1, kPop, kAreturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 2), {{"<init>", "(I)V"}}),
              HasSubstr("0 >3 #187 #89 #76 #89 #26 <init> calling 1 <2 argument #183 <init> <2 called >4 <4 >3 "
                        "#43 #87 ? <4 returning #176"));
}

TEST(Flows, ANewObjectOfUntaintedArgumentsHasNone) {
  TestClass test = flow_method("()LTest;", [](ConstantPool& pool) {
    const uint8_t type = static_cast<uint8_t>(pool.add_class("Test"));
    return RawCode{.max_stack = 2,
                   .max_locals = 0,
                   .code = {kNew, 0, type, kDup, kInvokespecial, 0, flow_callee(pool, "<init>", "()V"), kAreturn}};
  });
  EXPECT_THAT(words_of(tracked(test, 2)), HasSubstr("? calling #183 ? 0 called #87 ? 0 returning"));
}

// ---- exceptions

TEST(Flows, AHandlerAsksForTheTaintOfTheException) {
  // 0: iconst_1; pop; 2: aconst_null; areturn; 4: athrow, the handler of 0 to 2
  TestClass test = flow_method(
      "()Ljava/lang/Object;",
      [](ConstantPool&) {
        return RawCode{
            .max_locals = 1, .code = {kOpIconst1, kPop, kAconstNull, kAreturn, kAthrow}, .exceptions = {{0, 2, 4, 0}}};
      },
      49);
  EXPECT_THAT(words_of(tracked(test, 2)), HasSubstr("#176 caught >1 <1 throwing #191"));
}

TEST(Flows, WhereAHandlerCoversItselfWhatIsInsertedIsGuarded) {
  // 0: nop; return; 2: astore_0; aload_0; athrow, the handler of 0 to 1 and of itself
  TestClass test = flow_method(
      "()V",
      [](ConstantPool&) {
        return RawCode{
            .max_locals = 1, .code = {kNop, kReturn, 75, kAload0, kAthrow}, .exceptions = {{0, 1, 2, 0}, {2, 3, 2, 0}}};
      },
      49);
  TestClass after = tracked(test, 2);
  // The exception is kept meanwhile; the guard's handler is last.
  EXPECT_THAT(words_of(after), HasSubstr("0 >1 #58 caught >1 #25 #75 #42 <1 throwing #191 #87 #167"));
  EXPECT_THAT(exceptions(after.method()), testing::StartsWith("["));
  EXPECT_EQ(after.code().exceptions.size(), 3u);
}

TEST(Flows, AHandlerSeesTheTaintsOfTheThrowingInstruction) {
  // 0: iload_0; istore_1; 2: iconst_1; istore_1; 4: return; 5: pop; iload_1; ireturn - the handler of 2 to 4
  TestClass test = flow_method(
      "(I)I",
      [](ConstantPool&) {
        return RawCode{
            .max_stack = 1,
            .max_locals = 2,
            .code = {kIload0, kIstore1, kOpIconst1, kIstore1, kOpIload1, kIreturn, kPop, kOpIload1, kIreturn},
            .exceptions = {{2, 4, 6, 0}}};
      },
      49);
  EXPECT_THAT(words_of(tracked(test, 4)),
              HasSubstr("#26 <2 >3 #60 1 0 >3 #60 #27 ? 0 returning #172 caught >4 #87 #27 ? <3 returning"));
}

// ---- sections

TEST(Flows, ASynchronizedMethodIsASection) {
  TestClass test = flow_method(
      "(II)I", [](ConstantPool&) { return RawCode{.max_locals = 2, .code = {kOpIload1, kIreturn}}; }, 52, "m",
      kAccStatic | kAccSynchronized);
  EXPECT_EQ(words_of(tracked(test, 1, probe_sections()), {{"m", "(II)I"}}),
            "m entered 1 parameter >2 0 >3 depth #158 inputs >3 <3 <2 joined >2 #27 <2 result m <2 returning #172");
}

TEST(Flows, AMonitorBeginsAndEndsASection) {
  // aload_0; monitorenter; aload_0; monitorexit; iload_1; ireturn
  TestClass test =
      flow_method("(Ljava/lang/Object;I)I", {kAload0, kMonitorenter, kAload0, kMonitorexit, kOpIload1, kIreturn}, 49);
  TestClass after = tracked(test, 3, probe_sections());
  EXPECT_EQ(words_of(after, {{"m", "(Ljava/lang/Object;I)I"}}),
            "m entered 0 parameter >6 1 parameter >7 0 >8 0 >9 depth >8 "
            "#42 #194 depth <8 #95 #89 >8 #162 inputs >9 <9 <7 joined >7 "
            "#42 #195 depth <8 #95 #89 >8 #164 <7 output #27 m <7 returning #172 #87 #167 #87 #167");
  EXPECT_EQ(after.code().exceptions.size(), 2u) << "each is guarded";
}

TEST(Flows, ACallThatMayLockIsASectionsBoundary) {
  const auto calling = [](std::string_view name) {
    return flow_method("(I)I", [&](ConstantPool& pool) {
      return RawCode{.max_locals = 1, .code = {kInvokestatic, 0, flow_callee(pool, name, "()V"), kIload0, kIreturn}};
    });
  };
  TestClass test = calling("lock");
  EXPECT_THAT(
      words_of(tracked(test, 2, probe_sections())),
      HasSubstr(
          "? 0 called #87 depth <2 #95 #89 >2 #100 #89 #156 #87 inputs >3 <3 <1 joined >1 #167 #158 <1 output #26"));
  TestClass other = calling("run");
  EXPECT_THAT(words_of(tracked(other, 2, probe_sections())), Not(HasSubstr("depth")));
}

TEST(Flows, WithoutSectionsMonitorsAreLeftAlone) {
  TestClass test =
      flow_method("(Ljava/lang/Object;I)I", {kAload0, kMonitorenter, kAload0, kMonitorexit, kOpIload1, kIreturn}, 49);
  EXPECT_THAT(words_of(tracked(test, 1)), HasSubstr("parameter >7 #42 #194 #42 #195 #27 ? <7"));
}

// ---- what is refused, and what is left alone

TEST(Flows, RefusesSubroutines) {
  TestClass test = flow_method("()V", {kJsr, 0, 4, kReturn, kAstore1, kRet, 1}, 49);
  EXPECT_EQ(refused_with(test), "m: has subroutines (jsr)");
}

TEST(Flows, RefusesAnEmptyFinalizer) {
  TestClass test = flow_method(
      "()V", [](ConstantPool&) { return RawCode{.max_locals = 1, .code = {kReturn}}; }, 52, "finalize", kAccPublic);
  EXPECT_THAT(refused_with(test), HasSubstr("finalize: empty"));
}

TEST(Flows, RefusesJumpsToHandlers) {
  // 0: nop; 1: aconst_null; goto 5; 5: athrow, the handler of 0 to 1
  TestClass test = flow_method(
      "()V",
      [](ConstantPool&) {
        return RawCode{
            .max_locals = 1, .code = {kNop, kAconstNull, kGoto, 0, 3, kAthrow}, .exceptions = {{0, 1, 5, 0}}};
      },
      49);
  EXPECT_EQ(refused_with(test), "m: a jump goes to where an exception handler begins");
}

TEST(Flows, RefusesWhatNamesNothing) {
  const auto instruction = [](uint8_t opcode) {
    return flow_method("(LTest;)V", [&](ConstantPool& pool) {
      const uint8_t object = static_cast<uint8_t>(pool.add_class("java/lang/Object"));
      return RawCode{.code = {kAload0, opcode, 0, object, kReturn}};
    });
  };
  TestClass field = instruction(kGetfield), method = instruction(kInvokevirtual);
  EXPECT_EQ(refused_with(field), "m: the access at pc 1 names no field");
  EXPECT_EQ(refused_with(method), "m: the call at pc 1 names no method");
}

TEST(Flows, RefusesStacksOfTwoDepths) {
  // 0: iconst_1; 1: iload_0; ifeq 0
  TestClass test = flow_method("(I)V", {kOpIconst1, kIload0, kIfeq, 0xFF, 0xFE, kReturn}, 49);
  EXPECT_EQ(refused_with(test), "m: the operand stack has two depths at one place");
}

TEST(Flows, RefusesMethodsWithoutALocalLeft) {
  TestClass test =
      flow_method("(I)I", [](ConstantPool&) { return RawCode{.max_locals = 65535, .code = {kIload0, kIreturn}}; });
  EXPECT_EQ(refused_with(test), "m: no local variable is left");
}

TEST(Flows, InsertedCodeIsLeftAlone) {
  TestClass test = flow_method("(LTest;)I", [](ConstantPool& pool) {
    return RawCode{.max_locals = 1, .code = {kAload0, kGetfield, 0, flow_field(pool, "I"), kIreturn}};
  });
  Code code = test.code();
  Sequence enter(test.file->pool());
  const Sequence::Label skip = enter.new_label();
  enter.getstatic("Test", "s", "I").ifeq(skip).aload(0).getfield("Test", "x", "I").pop().bind(skip);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {.entry = &enter}).ok());
  EXPECT_EQ(*propagate_taints(code, *test.file, probe_all()), 2u);
  EXPECT_EQ(*wrap_calls(code, *test.file, {.selects = [](const CallSite&) { return true; }, .build = {}}), 0u)
      << "the calls of the tracker are not the method's";
}

}  // namespace of_flows
}  // namespace
}  // namespace contrafact::classfile
