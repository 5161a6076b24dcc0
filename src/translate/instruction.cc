#include "translate/instruction.h"

#include <atomic>
#include <cstddef>
#include <utility>

// Of the C library from 2.35 on: where the kernel's restartable sequences of a thread are registered, from %fs.
extern "C" __attribute__((weak)) const std::ptrdiff_t __rseq_offset;

namespace contrafact::translate {
namespace {

// Of the program's own, where the C library registers none.
std::atomic<std::ptrdiff_t> g_restartable_area{0};

// A restartable sequence begins: the kernel compares the thread's address with that of the program's own code, so the
// sequence must run there. The store of the sequence's description is recognised: at %fs and the registered offset, or
// at a register that holds that offset.
bool begins_restartable_sequence(const ZydisDecodedOperand& operand) {
  constexpr int64_t kDescriptionAt = 8;  // in struct rseq
  if (operand.mem.segment != ZYDIS_REGISTER_FS || operand.size != 64) return false;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) return false;
  const int64_t at = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
  if (operand.mem.base != ZYDIS_REGISTER_NONE) return at == kDescriptionAt;
  const std::ptrdiff_t own = g_restartable_area.load(std::memory_order_relaxed);
  return (&__rseq_offset != nullptr && at == __rseq_offset + kDescriptionAt) ||
         (own != 0 && at == own + kDescriptionAt);
}

bool is_near_branch_of_64_bits(const Instruction& instruction) {
  return instruction.code.operand_width == 64 && instruction.code.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR;
}

Flow branch_flow(const Instruction& instruction, bool is_direct, Flow direct, Flow indirect) {
  if (!is_near_branch_of_64_bits(instruction)) return Flow::native;
  if (is_direct) return direct;
  const ZydisDecodedOperand& to = instruction.operands[0];
  if (to.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    const Register reg = general_register(to.reg.value);
    return reg == no_register || reg == rsp ? Flow::native : indirect;
  }
  if (to.type != ZYDIS_OPERAND_TYPE_MEMORY) return Flow::native;
  return to.mem.segment == ZYDIS_REGISTER_FS || to.mem.segment == ZYDIS_REGISTER_GS ? Flow::native : indirect;
}

Flow conditional_flow(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_XBEGIN:
      return Flow::native;
    case ZYDIS_MNEMONIC_JCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
      return Flow::counter;
    default:
      return Flow::condition;
  }
}

// Whether the processor lacks the extension. Only extensions that access memory count: a missing instruction is
// illegal, whatever its address, but translated code would look at the memory first.
bool is_missing(ZydisISAExt extension) {
  __builtin_cpu_init();
  switch (extension) {
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVXAES:
      return !__builtin_cpu_supports("avx");
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_AVX2GATHER:
      return !__builtin_cpu_supports("avx2");
    case ZYDIS_ISA_EXT_AVX512EVEX:
    case ZYDIS_ISA_EXT_AVX512VEX:
      return !__builtin_cpu_supports("avx512f");
    case ZYDIS_ISA_EXT_AVX_VNNI:
      return !__builtin_cpu_supports("avxvnni");
    case ZYDIS_ISA_EXT_ADOX_ADCX:
      return !__builtin_cpu_supports("adx");
    case ZYDIS_ISA_EXT_AES:
      return !__builtin_cpu_supports("aes");
    case ZYDIS_ISA_EXT_BMI1:
      return !__builtin_cpu_supports("bmi");
    case ZYDIS_ISA_EXT_BMI2:
      return !__builtin_cpu_supports("bmi2");
    case ZYDIS_ISA_EXT_ENQCMD:
      return !__builtin_cpu_supports("enqcmd");
    case ZYDIS_ISA_EXT_F16C:
      return !__builtin_cpu_supports("f16c");
    case ZYDIS_ISA_EXT_FMA:
      return !__builtin_cpu_supports("fma");
    case ZYDIS_ISA_EXT_FMA4:
      return !__builtin_cpu_supports("fma4");
    case ZYDIS_ISA_EXT_GFNI:
      return !__builtin_cpu_supports("gfni");
    case ZYDIS_ISA_EXT_MOVBE:
      return !__builtin_cpu_supports("movbe");
    case ZYDIS_ISA_EXT_MOVDIR:
      return !__builtin_cpu_supports("movdiri");
    case ZYDIS_ISA_EXT_PCLMULQDQ:
      return !__builtin_cpu_supports("pclmul");
    case ZYDIS_ISA_EXT_SHA:
      return !__builtin_cpu_supports("sha");
    case ZYDIS_ISA_EXT_SSE3:
      return !__builtin_cpu_supports("sse3");
    case ZYDIS_ISA_EXT_SSE4:
      return !__builtin_cpu_supports("sse4.1");
    case ZYDIS_ISA_EXT_SSE4A:
      return !__builtin_cpu_supports("sse4a");
    case ZYDIS_ISA_EXT_SSSE3:
      return !__builtin_cpu_supports("ssse3");
    case ZYDIS_ISA_EXT_TBM:
      return !__builtin_cpu_supports("tbm");
    case ZYDIS_ISA_EXT_VAES:
      return !__builtin_cpu_supports("vaes");
    case ZYDIS_ISA_EXT_VPCLMULQDQ:
      return !__builtin_cpu_supports("vpclmulqdq");
    case ZYDIS_ISA_EXT_XOP:
      return !__builtin_cpu_supports("xop");
    default:
      return false;
  }
}

