#include "format/packed_ints.h"

namespace contrafact::format {
namespace {

// For each control byte, how many of its four numbers have at least two, three, and all bytes.
struct ControlCounts {
  uint8_t two, three, all;
};
constexpr std::array<ControlCounts, 256> make_counts() {
  std::array<ControlCounts, 256> counts{};
  for (int control = 0; control < 256; ++control) {
    for (int shift = 0; shift < 8; shift += 2) {
      const int code = control >> shift & 3;
      counts[control].two += code >= 1;
      counts[control].three += code >= 2;
      counts[control].all += code == 3;
    }
  }
  return counts;
}
constexpr auto kCounts = make_counts();

bool sizes_fit(const std::array<std::span<const uint8_t>, 1 + kPlanes>& sections, size_t count, size_t tail_bytes) {
  const auto control = sections[0];
  if (control.size() != (count + 3) / 4 || sections[1].size() != count) return false;
  size_t two = 0, three = 0, all = 0;
  for (const uint8_t byte : control) {
    two += kCounts[byte].two;
    three += kCounts[byte].three;
    all += kCounts[byte].all;
  }
  // The unused codes of the last byte are 0, or the counts would not fit the numbers that are really read.
  if (count % 4 != 0 && control.back() >> (count % 4 * 2) != 0) return false;
  return sections[2].size() == two && sections[3].size() == three && sections[4].size() == all * tail_bytes;
}

template <typename Int>
bool unpack_ints(const std::array<std::span<const uint8_t>, 1 + kPlanes>& sections, std::span<Int> out) {
  constexpr size_t tail_bytes = sizeof(Int) - 3;
  constexpr uint32_t kMask1[4] = {0, 0xff, 0xff, 0xff};
  constexpr uint32_t kMask2[4] = {0, 0, 0xff, 0xff};
  if (!sizes_fit(sections, out.size(), tail_bytes)) return false;
  const uint8_t* control = sections[0].data();
  const uint8_t* low = sections[1].data();
  const uint8_t* second = sections[2].data();
  const uint8_t* third = sections[3].data();
  const uint8_t* tail = sections[4].data();
  const auto one = [&](uint32_t code) {
    Int v = *low++ | (*second & kMask1[code]) << 8 | (*third & kMask2[code]) << 16;
    second += code >= 1;
    third += code >= 2;
    if (code == 3) [[unlikely]] {
      for (size_t byte = 0; byte < tail_bytes; ++byte) v |= Int{*tail++} << (24 + 8 * byte);
    }
    return v;
  };
  size_t i = 0;
  for (; i + 4 <= out.size(); i += 4) {
    const uint32_t codes = *control++;
    if (codes == 0) {  // most streams hold small numbers
      for (size_t k = 0; k < 4; ++k) out[i + k] = low[k];
      low += 4;
      continue;
    }
    out[i] = one(codes & 3);
    out[i + 1] = one(codes >> 2 & 3);
    out[i + 2] = one(codes >> 4 & 3);
    out[i + 3] = one(codes >> 6);
  }
  for (size_t k = 0; i < out.size(); ++i, ++k) out[i] = one(*control >> (2 * k) & 3);
  return true;
}

}  // namespace

void PackedInts::put(uint64_t v) {
  const uint8_t code = v < 0x100 ? 0 : v < 0x10000 ? 1 : v < 0x1000000 ? 2 : 3;
  const size_t slot = count_++ % 4;
  if (slot == 0) control_.push_back(0);
  control_.back() |= static_cast<uint8_t>(code << (2 * slot));
  plane_[0].push_back(static_cast<uint8_t>(v));
  if (code >= 1) plane_[1].push_back(static_cast<uint8_t>(v >> 8));
  if (code >= 2) plane_[2].push_back(static_cast<uint8_t>(v >> 16));
  if (code == 3) {
    for (size_t byte = 0; byte < tail_bytes_; ++byte) plane_[3].push_back(static_cast<uint8_t>(v >> (24 + 8 * byte)));
  }
}

void PackedInts::clear() {
  count_ = 0;
  control_.clear();
  for (auto& plane : plane_) plane.clear();
}

std::array<std::span<const uint8_t>, 1 + kPlanes> PackedInts::sections() const {
  return {control_, plane_[0], plane_[1], plane_[2], plane_[3]};
}

bool unpack(const std::array<std::span<const uint8_t>, 1 + kPlanes>& sections, std::span<uint32_t> out) {
  return unpack_ints<uint32_t>(sections, out);
}
bool unpack(const std::array<std::span<const uint8_t>, 1 + kPlanes>& sections, std::span<uint64_t> out) {
  return unpack_ints<uint64_t>(sections, out);
}

}  // namespace contrafact::format
