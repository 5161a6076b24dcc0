#include "translate/emitter.h"

namespace contrafact::translate {
namespace {

constexpr uint8_t kFs = 0x64;

uint8_t rex(bool wide, uint8_t reg, uint8_t index, uint8_t base) {
  return static_cast<uint8_t>(0x40 | wide << 3 | (reg >> 3 & 1) << 2 | (index >> 3 & 1) << 1 | (base >> 3 & 1));
}
uint8_t modrm(uint8_t mod, uint8_t reg, uint8_t rm) {
  return static_cast<uint8_t>(mod << 6 | (reg & 7) << 3 | (rm & 7));
}

}  // namespace

// fs:[disp32] is ModRM 00 reg 100 with the SIB byte 25.
void Emitter::store_local(int32_t offset, Register from) {
  const uint8_t code[] = {kFs, rex(true, from, 0, 0), 0x89, modrm(0, from, 4), 0x25};
  bytes(code, sizeof code);
  u32(static_cast<uint32_t>(offset));
}

void Emitter::load_local(Register to, int32_t offset) {
  const uint8_t code[] = {kFs, rex(true, to, 0, 0), 0x8b, modrm(0, to, 4), 0x25};
  bytes(code, sizeof code);
  u32(static_cast<uint32_t>(offset));
}

void Emitter::store_local_u32(int32_t offset, uint32_t value) {
  const uint8_t code[] = {kFs, 0xc7, modrm(0, 0, 4), 0x25};
  bytes(code, sizeof code);
  u32(static_cast<uint32_t>(offset));
  u32(value);
}

void Emitter::store_local_u64(int32_t offset, uint64_t value) {
  store_local_u32(offset, static_cast<uint32_t>(value));
  store_local_u32(offset + 4, static_cast<uint32_t>(value >> 32));
}

void Emitter::load_local_byte(Register to, int32_t offset) {
  const uint8_t code[] = {kFs, 0x0f, 0xb6, modrm(0, to, 4), 0x25};
  bytes(code, sizeof code);
  u32(static_cast<uint32_t>(offset));
}

void Emitter::jump_local(int32_t offset) {
  const uint8_t code[] = {kFs, 0xff, modrm(0, 4, 4), 0x25};
  bytes(code, sizeof code);
  u32(static_cast<uint32_t>(offset));
}

// Always with a 32-bit displacement. No base: ModRM 00 with a SIB byte whose base is 101.
void Emitter::load_address(Register to, const MemoryAddress& from) {
  if (from.is_absolute) {
    move_immediate(
        to, from.is_32_bit ? static_cast<uint32_t>(from.displacement) : static_cast<uint64_t>(from.displacement));
    return;
  }
  if (from.is_32_bit) u8(0x67);
  const bool has_base = from.base != no_register, has_index = from.index != no_register;
  const uint8_t base = has_base ? from.base : 5, index = has_index ? from.index : 4;
  u8(rex(true, to, has_index ? index : 0, has_base ? base : 0));
  u8(0x8d);
  if (has_base && !has_index && (base & 7) != 4) {
    u8(modrm(2, to, base));
  } else {
    u8(modrm(has_base ? 2 : 0, to, 4));
    u8(modrm(static_cast<uint8_t>(__builtin_ctz(from.scale == 0 ? 1 : from.scale)), index, base));
  }
  u32(static_cast<uint32_t>(from.displacement));
}

void Emitter::move_immediate(Register to, uint64_t value) {
  if (value <= UINT32_MAX) {
    if (to >= r8) u8(rex(false, 0, 0, to));
    u8(static_cast<uint8_t>(0xb8 | (to & 7)));
    u32(static_cast<uint32_t>(value));
    return;
  }
  u8(rex(true, 0, 0, to));
  u8(static_cast<uint8_t>(0xb8 | (to & 7)));
  u64(value);
}

void Emitter::move(Register to, Register from) {
  const uint8_t code[] = {rex(true, from, 0, to), 0x89, modrm(3, from, to)};
  bytes(code, sizeof code);
}

void Emitter::load(Register to, Register base, int8_t displacement, size_t size_bytes) {
  u8(rex(size_bytes == 8, to, 0, base));
  if (size_bytes >= 4) {
    u8(0x8b);
  } else {
    u8(0x0f);
    u8(size_bytes == 1 ? 0xb6 : 0xb7);
  }
  u8(modrm(1, to, base));
  u8(static_cast<uint8_t>(displacement));
}

void Emitter::store(Register base, int8_t displacement, Register from) {
  const uint8_t code[] = {rex(true, from, 0, base), 0x89, modrm(1, from, base), static_cast<uint8_t>(displacement)};
  bytes(code, sizeof code);
}

void Emitter::store_low_u32(Register base, int8_t displacement, Register from) {
  const uint8_t code[] = {rex(false, from, 0, base), 0x89, modrm(1, from, base), static_cast<uint8_t>(displacement)};
  bytes(code, sizeof code);
}

void Emitter::store_u32(Register base, int8_t displacement, uint32_t value) {
  const uint8_t code[] = {rex(false, 0, 0, base), 0xc7, modrm(1, 0, base), static_cast<uint8_t>(displacement)};
  bytes(code, sizeof code);
  u32(value);
}

void Emitter::load_indexed(Register to, Register base, Register index_times_8) {
  const uint8_t code[] = {rex(true, to, index_times_8, base), 0x8b, modrm(1, to, 4), modrm(3, index_times_8, base), 0};
  bytes(code, sizeof code);
}

void Emitter::zero_extend_word(Register to, Register from) {
  const uint8_t code[] = {0x0f, 0xb7, modrm(3, to, from)};
  bytes(code, sizeof code);
}

void Emitter::read_clock() {
  u8(0x0f);
  u8(0x31);
}

void Emitter::swap_bytes(Register what) {
  const uint8_t code[] = {rex(true, 0, 0, what), 0x0f, static_cast<uint8_t>(0xc8 | (what & 7))};
  bytes(code, sizeof code);
}

void Emitter::zero_extend_byte(Register to, Register from) {
  const uint8_t code[] = {0x0f, 0xb6, modrm(3, to, from)};
  bytes(code, sizeof code);
}

void Emitter::invert(Register what) {
  const uint8_t code[] = {rex(true, 0, 0, what), 0xf7, modrm(3, 2, what)};
  bytes(code, sizeof code);
}

void Emitter::store_at_stack(int8_t displacement, Register from) {
  const uint8_t code[] = {rex(true, from, 0, 0), 0x89, modrm(1, from, 4), 0x24, static_cast<uint8_t>(displacement)};
  bytes(code, sizeof code);
}

void Emitter::load_from_stack(Register to) {
  const uint8_t code[] = {rex(true, to, 0, 0), 0x8b, modrm(0, to, 4), 0x24};
  bytes(code, sizeof code);
}

void Emitter::jump_to(uint64_t target) {
  u8(0xe9);
  u32(static_cast<uint32_t>(target - (here() + 4)));
}

void Emitter::jump_through(uint64_t pointer) {
  u8(0xff);
  u8(modrm(0, 4, 5));
  u32(static_cast<uint32_t>(pointer - (here() + 4)));
}

size_t Emitter::jump_if_zero_ecx() {
  u8(0x67);
  return jump_if_zero_rcx();
}

size_t Emitter::jump_if_zero_rcx() {
  u8(0xe3);
  u8(0);
  return size() - 1;
}

size_t Emitter::jump_short() {
  u8(0xeb);
  u8(0);
  return size() - 1;
}

void Emitter::land_short(size_t patch) {
  *at(patch) = static_cast<uint8_t>(size() - patch - 1);
}

size_t Emitter::jump_conditional(uint8_t condition) {
  u8(0x0f);
  u8(static_cast<uint8_t>(0x80 | condition));
  u32(0);
  return size() - 4;
}

void Emitter::land(size_t patch) {
  const auto distance = static_cast<uint32_t>(size() - patch - 4);
  std::memcpy(at(patch), &distance, 4);
}

}  // namespace contrafact::translate
