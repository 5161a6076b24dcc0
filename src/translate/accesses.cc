#include "translate/accesses.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "translate/raw_system_call.h"

namespace contrafact::translate {
namespace {

constexpr size_t kVectorBytes = 64;

// The extended state's standard layout: the first 160 bytes are the legacy part's, then the XMM registers; the other
// components lie where CPUID says.
struct StateLayout {
  uint32_t ymm_high = 0, opmask = 0, zmm_high = 0, zmm_16_to_31 = 0;
};

StateLayout read_layout() {
  StateLayout layout;
  uint32_t a, b, c, d;
  const auto offset_of = [&](uint32_t component) {
    return __get_cpuid_count(0xd, component, &a, &b, &c, &d) != 0 && a != 0 ? b : 0;
  };
  layout.ymm_high = offset_of(2);
  layout.opmask = offset_of(5);
  layout.zmm_high = offset_of(6);
  layout.zmm_16_to_31 = offset_of(7);
  return layout;
}

const StateLayout& layout() {
  static const StateLayout known = read_layout();
  return known;
}

bool has_component(const Thread& thread, int component) {
  if (thread.xsave_mask == 0) return component < 2;  // fxsave: the x87 and SSE, and no header
  uint64_t present;
  std::memcpy(&present, thread.xsave + 512, sizeof present);
  return (present >> component & 1) != 0;
}

void copy_component(const Thread& thread, int component, uint32_t offset, size_t bytes, uint8_t* to) {
  if (offset == 0 || !has_component(thread, component)) {
    std::memset(to, 0, bytes);
  } else {
    std::memcpy(to, thread.xsave + offset, bytes);
  }
}

void read_vector(const Thread& thread, unsigned number, uint8_t* to) {
  if (number >= 16) {
    copy_component(thread, 7, layout().zmm_16_to_31 + 64 * (number - 16), 64, to);
    return;
  }
  copy_component(thread, 1, 160 + 16 * number, 16, to);
  copy_component(thread, 2, layout().ymm_high + 16 * number, 16, to + 16);
  copy_component(thread, 6, layout().zmm_high + 32 * number, 32, to + 32);
}

unsigned vector_number(ZydisRegister reg) {
  if (reg >= ZYDIS_REGISTER_ZMM0 && reg <= ZYDIS_REGISTER_ZMM31) return reg - ZYDIS_REGISTER_ZMM0;
  if (reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_YMM31) return reg - ZYDIS_REGISTER_YMM0;
  return reg - ZYDIS_REGISTER_XMM0;
}

uint64_t value_of(const Thread& thread, ZydisRegister reg) {
  const Register general = general_register(reg);
  return general == no_register ? 0 : thread.registers[general];
}

uint32_t flags_of(const ZydisDecodedOperand& operand) {
  uint32_t flags = 0;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) flags |= kAccessRead;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) flags |= kAccessWrite | kAccessChanged;
  return flags;
}

bool segment_base(ZydisRegister segment, uint64_t& base) {
  base = 0;
  if (segment == ZYDIS_REGISTER_FS) base = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  if (segment != ZYDIS_REGISTER_GS) return true;
  return raw_system_call(SYS_arch_prctl, ARCH_GET_GS, reinterpret_cast<long>(&base)) == 0;
}

bool base_address(const Instruction& instruction, const ZydisDecodedOperand& operand, const Thread& thread,
                  uint64_t& out) {
  uint64_t segment;
  if (!segment_base(operand.mem.segment, segment)) return false;
  out = value_of(thread, operand.mem.base);
  if (operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP) out = instruction.next();
  if (operand.mem.disp.has_displacement) out += static_cast<uint64_t>(operand.mem.disp.value);
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_MEM && instruction.code.mnemonic != ZYDIS_MNEMONIC_XLAT) {
    out += value_of(thread, operand.mem.index) * operand.mem.scale;
  }
  if (instruction.code.address_width == 32) out = static_cast<uint32_t>(out);
  out += segment;
  return true;
}

// Which elements a gather or scatter touches: by a mask register of k, or by the sign bits of a vector.
uint64_t element_mask(const Instruction& instruction, const Thread& thread, size_t elements, size_t element_bytes) {
  if (instruction.code.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
    uint8_t masks[64];
    copy_component(thread, 5, layout().opmask, sizeof masks, masks);
    uint64_t mask;
    std::memcpy(&mask, masks + 8 * (instruction.code.avx.mask.reg - ZYDIS_REGISTER_K0), sizeof mask);
    return mask;
  }
  uint8_t vector[kVectorBytes];
  read_vector(thread, vector_number(instruction.operands[2].reg.value), vector);
  uint64_t mask = 0;
  for (size_t i = 0; i < elements; ++i) mask |= uint64_t{vector[(i + 1) * element_bytes - 1]} >> 7 << i;
  return mask;
}

