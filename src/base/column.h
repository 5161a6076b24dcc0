// Column: a vector for the millions of values of one fact about every event.
//
// Two things differ from std::vector<T>. `resize` leaves new values unset: the code that resizes writes them. A large
// column lies on huge pages where the system has them, because page faults otherwise cost more than the decoding of a
// trace. Thread safety is a vector's.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace contrafact::base {

// Memory for `bytes`, aligned for any column's values. Throws std::bad_alloc, as every allocator.
void* allocate_column(size_t bytes);
// REQUIRES: `memory` came from allocate_column(bytes).
void free_column(void* memory, size_t bytes) noexcept;

template <typename T>
struct ColumnAllocator {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  using value_type = T;

  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(size_t count) { return static_cast<T*>(allocate_column(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) noexcept { free_column(memory, count * sizeof(T)); }
  template <typename U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
  template <typename U>
  bool operator==(const ColumnAllocator<U>&) const {
    return true;
  }
};

template <typename T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace contrafact::base
