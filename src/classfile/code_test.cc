#include "classfile/code.h"

#include <gmock/gmock.h>

#include "classfile/instrument.h"
#include "classfile/sequence.h"
#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {

using testing::HasSubstr;

std::string parse_error(const RawCode& raw) {
  const TestClass test(raw);
  const auto code = Code::parse(*test.file, test.method());
  return code.ok() ? "parsed" : code.error().message;
}

TEST(Code, SaysWhatIsMalformed) {
  EXPECT_THAT(parse_error({.code = {}}), HasSubstr("empty"));
  EXPECT_THAT(parse_error({.code = {kNop, 203}}), HasSubstr("instruction 203 at pc 1"));
  EXPECT_THAT(parse_error({.code = {kGoto, 0}}), HasSubstr("malformed instruction 167 at pc 0"));
  EXPECT_THAT(parse_error({.code = {kGoto, 0, 1}}), HasSubstr("no instruction at pc 0"));
  EXPECT_THAT(parse_error({.code = {kGoto, 0, 3}}), HasSubstr("no instruction at pc 0"));
  EXPECT_THAT(parse_error({.code = {kReturn}, .exceptions = {{0, 0, 0, 0}}}), HasSubstr("entry 0 is malformed"));
  EXPECT_THAT(parse_error({.code = {kReturn}, .exceptions = {{0, 1, 0, 9999}}}), HasSubstr("entry 0 is malformed"));
  EXPECT_THAT(parse_error({.code = {kReturn}, .attributes = {{"StackMapTable", {0, 1, 5}}}}),
              HasSubstr("no instruction"));
  EXPECT_THAT(parse_error({.code = {kReturn}, .attributes = {{"StackMapTable", {0, 1, 200}}}}),
              HasSubstr("unknown type 200"));
  EXPECT_THAT(parse_error({.code = {kReturn}, .attributes = {{"LineNumberTable", {0, 1}}}}),
              HasSubstr("LineNumberTable"));
}

TEST(Code, RefusesMethodsWithoutCode) {
  const std::vector<uint8_t> bytes = empty_class(52);
  auto file = ClassFile::parse(bytes);
  ASSERT_TRUE(file->add_method(kAccNative, "n", "()V", {}).ok());
  const std::vector<uint8_t> written = file->write();
  auto again = ClassFile::parse(written);
  EXPECT_THAT(Code::parse(*again, again->methods()[0]).error().message,
              HasSubstr("n()V: no code (abstract or native)"));
}

TEST(Code, KeepsTablesWhenNothingIsInserted) {
  // tableswitch at pc 1 (padding 2), lookupswitch at pc 24 (padding 3), lines, locals.
  RawCode raw;
  raw.code = {kIconst0,
              kTableswitch,
              0,
              0,
              0,
              0,
              0,
              23,
              0,
              0,
              0,
              5,
              0,
              0,
              0,
              5,
              0,
              0,
              0,
              22,  // 0..19
              kNop,
              kNop,
              kNop,
              kIconst0,
              kLookupswitch,
              0,
              0,
              0,
              0,
              0,
              0,
              20,
              0,
              0,
              0,
              1,
              0xFF,
              0xFF,
              0xFF,
              0xFE,
              0,
              0,
              0,
              20,
              kReturn};
  raw.attributes = {{"LineNumberTable", {0, 1, 0, 23, 0, 7}},
                    {"LocalVariableTable", {0, 1, 0, 0, 0, 45, 0, 1, 0, 1, 0, 0}},
                    {"Unknown", {1, 2, 3}}};
  TestClass test(raw, 49);
  Code code = test.code();
  EXPECT_EQ(listing(*test.file, code), "0:3 1:170>23 default>24 20:0 21:0 22:0 23:3 24:171>44 default>44 44:177");
  const auto encoded = code.encode(test.file->pool());
  ASSERT_TRUE(encoded.ok());
  EXPECT_TRUE(std::equal(encoded->begin(), encoded->end(), test.method().code.begin(), test.method().code.end()));
}

TEST(Code, DropsWhatItCannotRelocateAndCountsIt) {
  const TestClass test(RawCode{
      .code = {kSipush, 0, 0, kPop, kReturn},
      .attributes = {{"RuntimeVisibleTypeAnnotations", {0, 0}}, {"LineNumberTable", {0, 2, 0, 1, 0, 9, 0, 3, 0, 10}}}});
  const Code code = test.code();
  EXPECT_EQ(code.notes.attributes_dropped, 1u);
  EXPECT_EQ(code.notes.debug_entries_dropped, 1u);
}

