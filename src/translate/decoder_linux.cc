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

bool decode(uint64_t address, uint64_t bytes_max, Instruction& out) {
  out.address = address;
  const auto* bytes = reinterpret_cast<const void*>(address);
  return ZYAN_SUCCESS(g_decode(&g_decoder, bytes, std::min<uint64_t>(bytes_max, ZYDIS_MAX_INSTRUCTION_LENGTH),
                               &out.code, out.operands));
}

}  // namespace contrafact::translate
