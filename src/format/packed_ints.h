// PackedInts: a sequence of integers as byte planes, made to be decoded without branches and to compress well after.
//
//   control   2 bits a number, 4 to a byte, first in the lowest bits: 0, 1, 2 = one, two, three bytes; 3 = all of them
//   plane 0   the lowest byte of every number
//   plane 1   the second byte of those with at least two
//   plane 2   the third byte of those with at least three
//   plane 3   the rest of those that have all: 1 byte for 32-bit numbers, 5 for 64-bit ones
//
// Why planes: the lowest bytes of time differences are noise, the higher ones are not. Apart, each gets its own
// statistics.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace contrafact::format {

inline constexpr size_t kPlanes = 4;

class PackedInts {
 public:
  explicit PackedInts(size_t tail_bytes) : tail_bytes_(tail_bytes) {}

  // The numbers from here on; those before are forgotten. The tail is of 1 byte for 32-bit numbers, 5 for 64-bit ones.
  void assign(std::span<const uint32_t> numbers) { pack(numbers); }
  void assign(std::span<const uint64_t> numbers) { pack(numbers); }

  // In the order control, plane 0..3.
  std::array<std::span<const uint8_t>, 1 + kPlanes> sections() const;

 private:
  template <typename Int>
  void pack(std::span<const Int> numbers);
  void make_room(size_t count);

  size_t tail_bytes_;
  size_t count_ = 0;
  size_t room_ = 0;  // numbers that the arrays are large enough for
  std::unique_ptr<uint8_t[]> control_;
  std::array<std::unique_ptr<uint8_t[]>, kPlanes> plane_;
  std::array<size_t, kPlanes> used_{};  // bytes of each plane
};

// The bytes of each plane, from the control bytes. Nullopt if these are not exactly those of `count` numbers.
struct PlaneSizes {
  std::array<size_t, kPlanes> bytes{};
  size_t total() const { return bytes[0] + bytes[1] + bytes[2] + bytes[3]; }
};
inline size_t control_bytes(size_t count) {
  return (count + 3) / 4;
}
std::optional<PlaneSizes> plane_sizes(std::span<const uint8_t> control, size_t count, size_t tail_bytes);

// REQUIRES: plane_sizes(control, out.size(), ...) is what the planes have; a plane may be read one byte beyond its end
// (the value does not matter). The tail is of 1 byte for 32-bit numbers, 5 for 64-bit ones.
using Planes = std::array<const uint8_t*, kPlanes>;
void unpack(std::span<const uint8_t> control, const Planes& planes, std::span<uint32_t> out);
void unpack(std::span<const uint8_t> control, const Planes& planes, std::span<uint64_t> out);

}  // namespace contrafact::format
