// Random instructions, run natively and translated from the same state: registers, flags, vectors and memory must be
// the same afterwards, or the same fault at the same instruction; and every change in memory must be among the gathered
// writes. One test for each level of x86-64; those that the processor lacks are skipped.
//
// CONTRAFACT_CASES and CONTRAFACT_SEED change how many and which.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cpuid.h>
#include <csignal>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "translate/instruction.h"
#include "translate/processor.h"
#include "translate/translate_for_test.h"

namespace contrafact::translate {
namespace {

constexpr size_t kCodeBytes = 4096;
constexpr size_t kArenaBytes = 16 << 10;
constexpr size_t kMarginBytes = 1 << 20;  // not mapped, on both sides
constexpr int kInstructionsMax = 4;
constexpr uint64_t kStatusFlags = 0x8d5;  // carry, parity, adjust, zero, sign, overflow

struct alignas(64) Machine {
  uint8_t vectors[4096];   // an xsave area, or that of fxsave
  uint64_t registers[16];  // at 4096, in the machine's order; rsp's is not used
  uint64_t flags;          // at 4224
  uint64_t code;           // at 4232
  uint64_t stack;          // at 4240: the harness's own
  uint64_t self;           // at 4248
  uint64_t components;     // at 4256: xsave_mask()
};
static_assert(offsetof(Machine, registers) == 4096 && offsetof(Machine, components) == 4256);

// Which vector instructions the dice may give.
enum class Level { baseline, avx2, avx512 };

bool has(Level level) {
  if (level == Level::avx2) return __builtin_cpu_supports("avx2");
  if (level == Level::avx512) return __builtin_cpu_supports("avx512f") && (xsave_mask() & 0xe0) == 0xe0;
  return true;
}

// A component of the processor's state within Machine::vectors.
struct Component {
  int number;
  size_t begin, bytes;
};

// Those of xsave_mask(), at the places that this processor gives them: AVX-512's differ between makers.
std::vector<Component> components_here() {
  std::vector<Component> out = {{0, 32, 128}, {1, 160, 256}};
  for (int number = 2; number < 8; ++number) {
    uint32_t a, b, c, d;
    if ((xsave_mask() >> number & 1) == 0 || __get_cpuid_count(0xd, number, &a, &b, &c, &d) == 0) continue;
    out.push_back({number, b, a});
  }
  return out;
}

// Runs machine->code with the machine's registers. Its address waits on the stack while the code runs.
extern "C" void contrafact_run_machine(Machine* machine);
__asm__(R"(
  .text
  .globl contrafact_run_machine
  .type contrafact_run_machine, @function
contrafact_run_machine:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  pushq %rdi
  xorl %edx, %edx
  movl 4256(%rdi), %eax
  testl %eax, %eax
  jz 1f
  xrstor64 (%rdi)
  jmp 2f
1:
  fxrstor64 (%rdi)
2:
  pushq 4224(%rdi)
  popfq
  movq 4096(%rdi), %rax
  movq 4104(%rdi), %rcx
  movq 4112(%rdi), %rdx
  movq 4120(%rdi), %rbx
  movq 4136(%rdi), %rbp
  movq 4144(%rdi), %rsi
  movq 4160(%rdi), %r8
  movq 4168(%rdi), %r9
  movq 4176(%rdi), %r10
  movq 4184(%rdi), %r11
  movq 4192(%rdi), %r12
  movq 4200(%rdi), %r13
  movq 4208(%rdi), %r14
  movq 4216(%rdi), %r15
  pushq 4232(%rdi)
  movq 4152(%rdi), %rdi
  popq -16(%rsp)
  callq *-16(%rsp)
  xchgq %rdi, (%rsp)
  movq %rax, 4096(%rdi)
  movq %rcx, 4104(%rdi)
  movq %rdx, 4112(%rdi)
  movq %rbx, 4120(%rdi)
  movq %rbp, 4136(%rdi)
  movq %rsi, 4144(%rdi)
  movq %r8, 4160(%rdi)
  movq %r9, 4168(%rdi)
  movq %r10, 4176(%rdi)
  movq %r11, 4184(%rdi)
  movq %r12, 4192(%rdi)
  movq %r13, 4200(%rdi)
  movq %r14, 4208(%rdi)
  movq %r15, 4216(%rdi)
  popq 4152(%rdi)
  pushfq
  popq 4224(%rdi)
  cld
  xorl %edx, %edx
  movl 4256(%rdi), %eax
  testl %eax, %eax
  jz 3f
  xsave64 (%rdi)
  jmp 4f
3:
  fxsave64 (%rdi)
4:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
  .size contrafact_run_machine, .-contrafact_run_machine
)");

struct Outcome {
  Machine machine;
  int signal = 0;
  uint64_t pc = 0;
  uint64_t fault_address = 0;
  uint8_t arena[kArenaBytes];
};

sigjmp_buf g_out;
Outcome* g_outcome;
bool g_translated;

// qemu-user neither aligns the stack of a handler nor clears its direction flag.
__attribute__((force_align_arg_pointer)) void on_fault(int number, siginfo_t* info, void* context) {
  __asm__ volatile("cld");
  auto* machine = static_cast<ucontext_t*>(context);
  if (g_translated) test_translator().fix_context(machine);
  constexpr int kOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (int i = 0; i < 16; ++i) {
    if (i != rsp) g_outcome->machine.registers[i] = static_cast<uint64_t>(machine->uc_mcontext.gregs[kOrder[i]]);
  }
  g_outcome->machine.flags = static_cast<uint64_t>(machine->uc_mcontext.gregs[REG_EFL]);
  // A malformed address: through rbp it is a fault of the stack's segment, but of another one where our code looks at
  // it first.
  g_outcome->signal = number == SIGBUS ? SIGSEGV : number;
  g_outcome->pc = static_cast<uint64_t>(machine->uc_mcontext.gregs[REG_RIP]);
  g_outcome->fault_address = number == SIGSEGV || number == SIGBUS ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
  siglongjmp(g_out, 1);
}

// Code and the memory that it uses, within reach of each other.
class RandomCode : public testing::Test {
 protected:
  void SetUp() override {
    file_ = open_code_file();
    if (file_ < 0) GTEST_SKIP() << "no code of files in the build folder can run translated";
    ASSERT_EQ(ftruncate(file_, kCodeBytes), 0);
    // Far from all else, so that a stray address hits nothing.
    auto* all = static_cast<uint8_t*>(mmap(reinterpret_cast<void*>(uint64_t{1} << 45),
                                           2 * kMarginBytes + kArenaBytes + kCodeBytes, PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0));
    ASSERT_NE(all, MAP_FAILED);
    arena_ = all + kMarginBytes;
    code_ = arena_ + kArenaBytes + kMarginBytes / 2;
    mmap(arena_, kArenaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    map_code(code_, kCodeBytes, file_);
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigaction(number, &action, nullptr);
    if (const char* seed = std::getenv("CONTRAFACT_SEED")) random_.seed(std::strtoul(seed, nullptr, 10));
  }
  void TearDown() override {
    if (file_ < 0) return;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) std::signal(number, SIG_DFL);
    munmap(arena_ - kMarginBytes, 2 * kMarginBytes + kArenaBytes + kCodeBytes);
    close(file_);
  }