TEST(Code, MovesSwitchesLinesLocalsAndFrames) {
  RawCode raw;
  raw.code = {kIconst0, kLookupswitch, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, kReturn, kReturn};
  raw.code[7] = 12;  // default: pc 13
  raw.attributes = {{"LineNumberTable", {0, 1, 0, 13, 0, 7}}, {"StackMapTable", {0, 2, 12, 0}}};
  raw.code[12] = kReturn;
  TestClass test(raw);
  Code code = test.code();
  Sequence enter(test.file->pool());
  enter.op(kNop).op(kNop);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {.entry = &enter}).ok());
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  EXPECT_EQ(listing(*after.file, moved), "0:0 1:0 2:3 3:171 default>13 12:177 13:177");
  EXPECT_EQ(after.file->line_of(after.method(), 13), 7);
  EXPECT_EQ(after.file->line_of(after.method(), 12), std::nullopt);
  EXPECT_EQ(moved.frames.size(), 2u);
}

// nops enough that a branch over them needs more than 16 bits once something is inserted.
std::vector<uint8_t> branch_over(uint8_t opcode, size_t nops) {
  std::vector<uint8_t> code;
  if (opcode != kGoto) code.push_back(kIconst0);
  const size_t distance = 3 + nops;
  code.insert(code.end(), {opcode, static_cast<uint8_t>(distance >> 8), static_cast<uint8_t>(distance)});
  code.insert(code.end(), nops - 1, kNop);
  code.push_back(kReturn);
  code.push_back(kReturn);
  return code;
}

// With frames at the branch's target and, for goto, behind the goto.
RawCode far_branch(uint8_t opcode) {
  constexpr size_t kNops = 32767 - 3;
  RawCode raw{.code = branch_over(opcode, kNops)};
  const size_t end = raw.code.size() - 1;
  ByteWriter frames;
  frames.u2(opcode == kGoto ? 2 : 1);
  if (opcode == kGoto) frames.u1(3);
  frames.u1(251);
  frames.u2(static_cast<uint32_t>(opcode == kGoto ? end - 4 : end));
  raw.attributes = {{"StackMapTable", frames.release()}};
  return raw;
}

TEST(Code, WidensGoto) {
  TestClass test(far_branch(kGoto));
  Code code = test.code();
  Sequence leave(test.file->pool());
  leave.op(kNop);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {.exit = &leave}).ok());
  TestClass after = rewritten(test, code);
  EXPECT_EQ(code.notes.branches_widened, 1u);
  const Code moved = after.code();
  EXPECT_EQ(moved.nodes[0].opcode, kGotoW);
  EXPECT_EQ(moved.frames.size(), 2u);
  EXPECT_THAT(listing(*after.file, moved), testing::StartsWith("0:200>32770 5:0 "));
  EXPECT_THAT(listing(*after.file, moved), testing::EndsWith("32768:0 32769:177 32770:0 32771:177"));
}

TEST(Code, WidensConditionalBranchesWithAFrame) {
  TestClass test(far_branch(kIfeq));
  Code code = test.code();
  Sequence leave(test.file->pool());
  leave.op(kNop);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {.exit = &leave}).ok());
  TestClass after = rewritten(test, code);
  const Code moved = after.code();
  // iconst_0; ifne 9; goto_w end; 9: nop ...
  EXPECT_THAT(listing(*after.file, moved), testing::StartsWith("0:3 1:154>9 4:200>32774 9:0 "));
  EXPECT_EQ(moved.frames.size(), 2u) << "one more, behind the goto_w";
}

TEST(Code, LeavesBranchesThatFit) {
  TestClass test(far_branch(kGoto));
  Code code = test.code();
  ASSERT_TRUE(code.encode(test.file->pool()).ok());
  EXPECT_EQ(code.notes.branches_widened, 0u);
}

TEST(Code, RefusesToExceed65535Bytes) {
  RawCode raw;
  raw.code.assign(65534, kNop);
  raw.code.push_back(kReturn);
  TestClass test(raw);
  Code code = test.code();
  EXPECT_TRUE(code.encode(test.file->pool()).ok());
  Sequence enter(test.file->pool());
  enter.op(kNop);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {.entry = &enter}).ok());
  EXPECT_THAT(code.encode(test.file->pool()).error().message, HasSubstr("longer than the 65535 bytes"));
}

TEST(Code, MovesSubroutinesOfOldClasses) {
  // jsr 4; return; 4: astore_0; ret 0
  TestClass test(RawCode{.code = {kJsr, 0, 4, kReturn, 75, kRet, 0}}, 48);
  Code code = test.code();
  EXPECT_TRUE(code.has_jsr);
  EXPECT_FALSE(code.has_frames);
  Sequence enter(test.file->pool());
  enter.op(kNop);
  ASSERT_TRUE(instrument_entry_exit(code, *test.file, {.entry = &enter, .exit = &enter, .exception = &enter}).ok());
  TestClass after = rewritten(test, code);
  EXPECT_EQ(listing(*after.file, after.code()), "0:0 1:168>6 4:0 5:177 6:75 7:169 9:0 10:191");
  EXPECT_EQ(exceptions(after.method()), "[1,4)->9 [6,9)->9 ");
}

