// Emitter: the few x86-64 instructions that translated code adds to the program's own. None of them changes a flag.
//
// Thread safety: none. Invariant: `room()` bytes may still be written; the caller asks before each instruction of the
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace contrafact::translate {

enum Register : uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, no_register };

// base + index * scale + displacement.
struct MemoryAddress {
  Register base = no_register;
  Register index = no_register;
  uint8_t scale = 1;
  bool is_absolute = false;  // `displacement` is the whole address
  bool is_32_bit = false;
  int64_t displacement = 0;
};

class Emitter {
 public:
  // `out` is where to write, `address` where the same bytes will be executed.
  Emitter(uint8_t* out, uint64_t address, size_t room) : begin_(out), out_(out), end_(out + room), address_(address) {}

  size_t size() const { return static_cast<size_t>(out_ - begin_); }
  size_t room() const { return static_cast<size_t>(end_ - out_); }
  uint64_t here() const { return address_ + size(); }
  uint8_t* at(size_t offset) { return begin_ + offset; }

  void bytes(const void* from, size_t count) {
    std::memcpy(out_, from, count);
    out_ += count;
  }
  void u8(uint8_t value) { *out_++ = value; }
  void u32(uint32_t value) { bytes(&value, 4); }
  void u64(uint64_t value) { bytes(&value, 8); }
  void align(size_t to) {
    while (here() % to != 0) u8(0xcc);
  }

  // Thread-local memory at `offset` from %fs.
  void store_local(int32_t offset, Register from);
  void load_local(Register to, int32_t offset);
  void store_local_u32(int32_t offset, uint32_t value);
  void store_local_u64(int32_t offset, uint64_t value);
  void load_local_byte(Register to, int32_t offset);  // `to` below r8
  void jump_local(int32_t offset);

  void load_address(Register to, const MemoryAddress& from);
  void move_immediate(Register to, uint64_t value);
  void move(Register to, Register from);
  // REQUIRES: base is neither rsp nor r12. Sizes 1, 2, 4 and 8; the upper bits become 0.
  void load(Register to, Register base, int8_t displacement, size_t size_bytes);
  void store(Register base, int8_t displacement, Register from);
  void store_u32(Register base, int8_t displacement, uint32_t value);
  // The lower half of a register.
  void store_low_u32(Register base, int8_t displacement, Register from);
  void load_indexed(Register to, Register base, Register index_times_8);
  void zero_extend_word(Register to, Register from);  // both below r8
  void invert(Register what);
  void swap_bytes(Register what);                     // of 64 bits
  void zero_extend_byte(Register to, Register from);  // both below rsp
  void read_clock();                                  // rdtsc: the lower half to rax, the upper one to rdx
  void store_at_stack(int8_t displacement, Register from);
  void load_from_stack(Register to);

  void jump_to(uint64_t target);        // within 2 GiB
  void jump_through(uint64_t pointer);  // a pointer within 2 GiB
  size_t jump_if_zero_ecx();            // returns where to patch the distance
  size_t jump_if_zero_rcx();
  size_t jump_short();
  void land_short(size_t patch);               // the jump goes here
  size_t jump_conditional(uint8_t condition);  // 32-bit distance
  void land(size_t patch);

 private:
  void local_prefix(bool wide, Register reg);

  uint8_t* begin_;
  uint8_t* out_;
  uint8_t* end_;
  uint64_t address_;
};

}  // namespace contrafact::translate