  uint64_t any(uint64_t below) { return random_() % below; }

  // A candidate: prefixes, an opcode of one of the maps, and bytes for the rest.
  size_t make_bytes(uint8_t* out) {
    size_t n = 0;
    // Seven kinds of legacy instructions, two encodings of AVX's, one of AVX-512's.
    const uint64_t kind = any(level_ == Level::baseline ? 7 : level_ == Level::avx2 ? 9 : 10);
    const bool is_vector = kind >= 7;
    if (!is_vector) {
      constexpr uint8_t kPrefixes[] = {0x66, 0xf2, 0xf3, 0x67, 0xf0};
      while (any(3) == 0) out[n++] = kPrefixes[any(sizeof kPrefixes)];
      if (any(2) == 0) out[n++] = static_cast<uint8_t>(0x40 | any(16));
      if (kind >= 3) out[n++] = 0x0f;
      if (kind == 6) out[n++] = any(2) == 0 ? 0x38 : 0x3a;
    } else if (kind == 7) {
      out[n++] = 0xc5;
    } else if (kind == 8) {
      out[n++] = 0xc4;
      out[n++] = static_cast<uint8_t>(any(8) << 5 | (1 + any(3)));
    } else {
      out[n++] = 0x62;
      out[n++] = static_cast<uint8_t>(any(16) << 4 | (1 + any(3)));
      out[n++] = static_cast<uint8_t>(any(256) | 4);
    }
    while (n < ZYDIS_MAX_INSTRUCTION_LENGTH) out[n++] = static_cast<uint8_t>(random_());
    return n;
  }

