// Groups: the unit of compression inside a block's payload. A group joins sections whose bytes have like statistics,
// since zstd makes one entropy table for each call, and each call costs about a microsecond.
//
//   group ::= codec:u8 raw_bytes:varint stored_bytes:varint  byte{stored_bytes}      codec 0: as they are, 1: zstd
//
// The sections follow each other; how long each is follows from their contents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "format/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace contrafact::format {

class GroupWriter {
 public:
  explicit GroupWriter(int level);  // zstd's, 0 for none
  ~GroupWriter();
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  // Appends the group of these sections to `out`.
  void put(std::vector<uint8_t>& out, std::span<const std::span<const uint8_t>> sections);

 private:
  int level_;
  ZSTD_CCtx_s* context_;
  std::vector<uint8_t> raw_;
  std::vector<uint8_t> packed_;
};

class GroupReader {
 public:
  GroupReader();
  ~GroupReader();
  GroupReader(const GroupReader&) = delete;
  GroupReader& operator=(const GroupReader&) = delete;

  // The next group, unpacked. Nullopt if it is none or unpacks to more than kBlockRawBytesMax. It lives as long as
  // `scratch` is untouched, and may be read 8 bytes beyond its end.
  std::optional<std::span<const uint8_t>> get(ByteReader& in, std::vector<uint8_t>& scratch);

 private:
  ZSTD_DCtx_s* context_;
};

}  // namespace contrafact::format
