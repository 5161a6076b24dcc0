// The decoder library (Zydis), loaded when it is first needed: a process that translates nothing never maps it.
//
// Thread safety: load_decoder() once, before decode().
#pragma once

#include <Zydis/DecoderTypes.h>

#include <cstdint>

#include "base/result.h"

namespace contrafact::translate {

struct Instruction {
  uint64_t address;
  ZydisDecodedInstruction code;
  ZydisDecodedOperand operands[10];  // ZYDIS_MAX_OPERAND_COUNT

  uint64_t next() const { return address + code.length; }
};

base::Status load_decoder();

// False if the bytes at `address`, at most `bytes_max` of them, are no instruction.
bool decode(uint64_t address, uint64_t bytes_max, Instruction& out);

}  // namespace contrafact::translate
