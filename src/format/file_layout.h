// The fixed parts of a trace file, as bytes. docs/format.md is the grammar; this is its first two productions.
// All integers are little-endian.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "format/event.h"

namespace contrafact::format {

static_assert(std::endian::native == std::endian::little, "the codec copies integers as they are");

inline constexpr uint32_t kFormatVersion = 16;

// Not text, and broken visibly by a transfer that rewrites line ends.
inline constexpr uint8_t kMagic[8] = {0x89, 'C', 'F', 'T', '\r', '\n', 0x1a, '\n'};

// For ever at these places, so that every version recognises every other.
struct FileHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t header_bytes;  // where the first block begins
  uint64_t reserved;
  uint64_t checksum;  // xxh64 of the 24 bytes before
};
static_assert(sizeof(FileHeader) == 32);

enum class BlockType : uint8_t {
  facts = 1,
  strings,
  methods,
  contexts,
  pools,
  threads,
  events,
  trailer,
  addresses,
  locks,
  access_sets,
  access_log,
  connections,
  endpoints
};
inline constexpr uint8_t kBlockTypeLast = static_cast<uint8_t>(BlockType::endpoints);

inline constexpr uint8_t kMarker[4] = {0xc7, 'C', 'F', 0xb1};

struct BlockHeader {
  uint8_t marker[4];
  uint8_t type;  // BlockType
  uint8_t reserved[3];
  uint32_t stored_bytes;  // of the payload that follows
  uint32_t count;         // rows or events
  uint32_t first;         // id of the first row; 0 for the others
  uint32_t sequence;      // the block's number in the file, from 0
  uint64_t checksum;      // xxh64 of the payload, seeded with the xxh64 of the 24 bytes before
};
static_assert(sizeof(BlockHeader) == 32);

// The most bytes that one block may unpack to: kEventsPerBlockMax events with 1 byte of kind, 8 of time, 4 operands of
// 4 bytes, and two bits of length for each number are 1.7 MiB; the bound leaves room for as many runs.
inline constexpr uint32_t kBlockRawBytesMax = 4 << 20;
inline constexpr uint32_t kBlockStoredBytesMax = kBlockRawBytesMax;

uint64_t header_checksum(const FileHeader& header);
uint64_t block_checksum(const BlockHeader& header, std::span<const uint8_t> payload);

}  // namespace contrafact::format