// The index vector's elements have 32 or 64 bits, as the mnemonic's third letter from the end says; the data's, as the
// operand says.
bool add_vector_accesses(const Instruction& instruction, const ZydisDecodedOperand& operand, Thread& thread) {
  size_t index_bytes;
  switch (instruction.code.mnemonic) {
    case ZYDIS_MNEMONIC_VGATHERDPD:
    case ZYDIS_MNEMONIC_VGATHERDPS:
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VPGATHERDQ:
    case ZYDIS_MNEMONIC_VSCATTERDPD:
    case ZYDIS_MNEMONIC_VSCATTERDPS:
    case ZYDIS_MNEMONIC_VPSCATTERDD:
    case ZYDIS_MNEMONIC_VPSCATTERDQ:
      index_bytes = 4;
      break;
    case ZYDIS_MNEMONIC_VGATHERQPD:
    case ZYDIS_MNEMONIC_VGATHERQPS:
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VSCATTERQPD:
    case ZYDIS_MNEMONIC_VSCATTERQPS:
    case ZYDIS_MNEMONIC_VPSCATTERQD:
    case ZYDIS_MNEMONIC_VPSCATTERQQ:
      index_bytes = 8;
      break;
    default:
      return false;  // prefetches by vector, and what is not known
  }
  const size_t element_bytes = operand.element_size / 8;
  if (element_bytes != 4 && element_bytes != 8) return false;
  const size_t index_vector_bytes = operand.mem.index >= ZYDIS_REGISTER_ZMM0   ? 64
                                    : operand.mem.index >= ZYDIS_REGISTER_YMM0 ? 32
                                                                               : 16;
  const size_t vector_bytes = std::max<size_t>(instruction.code.avx.vector_length / 8, 16);
  const size_t elements = std::min(index_vector_bytes / index_bytes, vector_bytes / element_bytes);
  const uint64_t mask = element_mask(instruction, thread, elements, element_bytes);
  uint8_t indices[kVectorBytes];
  read_vector(thread, vector_number(operand.mem.index), indices);
  uint64_t base;
  if (!base_address(instruction, operand, thread, base)) return false;
  for (size_t i = 0; i < elements; ++i) {
    if ((mask >> i & 1) == 0) continue;
    int64_t index = 0;
    if (index_bytes == 4) {
      int32_t narrow;
      std::memcpy(&narrow, indices + i * 4, 4);
      index = narrow;
    } else {
      std::memcpy(&index, indices + i * 8, 8);
    }
    uint64_t address = base + static_cast<uint64_t>(index) * operand.mem.scale;
    if (instruction.code.address_width == 32) address = static_cast<uint32_t>(address);
    thread.segment.add(address, element_bytes, flags_of(operand));
  }
  return true;
}

// bt and its like with a register: the bit may lie anywhere around the operand.
bool add_bit_access(const Instruction& instruction, const ZydisDecodedOperand& operand, Thread& thread) {
  uint64_t address;
  if (!base_address(instruction, operand, thread, address)) return false;
  auto bit = static_cast<int64_t>(value_of(thread, instruction.operands[1].reg.value));
  const int width = operand.size;
  if (width == 32) bit = static_cast<int32_t>(bit);
  if (width == 16) bit = static_cast<int16_t>(bit);
  // Whole operands away from the first: rounded down.
  const int shift = width == 64 ? 6 : width == 32 ? 5 : 4;
  address += static_cast<uint64_t>(bit >> shift) * static_cast<uint64_t>(width / 8);
  thread.segment.add(address, static_cast<uint64_t>(width / 8), flags_of(operand));
  return true;
}

uint64_t state_bytes(const Thread& thread) {
  // What xsave and its like may touch: the legacy part, the header, and the components asked for in edx:eax.
  const uint64_t asked = (thread.registers[rdx] << 32 | static_cast<uint32_t>(thread.registers[rax]));
  uint64_t bytes = 512 + 64;
  for (uint32_t component = 2; component < 63; ++component) {
    uint32_t a, b, c, d;
    if ((asked >> component & 1) == 0 || __get_cpuid_count(0xd, component, &a, &b, &c, &d) == 0 || a == 0) continue;
    bytes = std::max<uint64_t>(bytes, uint64_t{b} + a);
  }
  return bytes;
}

bool is_state_operand(const ZydisDecodedInstruction& code) {
  return code.meta.category == ZYDIS_CATEGORY_XSAVE || code.meta.category == ZYDIS_CATEGORY_XSAVEOPT;
}

// At rdi, as if all bytes were chosen.
bool is_byte_mask_store(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_MASKMOVQ || mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
         mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU;
}

bool add_one(const Instruction& instruction, const ZydisDecodedOperand& operand, Thread& thread) {
  const ZydisDecodedInstruction& code = instruction.code;
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB) return add_vector_accesses(instruction, operand, thread);
  const bool is_bit = code.mnemonic == ZYDIS_MNEMONIC_BT || code.mnemonic == ZYDIS_MNEMONIC_BTS ||
                      code.mnemonic == ZYDIS_MNEMONIC_BTR || code.mnemonic == ZYDIS_MNEMONIC_BTC;
  if (is_bit && instruction.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
    return add_bit_access(instruction, operand, thread);
  }
  uint64_t address;
  if (operand.mem.type != ZYDIS_MEMOP_TYPE_MEM || !base_address(instruction, operand, thread, address)) return false;
  if (code.mnemonic == ZYDIS_MNEMONIC_XLAT) {
    thread.segment.add(address + (thread.registers[rax] & 0xff), 1, kAccessRead);
    return true;
  }
  if (is_state_operand(code)) {
    thread.segment.add(address, state_bytes(thread), flags_of(operand));
    return true;
  }
  const bool is_counted =
      (code.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  const bool is_hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !is_byte_mask_store(code.mnemonic);
  if (operand.size == 0 || is_counted || is_hidden) return false;
  thread.segment.add(address, operand.size / 8, flags_of(operand));
  return true;
}

}  // namespace

bool add_hooked_accesses(const Instruction& instruction, Thread& thread) {
  bool all = true;
  for (int i = 0; i < instruction.code.operand_count; ++i) {
    const ZydisDecodedOperand& operand = instruction.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    if (is_in_control_block(operand)) continue;
    if (operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && general_register(operand.mem.base) == rsp) continue;
    all &= add_one(instruction, operand, thread);
  }
  return all;
}

}  // namespace contrafact::translate
