// The instruction set: opcodes that the edits name, the shape of every instruction, and its effect on the operand
// stack.
//
// Pure tables and functions, no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "classfile/bytes.h"

namespace contrafact::classfile {

enum Opcode : uint8_t {
  kNop = 0,
  kAconstNull = 1,
  kIconst0 = 3,
  kBipush = 16,
  kSipush = 17,
  kLdc = 18,
  kLdcW = 19,
  kLdc2W = 20,
  kIload = 21,
  kLload = 22,
  kFload = 23,
  kDload = 24,
  kAload = 25,
  kIload0 = 26,
  kAload0 = 42,
  kAload3 = 45,
  kAaload = 50,
  kIstore = 54,
  kLstore = 55,
  kFstore = 56,
  kDstore = 57,
  kAstore = 58,
  kIstore0 = 59,
  kAstore3 = 78,
  kPop = 87,
  kPop2 = 88,
  kDup = 89,
  kDupX1 = 90,
  kDupX2 = 91,
  kDup2 = 92,
  kDup2X1 = 93,
  kDup2X2 = 94,
  kSwap = 95,
  kIadd = 96,
  kLadd = 97,
  kLsub = 101,
  kIinc = 132,
  kI2l = 133,
  kIfeq = 153,
  kIfne = 154,
  kIflt = 155,
  kIfge = 156,
  kIfgt = 157,
  kIfle = 158,
  kIfIcmpeq = 159,
  kIfAcmpne = 166,
  kGoto = 167,
  kJsr = 168,
  kRet = 169,
  kTableswitch = 170,
  kLookupswitch = 171,
  kIreturn = 172,
  kLreturn = 173,
  kFreturn = 174,
  kDreturn = 175,
  kAreturn = 176,
  kReturn = 177,
  kGetstatic = 178,
  kPutstatic = 179,
  kGetfield = 180,
  kPutfield = 181,
  kInvokevirtual = 182,
  kInvokespecial = 183,
  kInvokestatic = 184,
  kInvokeinterface = 185,
  kInvokedynamic = 186,
  kNew = 187,
  kNewarray = 188,
  kAnewarray = 189,
  kArraylength = 190,
  kAthrow = 191,
  kCheckcast = 192,
  kInstanceof = 193,
  kMonitorenter = 194,
  kMonitorexit = 195,
  kWide = 196,
  kMultianewarray = 197,
  kIfnull = 198,
  kIfnonnull = 199,
  kGotoW = 200,
  kJsrW = 201,
};

inline bool is_return(uint8_t opcode) {
  return opcode >= kIreturn && opcode <= kReturn;
}
inline bool is_invoke(uint8_t opcode) {
  return opcode >= kInvokevirtual && opcode <= kInvokedynamic;
}
inline bool is_conditional_branch(uint8_t opcode) {
  return (opcode >= kIfeq && opcode <= kIfAcmpne) || opcode == kIfnull || opcode == kIfnonnull;
}
inline bool is_switch(uint8_t opcode) {
  return opcode == kTableswitch || opcode == kLookupswitch;
}
inline bool is_jsr(uint8_t opcode) {
  return opcode == kJsr || opcode == kJsrW;
}
// All instructions with one target.
inline bool is_branch(uint8_t opcode) {
  return is_conditional_branch(opcode) || opcode == kGoto || opcode == kGotoW || is_jsr(opcode);
}
inline bool has_wide_offset(uint8_t opcode) {
  return opcode == kGotoW || opcode == kJsrW;
}
// Control does not go on to the next instruction. A jsr is not among them: its subroutine comes back.
inline bool ends_flow(uint8_t opcode) {
  return opcode == kGoto || opcode == kGotoW || opcode == kRet || is_switch(opcode) || is_return(opcode) ||
         opcode == kAthrow;
}
// REQUIRES: is_conditional_branch(opcode)
uint8_t inverted_branch(uint8_t opcode);

// The length in bytes of the instruction at code[pc], or nullopt if it is unknown, cut off or malformed.
std::optional<uint32_t> instruction_bytes(Bytes code, uint32_t pc);

// What a load, store, iinc or ret means, whichever of its forms it has (iload_0, iload, wide iload).
struct LocalAccess {
  bool is_store = false;
  char kind = 'I';  // I J F D, A for a reference; for ret 'R', for iinc 'N'
  uint32_t slot = 0;
};
std::optional<LocalAccess> local_access(Bytes instruction);

// The effect of an instruction that does the same whatever its operands are: it pops `pops` slots, then pushes one
// value of kind `push` (I J F D, N for null, '-' for nothing). nullopt for all others.
struct SimpleEffect {
  uint8_t pops = 0;
  char push = '-';
};
std::optional<SimpleEffect> simple_effect(uint8_t opcode);

}  // namespace contrafact::classfile