  static bool is_comparable(const Instruction& instruction) {
    const ZydisDecodedInstruction& code = instruction.code;
    switch (code.mnemonic) {
      case ZYDIS_MNEMONIC_RDTSC:
      case ZYDIS_MNEMONIC_RDTSCP:
      case ZYDIS_MNEMONIC_RDRAND:
      case ZYDIS_MNEMONIC_RDSEED:
      case ZYDIS_MNEMONIC_RDPID:
      case ZYDIS_MNEMONIC_RDPRU:
      case ZYDIS_MNEMONIC_CPUID:
      case ZYDIS_MNEMONIC_FNSTENV:  // and the next ones: the address of the last instruction of the x87
      case ZYDIS_MNEMONIC_FNSAVE:
      case ZYDIS_MNEMONIC_FXSAVE:
      case ZYDIS_MNEMONIC_FXSAVE64:
      case ZYDIS_MNEMONIC_FXRSTOR:
      case ZYDIS_MNEMONIC_FXRSTOR64:
      case ZYDIS_MNEMONIC_FLDENV:
      case ZYDIS_MNEMONIC_FRSTOR:
      case ZYDIS_MNEMONIC_POPF:  // could set the trap flag
      case ZYDIS_MNEMONIC_POPFQ:
      case ZYDIS_MNEMONIC_CLZERO:
      case ZYDIS_MNEMONIC_MONITORX:
      case ZYDIS_MNEMONIC_MWAITX:
      case ZYDIS_MNEMONIC_TPAUSE:
      case ZYDIS_MNEMONIC_UMWAIT:
      case ZYDIS_MNEMONIC_WRPKRU:
      case ZYDIS_MNEMONIC_RDFSBASE:
      case ZYDIS_MNEMONIC_RDSSPQ:
        return false;
      default:
        break;
    }
    if (code.meta.category == ZYDIS_CATEGORY_XSAVE || code.meta.category == ZYDIS_CATEGORY_XSAVEOPT ||
        code.meta.category == ZYDIS_CATEGORY_AMX_TILE || code.meta.category == ZYDIS_CATEGORY_KEYLOCKER) {
      return false;
    }
    for (int i = 0; i < code.operand_count; ++i) {
      const ZydisDecodedOperand& operand = instruction.operands[i];
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && general_register(operand.reg.value) == rsp) return false;
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
      if (general_register(operand.mem.base) == rsp || general_register(operand.mem.index) == rsp) return false;
      if (operand.mem.segment == ZYDIS_REGISTER_FS) return false;  // could change the C library's own
    }
    return true;
  }

  // qemu-user differs from a processor: it heeds a REX prefix before another prefix, gets the address of an operand
  // relative to rip wrong where an immediate operand follows, and ends at a scalar instruction of 256 bits.
  static bool is_emulated_wrongly(const Instruction& instruction, const Analysis& analysis) {
    const ZydisDecodedInstruction& code = instruction.code;
    for (int i = 0; i + 1 < code.raw.prefix_count; ++i) {
      if ((code.raw.prefixes[i].value & 0xf0) == 0x40) return true;
    }
    const bool is_scalar = code.mnemonic == ZYDIS_MNEMONIC_VROUNDSD || code.mnemonic == ZYDIS_MNEMONIC_VROUNDSS;
    return (analysis.is_rip_relative && code.raw.imm[0].size != 0) || (is_scalar && code.raw.vex.L != 0);
  }

  // Appends one random instruction at `at`; false if the dice gave none.
  bool add_instruction(uint8_t* code, size_t& size) {
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    make_bytes(bytes);
    Instruction instruction;
    if (!decode(reinterpret_cast<uint64_t>(bytes), sizeof bytes, instruction)) return false;
    const Analysis analysis = analyse(instruction);
    if (analysis.flow != Flow::on || !is_comparable(instruction)) return false;
    if (is_emulated() && is_emulated_wrongly(instruction, analysis)) return false;
    const uint8_t length = instruction.code.length;
    if (instruction.code.raw.disp.size == 32) {  // near enough to be within the arena, mostly
      int32_t displacement = static_cast<int32_t>(any(512)) - 256;
      if (analysis.is_rip_relative) {
        const auto next = reinterpret_cast<uint64_t>(code_) + size + length;
        displacement = static_cast<int32_t>(reinterpret_cast<uint64_t>(arena_) + any(kArenaBytes - 64) - next);
      }
      std::memcpy(bytes + instruction.code.raw.disp.offset, &displacement, 4);
    }
    std::memcpy(code + size, bytes, length);
    size += length;
    return true;
  }