// Instructions that change what translated code stands on, or that trap.
bool must_run_natively(const Instruction& instruction) {
  const ZydisDecodedInstruction& code = instruction.code;
  if ((code.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0 || is_missing(code.meta.isa_ext)) return true;
  switch (code.meta.category) {
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_CET:
      return code.mnemonic != ZYDIS_MNEMONIC_ENDBR64 && code.mnemonic != ZYDIS_MNEMONIC_RDSSPQ;
    default:
      break;
  }
  switch (code.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_SGDT:  // and the next ones: the kernel may stand in for them
    case ZYDIS_MNEMONIC_SIDT:
    case ZYDIS_MNEMONIC_SLDT:
    case ZYDIS_MNEMONIC_SMSW:
    case ZYDIS_MNEMONIC_STR:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      return true;
    default:
      break;
  }
  for (int i = 0; i < code.operand_count; ++i) {
    const ZydisDecodedOperand& operand = instruction.operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && begins_restartable_sequence(operand)) return true;
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
      continue;
    if (operand.reg.value >= ZYDIS_REGISTER_ES && operand.reg.value <= ZYDIS_REGISTER_GS) return true;
  }
  return code.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

Flow flow_of(const Instruction& instruction) {
  const bool is_direct = instruction.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (instruction.code.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return branch_flow(instruction, is_direct, Flow::call, Flow::call_indirect);
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (instruction.code.mnemonic != ZYDIS_MNEMONIC_JMP) return Flow::native;
      return branch_flow(instruction, is_direct, Flow::jump, Flow::jump_indirect);
    case ZYDIS_CATEGORY_COND_BR:
      return conditional_flow(instruction.code.mnemonic);
    case ZYDIS_CATEGORY_RET:
      return instruction.code.mnemonic == ZYDIS_MNEMONIC_RET && is_near_branch_of_64_bits(instruction) ? Flow::ret
                                                                                                       : Flow::native;
    case ZYDIS_CATEGORY_SYSCALL:
      return instruction.code.mnemonic == ZYDIS_MNEMONIC_SYSCALL ? Flow::system_call : Flow::native;
    default:
      return must_run_natively(instruction) ? Flow::native : Flow::on;
  }
}

// Memory operands that only name an address.
bool touches_nothing(const ZydisDecodedInstruction& code) {
  switch (code.meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_MPX:
      return true;
    default:
      return code.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || code.mnemonic == ZYDIS_MNEMONIC_LEA ||
             code.mnemonic == ZYDIS_MNEMONIC_MONITORX || code.mnemonic == ZYDIS_MNEMONIC_UMONITOR;
  }
}

bool is_bit_string(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_BT || mnemonic == ZYDIS_MNEMONIC_BTS || mnemonic == ZYDIS_MNEMONIC_BTR ||
         mnemonic == ZYDIS_MNEMONIC_BTC;
}

bool is_masked(const ZydisDecodedInstruction& code) {
  return code.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED && code.avx.mask.reg != ZYDIS_REGISTER_NONE &&
         code.avx.mask.reg != ZYDIS_REGISTER_K0;
}

bool is_string(ZydisInstructionCategory category) {
  return category == ZYDIS_CATEGORY_STRINGOP;
}

// The stack's own discipline: pushes, pops, calls, returns, frames.
bool is_stack_operand(const ZydisDecodedInstruction& code, const ZydisDecodedOperand& operand) {
  if (operand.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
    return code.mnemonic == ZYDIS_MNEMONIC_POP && operand.mem.base == ZYDIS_REGISTER_RSP;
  }
  const Register base = general_register(operand.mem.base);
  return base == rsp ||
         (base == rbp && (code.mnemonic == ZYDIS_MNEMONIC_LEAVE || code.mnemonic == ZYDIS_MNEMONIC_ENTER));
}

MemoryAddress address_of(const Instruction& instruction, const ZydisDecodedOperand& operand) {
  MemoryAddress out;
  out.base = general_register(operand.mem.base);
  out.index = general_register(operand.mem.index);
  out.scale = operand.mem.scale;
  out.is_32_bit = instruction.code.address_width == 32;
  out.displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
  if (operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP) {
    out.is_absolute = true;
    out.displacement += static_cast<int64_t>(instruction.next());
  }
  if (out.base == no_register && out.index == no_register) out.is_absolute = true;  // may have 64 bits
  return out;
}

bool needs_hook(const Instruction& instruction, const ZydisDecodedOperand& operand) {
  const ZydisDecodedInstruction& code = instruction.code;
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB || operand.mem.segment == ZYDIS_REGISTER_GS) return true;
  if (operand.size == 0 || operand.size % 8 != 0 || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM) return true;
  if (code.meta.category == ZYDIS_CATEGORY_XSAVE || code.meta.category == ZYDIS_CATEGORY_XSAVEOPT) return true;
  if (is_bit_string(code.mnemonic) && instruction.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) return true;
  return operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !is_string(code.meta.category);  // xlat, maskmov, ...
}

