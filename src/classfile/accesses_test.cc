#include "classfile/accesses.h"

#include <gmock/gmock.h>

#include "classfile/instrument.h"
#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {

using testing::HasSubstr;

constexpr uint8_t kLload1 = 31, kAload1 = 43, kAload2 = 44, kIaload = 46, kLaload = 47, kFaload = 48, kDaload = 49;
constexpr uint8_t kBaload = 51, kCaload = 52, kSaload = 53, kIastore = 79, kLastore = 80, kFastore = 81, kDastore = 82;
constexpr uint8_t kAastore = 83, kBastore = 84, kCastore = 85, kSastore = 86, kIsub = 100, kI2b = 145, kIconst1 = 4;
constexpr uint8_t kIload1 = 27, kIload2 = 28, kFload1 = 35, kDload1 = 39, kFconst0 = 11, kDconst0 = 14, kLconst0 = 9;
constexpr uint8_t kFadd = 98;
constexpr uint32_t kNumber = 7;

AccessProbe probe_of_all(bool when_observed = false) {
  return {.observer = "O", .number = [](const FieldSite&) { return kNumber; }, .when_observed = when_observed};
}

// Makes the code with the pool of the class. The pool is small: every index is one byte.
using Build = std::function<RawCode(ConstantPool&)>;

TestClass method_of(std::string_view descriptor, const Build& build, uint16_t version = 52, std::string_view name = "m",
                    uint16_t access = kAccStatic) {
  return TestClass(version, [&](ClassFile& file) {
    const RawCode raw = build(file.pool());
    return class_with_method(file, raw, access, name, descriptor);
  });
}

uint8_t field_ref(ConstantPool& pool, std::string_view type, std::string_view name = "x") {
  return static_cast<uint8_t>(pool.add_member_ref(kTagFieldRef, "Test", name, type));
}

// The calls of the observer, each as name, descriptor and, in front of it, the number or flag that is pushed last.
std::string told(const TestClass& test) {
  const Code code = test.code();
  std::string text, pushed;
  for (const Node& node : code.nodes) {
    if (node.kind != Node::kPlain) continue;
    const Bytes bytes = code.bytes_of(node);
    if (node.opcode == kBipush) pushed = std::to_string(bytes[1]);
    if (node.opcode == kIconst0 || node.opcode == kIconst1) pushed = std::to_string(node.opcode - kIconst0);
    if (node.opcode == kLdcW) pushed = "adds ";
    if (node.opcode != kInvokestatic) continue;
    const auto callee = test.file->pool().member_ref(load_u2(&bytes[1]));
    if (callee && callee->owner == "O")
      text += pushed + std::string(callee->name) + std::string(callee->descriptor) + " ";
  }
  return text;
}

// Probes the one method, and yields the class that comes of it.
TestClass probed(TestClass& test, size_t expected, const AccessProbe& probe = probe_of_all()) {
  Code code = test.code();
  const auto count = probe_accesses(code, *test.file, probe);
  EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
  if (count) {
    EXPECT_EQ(*count, expected);
  }
  return rewritten(test, code);
}

// aload_0; getfield x; ireturn
RawCode get_field(ConstantPool& pool) {
  return {.max_stack = 1, .max_locals = 1, .code = {kAload0, kGetfield, 0, field_ref(pool, "I"), kIreturn}};
}

// aload_0; iload_1; putfield x; return
RawCode put_field(ConstantPool& pool) {
  return {.max_stack = 2, .max_locals = 2, .code = {kAload0, kIload1, kPutfield, 0, field_ref(pool, "I"), kReturn}};
}

TEST(ProbeAccesses, AFieldIsReadBehindTheObserver) {
  TestClass test = method_of("(LTest;)I", get_field);
  TestClass after = probed(test, 1);
  // dup; bipush 7; read
  EXPECT_EQ(listing(*after.file, after.code()), "0:42 1:89 2:16 4:184(read) 7:180 10:172");
  EXPECT_EQ(told(after), "7read(Ljava/lang/Object;I)V ");
  EXPECT_EQ(after.code().max_stack, 3u);
  EXPECT_EQ(after.code().max_locals, 1u);
}

