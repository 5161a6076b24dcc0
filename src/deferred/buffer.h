// Buffer: the C header that producers write (include/contrafact/deferred_buffer.h) and what the consuming side keeps.
// The protocol between the two is in client.h. Lines written by the producer and by the consumer are apart.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/shared_flag.h"
#include "contrafact/deferred_buffer.h"

namespace contrafact::deferred {

inline constexpr size_t kColumnsMax = CONTRAFACT_COLUMNS_MAX;

// What the calls of an environment need of a buffer: for each argument column, bytes of an element and the most
// elements that one call appends to it. The default is an environment without arguments.
struct Layout {
  std::array<uint8_t, kColumnsMax> element_bytes{};
  std::array<uint8_t, kColumnsMax> elements_per_call{};
  // For foreign producers, each of whose calls says itself what it is: no column of ids, and room in column 0 for the
  // rest of a call that begins in its last element.
  bool without_ids = false;
  uint8_t elements_beyond = 0;
};

class Client;

struct alignas(64) Buffer {
  contrafact_buffer header{};

  // The Drainer's. Set by the producer, once, when it goes on to another buffer.
  alignas(64) std::atomic<Buffer*> next{nullptr};

  // Belongs to the Drainer's consumer, except for the moment when `drained` gives the buffer back (client.h).
  alignas(64) base::SharedFlag drained;
  base::SharedFlag begun;  // something was taken of it, if only its `dropped`
  // Whoever makes the calls: how many were made, and where the next one's arguments are.
  uint32_t taken = 0;
  std::array<uint32_t, kColumnsMax> taken_cursor{};

  // The Engine's. Set by the producer when it submits the buffer, then of whoever holds it (FilledBuffer).
  Client* client = nullptr;
  uint64_t number = 0;           // among the client's buffers, from 1
  uint32_t calls = 0;            // `committed` when it was submitted
  base::SharedFlag kept;         // it is not given back to the pool: its producer may go on writing it
  void* private_data = nullptr;  // the runner's, once `taken` calls of it were made
  Buffer* next_queued = nullptr;

  // The pool's.
  std::atomic<uint32_t> free_next{0};
  uint32_t size_class = 0;

  uint32_t committed() const {
    return std::atomic_ref(const_cast<uint32_t&>(header.committed)).load(std::memory_order_acquire);
  }
};

}  // namespace contrafact::deferred