  size_t make_code(uint8_t* code) {
    size_t size = 0;
    const int count = 1 + static_cast<int>(any(kInstructionsMax));
    for (int made = 0; made < count;) made += add_instruction(code, size);
    instructions_ += count;
    code[size++] = 0xc3;
    return size;
  }

  void make_state(Machine& machine) {
    std::memset(&machine, 0, sizeof machine);
    for (const Component& component : components_) {
      if (component.number == 0) continue;
      uint8_t* begin = machine.vectors + component.begin;
      const bool is_dense = component.number == 1;
      std::generate_n(begin, component.bytes,
                      [&] { return static_cast<uint8_t>(is_dense || any(4) == 0 ? random_() : 0); });
    }
    const uint16_t control = 0x37f;
    const uint32_t mxcsr = 0x1f80;
    const uint64_t present = machine.components = xsave_mask();
    std::memcpy(machine.vectors, &control, 2);
    std::memcpy(machine.vectors + 24, &mxcsr, 4);
    std::memcpy(machine.vectors + 512, &present, 8);
    for (uint64_t& reg : machine.registers) {
      const uint64_t kind = any(8);
      reg = kind == 0  ? random_()
            : kind < 3 ? any(64)
                       : reinterpret_cast<uint64_t>(arena_) + 1024 + any(kArenaBytes - 2048);
    }
    machine.registers[rcx] = any(2) == 0 ? any(40) : machine.registers[rcx];  // counts
    machine.flags = 0x202 | (random_() & kStatusFlags);
    machine.code = reinterpret_cast<uint64_t>(code_);
  }

  void run(const Machine& begin, bool is_translated, Outcome& outcome, Gathered& gathered) {
    std::memcpy(arena_, start_, kArenaBytes);
    outcome.machine = begin;
    outcome.signal = 0;
    outcome.pc = outcome.fault_address = 0;
    g_outcome = &outcome;
    g_translated = is_translated;
    Machine* machine = &outcome.machine;
    if (sigsetjmp(g_out, 1) == 0) {
      if (is_translated) {
        gathered = translated([machine] { contrafact_run_machine(machine); });
      } else {
        contrafact_run_machine(machine);
      }
    } else if (is_translated) {
      end_abandoned();
    }
    std::memcpy(outcome.arena, arena_, kArenaBytes);
  }

  static std::string text_of(const uint8_t* code, size_t size) {
    std::string out;
    char byte[4];
    for (size_t i = 0; i < size; ++i) {
      snprintf(byte, sizeof byte, "%02x ", code[i]);
      out += byte;
    }
    return out;
  }

  // A component in its initial state is not written: all zeros.
  void clear_initial(Machine& machine) const {
    uint64_t present;
    std::memcpy(&present, machine.vectors + 512, sizeof present);
    for (const Component& component : components_) {
      if (machine.components == 0 || (present >> component.number & 1) != 0) continue;
      std::memset(machine.vectors + component.begin, 0, component.bytes);
    }
  }

  void expect_same(const Outcome& native, const Outcome& translated) const {
    EXPECT_EQ(translated.signal, native.signal);
    EXPECT_EQ(translated.pc, native.pc);
    EXPECT_EQ(translated.fault_address, native.fault_address);
    for (int i = 0; i < 16; ++i) {
      if (i != rsp) {
        EXPECT_EQ(translated.machine.registers[i], native.machine.registers[i]) << "register " << i;
      }
    }
    // Flags that an instruction leaves undefined are always the same ones of a processor, not of qemu-user.
    const uint64_t flags = is_emulated() ? 0 : kStatusFlags;
    EXPECT_EQ(translated.machine.flags & flags, native.machine.flags & flags);
    EXPECT_EQ(std::memcmp(translated.arena, native.arena, kArenaBytes), 0) << "memory differs";
    if (native.signal != 0) return;  // the vectors are in the signal's frame
    Machine x = native.machine, y = translated.machine;
    std::memset(x.vectors + 6, 0, 18);  // the x87's last opcode and instruction
    std::memset(y.vectors + 6, 0, 18);
    clear_initial(x);
    clear_initial(y);
    EXPECT_EQ(std::memcmp(x.vectors, y.vectors, 32), 0) << "control and status differ";
    for (const Component& component : components_) {
      EXPECT_EQ(std::memcmp(x.vectors + component.begin, y.vectors + component.begin, component.bytes), 0)
          << "component " << component.number << " differs";
    }
  }