TEST(ProbeAccesses, AFieldIsWrittenBehindTheObserverUnlessTheObjectIsNull) {
  TestClass test = method_of("(LTest;I)V", put_field);
  TestClass after = probed(test, 1);
  // istore 2; dup; ifnull; dup; dup; getfield x; iload 2; bipush 7; wrote; iload 2: the jump goes there
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:42 1:27 2:54 4:89 5:198>20 8:89 9:89 10:180 13:21 15:16 17:184(wrote) 20:21 22:181 25:177");
  EXPECT_EQ(told(after), "7wrote(Ljava/lang/Object;III)V ");
  EXPECT_EQ(after.code().max_stack, 5u);
  EXPECT_EQ(after.code().max_locals, 3u);
  using T = VerificationType;
  ASSERT_EQ(after.code().frames.size(), 1u);
  EXPECT_EQ(after.code().frames.begin()->second,
            (Frame{{T::object("Test"), T{T::kInteger}, T{T::kInteger}}, {T::object("Test")}}));
}

TEST(ProbeAccesses, ValuesOfTwoSlotsGetTwoScratchLocals) {
  TestClass test = method_of("(LTest;J)V", [](ConstantPool& pool) {
    return RawCode{
        .max_stack = 3, .max_locals = 3, .code = {kAload0, kLload1, kPutfield, 0, field_ref(pool, "J"), kReturn}};
  });
  TestClass after = probed(test, 1);
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:42 1:31 2:55 4:89 5:198>20 8:89 9:89 10:180 13:22 15:16 17:184(wrote) 20:22 22:181 25:177");
  EXPECT_EQ(told(after), "7wrote(Ljava/lang/Object;JJI)V ");
  EXPECT_EQ(after.code().max_stack, 7u);
  EXPECT_EQ(after.code().max_locals, 5u);
}

TEST(ProbeAccesses, WrittenFieldsAreToldOfAsTheObserverTakesThem) {
  struct Case {
    const char* type;
    const char* taken;
  };
  for (const auto& [type, taken] :
       {Case{"I", "I"}, Case{"Z", "I"}, Case{"B", "I"}, Case{"C", "I"}, Case{"S", "I"}, Case{"J", "J"}, Case{"F", "F"},
        Case{"D", "D"}, Case{"Ljava/lang/String;", "Ljava/lang/Object;"}, Case{"[I", "Ljava/lang/Object;"}}) {
    const TypeDescriptor value = *parse_field_descriptor(type);
    const uint8_t load = static_cast<uint8_t>(value.is_reference() ? kAload1
                                              : value.kind == 'J'  ? kLload1
                                              : value.kind == 'F'  ? kFload1
                                              : value.kind == 'D'  ? kDload1
                                                                   : kIload1);
    TestClass test = method_of("(LTest;" + std::string(type) + ")V", [&](ConstantPool& pool) {
      return RawCode{.code = {kAload0, load, kPutfield, 0, field_ref(pool, type), kReturn}};
    });
    EXPECT_EQ(told(probed(test, 1)), "7wrote(Ljava/lang/Object;" + std::string(taken) + taken + "I)V ") << type;
  }
}

TEST(ProbeAccesses, StaticFields) {
  TestClass test = method_of("()V", [](ConstantPool& pool) {
    const uint8_t field = field_ref(pool, "D");
    return RawCode{.max_stack = 2, .max_locals = 0, .code = {kGetstatic, 0, field, kPutstatic, 0, field, kReturn}};
  });
  TestClass after = probed(test, 2);
  // bipush 7; readStatic; getstatic; dstore 0; getstatic; dload 0; bipush 7; wroteStatic; dload 0; putstatic
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:16 2:184(readStatic) 5:178 8:57 10:178 13:24 15:16 17:184(wroteStatic) 20:24 22:179 25:177");
  EXPECT_EQ(told(after), "7readStatic(I)V 7wroteStatic(DDI)V ");
  EXPECT_EQ(after.code().max_stack, 5u);
  EXPECT_EQ(after.code().max_locals, 2u);
  EXPECT_TRUE(after.code().frames.empty());
}

