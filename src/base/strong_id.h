// StrongId: an index into one particular table, which cannot be mistaken for an index into another.
//   using ThreadId = base::StrongId<struct ThreadTag>;
// The default value is `none()`, which is no index.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace contrafact::base {

template <typename Tag>
struct StrongId {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t value = kNone;

  constexpr StrongId() = default;
  constexpr explicit StrongId(uint32_t v) : value(v) {}
  static constexpr StrongId none() { return StrongId(); }
  constexpr bool valid() const { return value != kNone; }
  constexpr size_t index() const { return value; }
  auto operator<=>(const StrongId&) const = default;
};

}  // namespace contrafact::base

template <typename Tag>
struct std::hash<contrafact::base::StrongId<Tag>> {
  size_t operator()(contrafact::base::StrongId<Tag> id) const noexcept { return std::hash<uint32_t>()(id.value); }
};
