#include "format/packed_ints.h"

#include <algorithm>

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

template <typename Int>
void unpack_ints(const uint8_t* control, const Planes& planes, std::span<Int> out) {
  constexpr size_t tail_bytes = sizeof(Int) - 3;
  constexpr uint32_t kMask1[4] = {0, 0xff, 0xff, 0xff};
  constexpr uint32_t kMask2[4] = {0, 0, 0xff, 0xff};
  const auto [first_low, first_second, first_third, first_tail] = planes;
  const uint8_t* low = first_low;
  const uint8_t* second = first_second;
  const uint8_t* third = first_third;
  const uint8_t* tail = first_tail;
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
}

}  // namespace

std::optional<PlaneSizes> plane_sizes(std::span<const uint8_t> control, size_t count, size_t tail_bytes) {
  if (control.size() != control_bytes(count)) return std::nullopt;
  // The unused codes of the last byte are 0, or the counts would not be those of the numbers that are read.
  if (count % 4 != 0 && control.back() >> (count % 4 * 2) != 0) return std::nullopt;
  PlaneSizes sizes;
  sizes.bytes[0] = count;
  for (const uint8_t byte : control) {
    sizes.bytes[1] += kCounts[byte].two;
    sizes.bytes[2] += kCounts[byte].three;
    sizes.bytes[3] += kCounts[byte].all;
  }
  sizes.bytes[3] *= tail_bytes;
  return sizes;
}

void PackedInts::make_room(size_t count) {
  if (count <= room_) return;
  room_ = std::max(count, 2 * room_);
  control_ = std::make_unique_for_overwrite<uint8_t[]>(control_bytes(room_));
  for (size_t plane = 0; plane < kPlanes; ++plane) {
    plane_[plane] = std::make_unique_for_overwrite<uint8_t[]>(room_ * (plane == 3 ? tail_bytes_ : 1));
  }
}

// Bytes that a number does not have are written too, and overwritten by the next number's: that is cheaper than a test.
// They stay inside the planes, because the number before had at most one byte in each.
template <typename Int>
void PackedInts::pack(std::span<const Int> numbers) {
  make_room(numbers.size());
  count_ = numbers.size();
  uint8_t* const low = plane_[0].get();
  uint8_t* second = plane_[1].get();
  uint8_t* third = plane_[2].get();
  uint8_t* tail = plane_[3].get();
  const auto one = [&](size_t i) -> uint32_t {
    const Int v = numbers[i];
    const uint32_t code = (v > 0xff) + (v > 0xffff) + (v > 0xffffff);
    low[i] = static_cast<uint8_t>(v);
    *second = static_cast<uint8_t>(v >> 8);
    second += code >= 1;
    *third = static_cast<uint8_t>(v >> 16);
    third += code >= 2;
    if (code == 3) [[unlikely]] {
      for (size_t byte = 0; byte < sizeof(Int) - 3; ++byte) *tail++ = static_cast<uint8_t>(v >> (24 + 8 * byte));
    }
    return code;
  };
  uint8_t* control = control_.get();
  size_t i = 0;
  for (; i + 4 <= numbers.size(); i += 4) {
    if ((numbers[i] | numbers[i + 1] | numbers[i + 2] | numbers[i + 3]) <= 0xff) {  // most streams hold small numbers
      for (size_t k = 0; k < 4; ++k) low[i + k] = static_cast<uint8_t>(numbers[i + k]);
      *control++ = 0;
      continue;
    }
    uint32_t codes = 0;
    for (size_t k = 0; k < 4; ++k) codes |= one(i + k) << (2 * k);  // in order: the planes grow
    *control++ = static_cast<uint8_t>(codes);
  }
  uint32_t codes = 0;
  for (size_t k = 0; i < numbers.size(); ++i, ++k) codes |= one(i) << (2 * k);
  if (count_ % 4 != 0) *control = static_cast<uint8_t>(codes);
  used_ = {count_, static_cast<size_t>(second - plane_[1].get()), static_cast<size_t>(third - plane_[2].get()),
           static_cast<size_t>(tail - plane_[3].get())};
}
template void PackedInts::pack(std::span<const uint32_t>);
template void PackedInts::pack(std::span<const uint64_t>);

std::array<std::span<const uint8_t>, 1 + kPlanes> PackedInts::sections() const {
  using Bytes = std::span<const uint8_t>;
  return {Bytes(control_.get(), control_bytes(count_)), Bytes(plane_[0].get(), used_[0]),
          Bytes(plane_[1].get(), used_[1]), Bytes(plane_[2].get(), used_[2]), Bytes(plane_[3].get(), used_[3])};
}

void unpack(std::span<const uint8_t> control, const Planes& planes, std::span<uint32_t> out) {
  unpack_ints<uint32_t>(control.data(), planes, out);
}
void unpack(std::span<const uint8_t> control, const Planes& planes, std::span<uint64_t> out) {
  unpack_ints<uint64_t>(control.data(), planes, out);
}

}  // namespace contrafact::format