TEST(ProbeAccesses, TheProbeIsAskedAboutEachAccessOfAField) {
  TestClass test = method_of("(LTest;)V", [](ConstantPool& pool) {
    const uint8_t x = field_ref(pool, "I"), s = field_ref(pool, "I", "s");
    return RawCode{
        .code = {kAload0, kGetstatic, 0, s, kPutfield, 0, x, kAload0, kGetfield, 0, x, kPutstatic, 0, s, kReturn}};
  });
  std::string asked;
  AccessProbe probe = probe_of_all();
  probe.number = [&](const FieldSite& site) {
    asked += std::string(site.owner) + "." + std::string(site.name) + (site.is_static ? " static" : "") +
             (site.is_write ? " write, " : " read, ");
    return 0u;
  };
  probed(test, 0, probe);
  EXPECT_EQ(asked, "Test.s static read, Test.x write, Test.x read, Test.s static write, ");
}

TEST(ProbeAccesses, NumberZeroLeavesTheAccessAlone) {
  TestClass test = method_of("(LTest;I)V", put_field);
  Code code = test.code();
  AccessProbe probe = probe_of_all();
  probe.number = [](const FieldSite&) { return 0u; };
  EXPECT_EQ(*probe_accesses(code, *test.file, probe), 0u);
  EXPECT_EQ(listing(*test.file, code), "0:42 1:27 2:181 5:177");
  EXPECT_EQ(code.max_stack, 2u);
  EXPECT_EQ(code.max_locals, 2u);
  EXPECT_FALSE(test.file->pool().grown());
}

TEST(ProbeAccesses, NumbersUpToTheFlag) {
  TestClass test = method_of("(LTest;)I", get_field);
  AccessProbe probe = probe_of_all();
  probe.number = [](const FieldSite&) { return AccessProbe::kAdds - 1; };
  TestClass after = probed(test, 1, probe);
  EXPECT_EQ(listing(*after.file, after.code()), "0:42 1:89 2:19 5:184(read) 8:180 11:172");
}

// ---- elements of arrays

struct ElementCase {
  uint8_t load, store, zero;
  const char* array;    // its type
  const char* element;  // its kind
  const char* storing;  // the descriptor of what the observer is told
};
constexpr ElementCase kElementCases[] = {
    {kIaload, kIastore, kIconst0, "[I", "I", "([IIII)V"},
    {kLaload, kLastore, kLconst0, "[J", "J", "([JIJI)V"},
    {kFaload, kFastore, kFconst0, "[F", "F", "([FIFI)V"},
    {kDaload, kDastore, kDconst0, "[D", "D", "([DIDI)V"},
    {kAaload, kAastore, kAconstNull, "[Ljava/lang/String;", "Ljava/lang/String;",
     "([Ljava/lang/Object;ILjava/lang/Object;I)V"},
    {kBaload, kBastore, kIconst0, "[B", "B", "(Ljava/lang/Object;III)V"},
    {kBaload, kBastore, kIconst0, "[Z", "Z", "(Ljava/lang/Object;III)V"},
    {kCaload, kCastore, kIconst0, "[C", "C", "([CIII)V"},
    {kSaload, kSastore, kIconst0, "[S", "S", "([SIII)V"},
};

TEST(ProbeAccesses, ElementsOfEachKindAreRead) {
  for (const ElementCase& of : kElementCases) {
    const TypeDescriptor element = *parse_field_descriptor(of.element);
    const uint8_t drop = element.slots() == 2 ? kPop2 : kPop;
    TestClass test = method_of("(" + std::string(of.array) + "I)V", [&](ConstantPool&) {
      return RawCode{.max_stack = 2, .max_locals = 2, .code = {kAload0, kIload1, of.load, drop, kReturn}};
    });
    TestClass after = probed(test, 1);
    EXPECT_EQ(listing(*after.file, after.code()), "0:42 1:27 2:92 3:184(readElement) 6:" + std::to_string(of.load) +
                                                      " 7:" + std::to_string(drop) + " 8:177");
    EXPECT_EQ(told(after), "readElement(Ljava/lang/Object;I)V ");
    EXPECT_EQ(after.code().max_stack, 4u);
    EXPECT_EQ(after.code().max_locals, 2u);
  }
}