TEST(Frames, EveryFormSurvives) {
  const std::vector<uint8_t> bytes = empty_class(52);
  auto file = ClassFile::parse(bytes);
  ConstantPool& pool = file->pool();
  const auto method = parse_method_descriptor("(JI)V");
  const Frame entry = entry_frame("Test", false, false, *method);
  using T = VerificationType;
  const T second{T::kSecondHalf};
  EXPECT_EQ(entry.locals, (std::vector<T>{T::object("Test"), T{T::kLong}, second, T{T::kInteger}}));
  std::vector<FrameAt> frames;
  Frame frame = entry;
  frames.push_back({5, frame});  // same
  frame.stack = {T::object("A")};
  frames.push_back({6, frame});    // same_locals_1_stack_item
  frames.push_back({200, frame});  // the same, extended
  frame.stack.clear();
  frame.locals.insert(frame.locals.end(), {T{T::kDouble}, second, T{T::kNull}});
  frames.push_back({201, frame});  // append
  frames.push_back({400, frame});  // same_frame_extended
  frame.locals.resize(1);
  frames.push_back({401, frame});  // full: four entries fewer
  frame.locals = {};
  frames.push_back({402, frame});  // chop
  frame.locals = {T(), T{T::kUninitialized, 0, LabelId(9)}, T{T::kUninitializedThis}, T{T::kFloat}};
  frame.stack = {T{T::kLong}, second};
  frames.push_back({410, frame});  // full
  const auto encoded = write_frames(frames, entry, pool, [](LabelId site) { return site.value + 1; });
  ASSERT_TRUE(encoded.ok());
  const auto decoded = read_frames(*encoded, pool, entry, 2, 10, [](uint32_t pc) { return LabelId(pc - 1); });
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  ASSERT_EQ(decoded->size(), frames.size());
  for (size_t i = 0; i < frames.size(); i++) {
    EXPECT_EQ((*decoded)[i].pc, frames[i].pc);
    EXPECT_EQ((*decoded)[i].frame, frames[i].frame) << i;
  }
  EXPECT_FALSE(read_frames(*encoded, pool, entry, 1, 10, [](uint32_t pc) { return LabelId(pc); }).ok()) << "max_stack";
  EXPECT_FALSE(read_frames(*encoded, pool, entry, 2, 6, [](uint32_t pc) { return LabelId(pc); }).ok()) << "max_locals";
  // same: 1 byte; same_locals_1: 1+3; extended: 3+3; append: 3+2; same extended: 3; full: 3+2+3+2; chop: 3; full:
  // 3+2+6+2+1
  EXPECT_EQ(encoded->size(), 2u + 1 + 4 + 6 + 5 + 3 + 10 + 3 + 14);
}

TEST(Frames, SettingALocalDestroysHalvesOfLongs) {
  using T = VerificationType;
  std::vector<T> locals;
  set_local(locals, 1, T{T::kLong});
  ASSERT_EQ(locals.size(), 3u);
  set_local(locals, 2, T{T::kInteger});
  EXPECT_EQ(locals[1].tag, T::kTop);
  set_local(locals, 1, T{T::kLong});
  set_local(locals, 0, T{T::kDouble});
  EXPECT_EQ(locals[2].tag, T::kTop);
}

TEST(Bytecode, KnowsLengthsAndInverses) {
  const std::vector<uint8_t> wide_iinc = {kWide, kIinc, 0, 1, 0, 1};
  EXPECT_EQ(instruction_bytes(wide_iinc, 0), 6u);
  EXPECT_EQ(instruction_bytes(Bytes(wide_iinc).first(5), 0), std::nullopt);
  const std::vector<uint8_t> wide_nop = {kWide, kNop, 0, 0};
  EXPECT_EQ(instruction_bytes(wide_nop, 0), std::nullopt);
  const std::vector<uint8_t> huge_switch = {kLookupswitch, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF};
  EXPECT_EQ(instruction_bytes(huge_switch, 0), std::nullopt);
  for (int opcode = 0; opcode < 256; opcode++) {
    const uint8_t op = static_cast<uint8_t>(opcode);
    if (!is_conditional_branch(op)) continue;
    EXPECT_NE(inverted_branch(op), op);
    EXPECT_EQ(inverted_branch(inverted_branch(op)), op);
  }
}

}  // namespace
}  // namespace contrafact::classfile