  void expect_writes_gathered(const Outcome& outcome, const Gathered& gathered) {
    for (size_t i = 0; i < kArenaBytes; ++i) {
      if (outcome.arena[i] == start_[i]) continue;
      const uint64_t address = reinterpret_cast<uint64_t>(arena_) + i;
      bool found = false;
      for (const Access& access : gathered.accesses) {
        found |= (access.flags & kAccessWrite) != 0 && (access.flags & kAccessChanged) != 0 &&
                 address >= access.begin && address < access.begin + access.length_bytes;
      }
      EXPECT_TRUE(found) << "a write to the arena's byte " << i << " is not in the set";
      if (!found) return;
    }
  }

  void expect_same_translated(Level level);

  Level level_ = Level::baseline;
  const std::vector<Component> components_ = components_here();
  std::mt19937_64 random_{1};
  long instructions_ = 0;  // in all cases
  int file_ = -1;
  uint8_t* arena_ = nullptr;
  uint8_t* code_ = nullptr;
  uint8_t start_[kArenaBytes];
};

void RandomCode::expect_same_translated(Level level) {
  if (!has(level)) GTEST_SKIP() << "this processor lacks the instructions";
  level_ = level;
  const char* wanted = std::getenv("CONTRAFACT_CASES");
  const long cases = wanted ? std::strtol(wanted, nullptr, 10) : is_emulated() ? 1'000 : 5'000;
  static Outcome native, translated_outcome;
  long completed = 0, incomplete = 0;
  Machine begin;
  for (long i = 0; i < cases; ++i) {
    uint8_t code[kCodeBytes] = {};
    const size_t size = make_code(code);
    ASSERT_EQ(pwrite(file_, code, size, 0), static_cast<ssize_t>(size));
    // The mapping is made anew for an emulator, which does not learn otherwise that its own translation is old.
    ASSERT_EQ(map_code(code_, kCodeBytes, file_), code_);
    const auto at = reinterpret_cast<uint64_t>(code_);
    make_state(begin);
    for (uint8_t& byte : start_) byte = static_cast<uint8_t>(random_());
    Gathered none, gathered;
    run(begin, false, native, none);
    run(begin, true, translated_outcome, gathered);
    SCOPED_TRACE("case " + std::to_string(i) + ": " + text_of(code, size) + "signal " + std::to_string(native.signal) +
                 " at " + std::to_string(native.pc - at));
    // qemu-user's registers and flags at a fault are not always those of the instruction that faults.
    if (is_emulated() && native.signal != 0) continue;
    expect_same(native, translated_outcome);
    if (native.signal == 0) {
      ++completed;
      if (gathered.left == Reason::none) {
        expect_writes_gathered(translated_outcome, gathered);
      } else {
        ++incomplete;
        if (gathered.left == Reason::cache_full) break;  // after many thousands of cases
        EXPECT_EQ(gathered.left, Reason::gather);
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(completed, cases / 10);
  RecordProperty("completed", std::to_string(completed));
  RecordProperty("incomplete", std::to_string(incomplete));
  printf("%ld cases of %ld instructions, %ld ran to their end, %ld with unknown accesses\n", cases, instructions_,
         completed, incomplete);
}

TEST_F(RandomCode, DoesTheSameTranslatedBaseline) {
  expect_same_translated(Level::baseline);
}

TEST_F(RandomCode, DoesTheSameTranslatedAvx2) {
  expect_same_translated(Level::avx2);
}

TEST_F(RandomCode, DoesTheSameTranslatedAvx512) {
  expect_same_translated(Level::avx512);
}

}  // namespace
}  // namespace contrafact::translate