TEST(ProbeAccesses, ElementsOfEachKindAreStored) {
  for (const ElementCase& of : kElementCases) {
    const auto slots = static_cast<uint32_t>(parse_field_descriptor(of.element)->slots());
    TestClass test = method_of("(" + std::string(of.array) + "I)V", [&](ConstantPool&) {
      return RawCode{.max_stack = static_cast<uint16_t>(2 + slots),
                     .max_locals = 2,
                     .code = {kAload0, kIload1, of.zero, of.store, kReturn}};
    });
    TestClass after = probed(test, 1);
    EXPECT_EQ(told(after), "0storing" + std::string(of.storing) + " ");
    EXPECT_EQ(after.code().max_stack, 5u + slots);  // the array and its index twice, the value, the flag
    EXPECT_EQ(after.code().max_locals, 2u + slots);
    // store 2; dup2; load 2; iconst_0; storing; load 2
    const Code code = after.code();
    EXPECT_THAT(listing(*after.file, code),
                testing::ContainsRegex("3:5[4-8] 5:92 6:2[1-5] 8:3 9:184.storing. 12:2[1-5] 14:"));
    EXPECT_TRUE(code.frames.empty());
  }
}

TEST(ProbeAccesses, ArraysAreToldOfWhenTheyAreMade) {
  TestClass test = method_of("()V", [](ConstantPool& pool) {
    const uint8_t object = static_cast<uint8_t>(pool.add_class("java/lang/Object"));
    const uint8_t matrix = static_cast<uint8_t>(pool.add_class("[[I"));
    return RawCode{
        .max_stack = 2,
        .max_locals = 0,
        .code = {kIconst0,        kNewarray, 10,     kPop, kIconst0, kAnewarray, 0, object, kPop, kIconst0, kIconst0,
                 kMultianewarray, 0,         matrix, 2,    kPop,     kNew,       0, object, kPop, kReturn}};
  });
  TestClass after = probed(test, 3);
  EXPECT_EQ(listing(*after.file, after.code()),
            "0:3 1:188 3:89 4:184(made) 7:87 8:3 9:189 12:89 13:184(made) 16:87 17:3 18:3 19:197 23:89 24:184(made) "
            "27:87 28:187 31:87 32:177");
  EXPECT_EQ(after.code().max_stack, 3u);
}

// ---- `x += n`

// aload_0; dup; getfield x; `middle`; putfield `written`; return
TestClass field_update(const std::vector<uint8_t>& middle, std::string_view type = "I",
                       std::string_view written = "x") {
  return method_of("(LTest;" + std::string(type) + ")V", [&](ConstantPool& pool) {
    RawCode raw{.max_stack = 7, .max_locals = 4, .code = {kAload0, kDup, kGetfield, 0, field_ref(pool, type)}};
    raw.code.insert(raw.code.end(), middle.begin(), middle.end());
    raw.code.insert(raw.code.end(), {kPutfield, 0, field_ref(pool, type, written), kReturn});
    return raw;
  });
}

