// A trace file from the bytes of a fuzzer. The first byte chooses:
//   even  the rest is a file, as it is
//   odd   the rest describes blocks, which get true headers and checksums, so that mutations reach the decoders behind
//         them: type:u8 count:u16 first:u16 payload_bytes:u16 payload, again and again
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "format/file_layout.h"

namespace contrafact::format {

inline std::vector<uint8_t> true_file(std::span<const uint8_t> description) {
  std::vector<uint8_t> file;
  const auto put = [&](const auto& bytes) {
    const auto* first = reinterpret_cast<const uint8_t*>(&bytes);
    file.insert(file.end(), first, first + sizeof bytes);
  };
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFormatVersion;
  header.header_bytes = sizeof header;
  header.checksum = header_checksum(header);
  put(header);
  uint32_t sequence = 0;
  while (description.size() >= 7) {
    uint16_t numbers[3];
    std::memcpy(numbers, &description[1], sizeof numbers);
    BlockHeader block{};
    std::memcpy(block.marker, kMarker, sizeof kMarker);
    block.type = description[0];
    block.count = numbers[0];
    block.first = numbers[1];
    description = description.subspan(7);
    const auto payload = description.first(std::min<size_t>(numbers[2], description.size()));
    description = description.subspan(payload.size());
    block.stored_bytes = static_cast<uint32_t>(payload.size());
    block.sequence = sequence++;
    block.checksum = block_checksum(block, payload);
    put(block);
    file.insert(file.end(), payload.begin(), payload.end());
  }
  return file;
}

// REQUIRES: not empty.
inline std::vector<uint8_t> fuzzed_file(std::span<const uint8_t> input) {
  const auto rest = input.subspan(1);
  if (input[0] & 1) return true_file(rest);
  return {rest.begin(), rest.end()};
}

}  // namespace contrafact::format
