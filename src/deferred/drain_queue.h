// The two sides of a client's queue (client.h): swap_buffer() for its producer, QueueReader for whoever drains it. They
// may be of two processes, each with its own view of the memory that clients and buffers lie in; pointers in there are
// addresses of the producers' process, and the reader translates them.
//
// Thread safety: swap_buffer() on the client's producer's thread, also in a signal's handler that does not interrupt
// another one; it neither locks nor allocates nor calls the kernel. A QueueReader on one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/shared_flag.h"
#include "deferred/batch.h"
#include "deferred/buffer_pool.h"
#include "deferred/client.h"

namespace contrafact::deferred {

// Calls in a buffer. The first is for threads that hardly do anything, and there may be thousands; the last amortises a
// swap.
inline constexpr std::array<uint32_t, 3> kDrainCapacities{64, 512, 4096};

// Full buffers that are worth a pass before its time. A busy thread fills one in about 0.2 ms.
inline constexpr uint32_t kBuffersWorthAPass = 8;

// Of all queues that are drained together.
struct DrainState {
  alignas(64) std::atomic<uint32_t> waiting{0};  // full buffers and ended clients since the last pass began
  std::atomic<uint64_t> pass{1};
  base::SharedFlag stopped;  // what is appended from here on is lost
  alignas(64) std::atomic<Client*> new_clients{nullptr};

  // The producer's: the client begins.
  void add(Client& client);
  // The reader's: those that began since the last call, the youngest first, linked by Client::next_new_.
  Client* take_new() { return new_clients.exchange(nullptr, std::memory_order_acquire); }
};

// How an address of the producers' process becomes one of the reader's: not at all in the same process.
class Mapping {
 public:
  Mapping() = default;
  // `bytes` at `there` in the producers' process are at `here` in this one.
  Mapping(uint64_t there, void* here, uint64_t bytes)
      : there_(there), here_(reinterpret_cast<uint64_t>(here)), bytes_(bytes) {}

  // Null for what does not lie wholly within the memory, as where a program has overwritten a pointer.
  template <typename T>
  T* here(T* there, uint64_t bytes = sizeof(T)) const {
    const auto address = reinterpret_cast<uint64_t>(there);
    if (bytes_ == 0) return there;
    const uint64_t at = address - there_;
    if (at >= bytes_ || bytes > bytes_ - at || address % alignof(T) != 0) return nullptr;
    return reinterpret_cast<T*>(here_ + at);
  }
  template <typename T>
  T* there(T* here) const {
    return reinterpret_cast<T*>(reinterpret_cast<uint64_t>(here) - here_ + there_);
  }

 private:
  uint64_t there_ = 0, here_ = 0, bytes_ = 0;
};

enum class Urge : uint8_t {
  none,
  pass,       // enough is waiting
  no_memory,  // calls are lost until a pass has given buffers back
};
struct Swapped {
  contrafact_buffer* buffer;  // null after a dropped call, which has been counted
  Urge urge;
};

// The protocol of Client::swap().
Swapped swap_buffer(Client& client, BufferPool& pool, DrainState& state);

class QueueReader {
 public:
  // Shows what it takes to `consumer`. Buffers go back to `pool`.
  QueueReader(BufferPool& pool, Consumer& consumer, Mapping mapping = {})
      : pool_(pool), consumer_(consumer), mapping_(mapping) {}

  // Takes what the client has committed, as calls of `stream`. `last`: its producer has ended, or is not waited for.
  // False if its queue makes no sense: the program wrote where it must not. Nothing more may be taken of it then.
  bool take(Client& client, uint32_t stream, bool last);
  // Gives its last buffer back. REQUIRES: its producer has ended, and all was taken.
  void give_back(Client& client);

 private:
  enum class Step : uint8_t { more, done, broken };
  Step take_buffer(Client& client, uint32_t stream, Buffer& buffer);
  bool show(Client& client, uint32_t stream, Buffer& buffer, uint32_t committed);
  bool is_stub(Client& client, const Buffer& buffer) const { return &buffer == &client.stub_; }

  BufferPool& pool_;
  Consumer& consumer_;
  const Mapping mapping_;
};

}  // namespace contrafact::deferred