TEST(Additions, OfAFieldAreToldOfAsOneWrite) {
  const std::vector<uint8_t> updates[] = {{kIconst1, kIadd},   {kIconst1, kIsub},           {kIload1, kIadd},
                                          {kIload, 1, kIsub},  {kBipush, 9, kIadd},         {kSipush, 1, 1, kIadd},
                                          {2 /* -1 */, kIadd}, {kWide, kIload, 0, 1, kIadd}};
  for (const auto& update : updates) {
    TestClass test = field_update(update);
    EXPECT_EQ(told(probed(test, 1)), "adds wrote(Ljava/lang/Object;III)V ");
  }
  TestClass test = field_update({kIconst1, kIadd});
  TestClass after = probed(test, 1);
  // The read has nothing before it; ldc_w: the number with the flag.
  EXPECT_EQ(
      listing(*after.file, after.code()),
      "0:42 1:89 2:180 5:4 6:96 7:54 9:89 10:198>26 13:89 14:89 15:180 18:21 20:19 23:184(wrote) 26:21 28:181 31:177");
  const Code code = after.code();
  for (const Node& node : code.nodes) {
    if (node.opcode != kLdcW) continue;
    ConstantPool& pool = after.file->pool();
    EXPECT_EQ(load_u2(&code.bytes_of(node)[1]), pool.add_integer(static_cast<int32_t>(AccessProbe::kAdds | kNumber)));
    EXPECT_FALSE(pool.grown());
  }
}

TEST(Additions, OfALongField) {
  TestClass test = field_update({kLload1, kLadd}, "J");
  EXPECT_EQ(told(probed(test, 1)), "adds wrote(Ljava/lang/Object;JJI)V ");
  TestClass subtracted = field_update({10 /* lconst_1 */, kLsub}, "J");
  EXPECT_EQ(told(probed(subtracted, 1)), "adds wrote(Ljava/lang/Object;JJI)V ");
}

constexpr const char* kReadAndWrite = "7read(Ljava/lang/Object;I)V 7wrote(Ljava/lang/Object;III)V ";

TEST(Additions, NotIfTheOldOrTheNewValueIsUsedElsewhere) {
  // y = x++: aload_0; dup; getfield; dup_x1; iconst_1; iadd; putfield; istore_2
  TestClass old_value = field_update({kDupX1, kIconst1, kIadd});
  EXPECT_EQ(told(probed(old_value, 2)), kReadAndWrite);
  TestClass new_value = field_update({kIconst1, kIadd, kDupX1});
  EXPECT_EQ(told(probed(new_value, 2)), kReadAndWrite);
}

TEST(Additions, NotIfTheValueIsMoreThanASumOrComesFromElsewhere) {
  TestClass narrowed = field_update({kIconst1, kIadd, kI2b}, "B");
  EXPECT_EQ(told(probed(narrowed, 2)), kReadAndWrite);
  TestClass multiplied = field_update({kIconst1, 104 /* imul */});
  EXPECT_EQ(told(probed(multiplied, 2)), kReadAndWrite);
  TestClass loaded = field_update({kAload2, kIconst1, kIaload, kIadd});  // of an array in local 2
  Code code = loaded.code();
  code.entry.locals.resize(2);
  set_local(code.entry.locals, 2, VerificationType::object("[I"));
  EXPECT_EQ(*probe_accesses(code, *loaded.file, probe_of_all()), 3u);
  TestClass floats = field_update({kFconst0, kFadd}, "F");  // the sum depends on the order
  EXPECT_EQ(told(probed(floats, 2)), "7read(Ljava/lang/Object;I)V 7wrote(Ljava/lang/Object;FFI)V ");
}

TEST(Additions, NotIfAnotherFieldIsWritten) {
  TestClass test = field_update({kIconst1, kIadd}, "I", "y");
  EXPECT_EQ(told(probed(test, 2)), kReadAndWrite);
}

TEST(Additions, NotIfTheObjectIsNotTheSame) {
  // aload_0; aload_1; getfield x; iconst_1; iadd; putfield x: without dup
  TestClass test = method_of("(LTest;LTest;)V", [](ConstantPool& pool) {
    const uint8_t x = field_ref(pool, "I");
    return RawCode{.code = {kAload0, kAload1, kGetfield, 0, x, kIconst1, kIadd, kPutfield, 0, x, kReturn}};
  });
  EXPECT_EQ(told(probed(test, 2)), kReadAndWrite);
}

