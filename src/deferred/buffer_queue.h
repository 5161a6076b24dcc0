// BufferQueue: filled buffers that wait to be run, first in, first out, linked through themselves: no allocation.
// Thread safety: all of it, a lock held for a few instructions, but for pop_of, which looks through the queue.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>

#include "deferred/processor.h"

namespace contrafact::deferred {

class BufferQueue {
 public:
  explicit BufferQueue(size_t room) : room_(room) {}
  BufferQueue(const BufferQueue&) = delete;
  BufferQueue& operator=(const BufferQueue&) = delete;

  // False, and the buffer stays the caller's, if there is no room.
  bool push(FilledBuffer& buffer);
  // False too if another thread holds the lock and keeps it.
  bool push_unless_locked(FilledBuffer& buffer);
  // In front, and beyond the room: the buffer had its place before.
  void put_back(FilledBuffer buffer);

  std::optional<FilledBuffer> pop();
  // The first of that producer; O(length).
  std::optional<FilledBuffer> pop_of(const Client& producer);

 private:
  bool push_locked(FilledBuffer& buffer);

  const size_t room_;
  std::mutex mutex_;
  size_t size_ = 0;
  Buffer* first_ = nullptr;
  Buffer* last_ = nullptr;
};

}  // namespace contrafact::deferred
