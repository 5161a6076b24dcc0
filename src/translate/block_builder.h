// BlockBuilder: translates the program's code from one address on, up to the first jump that is always taken, into code
// that does the same and logs what memory it touches.
//
//   program            translated
//   add [rbx+8], eax   [room for the log?]  spill 2 registers, address -> log, value before -> log, restore
//                      add [rbx+8], eax
//                      spill, value after -> log, restore
//   mov ecx, [rip+x]   ... a spare register spilled and set to the address, mov ecx, [spare], restore
//   call f             store the program's own return address on the stack, jump through f's link
//   ret                take the address off the stack, look it up, jump
//   je  label          je to the label's link; goes on
//
// The program's stack, registers and flags are at each of the program's instructions what they would be natively; in
// between, the block's marks say where the registers are. Nothing is written below the stack pointer but what the
// instruction itself writes there.
//
// Thread safety: none; one at a time, under the Translator's lock. Allocates nothing.
#pragma once

#include <cstdint>

#include "translate/code_cache.h"
#include "translate/code_regions.h"
#include "translate/emitter.h"
#include "translate/instruction.h"
#include "translate/thread.h"

namespace contrafact::translate {

// Where the fields of ThreadState lie, from %fs: the same in every thread.
struct LocalOffsets {
  explicit LocalOffsets(int32_t thread_state) : base(thread_state) {}
  int32_t base;
  int32_t slot(int n) const { return base + static_cast<int32_t>(offsetof(ThreadState, slot)) + 8 * n; }
  int32_t log() const { return base + static_cast<int32_t>(offsetof(ThreadState, log)); }
  int32_t target() const { return base + static_cast<int32_t>(offsetof(ThreadState, target)); }
  int32_t jump() const { return base + static_cast<int32_t>(offsetof(ThreadState, jump)); }
  int32_t resume_sp() const { return base + static_cast<int32_t>(offsetof(ThreadState, resume_sp)); }
  int32_t gate_return() const { return base + static_cast<int32_t>(offsetof(ThreadState, gate_return)); }
  int32_t gate_sp() const { return base + static_cast<int32_t>(offsetof(ThreadState, gate_sp)); }
  int32_t link() const { return base + static_cast<int32_t>(offsetof(ThreadState, link)); }
  int32_t thread() const { return base + static_cast<int32_t>(offsetof(ThreadState, thread)); }
  int32_t mode() const { return base + static_cast<int32_t>(offsetof(ThreadState, mode)); }
  int32_t minus_frame() const { return base + static_cast<int32_t>(offsetof(ThreadState, minus_frame)); }
  int32_t request() const { return base + static_cast<int32_t>(offsetof(ThreadState, request)); }
};

class BlockBuilder {
 public:
  // Most that one block takes.
  static constexpr size_t kCodeBytesMax = 48 << 10;  // a mark's offset has 16 bits
  static constexpr uint32_t kMarksMax = 4096;
  static constexpr uint32_t kLinksMax = 80;

  // `slow` is the code that calls C++ with the request in ThreadState.
  BlockBuilder(CodeCache& cache, const CodeRegions& regions, LocalOffsets locals, uint64_t slow)
      : cache_(cache), regions_(regions), locals_(locals), slow_(slow) {}

  // REQUIRES: the cache has room for the above; `region` may be read, and holds `guest`. Returns the code's address.
  uint64_t translate(uint64_t guest, const Region& region);
  // A function that is called natively. It may come back into the cache (Translator::enter).
  uint64_t call_out(uint64_t function);
  // Where `function` would run, `stand_in` is called natively, which returns into the cache.
  uint64_t call_and_return(uint64_t function, uint64_t stand_in);

 private:
  struct Exit {
    size_t patch;  // of the jump that leads here, if any
    uint32_t link;
  };
  struct LogCheck {
    size_t patch;
    uint64_t guest, back;
  };

  struct Spare {
    Register address, entry;
  };

  static Spare spare_registers(const Instruction& instruction);
  void begin(uint64_t guest);
  uint64_t publish(uint64_t guest_end);
  void mark(Mark::Kind kind, int16_t value);
  void mark_at(uint64_t guest) { mark(Mark::at_offset, static_cast<int16_t>(guest - guest_)); }
  void spill(int slot, Register reg);
  void restore(int slot, Register reg);
  uint32_t new_link(uint64_t guest);
  void request(Request request, uint64_t guest, uint64_t back);

  bool translate_one(const Instruction& instruction, const Analysis& analysis);  // false: the block ends behind it
  void translate_ordinary(const Instruction& instruction, const Analysis& analysis);
  void copy(const Instruction& instruction, const Analysis& analysis);
  void copy_with_spare_register(const Instruction& instruction);
  void log_accesses(const Instruction& instruction, const Analysis& analysis);
  bool is_linkage_stub(const Instruction& instruction) const;
  bool is_worth_logging(const Instruction& instruction, const Analysis& analysis) const;
  void log_access(const Instruction& instruction, const Analysis& analysis, int which);
  void log_after(const Instruction& instruction, const Analysis& analysis);
  void ensure_log_room(const Instruction& instruction, uint32_t bytes);
  void hook(const Instruction& instruction, Request what, uint64_t guest);
  void log_point(const Instruction& instruction, bool is_return);

  void jump_exit(uint64_t target);
  void conditional_exit(const Instruction& instruction, const Analysis& analysis);
  void push_return_address(const Instruction& instruction);
  void load_target(const Instruction& instruction, const Analysis& analysis);
  void go_to_target();  // the target is in rax and in the thread's state; rax, rcx and rdx are spilled
  void leave(uint64_t guest);
  void finish_exits();

  CodeCache& cache_;
  const CodeRegions& regions_;
  LocalOffsets locals_;
  uint64_t slow_;

  // The block that is being built.
  Emitter emit_{nullptr, 0, 0};
  uint64_t guest_ = 0, code_begin_ = 0, code_end_ = 0;
  bool is_logged_ = false, logs_locals_ = false;
  uint32_t log_room_ = 0;  // bytes that may be logged before the next test
  uint16_t spilled_ = kNothingSpilled;
  uint32_t marks_ = 0, links_ = 0;
  int16_t mark_value_ = 0;
  Mark::Kind mark_kind_ = Mark::at_offset;
  uint32_t exits_ = 0, log_checks_ = 0;
  Exit exit_[kLinksMax];
  LogCheck log_check_[kLinksMax];
};

}  // namespace contrafact::translate