// `x += 1` where a branch that is never taken enters before the instruction of the given number: 0 is the getfield.
TestClass entered_update(size_t at) {
  return method_of(
      "(LTest;)V",
      [at](ConstantPool& pool) {
        const uint8_t x = field_ref(pool, "I");
        // 0: aload_0; 1: dup; 2: getfield; 5: iconst_1; 6: iadd; 7: putfield; 10: return; 11: goto
        const uint8_t targets[] = {2, 5, 6, 7};
        const uint8_t back = static_cast<uint8_t>(targets[at] - 11);
        return RawCode{
            .max_stack = 3,
            .max_locals = 1,
            .code = {kAload0, kDup, kGetfield, 0, x, kIconst1, kIadd, kPutfield, 0, x, kReturn, kGoto, 0xFF, back}};
      },
      49);
}

TEST(Additions, NotIfAJumpEntersInBetween) {
  for (size_t at = 0; at < 4; at++) {
    TestClass test = entered_update(at);
    EXPECT_EQ(told(probed(test, 2)), kReadAndWrite) << at;
  }
}

TEST(Additions, OfAStaticField) {
  const auto update = [](std::string_view written, uint8_t push) {
    return method_of("(I)V", [&](ConstantPool& pool) {
      return RawCode{.max_stack = 2,
                     .max_locals = 1,
                     .code = {kGetstatic, 0, field_ref(pool, "I"), push, kIadd, kPutstatic, 0,
                              field_ref(pool, "I", written), kReturn}};
    });
  };
  TestClass test = update("x", kIload0);
  EXPECT_EQ(told(probed(test, 1)), "adds wroteStatic(III)V ");
  TestClass other = update("y", kIload0);
  EXPECT_EQ(told(probed(other, 2)), "7readStatic(I)V 7wroteStatic(III)V ");
}

TEST(Additions, OfElements) {
  struct Case {
    const char* array;
    uint8_t load, push, add, store;
    const char* storing;
  };
  for (const Case& of : {Case{"[I", kIaload, kIload1, kIsub, kIastore, "1storing([IIII)V "},
                         Case{"[J", kLaload, kLconst0, kLadd, kLastore, "1storing([JIJI)V "}}) {
    TestClass test = method_of("(" + std::string(of.array) + "I)V", [&](ConstantPool&) {
      return RawCode{.max_stack = 6,
                     .max_locals = 2,
                     .code = {kAload0, kIload1, kDup2, of.load, of.push, of.add, of.store, kReturn}};
    });
    EXPECT_EQ(told(probed(test, 1)), of.storing);
  }
}

TEST(Additions, NotOfElementsOfTwoArrays) {
  TestClass test = method_of("([II)V", [](ConstantPool&) {
    return RawCode{.max_stack = 5,
                   .max_locals = 2,
                   .code = {kAload0, kIload1, kAload0, kIload1, kIaload, kIconst1, kIadd, kIastore, kReturn}};
  });
  EXPECT_THAT(told(probed(test, 2)), HasSubstr("0storing([IIII)V"));
}

TEST(Additions, TheReadIsToldOfIfTheWriteIsNot) {
  TestClass test = field_update({kIconst1, kIadd});
  AccessProbe probe = probe_of_all();
  probe.number = [](const FieldSite& site) { return site.is_write ? 0 : kNumber; };
  EXPECT_EQ(told(probed(test, 1, probe)), "7read(Ljava/lang/Object;I)V ");
}

// ---- where

TEST(ProbeAccesses, AGuardPassesOverTheCallsWhileNobodyIsObserved) {
  TestClass read = method_of("(LTest;)I", get_field);
  TestClass after_read = probed(read, 1, probe_of_all(true));
  EXPECT_EQ(listing(*after_read.file, after_read.code()), "0:42 1:178 4:153>13 7:89 8:16 10:184(read) 13:180 16:172");
  EXPECT_EQ(after_read.code().frames.size(), 1u);

  TestClass write = method_of("(LTest;I)V", put_field);
  TestClass after_write = probed(write, 1, probe_of_all(true));
  // The value is stored and loaded again on both ways.
  EXPECT_EQ(
      listing(*after_write.file, after_write.code()),
      "0:42 1:27 2:54 4:178 7:153>26 10:89 11:198>26 14:89 15:89 16:180 19:21 21:16 23:184(wrote) 26:21 28:181 31:177");
  EXPECT_EQ(after_write.code().frames.size(), 1u) << "both jumps go to one place";

  TestClass element = method_of("([II)V", [](ConstantPool&) {
    return RawCode{.max_stack = 3, .max_locals = 2, .code = {kAload0, kIload1, kIconst0, kIastore, kReturn}};
  });
  TestClass after_element = probed(element, 1, probe_of_all(true));
  EXPECT_EQ(listing(*after_element.file, after_element.code()),
            "0:42 1:27 2:3 3:54 5:178 8:153>18 11:92 12:21 14:3 15:184(storing) 18:21 20:79 21:177");
}

