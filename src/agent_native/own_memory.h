// OwnMemory: where the agent's own objects lie (new_and_delete.cc), not in the program's heap. An interposed function
// may be called by a signal's handler that interrupted malloc, and in a forked child before the program's allocator has
// put its locks in order there.
//
// Thread safety: all of it, in a signal's handler and in a forked child, too: nothing locks. The lists are whole at any
// instruction; but a child forked by a handler may lose a block for good. Calls the kernel for pages; never to release
// a small block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace contrafact::agent_native {

class OwnMemory {
 public:
  constexpr OwnMemory() = default;
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  // Null: there is none. `alignment`: a power of two, a page at most.
  void* allocate(size_t bytes, size_t alignment);
  void release(void* memory);

  static constexpr size_t kSmallBytesMax = 8192;  // of a block, with its head

 private:
  static constexpr size_t kSmallBytesMin = 32, kCarvedBytes = 16 << 10;
  static constexpr size_t kSizes = 9;  // 32, 64, ... kSmallBytesMax
  static_assert(kSmallBytesMin << (kSizes - 1) == kSmallBytesMax);

  // Free blocks of one size, the last one that was released first.
  class Blocks {
   public:
    void push(void* block);
    void* pop();

   private:
    std::atomic<uint64_t> head_{0};  // its address, and above that how often the list has changed
  };

  static size_t size_for(size_t bytes);
  void* small_block(size_t size);

  Blocks free_[kSizes];
};

}  // namespace contrafact::agent_native