void add_access(const Instruction& instruction, const ZydisDecodedOperand& operand, Analysis& out) {
  if (needs_hook(instruction, operand) || out.accesses == kAccessesMax) {
    out.needs_hook = true;
    return;
  }
  MemoryAccess access;
  access.address = address_of(instruction, operand);
  access.size_bytes = operand.size / 8;
  access.is_read = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  access.is_written = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  access.is_local = operand.mem.segment == ZYDIS_REGISTER_FS;
  if (!access.is_read && !access.is_written) return;
  out.access[out.accesses++] = access;
  // The written one last: its entry is where the value after is written to.
  if (out.accesses == 2 && out.access[0].is_written) std::swap(out.access[0], out.access[1]);
}

// Of two accesses the program's own would have to come first, should one fault. After an instruction that may have
// released a lock the memory is not read any more: another thread may own it by now, and unmap it.
void find_new_value(const Instruction& instruction, Analysis& out) {
  const MemoryAccess& access = out.access[0];
  const uint32_t bytes = access.size_bytes;
  if (out.accesses != 1 || !access.is_written || access.is_local || is_masked(instruction.code)) return;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return;
  if (instruction.code.mnemonic != ZYDIS_MNEMONIC_MOV) {
    const bool may_release =
        (instruction.code.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || instruction.code.mnemonic == ZYDIS_MNEMONIC_XCHG;
    out.new_value = may_release ? NewValue::unknown : NewValue::memory;
    return;
  }
  const ZydisDecodedOperand& from = instruction.operands[1];
  if (from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    out.new_value = NewValue::immediate;
    out.immediate = from.imm.value.u;
    return;
  }
  const bool is_high_byte = from.reg.value >= ZYDIS_REGISTER_AH && from.reg.value <= ZYDIS_REGISTER_BH;
  const Register source = from.type == ZYDIS_OPERAND_TYPE_REGISTER ? general_register(from.reg.value) : no_register;
  if (source == no_register || is_high_byte) return;
  out.new_value = NewValue::source;
  out.source = source;
}

Commutes commutes(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
      return Commutes::with_additions;
    case ZYDIS_MNEMONIC_OR:
      return Commutes::with_setting_bits;
    case ZYDIS_MNEMONIC_AND:
      return Commutes::with_clearing_bits;
    default:
      return Commutes::with_none;
  }
}

bool is_addition(ZydisMnemonic mnemonic) {
  return commutes(mnemonic) != Commutes::with_none || mnemonic == ZYDIS_MNEMONIC_XOR || mnemonic == ZYDIS_MNEMONIC_XADD;
}

}  // namespace

void add_restartable_area(std::ptrdiff_t from_thread_pointer) {
  g_restartable_area.store(from_thread_pointer, std::memory_order_relaxed);
}