TEST(ProbeAccesses, ClassesWithoutFramesGetNone) {
  TestClass test = method_of("(LTest;I)V", put_field, 49);
  TestClass after = probed(test, 1, probe_of_all(true));
  EXPECT_THAT(listing(*after.file, after.code()), HasSubstr("198>26"));
  EXPECT_TRUE(after.code().frames.empty());
  EXPECT_TRUE(after.code().attributes.empty());
}

TEST(ProbeAccesses, FramesNameObjectsThatAreNotInitializedYet) {
  // new; dup; aload_0; iload_1; putfield x; pop; pop: the two are on the stack where the inserted jump goes to
  TestClass test = method_of("(LTest;I)V", [](ConstantPool& pool) {
    const uint8_t object = static_cast<uint8_t>(pool.add_class("java/lang/Object"));
    return RawCode{
        .max_stack = 4,
        .max_locals = 2,
        .code = {kNew, 0, object, kDup, kAload0, kIload1, kPutfield, 0, field_ref(pool, "I"), kPop, kPop, kReturn}};
  });
  TestClass after = probed(test, 1);
  const Code code = after.code();
  ASSERT_EQ(code.frames.size(), 1u);
  const Frame& frame = code.frames.begin()->second;
  ASSERT_EQ(frame.stack.size(), 3u);
  EXPECT_EQ(frame.stack[0].tag, VerificationType::kUninitialized);
  EXPECT_EQ(frame.stack[1], frame.stack[0]);
  EXPECT_EQ(frame.stack[2], VerificationType::object("Test"));
}

TEST(ProbeAccesses, OfConstructorsTheWritesOfThisAreLeftAloneUpToTheCallOfAnother) {
  // aload_0; iload_1; putfield x; getstatic s; pop; aload_0; Object.<init>; aload_0; iload_1; putfield x; return
  const Build build = [](ConstantPool& pool) {
    const uint8_t x = field_ref(pool, "I"), s = field_ref(pool, "I", "s");
    const uint8_t init = static_cast<uint8_t>(pool.add_member_ref(kTagMethodRef, "java/lang/Object", "<init>", "()V"));
    return RawCode{.max_stack = 2,
                   .max_locals = 2,
                   .code = {kAload0, kIload1, kPutfield, 0, x, kGetstatic, 0, s, kPop, kAload0, kInvokespecial, 0, init,
                            kAload0, kIload1, kPutfield, 0, x, kReturn}};
  };
  TestClass test = method_of("(I)V", build, 52, "<init>", kAccPublic);
  TestClass after = probed(test, 2);
  EXPECT_EQ(told(after), "7readStatic(I)V 7wrote(Ljava/lang/Object;III)V ");
  EXPECT_THAT(listing(*after.file, after.code()),
              testing::StartsWith("0:42 1:27 2:181 5:16 7:184(readStatic) 10:178 13:87 14:42 15:183(<init>) 18:42 "
                                  "19:27 20:54 22:89 23:198>38 "));
}

