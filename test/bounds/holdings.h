// Counts what a trace file really holds, whatever it claims. The memory that a command may use for it is bounded by
// that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace contrafact::test {

// Tasks, the ranges of access sets and the lives of locks are rows.
struct Holdings {
  uint64_t rows = 0;
  uint64_t events = 0;
  size_t bytes_max() const { return 100'000'000 + 400 * rows + 60 * events; }
};

// Up to where the file is damaged.
Holdings holdings_of(std::span<const uint8_t> file);

}  // namespace contrafact::test