Register general_register(ZydisRegister reg) {
  const auto from = [&](ZydisRegister first) { return static_cast<Register>(reg - first); };
  if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15) return from(ZYDIS_REGISTER_RAX);
  if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D) return from(ZYDIS_REGISTER_EAX);
  if (reg >= ZYDIS_REGISTER_AX && reg <= ZYDIS_REGISTER_R15W) return from(ZYDIS_REGISTER_AX);
  if (reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_BL) return from(ZYDIS_REGISTER_AL);
  if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH) return from(ZYDIS_REGISTER_AH);
  if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B) {
    return static_cast<Register>(reg - ZYDIS_REGISTER_SPL + rsp);
  }
  return no_register;
}

bool is_in_control_block(const ZydisDecodedOperand& operand) {
  return operand.mem.segment == ZYDIS_REGISTER_FS && operand.mem.base == ZYDIS_REGISTER_NONE &&
         operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value >= 0;
}

uint32_t registers_used(const Instruction& instruction) {
  uint32_t used = 0;
  const auto add = [&](ZydisRegister reg) {
    if (const Register general = general_register(reg); general != no_register) used |= 1u << general;
  };
  for (int i = 0; i < instruction.code.operand_count; ++i) {
    const ZydisDecodedOperand& operand = instruction.operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add(operand.reg.value);
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    add(operand.mem.base);
    add(operand.mem.index);
  }
  return used;
}

Analysis analyse(const Instruction& instruction) {
  Analysis out;
  const ZydisDecodedInstruction& code = instruction.code;
  out.flow = flow_of(instruction);
  if (out.flow == Flow::jump || out.flow == Flow::call || out.flow == Flow::condition || out.flow == Flow::counter) {
    out.target = instruction.next() + instruction.operands[0].imm.value.u;
  }
  if (out.flow == Flow::native) return out;
  const bool counts = is_string(code.meta.category) &&
                      (code.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  for (int i = 0; i < code.operand_count; ++i) {
    const ZydisDecodedOperand& operand = instruction.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP) out.is_rip_relative = true;
    if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN || touches_nothing(code)) continue;
    if (is_in_control_block(operand) || is_stack_operand(code, operand)) continue;  // the thread's own
    add_access(instruction, operand, out);
  }
  if (out.needs_hook) out.accesses = 0;
  out.is_repeated = counts && out.accesses > 0;
  if (out.accesses == 0) return out;
  const MemoryAccess& last = out.access[out.accesses - 1];
  if (!out.is_repeated) find_new_value(instruction, out);
  if (last.is_written && last.is_read) out.commutes = commutes(code.mnemonic);
  out.is_atomic_addition = (code.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 && is_addition(code.mnemonic);
  out.fetches = out.is_atomic_addition && code.mnemonic == ZYDIS_MNEMONIC_XADD;
  return out;
}

bool are_flags_unused(const Instruction& instruction, uint64_t code_begin, uint64_t code_end) {
  constexpr int kAheadMax = 8;
  if (!instruction.code.cpu_flags) return true;
  const ZydisAccessedFlags& set = *instruction.code.cpu_flags;
  uint32_t live = set.modified | set.set_0 | set.set_1 | set.undefined;
  uint64_t at = instruction.next();
  Instruction next;
  for (int i = 0; i < kAheadMax && live != 0; ++i) {
    if (at >= code_end || !decode(at, code_end - at, next)) return false;
    const Flow flow = flow_of(next);
    if (flow == Flow::call || flow == Flow::call_indirect || flow == Flow::ret) return true;  // the calling convention
    const ZydisDecodedOperand& to = next.operands[0];
    const bool is_tail_call = flow == Flow::jump_indirect && to.type == ZYDIS_OPERAND_TYPE_MEMORY &&
                              to.mem.base == ZYDIS_REGISTER_RIP;  // through a linkage table or a function's variable
    if (is_tail_call) return true;
    if (flow != Flow::on && flow != Flow::jump) return false;
    if (next.code.cpu_flags) {
      if ((next.code.cpu_flags->tested & live) != 0) return false;
      live &= ~(next.code.cpu_flags->modified | next.code.cpu_flags->set_0 | next.code.cpu_flags->set_1 |
                next.code.cpu_flags->undefined);
    }
    at = next.next();
    if (flow == Flow::jump) {
      at += next.operands[0].imm.value.u;
      if (at < code_begin || at >= code_end) return false;  // not known to be readable
    }
  }
  return live == 0;
}

}  // namespace contrafact::translate