TEST(ProbeAccesses, OfConstructorsOtherObjectsAreToldOfBeforeTheCallOfAnother) {
  // aload_1; iload_2; putfield x; aload_0; Object.<init>; return
  const Build build = [](ConstantPool& pool) {
    const uint8_t x = field_ref(pool, "I");
    const uint8_t init = static_cast<uint8_t>(pool.add_member_ref(kTagMethodRef, "java/lang/Object", "<init>", "()V"));
    return RawCode{.max_stack = 2,
                   .max_locals = 3,
                   .code = {kAload1, kIload1 + 1, kPutfield, 0, x, kAload0, kInvokespecial, 0, init, kReturn}};
  };
  TestClass test = method_of("(LTest;I)V", build, 52, "<init>", kAccPublic);
  EXPECT_EQ(told(probed(test, 1)), "7wrote(Ljava/lang/Object;III)V ");
}

TEST(ProbeAccesses, RefusesConstructorsThatCallTwoOthers) {
  const Build build = [](ConstantPool& pool) {
    const uint8_t init = static_cast<uint8_t>(pool.add_member_ref(kTagMethodRef, "java/lang/Object", "<init>", "()V"));
    return RawCode{.max_stack = 1,
                   .max_locals = 2,
                   .code = {kIload1, kIfeq, 0, 8, kAload0, kInvokespecial, 0, init, kReturn, kAload0, kInvokespecial, 0,
                            init, kReturn}};
  };
  TestClass test = method_of("(I)V", build, 49, "<init>", kAccPublic);
  Code code = test.code();
  EXPECT_THAT(probe_accesses(code, *test.file, probe_of_all()).error().message,
              HasSubstr("<init>: constructor with 2 reachable calls"));
}

TEST(ProbeAccesses, InsertedCodeIsLeftAlone) {
  TestClass test = method_of("(LTest;)I", get_field);
  Code code = test.code();
  Sequence enter(test.file->pool());
  enter.getstatic("Test", "s", "I").putstatic("Test", "s", "I").aload(0).getfield("Test", "x", "I").pop();
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {.entry = &enter}).ok());
  EXPECT_EQ(*probe_accesses(code, *test.file, probe_of_all()), 1u);
  EXPECT_EQ(*probe_accesses(code, *test.file, probe_of_all()), 1u)
      << "the method's own read once more, not what the first added";
  TestClass after = rewritten(test, code);
  EXPECT_EQ(told(after), "7read(Ljava/lang/Object;I)V 7read(Ljava/lang/Object;I)V ");
}

TEST(ProbeAccesses, JumpsToAnAccessRunTheObserverToo) {
  // 0: aload_0; 1: iload_1; 2: ifne 5; 5: getfield; ireturn: the jump enters with the object on the stack
  TestClass test = method_of(
      "(LTest;I)I",
      [](ConstantPool& pool) {
        return RawCode{.max_stack = 2,
                       .max_locals = 2,
                       .code = {kAload0, kIload1, kIfne, 0, 3, kGetfield, 0, field_ref(pool, "I"), kIreturn}};
      },
      49);
  TestClass after = probed(test, 1);
  EXPECT_EQ(listing(*after.file, after.code()), "0:42 1:27 2:154>5 5:89 6:16 8:184(read) 11:180 14:172");
}

TEST(ProbeAccesses, RefusesMethodsWithoutALocalLeft) {
  TestClass test = method_of("(LTest;I)V", [](ConstantPool& pool) {
    RawCode raw = put_field(pool);
    raw.max_locals = 65535;
    return raw;
  });
  Code code = test.code();
  EXPECT_THAT(probe_accesses(code, *test.file, probe_of_all()).error().message,
              HasSubstr("m: no local variable is left"));
}

TEST(ProbeAccesses, RefusesWhatNamesNoField) {
  TestClass test = method_of("(LTest;)I", [](ConstantPool& pool) {
    const uint8_t object = static_cast<uint8_t>(pool.add_class("java/lang/Object"));
    return RawCode{.code = {kAload0, kGetfield, 0, object, kIreturn}};
  });
  Code code = test.code();
  EXPECT_THAT(probe_accesses(code, *test.file, probe_of_all()).error().message,
              HasSubstr("m: the access at pc 1 names no field"));
}

}  // namespace
}  // namespace contrafact::classfile
