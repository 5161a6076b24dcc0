#include "translate/decoder.h"

#include <Zydis/Decoder.h>
#include <dlfcn.h>

#include <algorithm>
#include <string>

namespace contrafact::translate {
namespace {

constexpr char kLibrary[] = "libZydis.so.4.0";

decltype(&ZydisDecoderDecodeFull) g_decode = nullptr;
ZydisDecoder g_decoder;

static_assert(sizeof(Instruction::operands) / sizeof(ZydisDecodedOperand) == ZYDIS_MAX_OPERAND_COUNT);

}  // namespace

base::Status load_decoder() {
  if (g_decode) return {};
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return base::Error{std::string("read and write sets need the decoder library ") + kLibrary +
                       " (Debian's package libzydis4.0): " + dlerror()};
  }
  auto* init = reinterpret_cast<decltype(&ZydisDecoderInit)>(dlsym(library, "ZydisDecoderInit"));
  auto* full = reinterpret_cast<decltype(&ZydisDecoderDecodeFull)>(dlsym(library, "ZydisDecoderDecodeFull"));
  if (!init || !full || !ZYAN_SUCCESS(init(&g_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
    return base::Error{std::string(kLibrary) + " is not the decoder library that is needed"};
  }
  g_decode = full;
  return {};
}

namespace {

// A SIB byte without base has none, whatever the prefix says of the base's fourth bit; Zydis 4.0.0 then sees r13.
void correct_base(Instruction& out) {
  const auto& raw = out.code.raw;
  if ((out.code.attributes & ZYDIS_ATTRIB_HAS_SIB) == 0 || raw.modrm.mod != 0 || (raw.sib.base & 7) != 5) return;
  for (int i = 0; i < out.code.operand_count; ++i) {
    ZydisDecodedOperand& operand = out.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM) continue;
    operand.mem.base = ZYDIS_REGISTER_NONE;
    operand.mem.disp.has_displacement = 1;
    operand.mem.disp.value = raw.disp.value;
  }
}

}  // namespace

bool decode(uint64_t address, uint64_t bytes_max, Instruction& out) {
  out.address = address;
  const auto* bytes = reinterpret_cast<const void*>(address);
  const auto length = std::min<uint64_t>(bytes_max, ZYDIS_MAX_INSTRUCTION_LENGTH);
  if (!ZYAN_SUCCESS(g_decode(&g_decoder, bytes, length, &out.code, out.operands))) return false;
  correct_base(out);
  return true;
}

}  // namespace contrafact::translate
