#include "translate/block_builder.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "translate/log.h"

namespace contrafact::translate {
namespace {

constexpr int kInstructionsMax = 64;
constexpr uint64_t kGuestBytesMax = 0x7000;  // a mark's value has 16 bits with a sign
constexpr size_t kInstructionCodeMax = 800;  // what one instruction of the program becomes at most, with its exits

// The slots of ThreadState and what they are for.
constexpr int kSlotA = 0, kSlotB = 1, kSlotC = 2, kSlotSpare = 3;

}  // namespace

void BlockBuilder::begin(uint64_t guest) {
  const uint64_t address = cache_.begin_code(guest);
  emit_ = Emitter(cache_.writable() + cache_.used(), address, kCodeBytesMax);
  guest_ = guest;
  log_room_ = 0;
  spilled_ = kNothingSpilled;
  marks_ = links_ = exits_ = log_checks_ = 0;
}

uint64_t BlockBuilder::publish(uint64_t guest_end) {
  const uint64_t code = emit_.here() - emit_.size();
  cache_.add_block(guest_, guest_end, emit_.size(), marks_, links_);
  return code;
}

// One mark for each change of what a handler would have to know; of two at one place the later one counts.
void BlockBuilder::mark(Mark::Kind kind, int16_t value) {
  mark_kind_ = kind;
  mark_value_ = value;
  Mark* marks = cache_.free_marks();
  const auto offset = static_cast<uint16_t>(emit_.size());
  if (marks_ > 0 && marks[marks_ - 1].code_offset == offset) --marks_;
  marks[marks_++] = {offset, spilled_, value, kind};
}

void BlockBuilder::spill(int slot, Register reg) {
  emit_.store_local(locals_.slot(slot), reg);
  spilled_ = static_cast<uint16_t>((spilled_ & ~(15 << 4 * slot)) | reg << 4 * slot);
  mark(mark_kind_, mark_value_);
}

void BlockBuilder::restore(int slot, Register reg) {
  emit_.load_local(reg, locals_.slot(slot));
  spilled_ = static_cast<uint16_t>((spilled_ & ~(15 << 4 * slot)) | rsp << 4 * slot);
  mark(mark_kind_, mark_value_);
}

uint32_t BlockBuilder::new_link(uint64_t guest) {
  const uint32_t link = cache_.link_count() + links_++;
  cache_.link_info(link) = {guest, 0};
  return link;
}

// Calls C++, which returns to `back` or elsewhere.
void BlockBuilder::request(Request what, uint64_t guest, uint64_t back) {
  emit_.store_local_u64(locals_.target(), guest);
  if (back != 0) emit_.store_local_u64(locals_.jump(), back);
  emit_.store_local_u32(locals_.request(), static_cast<uint32_t>(what));
  emit_.jump_to(slow_);
}

uint64_t BlockBuilder::translate(uint64_t guest, const Region& region) {
  begin(guest);
  code_begin_ = region.begin;
  code_end_ = region.end;
  is_logged_ = region.kind != CodeKind::unlogged;
  logs_locals_ = region.kind != CodeKind::runtime;
  uint64_t at = guest;
  bool goes_on = true;
  Instruction instruction;
  for (int count = 0; goes_on; ++count) {
    mark_at(at);
    const bool full = count == kInstructionsMax || at - guest > kGuestBytesMax ||
                      emit_.room() < kInstructionCodeMax * (2 + exits_ + log_checks_);
    if (full) {
      jump_exit(at);
      break;
    }
    if (at >= code_end_ || !decode(at, code_end_ - at, instruction)) {
      leave(at);
      break;
    }
    goes_on = translate_one(instruction, analyse(instruction));
    at = instruction.next();
  }
  finish_exits();
  return publish(at);
}

bool BlockBuilder::translate_one(const Instruction& instruction, const Analysis& analysis) {
  switch (analysis.flow) {
    case Flow::on:
      translate_ordinary(instruction, analysis);
      return true;
    case Flow::jump:
      jump_exit(analysis.target);
      return false;
    case Flow::condition:
    case Flow::counter:
      conditional_exit(instruction, analysis);
      return true;
    case Flow::call: {
      log_point(instruction, false);
      spill(kSlotA, rax);
      emit_.move_immediate(rax, instruction.next());
      emit_.store_at_stack(-8, rax);
      restore(kSlotA, rax);
      emit_.load_address(rsp, {.base = rsp, .displacement = -8});
      mark(Mark::at_link, static_cast<int16_t>(links_));
      jump_exit(analysis.target);
      return false;
    }
    case Flow::jump_indirect:
    case Flow::call_indirect:
    case Flow::ret:
      if (analysis.flow == Flow::call_indirect) log_point(instruction, false);
      if (analysis.flow == Flow::ret) log_point(instruction, true);
      log_accesses(instruction, analysis);
      load_target(instruction, analysis);
      go_to_target();
      return false;
    case Flow::system_call:
      hook(instruction, Request::before_instruction, instruction.address);
      emit_.bytes(reinterpret_cast<const void*>(instruction.address), instruction.code.length);
      mark_at(instruction.next());
      hook(instruction, Request::after_system_call, instruction.next());
      return true;
    case Flow::native:
      break;
  }
  leave(instruction.address);
  return false;
}

void BlockBuilder::translate_ordinary(const Instruction& instruction, const Analysis& analysis) {
  if (analysis.needs_hook && is_logged_) hook(instruction, Request::before_instruction, instruction.address);
  log_accesses(instruction, analysis);
  copy(instruction, analysis);
  log_after(instruction, analysis);
}

void BlockBuilder::copy(const Instruction& instruction, const Analysis& analysis) {
  if (!analysis.is_rip_relative) {
    // lea of an address relative to rip is a constant.
    emit_.bytes(reinterpret_cast<const void*>(instruction.address), instruction.code.length);
  } else {
    copy_with_spare_register(instruction);
  }
  mark_at(instruction.next());
}

// [rip + x] becomes [spare]: the same prefixes, ModRM without displacement, the same immediate.
void BlockBuilder::copy_with_spare_register(const Instruction& instruction) {
  const ZydisDecodedInstruction& code = instruction.code;
  const uint32_t used = registers_used(instruction);
  Register spare = rax;
  while ((used & 1u << spare) != 0 || spare == rsp || spare == rbp) spare = static_cast<Register>(spare + 1);
  uint64_t address = instruction.next() + static_cast<uint64_t>(code.raw.disp.value);
  if (code.address_width == 32) address = static_cast<uint32_t>(address);
  if (code.mnemonic == ZYDIS_MNEMONIC_LEA && code.operand_width >= 32) {
    const Register to = general_register(instruction.operands[0].reg.value);
    emit_.move_immediate(to, code.operand_width == 32 ? static_cast<uint32_t>(address) : address);
    return;
  }
  uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
  std::memcpy(bytes, reinterpret_cast<const void*>(instruction.address), code.length);
  // The register extension that the address ignored would count now. It is inverted in VEX and its like.
  if ((code.attributes & ZYDIS_ATTRIB_HAS_REX) != 0) bytes[code.raw.rex.offset] &= static_cast<uint8_t>(~1);
  if (code.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) bytes[code.raw.evex.offset + 1] |= 0x60;
  if (code.encoding == ZYDIS_INSTRUCTION_ENCODING_XOP) bytes[code.raw.xop.offset + 1] |= 0x20;
  if (code.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && code.raw.vex.size == 3) bytes[code.raw.vex.offset + 1] |= 0x20;
  const uint8_t modrm_at = code.raw.modrm.offset;
  bytes[modrm_at] = static_cast<uint8_t>((bytes[modrm_at] & 0x38) | spare);
  const uint8_t behind = static_cast<uint8_t>(modrm_at + 5);  // ModRM and 4 bytes of displacement
  spill(kSlotSpare, spare);
  emit_.move_immediate(spare, address);
  emit_.bytes(bytes, modrm_at + 1u);
  emit_.bytes(bytes + behind, code.length - behind);
  mark_at(instruction.next());
  restore(kSlotSpare, spare);
}

void BlockBuilder::ensure_log_room(const Instruction& instruction, uint32_t bytes) {
  if (log_room_ < bytes) {
    const uint64_t back = emit_.here();
    spill(kSlotB, rcx);
    emit_.load_local_byte(rcx, locals_.log() + 1);
    const size_t is_full = emit_.jump_if_zero_ecx();
    const size_t has_room = emit_.jump_short();
    emit_.land_short(is_full);
    emit_.u8(0xe9);
    emit_.u32(0);
    log_check_[log_checks_++] = {emit_.size() - 4, instruction.address, back};
    emit_.land_short(has_room);
    restore(kSlotB, rcx);
    log_room_ = kLogWindowBytes;
  }
  log_room_ -= bytes;
}

// A stub of the procedure linkage table begins, behind a mark for indirect branches if any, with a jump through the
// table, which only the loader writes. Such a stub differs from a function that ends in a call through a variable by
// what follows: the number that lazy binding needs, or bytes that fill the stub up to 8 or 16.
bool BlockBuilder::is_linkage_stub(const Instruction& instruction) const {
  constexpr uint64_t kMarkBytes = 4;  // endbr64
  if (instruction.address != guest_ && instruction.address != guest_ + kMarkBytes) return false;
  constexpr std::string_view kBehind[] = {
      {"\x68", 1}, {"\x66\x90", 2}, {"\x0f\x1f\x44\0\0", 5}, {"\x66\x0f\x1f\x44\0\0", 6}};
  const uint64_t at = instruction.next();
  const std::string_view behind(reinterpret_cast<const char*>(at), code_end_ - at);
  return std::any_of(std::begin(kBehind), std::end(kBehind), [&](auto bytes) { return behind.starts_with(bytes); });
}

// False for reads of constants and of linkage tables.
bool BlockBuilder::is_worth_logging(const Instruction& instruction, const Analysis& analysis) const {
  const MemoryAccess& access = analysis.access[0];
  if (analysis.accesses != 1 || access.is_written || !analysis.is_rip_relative) return true;
  if (analysis.flow == Flow::jump_indirect && is_linkage_stub(instruction)) return false;
  return regions_.at(static_cast<uint64_t>(access.address.displacement)).kind != CodeKind::constant;
}

void BlockBuilder::log_accesses(const Instruction& instruction, const Analysis& analysis) {
  if (!is_logged_ || analysis.accesses == 0 || !is_worth_logging(instruction, analysis)) return;
  if (analysis.access[0].is_local && !logs_locals_) return;
  ensure_log_room(instruction, kLongEntryBytes * static_cast<uint32_t>(analysis.accesses));
  for (int i = 0; i < analysis.accesses; ++i) log_access(instruction, analysis, i);
}

// Two that the instruction does not use. Code computes with the first registers most, and the next instruction had best
// not wait for a restored one.
BlockBuilder::Spare BlockBuilder::spare_registers(const Instruction& instruction) {
  constexpr Register kOrder[] = {r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax, rbx, r15, r14};
  const uint32_t used = registers_used(instruction);
  Register found[2] = {rax, rcx};
  int count = 0;
  for (const Register reg : kOrder) {
    if (count < 2 && (used & 1u << reg) == 0) found[count++] = reg;
  }
  return {found[0], found[1]};
}

void BlockBuilder::log_access(const Instruction& instruction, const Analysis& analysis, int which) {
  const MemoryAccess& access = analysis.access[which];
  const bool compares = analysis.new_value != NewValue::unknown;
  uint32_t meta = access.size_bytes;
  if (access.is_read) meta |= kMetaRead;
  if (access.is_written) meta |= kMetaWrite;
  if (compares) meta |= kMetaValues;
  if (analysis.is_repeated) meta |= kMetaString;
  if (access.is_local) meta |= kMetaLocal;
  const bool commutes = access.is_written && analysis.commutes != Commutes::with_none &&
                        are_flags_unused(instruction, code_begin_, code_end_);
  if (commutes && !(analysis.is_atomic_addition && analysis.commutes != Commutes::with_additions)) {
    meta |= kMetaCommutative;
    if (analysis.commutes == Commutes::with_setting_bits) meta |= kMetaSetsBits;
    if (analysis.commutes == Commutes::with_clearing_bits) meta |= kMetaClearsBits;
  }
  if (access.is_written && access.is_read && analysis.is_atomic_addition) {
    meta |= kMetaAtomic;
    if (analysis.fetches || !are_flags_unused(instruction, code_begin_, code_end_)) meta |= kMetaFetched;
  }
  const auto [address, entry] = spare_registers(instruction);
  spill(kSlotA, address);
  spill(kSlotB, entry);
  emit_.load_address(address, access.address);
  emit_.load_local(entry, locals_.log());
  const uint32_t bytes = (meta & kMetaLong) != 0 ? kLongEntryBytes : kEntryBytes;
  emit_.load_address(entry, {.base = entry, .displacement = -static_cast<int64_t>(bytes)});
  emit_.store(entry, offsetof(LogEntry, address), address);
  emit_.store_u32(entry, offsetof(LogEntry, meta), meta);
  if (compares) {
    const Register value = address;
    emit_.load(value, address, 0, access.size_bytes);
    emit_.store(entry, offsetof(LogEntry, before), value);
    if (analysis.new_value == NewValue::immediate) emit_.move_immediate(value, analysis.immediate);
    // The new value, if it is known before. A source register of the instruction is none of the spare ones.
    emit_.store(entry, offsetof(LogEntry, after), analysis.new_value == NewValue::source ? analysis.source : value);
  } else if (analysis.is_repeated) {
    emit_.store(entry, offsetof(LogEntry, before), address);
  }
  emit_.store_local(locals_.log(), entry);
  restore(kSlotA, address);
  restore(kSlotB, entry);
}

// The value that was written, or the pointers that a string instruction left.
void BlockBuilder::log_after(const Instruction& instruction, const Analysis& analysis) {
  const bool looks = analysis.new_value == NewValue::memory;
  if (!is_logged_ || (!looks && !analysis.is_repeated)) return;
  mark_at(instruction.next());
  const auto [address, entry] = spare_registers(instruction);
  spill(kSlotA, address);
  spill(kSlotB, entry);
  emit_.load_local(entry, locals_.log());
  if (looks) {
    emit_.load(address, entry, offsetof(LogEntry, address), 8);
    emit_.load(address, address, 0, analysis.access[analysis.accesses - 1].size_bytes);
    emit_.store(entry, offsetof(LogEntry, after), address);
  } else {
    for (int i = 0; i < analysis.accesses; ++i) {  // the last one is the lowest
      const auto at = static_cast<int8_t>(kLongEntryBytes * static_cast<uint32_t>(analysis.accesses - 1 - i));
      emit_.load_address(address, analysis.access[i].address);
      emit_.store(entry, static_cast<int8_t>(at + static_cast<int8_t>(offsetof(LogEntry, before))), address);
    }
  }
  restore(kSlotA, address);
  restore(kSlotB, entry);
}

// Logs the clock before a call or a return, if the segment's own function or one of its callers makes the call, or is
// returned to. rsp + above is that function's stack pointer: so rsp + above - frame is not negative, and its highest
// byte is zero.
void BlockBuilder::log_point(const Instruction& instruction, bool is_return) {
  if (!is_logged_) return;
  const int64_t above = is_return ? 8 : 0;
  spill(kSlotB, rcx);
  emit_.load_local(rcx, locals_.minus_frame());
  emit_.load_address(rcx, {.base = rsp, .index = rcx, .displacement = above});
  emit_.swap_bytes(rcx);
  emit_.zero_extend_byte(rcx, rcx);
  const size_t is_point = emit_.jump_if_zero_ecx();
  emit_.u8(0xe9);  // further than a short jump
  emit_.u32(0);
  const size_t is_deeper = emit_.size() - 4;
  emit_.land_short(is_point);
  restore(kSlotB, rcx);
  const uint32_t room = log_room_;
  ensure_log_room(instruction, kEntryBytes);
  spill(kSlotA, rax);
  spill(kSlotB, rcx);
  spill(kSlotC, rdx);
  emit_.read_clock();
  emit_.load_local(rcx, locals_.log());
  emit_.load_address(rcx, {.base = rcx, .displacement = -int64_t{kEntryBytes}});
  emit_.store(rcx, offsetof(LogEntry, address), rax);
  emit_.store(rcx, offsetof(LogEntry, address) + 4, rdx);
  if (is_return) {
    constexpr uint32_t kBack = kMetaPoint | kMetaBack;
    emit_.load_address(rdx, {.base = rsp});
    emit_.load(rax, rdx, 4, 4);
    emit_.load_address(rax, {.base = rax, .displacement = kBack});
    emit_.store_low_u32(rcx, offsetof(LogEntry, meta), rax);
    emit_.load(rax, rdx, 0, 4);
    emit_.store_low_u32(rcx, offsetof(LogEntry, low), rax);
  } else {
    const uint64_t back = instruction.next();
    emit_.store_u32(rcx, offsetof(LogEntry, meta), kMetaPoint | (static_cast<uint32_t>(back >> 32) & kMetaSizeMask));
    emit_.store_u32(rcx, offsetof(LogEntry, low), static_cast<uint32_t>(back));
  }
  emit_.store_local(locals_.log(), rcx);
  restore(kSlotA, rax);
  restore(kSlotC, rdx);
  emit_.land(is_deeper);
  restore(kSlotB, rcx);
  log_room_ = room < kEntryBytes ? room : room - kEntryBytes;  // on either way at least
}

void BlockBuilder::hook(const Instruction&, Request what, uint64_t guest) {
  mark_at(guest);
  log_room_ = 0;  // C++ may write to the log
  // Five instructions of 12, 12, 12, 12, 12 bytes and a jump of 5.
  constexpr size_t kRequestBytes = 5 * 12 + 5;
  const uint64_t back = emit_.here() + kRequestBytes;
  request(what, guest, back);
}

void BlockBuilder::jump_exit(uint64_t target) {
  exit_[exits_] = {0, new_link(target)};
  mark(Mark::at_link, static_cast<int16_t>(links_ - 1));
  emit_.jump_through(reinterpret_cast<uint64_t>(cache_.links() + exit_[exits_].link));
  ++exits_;
}

void BlockBuilder::conditional_exit(const Instruction& instruction, const Analysis& analysis) {
  const uint32_t link = new_link(analysis.target);
  if (analysis.flow == Flow::condition) {
    exit_[exits_++] = {emit_.jump_conditional(instruction.code.opcode & 15), link};
    return;
  }
  // jrcxz and loop only have 8 bits of distance: same prefixes and opcode, over a jump.
  emit_.bytes(reinterpret_cast<const void*>(instruction.address), instruction.code.length - 1u);
  emit_.u8(2);
  const size_t not_taken = emit_.jump_short();
  emit_.u8(0xe9);
  emit_.u32(0);
  exit_[exits_++] = {emit_.size() - 4, link};
  emit_.land_short(not_taken);
}

// Leaves the target in rax and in the thread's state, with the stack as the instruction leaves it.
void BlockBuilder::load_target(const Instruction& instruction, const Analysis& analysis) {
  spill(kSlotA, rax);
  spill(kSlotB, rcx);
  spill(kSlotC, rdx);
  int64_t popped = 0;
  if (analysis.flow == Flow::ret) {
    emit_.load_from_stack(rax);
    popped = 8;
    if (instruction.code.raw.imm[0].size != 0) popped += static_cast<uint16_t>(instruction.code.raw.imm[0].value.u);
  } else if (const ZydisDecodedOperand& to = instruction.operands[0]; to.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    emit_.move(rax, general_register(to.reg.value));
  } else {
    MemoryAddress address;
    address.base = general_register(to.mem.base);
    address.index = general_register(to.mem.index);
    address.scale = to.mem.scale;
    address.is_32_bit = instruction.code.address_width == 32;
    address.displacement = to.mem.disp.has_displacement ? to.mem.disp.value : 0;
    if (analysis.is_rip_relative) {
      address.is_absolute = true;
      address.displacement += static_cast<int64_t>(instruction.next());
    }
    emit_.load_address(rax, address);
    emit_.load(rax, rax, 0, 8);
  }
  emit_.store_local(locals_.target(), rax);
  if (analysis.flow == Flow::call_indirect) {
    emit_.move_immediate(rcx, instruction.next());
    emit_.store_at_stack(-8, rcx);
    popped = -8;
  }
  if (popped != 0) emit_.load_address(rsp, {.base = rsp, .displacement = popped});
  mark(Mark::at_target, 0);
}

// Two's complement: not(key) + target + 1 is target - key, which jrcxz tests without a flag.
void BlockBuilder::go_to_target() {
  emit_.zero_extend_word(rcx, rax);
  emit_.move_immediate(rdx, reinterpret_cast<uint64_t>(cache_.lookup_table()));
  emit_.load_indexed(rdx, rdx, rcx);
  emit_.load(rcx, rdx, -8, 8);
  emit_.invert(rcx);
  emit_.load_address(rcx, {.base = rcx, .index = rax, .displacement = 1});
  const size_t hit = emit_.jump_if_zero_rcx();
  const uint16_t spilled = spilled_;
  restore(kSlotC, rdx);
  restore(kSlotB, rcx);
  restore(kSlotA, rax);
  emit_.store_local_u32(locals_.link(), 0);
  emit_.store_local_u32(locals_.request(), static_cast<uint32_t>(Request::dispatch));
  emit_.jump_to(slow_);
  emit_.land_short(hit);
  spilled_ = spilled;
  mark(Mark::at_target, 0);
  emit_.store_local(locals_.jump(), rdx);
  restore(kSlotC, rdx);
  restore(kSlotB, rcx);
  restore(kSlotA, rax);
  emit_.jump_local(locals_.jump());
}

void BlockBuilder::leave(uint64_t guest) {
  mark_at(guest);
  request(Request::leave, guest, 0);
}

// Behind the block: code that asks C++ for a target that has no code yet, and for room in the log.
void BlockBuilder::finish_exits() {
  for (uint32_t i = 0; i < exits_; ++i) {
    const Exit& exit = exit_[i];
    mark(Mark::at_link, static_cast<int16_t>(exit.link - cache_.link_count()));
    if (exit.patch != 0) {
      emit_.land(exit.patch);
      emit_.jump_through(reinterpret_cast<uint64_t>(cache_.links() + exit.link));
    }
    LinkInfo& info = cache_.link_info(exit.link);
    info.stub = emit_.here();
    emit_.store_local_u32(locals_.link(), exit.link + 1);
    request(Request::dispatch, info.guest, 0);
    const uint64_t known = cache_.find(info.guest);
    cache_.links()[exit.link] = known != 0 ? known : info.stub;
  }
  for (uint32_t i = 0; i < log_checks_; ++i) {
    const LogCheck& check = log_check_[i];
    emit_.land(check.patch);
    spilled_ = static_cast<uint16_t>((kNothingSpilled & ~(15 << 4 * kSlotB)) | rcx << 4 * kSlotB);
    mark_at(check.guest);
    restore(kSlotB, rcx);
    request(Request::log_full, check.guest, check.back);
  }
}

uint64_t BlockBuilder::call_out(uint64_t function) {
  begin(function);
  mark_at(function);
  emit_.store_local(locals_.resume_sp(), rsp);
  emit_.store_local_u32(locals_.mode(), static_cast<uint32_t>(Mode::calling));
  emit_.jump_through(emit_.here() + 6);  // the jump's own length
  emit_.u64(function);
  return publish(function + 1);
}

uint64_t BlockBuilder::call_and_return(uint64_t function, uint64_t stand_in) {
  begin(function);
  mark_at(function);
  spill(kSlotA, rax);
  emit_.load_from_stack(rax);
  emit_.store_local(locals_.gate_return(), rax);
  emit_.store_local(locals_.gate_sp(), rsp);
  constexpr size_t kMoveBytes = 10;
  const size_t move_at = emit_.size();
  const uint64_t placeholder = UINT64_MAX;
  emit_.move_immediate(rax, placeholder);
  emit_.store_at_stack(0, rax);
  mark(Mark::at_gate, 0);
  restore(kSlotA, rax);
  emit_.store_local_u32(locals_.mode(), static_cast<uint32_t>(Mode::gate));
  emit_.jump_through(emit_.here() + 6);
  emit_.u64(stand_in);
  const uint64_t back = emit_.here();
  std::memcpy(emit_.at(move_at + kMoveBytes - 8), &back, 8);
  mark(Mark::after_gate, 0);
  emit_.store_local_u32(locals_.mode(), static_cast<uint32_t>(Mode::in_cache));
  spill(kSlotA, rax);
  spill(kSlotB, rcx);
  spill(kSlotC, rdx);
  emit_.load_local(rax, locals_.gate_return());
  emit_.store_local(locals_.target(), rax);
  mark(Mark::at_target, 0);
  go_to_target();
  return publish(function + 1);
}

}  // namespace contrafact::translate
