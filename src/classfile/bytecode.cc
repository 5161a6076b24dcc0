#include "classfile/bytecode.h"

#include "base/check.h"

namespace contrafact::classfile {

namespace {

// Instruction lengths by opcode, 0 to 201; 0 where it varies.
uint8_t fixed_bytes(uint8_t opcode) {
  if (is_switch(opcode) || opcode == kWide) return 0;
  switch (opcode) {
    case kBipush:
    case kLdc:
    case kNewarray:
    case kRet:
      return 2;
    case kInvokeinterface:
    case kInvokedynamic:
    case kGotoW:
    case kJsrW:
      return 5;
    case kMultianewarray:
      return 4;
    case kSipush:
    case kLdcW:
    case kLdc2W:
    case kIinc:
    case kNew:
    case kAnewarray:
    case kCheckcast:
    case kInstanceof:
    case kIfnull:
    case kIfnonnull:
      return 3;
    default:
      break;
  }
  if ((opcode >= kIload && opcode <= kAload) || (opcode >= kIstore && opcode <= kAstore)) return 2;
  if ((opcode >= kIfeq && opcode <= kJsr) || (opcode >= kGetstatic && opcode <= kInvokestatic)) return 3;
  return 1;
}

std::optional<uint32_t> switch_bytes(Bytes code, uint32_t pc) {
  ByteReader reader(code);
  reader.take(pc + 1);
  reader.take(3 - pc % 4);  // the operands start at a multiple of four
  reader.u4();              // default
  if (code[pc] == kTableswitch) {
    const int64_t low = static_cast<int32_t>(reader.u4());
    const int64_t high = static_cast<int32_t>(reader.u4());
    if (!reader.ok() || high < low || high - low > 65535) return std::nullopt;
    reader.take(static_cast<size_t>(high - low + 1) * 4);
  } else {
    const uint32_t pairs = reader.u4();
    if (!reader.ok() || pairs > 65535) return std::nullopt;
    reader.take(size_t{pairs} * 8);
  }
  if (!reader.ok()) return std::nullopt;
  return static_cast<uint32_t>(reader.position() - pc);
}

std::optional<uint32_t> wide_bytes(Bytes code, uint32_t pc) {
  if (pc + 1 >= code.size()) return std::nullopt;
  const uint8_t widened = code[pc + 1];
  if (widened == kIinc) return 6;
  const bool accesses = (widened >= kIload && widened <= kAload) || (widened >= kIstore && widened <= kAstore);
  if (accesses || widened == kRet) return 4;
  return std::nullopt;
}

constexpr char kKinds[] = {'I', 'J', 'F', 'D', 'A'};

char number_kind(int i) {
  return kKinds[i % 4];
}
uint8_t slots_of(char kind) {
  return kind == 'J' || kind == 'D' ? 2 : 1;
}

SimpleEffect arithmetic_effect(uint8_t opcode) {
  if (opcode < 116) {  // add sub mul div rem
    const char kind = number_kind(opcode - kIadd);
    return {static_cast<uint8_t>(2 * slots_of(kind)), kind};
  }
  if (opcode < 120) {  // neg
    const char kind = number_kind(opcode - 116);
    return {slots_of(kind), kind};
  }
  const char kind = opcode % 2 == 0 ? 'I' : 'J';
  if (opcode < 126) return {static_cast<uint8_t>(slots_of(kind) + 1), kind};  // shl shr ushr
  return {static_cast<uint8_t>(2 * slots_of(kind)), kind};                    // and or xor
}

SimpleEffect conversion_effect(uint8_t opcode) {
  if (opcode >= 145) return {1, 'I'};  // i2b i2c i2s
  constexpr char kResults[] = {'J', 'F', 'D', 'I', 'F', 'D', 'I', 'J', 'D', 'I', 'J', 'F'};
  constexpr uint8_t kPops[] = {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2};
  return {kPops[opcode - kI2l], kResults[opcode - kI2l]};
}

SimpleEffect constant_effect(uint8_t opcode) {
  if (opcode == kAconstNull) return {0, 'N'};
  if (opcode <= 8 || opcode == kBipush || opcode == kSipush) return {0, 'I'};
  return {0, opcode <= 10 ? 'J' : opcode <= 13 ? 'F' : 'D'};
}

}  // namespace

uint8_t inverted_branch(uint8_t opcode) {
  CHECK(is_conditional_branch(opcode));
  // ifeq and ifne are 153 and 154, and so on in pairs; ifnull and ifnonnull are 198 and 199.
  if (opcode >= kIfnull) return opcode == kIfnull ? kIfnonnull : kIfnull;
  return opcode % 2 == 1 ? opcode + 1 : opcode - 1;
}

std::optional<uint32_t> instruction_bytes(Bytes code, uint32_t pc) {
  const uint8_t opcode = code[pc];
  if (opcode > kJsrW) return std::nullopt;
  std::optional<uint32_t> length = fixed_bytes(opcode);
  if (is_switch(opcode)) length = switch_bytes(code, pc);
  if (opcode == kWide) length = wide_bytes(code, pc);
  if (!length || *length > code.size() - pc) return std::nullopt;
  return length;
}

std::optional<LocalAccess> local_access(Bytes instruction) {
  const bool wide = instruction[0] == kWide;
  const uint8_t opcode = instruction[wide ? 1 : 0];
  const auto operand = [&] { return wide ? uint32_t{load_u2(&instruction[2])} : uint32_t{instruction[1]}; };
  if (opcode >= kIload && opcode <= kAload) return LocalAccess{false, kKinds[opcode - kIload], operand()};
  if (opcode >= kIstore && opcode <= kAstore) return LocalAccess{true, kKinds[opcode - kIstore], operand()};
  if (opcode == kIinc) return LocalAccess{true, 'N', operand()};
  if (opcode == kRet) return LocalAccess{false, 'R', operand()};
  const auto short_form = [&](uint8_t first, bool is_store) {
    const uint32_t i = opcode - first;
    return LocalAccess{is_store, kKinds[i / 4], i % 4};
  };
  if (opcode >= kIload0 && opcode <= kAload3) return short_form(kIload0, false);
  if (opcode >= kIstore0 && opcode <= kAstore3) return short_form(kIstore0, true);
  return std::nullopt;
}

std::optional<SimpleEffect> simple_effect(uint8_t opcode) {
  if (opcode == kNop || opcode == kGoto || opcode == kGotoW || opcode == kIinc) return SimpleEffect{};
  if (opcode <= kSipush) return constant_effect(opcode);
  if (opcode >= 46 && opcode <= 53 && opcode != kAaload) {  // array loads
    return SimpleEffect{2, opcode <= 49 ? number_kind(opcode - 46) : 'I'};
  }
  if (opcode >= 79 && opcode <= 86)
    return SimpleEffect{static_cast<uint8_t>(opcode == 80 || opcode == 82 ? 4 : 3), '-'};
  if (opcode == kPop || opcode == kPop2) return SimpleEffect{static_cast<uint8_t>(opcode - kPop + 1), '-'};
  if (opcode >= kIadd && opcode < kIinc) return arithmetic_effect(opcode);
  if (opcode >= kI2l && opcode <= 147) return conversion_effect(opcode);
  if (opcode >= 148 && opcode <= 152)
    return SimpleEffect{static_cast<uint8_t>(opcode == 149 || opcode == 150 ? 2 : 4), 'I'};
  if (is_conditional_branch(opcode))
    return SimpleEffect{static_cast<uint8_t>(opcode >= kIfIcmpeq && opcode <= kIfAcmpne ? 2 : 1), '-'};
  if (is_switch(opcode) || opcode == kMonitorenter || opcode == kMonitorexit) return SimpleEffect{1, '-'};
  if (opcode == kArraylength || opcode == kInstanceof) return SimpleEffect{1, 'I'};
  if (opcode == kLreturn || opcode == kDreturn) return SimpleEffect{2, '-'};
  if (opcode == kReturn) return SimpleEffect{};
  if (is_return(opcode) || opcode == kAthrow) return SimpleEffect{1, '-'};
  return std::nullopt;
}

}  // namespace contrafact::classfile
