// BlockFile: a trace file taken apart into blocks with unpacked groups, and put together again with true checksums. For
// tests and fuzzers that make files no writer makes.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "format/compression.h"
#include "format/file_layout.h"

namespace contrafact::format {

// A block whose groups are not compressed here; `put_together` compresses those that zstd makes smaller.
struct LooseBlock {
  BlockType type = BlockType::facts;
  uint32_t count = 0;
  uint32_t first = 0;
  uint32_t sequence = 0;
  std::vector<std::vector<uint8_t>> groups;
};

inline FileHeader true_header() {
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFormatVersion;
  header.header_bytes = sizeof header;
  header.checksum = header_checksum(header);
  return header;
}

template <typename Value>
void put_bytes(std::vector<uint8_t>& out, const Value& value) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), first, first + sizeof value);
}

inline void put_block(std::vector<uint8_t>& file, const LooseBlock& loose, std::span<const uint8_t> payload) {
  BlockHeader header{};
  std::memcpy(header.marker, kMarker, sizeof kMarker);
  header.type = static_cast<uint8_t>(loose.type);
  header.stored_bytes = static_cast<uint32_t>(payload.size());
  header.count = loose.count;
  header.first = loose.first;
  header.sequence = loose.sequence;
  header.checksum = block_checksum(header, payload);
  put_bytes(file, header);
  file.insert(file.end(), payload.begin(), payload.end());
}

inline std::vector<uint8_t> put_together(std::span<const LooseBlock> blocks) {
  std::vector<uint8_t> file;
  put_bytes(file, true_header());
  GroupWriter groups(1);
  std::vector<uint8_t> payload;
  for (const LooseBlock& block : blocks) {
    payload.clear();
    for (const std::vector<uint8_t>& group : block.groups) {
      const std::span<const uint8_t> section(group);
      groups.put(payload, std::span(&section, 1));
    }
    put_block(file, block, payload);
  }
  return file;
}

// The groups of a payload; as many as keep the grammar.
inline std::vector<std::vector<uint8_t>> groups_of(std::span<const uint8_t> payload) {
  std::vector<std::vector<uint8_t>> out;
  GroupReader groups;
  std::vector<uint8_t> scratch;
  ByteReader in(payload);
  while (!in.at_end()) {
    const auto group = groups.get(in, scratch);
    if (!group) break;
    out.emplace_back(group->begin(), group->end());
  }
  return out;
}

// The blocks of a file without damage; what follows the first damage is left out.
inline std::vector<LooseBlock> take_apart(std::span<const uint8_t> file) {
  std::vector<LooseBlock> blocks;
  size_t at = sizeof(FileHeader);
  while (at + sizeof(BlockHeader) <= file.size()) {
    BlockHeader header;
    std::memcpy(&header, &file[at], sizeof header);
    at += sizeof header;
    if (header.stored_bytes > file.size() - at || header.type == 0 || header.type > kBlockTypeLast) break;
    blocks.push_back({static_cast<BlockType>(header.type), header.count, header.first, header.sequence,
                      groups_of(file.subspan(at, header.stored_bytes))});
    at += header.stored_bytes;
  }
  return blocks;
}

}  // namespace contrafact::format
